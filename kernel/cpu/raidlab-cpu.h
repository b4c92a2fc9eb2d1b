/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processor time in virtual time: what the rest of the kernel calls. Without CONFIG_RAIDLAB_CPU all of it is nothing.
 * How it works is said in pay.c.
 */
#ifndef _LINUX_RAIDLAB_CPU_H
#define _LINUX_RAIDLAB_CPU_H

/* What takes time. Names and order are those of raidlab_cpu_names. */
enum raidlab_cpu_cost {
	/* Each time it happens. */
	RAIDLAB_CPU_CALL,	/* a system call's entry and exit */
	RAIDLAB_CPU_USER,	/* what a program itself does from one system call to the next */
	RAIDLAB_CPU_FIO,	/* what fio does from one read or write to the next */
	RAIDLAB_CPU_CLOCK,	/* a read of the clock */
	RAIDLAB_CPU_FAULT,	/* entry and exit of a page fault */
	RAIDLAB_CPU_SWITCH,	/* going to sleep and being woken */
	RAIDLAB_CPU_WAKEUP,	/* until a task runs that is woken on an idle core; nothing computes in that time */
	RAIDLAB_CPU_INTERRUPT,
	RAIDLAB_CPU_REQUEST,	/* what a disk's own driver does for a request */
	RAIDLAB_CPU_BLOCK,	/* a basic block of instrumented code */
	/* Each byte. */
	RAIDLAB_CPU_MEMORY,	/* besides the rates below: what is copied from and to memory, not from and to a cache */
	RAIDLAB_CPU_MEMORY_READ,	/* likewise: from memory */
	RAIDLAB_CPU_MEMORY_WRITE,	/* likewise: to memory */
	RAIDLAB_CPU_COPY,
	RAIDLAB_CPU_ZERO,
	RAIDLAB_CPU_SCAN,	/* comparing words */
	RAIDLAB_CPU_XOR,	/* of each source */
	RAIDLAB_CPU_PQ,		/* RAID 6 syndrome, of each data block */
	RAIDLAB_CPU_PQ_RECOVER,	/* on top of the syndrome, of each block that is recovered */
	RAIDLAB_CPU_CRC32,
	RAIDLAB_CPU_SHA256,
	RAIDLAB_CPU_XXHASH,
	RAIDLAB_CPU_BLAKE2B,
	/* Each basic block: how many there are depends on the data. */
	RAIDLAB_CPU_ZSTD,
	RAIDLAB_CPU_UNZSTD,
	/* Each byte of what is not compressed. */
	RAIDLAB_CPU_LZ4,
	RAIDLAB_CPU_UNLZ4,
	RAIDLAB_CPU_ZLIB,
	RAIDLAB_CPU_UNZLIB,
	RAIDLAB_CPU_LZO,
	RAIDLAB_CPU_UNLZO,
	RAIDLAB_CPU_AES,	/* dm-crypt: encrypted or decrypted */
	RAIDLAB_CPU_COSTS
};

#ifdef CONFIG_RAIDLAB_CPU

/* Basic blocks that were executed: charge.c. */
extern unsigned long long raidlab_blocks;

/* A task's account; zeroed when the task begins. */
struct raidlab_cpu_task {
	unsigned long long system_ps;	/* owed */
	unsigned long long user_ps;	/* owed */
	unsigned long long busy_until;	/* virtual time before which it does not go on: booked work, or its wake-up */
	unsigned long long woken_ns;	/* virtual time at which whoever woke it did so, and a core had it */
	unsigned long long window_ns;	/* charged in the current window */
	unsigned int window;
	int paying;
	int uncharged;			/* the system call that runs takes no time */
};

extern int raidlab_cpu_on;

/* Cores of the processor; one without a model. */
unsigned int raidlab_cpu_cores(void);

/* Charges the task, or the interrupt, that runs. */
void raidlab_cpu_charge(enum raidlab_cpu_cost cost, unsigned long n);
/* The same for so many bytes, some of which are in no cache. */
void raidlab_cpu_copies(const void *to, const void *from, unsigned long n);
void raidlab_cpu_reads(enum raidlab_cpu_cost cost, const void *from, unsigned long n);
void raidlab_cpu_writes(enum raidlab_cpu_cost cost, const void *to, unsigned long n);
void raidlab_cpu_xors(unsigned int sources, unsigned int bytes, void *to, void **from);
/* A whole copy from or to a program, and a piece of one, or of zeroes, within one of the program's pages. */
void raidlab_cpu_copies_from_user(const void *to, unsigned long n);
void raidlab_cpu_copies_to_user(const void *from, unsigned long n);
void raidlab_cpu_copies_piece(const void *to, const void *from, unsigned long n);
void raidlab_cpu_zeroes_piece(const void *to, unsigned long n);
/* Basic blocks from here on, and up to here, are of their own kind. */
void raidlab_cpu_kind_begins(void);
void raidlab_cpu_kind_ends(enum raidlab_cpu_cost cost);
/* The task may sleep here: it pays once it owes enough. */
void raidlab_cpu_safe_point(void);
/* The task is about to return to user space: it pays all. */
void raidlab_cpu_return_to_user(void);
/* The task is about to block, and has been woken. */
void raidlab_cpu_block(void);
void raidlab_cpu_woken(void);
/* A system call begins. */
void raidlab_cpu_call(int number);
void raidlab_cpu_fault(bool is_anonymous);
/* The task that runs, or an interrupt, wakes another. */
struct task_struct;
void raidlab_cpu_wakes(struct task_struct *task);
/* Another task runs from here on. */
void raidlab_cpu_switch(struct task_struct *from, struct task_struct *to);
void raidlab_cpu_interrupt_begins(void);
void raidlab_cpu_interrupt_ends(void);
/* Nothing can run. */
void raidlab_cpu_idle(void);
/* Nanoseconds from now to the moment at which the code that runs would have got here. */
unsigned long long raidlab_cpu_lag_ns(void);
/* Virtual time has been moved for all. */
void raidlab_cpu_for_all(unsigned long long ns);
/* Whether a read of the clock that is the same as the last ones has to move it. */
int raidlab_cpu_clock_stands(unsigned long long now_ns);

/* Of kernel/sched/core.c: sleeps until woken; neither flushes what is plugged nor tells workqueues. */
void raidlab_cpu_sleep(void);
/* Of arch/um/kernel/time.c: moves the clock, if nothing happens until then. */
int time_travel_skip(unsigned long long until);

#else

static inline void raidlab_cpu_charge(enum raidlab_cpu_cost cost, unsigned long n) { }
static inline unsigned long long raidlab_cpu_lag_ns(void) { return 0; }

#endif
#endif
