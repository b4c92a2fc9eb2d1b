// SPDX-License-Identifier: GPL-2.0
/*
 * Processor time in virtual time.
 *
 * In User-Mode Linux's virtual time code takes no time. Here it does: what a task does is charged to it, and it pays
 * where it may sleep: before it returns to user space, where it may be rescheduled, and when it blocks.
 *
 * A debt is paid on the core that is free first: from then, or from now, the core is taken for as long as the debt,
 * and the task goes on when that is over. The order in which tasks come to pay is the order in which they are served.
 * Debts are small (see grain_ns), so cores are shared about as a scheduler with short slices would share them.
 *
 * A task that blocks has its debt booked in the same way, and when it is woken before the end of that it goes on only
 * then. What interrupts cost falls to the task that runs after them. Nothing is dropped: a fraction of a nanosecond is
 * carried on, what a task owes that ends is paid by the next.
 *
 * A task that is woken goes on when the one that woke it would have got there; if a core was idle then, it takes a
 * while longer until that core runs it. It is not made to sleep for less than a payment's worth: what it does is booked
 * from that moment on.
 *
 * Which bytes are in the caches is known by the page (see in_cache()).
 *
 * All is in integers and depends on nothing but what the guest executes.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kernel_stat.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/raid/pq.h>
#include <linux/raidlab-cpu.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/time-internal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <as-layout.h>
#include <asm/unistd.h>

#define CORES_MAX 256
/* Reads of a clock that stands still, in a row, before it is moved: somebody waits for it. */
#define CLOCK_READS 1000

static const char *const raidlab_cpu_names[RAIDLAB_CPU_COSTS] = {
	"call", "user", "fio", "clock", "fault", "switch", "wakeup", "interrupt", "request", "block",
	"memory", "memory_read", "memory_write", "copy", "zero", "scan", "xor", "pq", "pq_recover", "crc32", "sha256", "xxhash", "blake2b",
	"zstd", "unzstd", "lz4", "unlz4", "zlib", "unzlib", "lzo", "unlzo",
};

/* Picoseconds for each, from the kernel's command line. */
static u64 cost_ps[RAIDLAB_CPU_COSTS];
static u32 cores;
/* A task that may sleep pays once it owes this. */
static u64 grain_ps = 5000 * 1000;

int raidlab_cpu_on;

/*
 * Basic blocks that were executed, and those that have been charged. The former is counted in all of the kernel:
 * count-in-line puts the increment into its code.
 */
u64 raidlab_blocks;
EXPORT_SYMBOL(raidlab_blocks);
static u64 blocks_charged;

/* What interrupts owe, until a task takes it over. */
static u64 interrupt_ps;

/* When each core is free. */
static u64 core_free_ns[CORES_MAX];

/* What the program outside reads; order of the ioctl. */
static struct {
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
} total;

static u32 window;
static char busiest[TASK_COMM_LEN];

void __sanitizer_cov_trace_pc(void);
void notrace __sanitizer_cov_trace_pc(void)
{
	raidlab_blocks++;
}
EXPORT_SYMBOL(__sanitizer_cov_trace_pc);

static bool in_an_interrupt(void)
{
	return in_hardirq() || in_serving_softirq();
}

/* Charges the blocks that are not charged yet to an account. */
static void collect_to(u64 *account_ps)
{
	u64 n = raidlab_blocks - blocks_charged;

	blocks_charged = raidlab_blocks;
	*account_ps += n * cost_ps[RAIDLAB_CPU_BLOCK];
	total.count[RAIDLAB_CPU_BLOCK] += n;
}

/* Whoever executes has executed them. */
static void collect(void)
{
	if (in_an_interrupt())
		collect_to(&interrupt_ps);
	else if (is_idle_task(current))
		blocks_charged = raidlab_blocks;
	else
		collect_to(&current->thread.cpu.system_ps);
}

void raidlab_cpu_charge(enum raidlab_cpu_cost cost, unsigned long n)
{
	u64 ps = n * cost_ps[cost];

	if (!raidlab_cpu_on)
		return;
	total.count[cost] += n;
	if (in_an_interrupt() || is_idle_task(current))
		interrupt_ps += ps;
	else if (cost == RAIDLAB_CPU_USER || cost == RAIDLAB_CPU_FIO)
		current->thread.cpu.user_ps += ps;
	else
		current->thread.cpu.system_ps += ps;
}
EXPORT_SYMBOL(raidlab_cpu_charge);

/*
 * The caches, as one that forgets the page that was used least recently: of each page of memory, how many pages had
 * come into the cache when it was last used. Partly used pages count as a whole.
 */
static u32 *used_at;
static u64 pages_of_memory;
static u32 cache_pages, came;

