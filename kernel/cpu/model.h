/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the processor model share. */
#ifndef RAIDLAB_CPU_MODEL_H
#define RAIDLAB_CPU_MODEL_H

#include <linux/hardirq.h>
#include <linux/pid_namespace.h>
#include <linux/raidlab-cpu.h>
#include <linux/sched.h>
#include <linux/types.h>

#define CORES_MAX 256

/* The processor, from the kernel's command line. */
struct raidlab_cpu_model {
	u32 cores;
	u32 cache_pages;
	/* A task that may sleep pays once it owes this. */
	u64 grain_ps;
	/* Picoseconds for each. */
	u64 cost_ps[RAIDLAB_CPU_COSTS];
};
extern struct raidlab_cpu_model raidlab_cpu_model;

/* What the program outside reads; order of the ioctl. */
struct raidlab_cpu_total {
	u64 cores;
	u64 begun_ns;		/* when the window began */
	u64 charged_ns;		/* paid or booked: system */
	u64 user_ns;		/* likewise: user */
	u64 busiest_ns;		/* of the task that was charged most in the window */
	u64 moved_ns;		/* of the charges, those of interrupts, which fell to another */
	u64 for_all_ns;		/* time that passed for all, because it could not be slept */
	u64 waited_ns;		/* tasks waited so long for a core to be free */
	u64 slept;		/* payments that slept */
	u64 skipped;		/* payments while nothing else could run */
	u64 count[RAIDLAB_CPU_COSTS];
};
extern struct raidlab_cpu_total raidlab_cpu_total;

/* The number of the window, from 0, and the name of the task that was charged most in it. */
extern u32 raidlab_cpu_window;
extern char raidlab_cpu_busiest[TASK_COMM_LEN];

/* What interrupts owe, until a task takes it over. */
extern u64 raidlab_cpu_interrupt_ps;

static inline bool in_an_interrupt(void)
{
	return in_hardirq() || in_serving_softirq();
}

/* Whether the program that runs is raidlab's own, or a vfork child that still has its memory. */
static inline bool raidlab_cpu_is_of_init(void)
{
	return current->mm && init_pid_ns.child_reaper && current->mm == init_pid_ns.child_reaper->mm;
}

/* Basic blocks that were executed and are not charged yet. */
u64 raidlab_cpu_blocks(void);
/* Takes them: none is left. */
u64 raidlab_cpu_take_blocks(void);
/* Charges them to an account, or to whoever executes. */
void raidlab_cpu_collect_to(u64 *account_ps);
void raidlab_cpu_collect(void);

/* Bytes of a range that are in no cache; now they are. */
unsigned long raidlab_cpu_missing(const void *address, unsigned long n);

/* At boot: the caches of this memory, RAID 6, and what the init reads. */
void raidlab_cpu_init_caches(void);
void raidlab_cpu_wrap_raid6(void);
int raidlab_cpu_init_device(void);

#endif
