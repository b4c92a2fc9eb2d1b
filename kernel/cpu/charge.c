// SPDX-License-Identifier: GPL-2.0
/* What is charged, and to whom: basic blocks, bytes, calls. Who pays it and when is in pay.c. */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time-internal.h>
#include <asm/unistd.h>
#include <sysdep/ptrace.h>
#include "model.h"

/* Reads of a clock that stands still, in a row, before it is moved: somebody waits for it. */
#define CLOCK_READS 1000

int raidlab_cpu_on;
struct raidlab_cpu_total raidlab_cpu_total;
u64 raidlab_cpu_interrupt_ps;

/*
 * Basic blocks that were executed, and those that have been charged. The former is counted in all of the kernel:
 * count-in-line puts the increment into its code.
 */
u64 raidlab_blocks;
EXPORT_SYMBOL(raidlab_blocks);
static u64 blocks_charged;

void __sanitizer_cov_trace_pc(void);
void notrace __sanitizer_cov_trace_pc(void)
{
	raidlab_blocks++;
}
EXPORT_SYMBOL(__sanitizer_cov_trace_pc);

u64 raidlab_cpu_blocks(void)
{
	return raidlab_blocks - blocks_charged;
}

u64 raidlab_cpu_take_blocks(void)
{
	/* In this order: what an interrupt charges in between is charged twice, instead of less than nothing. */
	u64 charged = READ_ONCE(blocks_charged), executed = READ_ONCE(raidlab_blocks);

	blocks_charged = executed;
	return executed - charged;
}

void raidlab_cpu_collect_to(u64 *account_ps)
{
	u64 n = raidlab_cpu_take_blocks();

	*account_ps += n * raidlab_cpu_model.cost_ps[RAIDLAB_CPU_BLOCK];
	raidlab_cpu_total.count[RAIDLAB_CPU_BLOCK] += n;
}

void raidlab_cpu_collect(void)
{
	if (in_an_interrupt())
		raidlab_cpu_collect_to(&raidlab_cpu_interrupt_ps);
	else if (is_idle_task(current) || current->thread.cpu.uncharged)
		raidlab_cpu_take_blocks();
	else
		raidlab_cpu_collect_to(&current->thread.cpu.system_ps);
}

void raidlab_cpu_charge(enum raidlab_cpu_cost cost, unsigned long n)
{
	u64 ps = n * raidlab_cpu_model.cost_ps[cost];

	if (!raidlab_cpu_on)
		return;
	if (!in_an_interrupt() && current->thread.cpu.uncharged)
		return;
	raidlab_cpu_total.count[cost] += n;
	if (in_an_interrupt() || is_idle_task(current))
		raidlab_cpu_interrupt_ps += ps;
	else if (cost == RAIDLAB_CPU_USER || cost == RAIDLAB_CPU_FIO)
		current->thread.cpu.user_ps += ps;
	else
		current->thread.cpu.system_ps += ps;
}
EXPORT_SYMBOL(raidlab_cpu_charge);

void raidlab_cpu_kind_begins(void)
{
	if (raidlab_cpu_on)
		raidlab_cpu_collect();
}

void raidlab_cpu_kind_ends(enum raidlab_cpu_cost cost)
{
	if (raidlab_cpu_on)
		raidlab_cpu_charge(cost, raidlab_cpu_take_blocks());
}

static bool is_read_or_write(int number)
{
	switch (number) {
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
	case __NR_io_submit:
	case __NR_io_uring_enter:
		return true;
	}
	return false;
}

/*
 * Calls of raidlab's own program that are no part of any workload: its memory, its threads' stacks and signals. How many there are
 * depends on how the program was compiled.
 */
static bool is_of_the_build(int number)
{
	switch (number) {
	case __NR_brk:
	case __NR_mmap:
	case __NR_munmap:
	case __NR_mremap:
	case __NR_mprotect:
	case __NR_madvise:
	case __NR_rt_sigaction:
	case __NR_rt_sigprocmask:
	case __NR_sigaltstack:
	case __NR_getpid:
	case __NR_gettid:
	case __NR_prctl:
		return raidlab_cpu_is_of_init();
	}
	return false;
}

void raidlab_cpu_call(int number)
{
	if (raidlab_cpu_on && is_of_the_build(number)) {
		raidlab_cpu_collect();
		current->thread.cpu.uncharged = 1;
		return;
	}
	/* On a real machine these are no system calls. */
	if (number == __NR_clock_gettime || number == __NR_gettimeofday || number == __NR_time)
		return;
	raidlab_cpu_charge(RAIDLAB_CPU_CALL, 1);
	if (is_read_or_write(number) && !strcmp(current->comm, "fio"))
		raidlab_cpu_charge(RAIDLAB_CPU_FIO, 1);
	else
		raidlab_cpu_charge(RAIDLAB_CPU_USER, 1);
}

/*
 * Where the stacks of raidlab's own program reach another page depends on how it was compiled: such a fault takes no time. One in
 * a system call, or in a file that is mapped, is that of a workload.
 */
void raidlab_cpu_fault(bool is_anonymous)
{
	if (raidlab_cpu_on && is_anonymous && UPT_SYSCALL_NR(&current->thread.regs.regs) < 0 && raidlab_cpu_is_of_init())
		current->thread.cpu.uncharged = 1;
	else
		raidlab_cpu_charge(RAIDLAB_CPU_FAULT, 1);
}

void raidlab_cpu_for_all(u64 ns)
{
	if (raidlab_cpu_on)
		raidlab_cpu_total.for_all_ns += ns;
}

int raidlab_cpu_clock_stands(u64 now_ns)
{
	static u64 last_ns, reads;

	if (!raidlab_cpu_on)
		return 1;
	if (now_ns != last_ns)
		reads = 0;
	last_ns = now_ns;
	if (++reads < CLOCK_READS)
		return 0;
	reads = 0;
	return 1;
}
