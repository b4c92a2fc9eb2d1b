// SPDX-License-Identifier: GPL-2.0
/*
 * Processor time in virtual time.
 *
 * In User-Mode Linux's virtual time code takes no time. Here it does: what a task does is charged to it, and it pays
 * where it may sleep: before it returns to user space, where it may be rescheduled, and when it blocks.
 *
 * A debt is paid on the core that is free first: from then, or from now, the core is taken for as long as the debt,
 * and the task goes on when that is over. The order in which tasks come to pay is the order in which they are served.
 * Debts are small (see grain_ps), so cores are shared about as a scheduler with short slices would share them.
 *
 * A task that blocks has its debt booked in the same way, and when it is woken before the end of that it goes on only
 * then. What interrupts cost falls to the task that runs after them. Nothing is dropped: a fraction of a nanosecond is
 * carried on, what a task owes that ends is paid by the next.
 *
 * A task that is woken goes on when the one that woke it would have got there; if a core was idle then, it takes a
 * while longer until that core runs it. It is not made to sleep for less than a payment's worth: what it does is booked
 * from that moment on.
 *
 * Which bytes are in the caches is known by the page (caches.c).
 *
 * All is in integers and depends on nothing but what the guest executes.
 */
#include <linux/kernel.h>
#include <linux/kernel_stat.h>
#include <linux/sched/cputime.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/time-internal.h>
#include <sysdep/ptrace.h>
#include "model.h"

u32 raidlab_cpu_window;
char raidlab_cpu_busiest[TASK_COMM_LEN];

/* When each core is free. */
static u64 core_free_ns[CORES_MAX];

/* Until when each core is being woken for a task: it computes nothing yet, but is not idle. */
static u64 core_waking_ns[CORES_MAX];

static u64 *first_free(void)
{
	u64 *first = core_free_ns;
	u32 i;

	for (i = 1; i < raidlab_cpu_model.cores; i++)
		if (core_free_ns[i] < *first)
			first = &core_free_ns[i];
	return first;
}

/* Takes the core that is free first for so long, from then on at the earliest; until when. */
static u64 book(u64 ns, u64 earliest_ns)
{
	u64 *core = first_free();

	if (*core < earliest_ns)
		*core = earliest_ns;
	else
		raidlab_cpu_total.waited_ns += *core - earliest_ns;
	*core += ns;
	return *core;
}

static void account(struct task_struct *task, u64 user_ns, u64 system_ns)
{
	struct raidlab_cpu_task *cpu = &task->thread.cpu;

	if (user_ns)
		account_user_time(task, user_ns);
	if (system_ns)
		account_system_index_time(task, system_ns, CPUTIME_SYSTEM);
	raidlab_cpu_total.user_ns += user_ns;
	raidlab_cpu_total.charged_ns += system_ns;
	if (cpu->window != raidlab_cpu_window) {
		cpu->window = raidlab_cpu_window;
		cpu->window_ns = 0;
	}
	cpu->window_ns += user_ns + system_ns;
	if (cpu->window_ns > raidlab_cpu_total.busiest_ns) {
		raidlab_cpu_total.busiest_ns = cpu->window_ns;
		memcpy(raidlab_cpu_busiest, task->comm, sizeof(raidlab_cpu_busiest));
	}
}

/* Books what the current task owes; until when. */
static u64 book_debt(void)
{
	struct raidlab_cpu_task *cpu = &current->thread.cpu;
	u64 user_ns = cpu->user_ps / 1000, system_ns = cpu->system_ps / 1000, now_ns = time_travel_now();

	cpu->user_ps -= user_ns * 1000;
	cpu->system_ps -= system_ns * 1000;
	if (user_ns + system_ns == 0)
		return now_ns;
	account(current, user_ns, system_ns);
	return book(user_ns + system_ns, max(now_ns, cpu->busy_until));
}

struct payment {
	struct time_travel_event event;
	struct task_struct *task;
};