static bool in_cache(const void *address)
{
	u64 page = ((unsigned long)address - uml_physmem) >> PAGE_SHIFT;
	bool is;

	if (page >= pages_of_memory)
		return true;
	is = used_at[page] && came - used_at[page] < cache_pages;
	if (!is)
		came++;
	used_at[page] = came;
	return is;
}

/* Bytes of a range that are in no cache; now they are. */
static unsigned long missing(const void *address, unsigned long n)
{
	unsigned long piece, sum = 0;

	for (; n; address += piece, n -= piece) {
		piece = min(n, PAGE_SIZE - offset_in_page(address));
		if (!in_cache(address))
			sum += piece;
	}
	return sum;
}

void raidlab_cpu_reads(enum raidlab_cpu_cost cost, const void *from, unsigned long n)
{
	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_charge(cost, n);
	raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_READ, missing(from, n));
}
EXPORT_SYMBOL(raidlab_cpu_reads);

void raidlab_cpu_writes(enum raidlab_cpu_cost cost, const void *to, unsigned long n)
{
	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_charge(cost, n);
	raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, missing(to, n));
}
EXPORT_SYMBOL(raidlab_cpu_writes);

void raidlab_cpu_copies(const void *to, const void *from, unsigned long n)
{
	unsigned long piece;
	bool to_cache, from_cache;

	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_charge(RAIDLAB_CPU_COPY, n);
	for (; n; to += piece, from += piece, n -= piece) {
		piece = min3(n, PAGE_SIZE - offset_in_page(from), PAGE_SIZE - offset_in_page(to));
		from_cache = in_cache(from);
		to_cache = in_cache(to);
		if (!from_cache && !to_cache)
			raidlab_cpu_charge(RAIDLAB_CPU_MEMORY, piece);
		else if (!from_cache)
			raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_READ, piece);
		else if (!to_cache)
			raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, piece);
	}
}
EXPORT_SYMBOL(raidlab_cpu_copies);

void raidlab_cpu_xors(unsigned int sources, unsigned int bytes, void *to, void **from)
{
	unsigned int i;

	if (!raidlab_cpu_on)
		return;
	for (i = 0; i < sources; i++)
		raidlab_cpu_reads(RAIDLAB_CPU_XOR, from[i], bytes);
	raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, missing(to, bytes));
}

void raidlab_cpu_kind_begins(void)
{
	if (raidlab_cpu_on)
		collect();
}

void raidlab_cpu_kind_ends(enum raidlab_cpu_cost cost)
{
	u64 n = raidlab_blocks - blocks_charged;

	if (!raidlab_cpu_on)
		return;
	blocks_charged = raidlab_blocks;
	raidlab_cpu_charge(cost, n);
}