static void payment_ends(struct time_travel_event *event)
{
	wake_up_process(container_of(event, struct payment, event)->task);
}

/* The current task computes until then. */
static void compute_until(u64 until_ns)
{
	struct payment payment = { .task = current };
	u64 now_ns = time_travel_now();

	if (until_ns <= now_ns)
		return;
	if (single_task_running() && !need_resched() && time_travel_skip(until_ns)) {
		raidlab_cpu_total.skipped++;
		return;
	}
	raidlab_cpu_total.slept++;
	time_travel_set_event_fn(&payment.event, payment_ends);
	time_travel_add_event_rel(&payment.event, until_ns - now_ns);
	current->thread.cpu.paying = 1;
	do {
		/* Not counted as load, and no signal wakes it. */
		set_current_state(TASK_IDLE);
		if (!payment.event.pending)
			break;
		raidlab_cpu_sleep();
	} while (payment.event.pending);
	__set_current_state(TASK_RUNNING);
	current->thread.cpu.paying = 0;
}

/*
 * A page fault of raidlab's own program. Where its stacks reach another page depends on how it was compiled, and may be
 * where it holds a lock of its own: no other task runs there. An anonymous page costs nothing (raidlab_cpu_fault()), another is
 * paid with the next system call.
 */
static bool is_fault_of_init(void)
{
	return UPT_SYSCALL_NR(&current->thread.regs.regs) < 0 && raidlab_cpu_is_of_init();
}

static bool may_pay(void)
{
	return raidlab_cpu_on && !is_fault_of_init() && !irqs_disabled() && !preempt_count() && task_is_running(current) &&
	       !is_idle_task(current) && !current->thread.cpu.paying;
}

static void pay(void)
{
	u64 until_ns;

	raidlab_cpu_collect();
	until_ns = book_debt();
	compute_until(max(until_ns, current->thread.cpu.busy_until));
}

void raidlab_cpu_safe_point(void)
{
	struct raidlab_cpu_task *cpu = &current->thread.cpu;
	u64 owed_ps;

	if (!raidlab_cpu_on)
		return;
	owed_ps = cpu->system_ps + cpu->user_ps + raidlab_cpu_blocks() * raidlab_cpu_model.cost_ps[RAIDLAB_CPU_BLOCK];
	if (owed_ps < raidlab_cpu_model.grain_ps)
		return;
	if (may_pay())
		pay();
}

void raidlab_cpu_return_to_user(void)
{
	if (raidlab_cpu_on && current->thread.cpu.uncharged) {
		raidlab_cpu_collect();
		current->thread.cpu.uncharged = 0;
	}
	if (may_pay())
		pay();
}

void raidlab_cpu_block(void)
{
	u64 until_ns;

	if (!raidlab_cpu_on || is_idle_task(current))
		return;
	raidlab_cpu_collect();
	until_ns = book_debt();
	if (until_ns > current->thread.cpu.busy_until)
		current->thread.cpu.busy_until = until_ns;
}

void raidlab_cpu_woken(void)
{
	struct raidlab_cpu_task *cpu = &current->thread.cpu;

	raidlab_cpu_charge(RAIDLAB_CPU_SWITCH, 1);
	cpu->busy_until = max(cpu->busy_until, cpu->woken_ns);
	cpu->woken_ns = 0;
	/* What is left is waited for with the next payment. */
	if (cpu->busy_until > time_travel_now() + raidlab_cpu_model.grain_ps / 1000 && may_pay())
		compute_until(cpu->busy_until);
}

/* Workers that are bound to a core are woken on that of the one who queues: its turn comes when that sleeps. */
static bool is_bound_worker(struct task_struct *task)
{
	return (task->flags & PF_WQ_WORKER) && !strncmp(task->comm, "kworker/", 8) && task->comm[8] != 'u';
}

/*
 * A core that is idle at a time; none if all are busy, or being woken for another task. The core that runs the current task
 * is not idle, though nothing is booked for that.
 */
static int idle_core(u64 at_ns)
{
	u32 busy = in_an_interrupt() || is_idle_task(current) ? 0 : 1, i;
	int idle = -1;

	for (i = 0; i < raidlab_cpu_model.cores; i++) {
		if (core_free_ns[i] > at_ns || core_waking_ns[i] > at_ns)
			busy++;
		else if (idle < 0)
			idle = i;
	}
	return busy < raidlab_cpu_model.cores ? idle : -1;
}

void raidlab_cpu_wakes(struct task_struct *task)
{
	struct raidlab_cpu_task *cpu = &task->thread.cpu;
	u64 at_ns;
	int core;

	/* Who computes is awake. */
	if (!raidlab_cpu_on || task == current || cpu->paying || is_idle_task(task))
		return;
	at_ns = time_travel_now() + raidlab_cpu_lag_ns();
	core = is_bound_worker(task) ? -1 : idle_core(at_ns);
	if (raidlab_cpu_model.cost_ps[RAIDLAB_CPU_WAKEUP] && core >= 0) {
		raidlab_cpu_total.count[RAIDLAB_CPU_WAKEUP]++;
		at_ns += raidlab_cpu_model.cost_ps[RAIDLAB_CPU_WAKEUP] / 1000;
		core_waking_ns[core] = at_ns;
	}
	cpu->woken_ns = at_ns;
}

/* What interrupts owe falls to a task, whoever it is. */
static void take_over(struct task_struct *task)
{
	if (!raidlab_cpu_interrupt_ps || is_idle_task(task))
		return;
	raidlab_cpu_total.moved_ns += raidlab_cpu_interrupt_ps / 1000;
	task->thread.cpu.system_ps += raidlab_cpu_interrupt_ps;
	raidlab_cpu_interrupt_ps = 0;
}

void raidlab_cpu_switch(struct task_struct *from, struct task_struct *to)
{
	struct raidlab_cpu_task *cpu = &from->thread.cpu;

	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_collect();
	if (READ_ONCE(from->__state) == TASK_DEAD) {
		raidlab_cpu_interrupt_ps += cpu->system_ps + cpu->user_ps;
		cpu->system_ps = cpu->user_ps = 0;
	}
	take_over(to);
}

void raidlab_cpu_interrupt_begins(void)
{
	/* Only the outermost finds blocks that are not an interrupt's. */
	if (raidlab_cpu_on && !in_an_interrupt())
		raidlab_cpu_collect();
}

void raidlab_cpu_interrupt_ends(void)
{
	if (!raidlab_cpu_on)
		return;
	if (in_interrupt()) {
		/* Within another. */
		raidlab_cpu_collect();
		return;
	}
	raidlab_cpu_collect_to(&raidlab_cpu_interrupt_ps);
	take_over(current);
}

void raidlab_cpu_idle(void)
{
	u64 ns = raidlab_cpu_interrupt_ps / 1000;

	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_collect();
	if (!ns)
		return;
	/* Interrupts after which no task had anything to do: they took a core nevertheless. */
	raidlab_cpu_interrupt_ps -= ns * 1000;
	book(ns, time_travel_now());
	raidlab_cpu_total.charged_ns += ns;
	kcpustat_this_cpu->cpustat[CPUTIME_IRQ] += ns;
}

u64 raidlab_cpu_lag_ns(void)
{
	u64 ps, now = time_travel_now(), start;

	if (!raidlab_cpu_on)
		return 0;
	raidlab_cpu_collect();
	if (in_an_interrupt() || is_idle_task(current))
		return raidlab_cpu_interrupt_ps / 1000;
	ps = current->thread.cpu.system_ps + current->thread.cpu.user_ps;
	start = max(*first_free(), current->thread.cpu.busy_until);
	return ps / 1000 + (start > now ? start - now : 0);
}