static u64 *first_free(void)
{
	u64 *first = core_free_ns;
	u32 i;

	for (i = 1; i < cores; i++)
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
		total.waited_ns += *core - earliest_ns;
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
	total.user_ns += user_ns;
	total.charged_ns += system_ns;
	if (cpu->window != window) {
		cpu->window = window;
		cpu->window_ns = 0;
	}
	cpu->window_ns += user_ns + system_ns;
	if (cpu->window_ns > total.busiest_ns) {
		total.busiest_ns = cpu->window_ns;
		memcpy(busiest, task->comm, sizeof(busiest));
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
		total.skipped++;
		return;
	}
	total.slept++;
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

static bool may_pay(void)
{
	return raidlab_cpu_on && !irqs_disabled() && !preempt_count() && task_is_running(current) &&
	       !is_idle_task(current) && !current->thread.cpu.paying;
}

static void pay(void)
{
	u64 until_ns;

	collect();
	until_ns = book_debt();
	compute_until(max(until_ns, current->thread.cpu.busy_until));
}

void raidlab_cpu_safe_point(void)
{
	struct raidlab_cpu_task *cpu = &current->thread.cpu;

	if (!raidlab_cpu_on)
		return;
	if (cpu->system_ps + cpu->user_ps + (raidlab_blocks - blocks_charged) * cost_ps[RAIDLAB_CPU_BLOCK] < grain_ps)
		return;
	if (may_pay())
		pay();
}

void raidlab_cpu_return_to_user(void)
{
	if (may_pay())
		pay();
}

void raidlab_cpu_block(void)
{
	u64 until_ns;

	if (!raidlab_cpu_on || is_idle_task(current))
		return;
	collect();
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
	if (cpu->busy_until > time_travel_now() + grain_ps / 1000 && may_pay())
		compute_until(cpu->busy_until);
}

/* Workers that are bound to a core are woken on that of the one who queues: its turn comes when that sleeps. */
static bool is_bound_worker(struct task_struct *task)
{
	return (task->flags & PF_WQ_WORKER) && !strncmp(task->comm, "kworker/", 8) && task->comm[8] != 'u';
}

/* Whether a core is idle at a time; the one that runs the current task is not, though nothing is booked for that. */
static bool is_core_idle(u64 at_ns)
{
	u32 busy = in_an_interrupt() || is_idle_task(current) ? 0 : 1, i;

	for (i = 0; i < cores; i++)
		if (core_free_ns[i] > at_ns)
			busy++;
	return busy < cores;
}

void raidlab_cpu_wakes(struct task_struct *task)
{
	struct raidlab_cpu_task *cpu = &task->thread.cpu;
	u64 at_ns;

	/* Who computes is awake. */
	if (!raidlab_cpu_on || task == current || cpu->paying || is_idle_task(task))
		return;
	at_ns = time_travel_now() + raidlab_cpu_lag_ns();
	if (cost_ps[RAIDLAB_CPU_WAKEUP] && !is_bound_worker(task) && is_core_idle(at_ns)) {
		total.count[RAIDLAB_CPU_WAKEUP]++;
		at_ns += cost_ps[RAIDLAB_CPU_WAKEUP] / 1000;
	}
	cpu->woken_ns = at_ns;
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

void raidlab_cpu_call(int number)
{
	/* On a real machine these are no system calls. */
	if (number == __NR_clock_gettime || number == __NR_gettimeofday || number == __NR_time)
		return;
	raidlab_cpu_charge(RAIDLAB_CPU_CALL, 1);
	if (is_read_or_write(number) && !strcmp(current->comm, "fio"))
		raidlab_cpu_charge(RAIDLAB_CPU_FIO, 1);
	else
		raidlab_cpu_charge(RAIDLAB_CPU_USER, 1);
}

void raidlab_cpu_switch(struct task_struct *from, struct task_struct *to)
{
	struct raidlab_cpu_task *cpu = &from->thread.cpu;

	if (!raidlab_cpu_on)
		return;
	collect();
	if (READ_ONCE(from->__state) == TASK_DEAD) {
		interrupt_ps += cpu->system_ps + cpu->user_ps;
		cpu->system_ps = cpu->user_ps = 0;
	}
	if (interrupt_ps && !is_idle_task(to)) {
		total.moved_ns += interrupt_ps / 1000;
		to->thread.cpu.system_ps += interrupt_ps;
		interrupt_ps = 0;
	}
}

void raidlab_cpu_interrupt_begins(void)
{
	/* Only the outermost finds blocks that are not an interrupt's. */
	if (raidlab_cpu_on && !in_an_interrupt())
		collect();
}

void raidlab_cpu_interrupt_ends(void)
{
	if (!raidlab_cpu_on)
		return;
	if (in_interrupt()) {
		/* Within another. */
		collect();
		return;
	}
	collect_to(&interrupt_ps);
	/* The time of a task that computes by itself, whoever it is. */
	if (interrupt_ps && !is_idle_task(current)) {
		total.moved_ns += interrupt_ps / 1000;
		current->thread.cpu.system_ps += interrupt_ps;
		interrupt_ps = 0;
	}
}

void raidlab_cpu_idle(void)
{
	u64 ns = interrupt_ps / 1000;

	if (!raidlab_cpu_on)
		return;
	collect();
	if (!ns)
		return;
	/* Interrupts after which no task had anything to do: they took a core nevertheless. */
	interrupt_ps -= ns * 1000;
	book(ns, time_travel_now());
	total.charged_ns += ns;
	kcpustat_this_cpu->cpustat[CPUTIME_IRQ] += ns;
}

u64 raidlab_cpu_lag_ns(void)
{
	u64 ps, now = time_travel_now(), start;

	if (!raidlab_cpu_on)
		return 0;
	collect();
	if (in_an_interrupt() || is_idle_task(current))
		return interrupt_ps / 1000;
	ps = current->thread.cpu.system_ps + current->thread.cpu.user_ps;
	start = max(*first_free(), current->thread.cpu.busy_until);
	return ps / 1000 + (start > now ? start - now : 0);
}

void raidlab_cpu_for_all(u64 ns)
{
	if (raidlab_cpu_on)
		total.for_all_ns += ns;
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

/* --- what the init reads --- */

/* Out: the whole account. */
#define RL_CPU_ACCOUNT _IOR('r', 16, __u8[sizeof(total)])
/* Begins a window, in which the busiest task is looked for. */
#define RL_CPU_WINDOW _IO('r', 17)
/* Charges the caller so many nanoseconds of its own work in user space. */
#define RL_CPU_WORK _IO('r', 18)
/* Out: name of the busiest task. */
#define RL_CPU_BUSIEST _IOR('r', 19, __u8[TASK_COMM_LEN])

static long cpu_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case RL_CPU_ACCOUNT:
		return copy_to_user(user, &total, sizeof(total)) ? -EFAULT : 0;
	case RL_CPU_WINDOW:
		total.begun_ns = time_travel_now();
		total.busiest_ns = 0;
		memset(busiest, 0, sizeof(busiest));
		window++;
		return 0;
	case RL_CPU_WORK:
		current->thread.cpu.user_ps += (u64)arg * 1000;
		return 0;
	case RL_CPU_BUSIEST:
		return copy_to_user(user, busiest, sizeof(busiest)) ? -EFAULT : 0;
	}
	return -ENOTTY;
}

static const struct file_operations cpu_fops = {
	.unlocked_ioctl = cpu_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice cpu_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "raidlab-cpu",
	.fops = &cpu_fops,
	.mode = 0600,
};

/* --- RAID 6 syndromes: one place for md, device mapper and btrfs --- */

static struct raid6_calls plain;
static void (*plain_2data)(int, size_t, int, int, void **);
static void (*plain_datap)(int, size_t, int, void **);

/* Reads the data of some disks, writes P and Q. */
static void touch_all(int disks, size_t bytes, void **ptrs, int start, int stop)
{
	int i;

	for (i = start; i <= stop; i++)
		raidlab_cpu_reads(RAIDLAB_CPU_PQ, ptrs[i], bytes);
	for (i = disks - 2; i < disks; i++)
		raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, missing(ptrs[i], bytes));
}

static void gen_syndrome(int disks, size_t bytes, void **ptrs)
{
	touch_all(disks, bytes, ptrs, 0, disks - 3);
	plain.gen_syndrome(disks, bytes, ptrs);
}

static void xor_syndrome(int disks, int start, int stop, size_t bytes, void **ptrs)
{
	touch_all(disks, bytes, ptrs, start, stop);
	/* Reads P and Q besides. */
	raidlab_cpu_charge(RAIDLAB_CPU_PQ, bytes * 2);
	plain.xor_syndrome(disks, start, stop, bytes, ptrs);
}

static void recover_2data(int disks, size_t bytes, int faila, int failb, void **ptrs)
{
	raidlab_cpu_charge(RAIDLAB_CPU_PQ_RECOVER, 2 * bytes);
	plain_2data(disks, bytes, faila, failb, ptrs);
}

static void recover_datap(int disks, size_t bytes, int faila, void **ptrs)
{
	raidlab_cpu_charge(RAIDLAB_CPU_PQ_RECOVER, bytes);
	plain_datap(disks, bytes, faila, ptrs);
}

static void __init wrap_raid6(void)
{
	if (!raid6_call.gen_syndrome)
		return;
	plain = raid6_call;
	plain_2data = raid6_2data_recov;
	plain_datap = raid6_datap_recov;
	raid6_call.gen_syndrome = gen_syndrome;
	if (plain.xor_syndrome)
		raid6_call.xor_syndrome = xor_syndrome;
	if (plain_2data)
		raid6_2data_recov = recover_2data;
	if (plain_datap)
		raid6_datap_recov = recover_datap;
}

/* --- what the processor is like --- */

static int __init take(const char *name, u64 value)
{
	int i;

	if (!strcmp(name, "cores")) {
		if (value < 1 || value > CORES_MAX)
			return -ERANGE;
		cores = value;
		return 0;
	}
	if (!strcmp(name, "cache")) {
		/* KiB. */
		if (value >> 30)
			return -ERANGE;
		cache_pages = value >> (PAGE_SHIFT - 10);
		return 0;
	}
	if (!strcmp(name, "grain")) {
		grain_ps = value;
		return 0;
	}
	for (i = 0; i < RAIDLAB_CPU_COSTS; i++) {
		if (!strcmp(name, raidlab_cpu_names[i])) {
			cost_ps[i] = value;
			return 0;
		}
	}
	return -EINVAL;
}

/* raidlab_cpu=cores:8,call:95000,…: picoseconds for each. */
static int __init cpu_setup(char *text)
{
	char *word, *colon;
	u64 value;

	while ((word = strsep(&text, ",")) != NULL) {
		colon = strchr(word, ':');
		if (!colon)
			panic("raidlab_cpu: %s is no NAME:VALUE", word);
		*colon = 0;
		if (kstrtoull(colon + 1, 10, &value) || take(word, value))
			panic("raidlab_cpu: %s makes no sense", word);
	}
	return 1;
}
__setup("raidlab_cpu=", cpu_setup);

static int __init cpu_init(void)
{
	if (!cores)
		return 0;
	pages_of_memory = ((unsigned long)high_memory - uml_physmem) >> PAGE_SHIFT;
	used_at = vzalloc(pages_of_memory * sizeof(*used_at));
	if (!used_at)
		panic("raidlab_cpu: no memory");
	wrap_raid6();
	blocks_charged = raidlab_blocks;
	total.cores = cores;
	raidlab_cpu_on = 1;
	return misc_register(&cpu_device);
}
/* When all else is there: boot itself is free. */
late_initcall_sync(cpu_init);
