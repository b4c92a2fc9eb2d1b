// SPDX-License-Identifier: GPL-2.0
/*
 * The init's program runs in the process of the kernel.
 *
 * Every other program of a guest has a process of the host, which the kernel stops and continues by ptrace: three calls and
 * two switches between processes for each system call. The init is raidlab's own program, and most system calls of a trial
 * are its own. Its memory is mapped into the address space of the kernel, at the same addresses, and it runs on the kernel's
 * thread. Its system calls arrive as SIGSYS (Syscall User Dispatch, Linux 5.11), its page faults as SIGSEGV. Those that it makes
 * most often it makes by a jump to raidlab_init_call, without a signal. The guest's kernel does the same for it in all ways, in
 * the same virtual time. Where the host lacks what is needed, the init has a process like all others.
 *
 * Compiled against the host's libc.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <as-layout.h>
#include <longjmp.h>
#include <os.h>
#include <sysdep/mcontext.h>
#include <sysdep/ptrace.h>
#include "init.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif
#define ALLOW 0			/* SYSCALL_DISPATCH_FILTER_ALLOW */
#define BLOCK 1			/* SYSCALL_DISPATCH_FILTER_BLOCK */
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

/* Where a signal frame's floating-point state describes itself (struct _fpx_sw_bytes), and what begins and ends it. */
#define SW_OFFSET 464
#define SW_BYTES 48
#define SW_SIZE 16		/* in these bytes: the size of the state */
#define FP_MAGIC1 0x46505853U
#define FP_MAGIC2 0x46505845U
#define FXSAVE_BYTES 512

/* What the process of a kernel maps in addition to the guest's memory, at most: contents of disks, for example. */
#define OWN_BYTES (64UL << 30)

/* BLOCK while the init's program runs. */
volatile unsigned char raidlab_init_selector;

/* What rt_sigreturn() reads: the frame of a real signal, and the registers with which the program continues. */
static ucontext_t frame;
/* Not in the kernel's image, whose size the guest's memory lacks. */
static unsigned char *frame_fp;
static unsigned char frame_sw[SW_BYTES];
static unsigned int fp_bytes;

/* In gp[HOST_R11] of registers that raidlab_init_call() has saved. */
#define CALLED 0x64656c6c61632021UL

/* What the assembler uses. */
unsigned long raidlab_init_kernel_fs;
jmp_buf raidlab_init_back;
struct uml_pt_regs *raidlab_init_user;

static siginfo_t info;

static unsigned long fs_base(void)
{
	unsigned long fs;

	asm volatile("rdfsbase %0" : "=r"(fs));
	return fs;
}

static void set_fs_base(unsigned long fs)
{
	asm volatile("wrfsbase %0" : : "r"(fs) : "memory");
}

extern char raidlab_init_resume[], raidlab_init_resume_call[], raidlab_init_resume_end[];
extern char raidlab_init_call[], raidlab_init_call_end[], raidlab_init_return[], raidlab_init_return_end[];

static int is_within(unsigned long ip, const char *start, const char *end)
{
	return ip >= (unsigned long)start && ip < (unsigned long)end;
}

#define GP(N) [gp_##N] "i"(HOST_##N * sizeof(long))

/*
 * raidlab_init_call: the init's program jumps here in place of an instruction `syscall`, with the same registers, and with the
 * address after that instruction in RCX. It takes all registers that functions may change for lost, so floating-point state does
 * not matter. A call that is to be restarted is the instruction's.
 */
static void __attribute__((__used__, __noinline__, __noclone__)) call(void)
{
	asm volatile(
		"raidlab_init_call:\n"
		"	movq raidlab_init_user, %%r11\n"
		"	movq %%rax, %c[gp_ORIG_AX](%%r11)\n"
		"	movq %%rdi, %c[gp_DI](%%r11)\n"
		"	movq %%rsi, %c[gp_SI](%%r11)\n"
		"	movq %%rdx, %c[gp_DX](%%r11)\n"
		"	movq %%r10, %c[gp_R10](%%r11)\n"
		"	movq %%r8, %c[gp_R8](%%r11)\n"
		"	movq %%r9, %c[gp_R9](%%r11)\n"
		"	movq %%rbx, %c[gp_BX](%%r11)\n"
		"	movq %%rbp, %c[gp_BP](%%r11)\n"
		"	movq %%r12, %c[gp_R12](%%r11)\n"
		"	movq %%r13, %c[gp_R13](%%r11)\n"
		"	movq %%r14, %c[gp_R14](%%r11)\n"
		"	movq %%r15, %c[gp_R15](%%r11)\n"
		"	movq %%rsp, %c[gp_SP](%%r11)\n"
		"	movq %%rcx, %c[gp_IP](%%r11)\n"
		"	movq %%rcx, %c[gp_CX](%%r11)\n"
		"	movq %[called], %%rcx\n"
		"	movq %%rcx, %c[gp_R11](%%r11)\n"
		"	rdfsbase %%rcx\n"
		"	movq %%rcx, %c[gp_FS](%%r11)\n"
		"	movq raidlab_init_kernel_fs, %%rcx\n"
		"	wrfsbase %%rcx\n"
		"	movb %[allow], raidlab_init_selector\n"
		"raidlab_init_call_end:\n"
		"	movq raidlab_init_back + %c[saved_sp], %%rsp\n"
		"	movl %[sig], %%esi\n"
		"	movl $raidlab_init_back, %%edi\n"
		"	jmp kernel_longjmp\n"
		:
		: GP(ORIG_AX), GP(DI), GP(SI), GP(DX), GP(R10), GP(R8), GP(R9), GP(BX), GP(BP), GP(R12), GP(R13), GP(R14),
		  GP(R15), GP(IP), GP(CX), GP(SP), GP(R11), [gp_FS] "i"(HOST_FS_BASE * sizeof(long)), [called] "i"(CALLED),
		  [allow] "i"(ALLOW), [saved_sp] "i"(__builtin_offsetof(struct __jmp_buf, __rsp)), [sig] "i"(SIGSYS)
		: "memory");
}

/* The return from it. */
static void __attribute__((__noreturn__, __noinline__, __noclone__)) return_from_call(struct uml_pt_regs *regs)
{
	asm volatile(
		"raidlab_init_return:\n"
		"	movq %c[gp_AX](%%rdi), %%rax\n"
		"	movq %c[gp_BX](%%rdi), %%rbx\n"
		"	movq %c[gp_BP](%%rdi), %%rbp\n"
		"	movq %c[gp_R12](%%rdi), %%r12\n"
		"	movq %c[gp_R13](%%rdi), %%r13\n"
		"	movq %c[gp_R14](%%rdi), %%r14\n"
		"	movq %c[gp_R15](%%rdi), %%r15\n"
		"	movq %c[gp_IP](%%rdi), %%rcx\n"
		"	movq %c[gp_FS](%%rdi), %%rdx\n"
		"	movb %[block], raidlab_init_selector\n"
		"	wrfsbase %%rdx\n"
		"	movq %c[gp_SP](%%rdi), %%rsp\n"
		"	jmp *%%rcx\n"
		"raidlab_init_return_end:\n"
		:
		: "D"(regs->gp), GP(AX), GP(BX), GP(BP), GP(R12), GP(R13), GP(R14), GP(R15), GP(IP), [gp_FS] "i"(HOST_FS_BASE * sizeof(long)), GP(SP),
		  [block] "i"(BLOCK)
		: "memory");
	__builtin_unreachable();
}

/* Continues the program. rt_sigreturn() is the one call that is never dispatched. */
static void __attribute__((__noreturn__, __noinline__, __noclone__)) resume(unsigned long fs)
{
	asm volatile(
		"raidlab_init_resume:\n"
		"	movb %[block], raidlab_init_selector\n"
		"	wrfsbase %[fs]\n"
		"	movq %[frame], %%rsp\n"
		"	movl %[call], %%eax\n"
		"raidlab_init_resume_call:\n"
		"	syscall\n"
		"raidlab_init_resume_end:\n"
		"	ud2\n"
		:
		: [block] "i"(BLOCK), [fs] "r"(fs), [frame] "r"(&frame), [call] "i"(SYS_rt_sigreturn)
		: "memory");
	__builtin_unreachable();
}

static void fill_frame(const struct uml_pt_regs *regs)
{
	static const unsigned int end = FP_MAGIC2;
	greg_t *to = frame.uc_mcontext.gregs;
	const unsigned long *gp = regs->gp;

#define NAMED(X) to[REG_R##X] = gp[HOST_##X]
#define NUMBERED(N) to[REG_R##N] = gp[HOST_R##N]
	NAMED(AX); NAMED(BX); NAMED(CX); NAMED(DX); NAMED(SI); NAMED(DI); NAMED(BP); NAMED(SP); NAMED(IP);
	NUMBERED(8); NUMBERED(9); NUMBERED(10); NUMBERED(11); NUMBERED(12); NUMBERED(13); NUMBERED(14); NUMBERED(15);
#undef NAMED
#undef NUMBERED
	to[REG_EFL] = gp[HOST_EFLAGS];
	memcpy(frame_fp, regs->fp, fp_bytes);
	memcpy(frame_fp + SW_OFFSET, frame_sw, SW_BYTES);
	if (fp_bytes > FXSAVE_BYTES)
		memcpy(frame_fp + fp_bytes, &end, sizeof(end));
}

int raidlab_init_run(struct uml_pt_regs *regs, siginfo_t *si)
{
	int sig = setjmp(raidlab_init_back);

	if (!sig) {
		raidlab_init_user = regs;
		if (regs->gp[HOST_R11] == CALLED && regs->gp[HOST_CX] == regs->gp[HOST_IP])
			return_from_call(regs);
		fill_frame(regs);
		resume(regs->gp[HOST_FS_BASE]);
	}
	if (sig != SIGSYS)
		*si = info;
	return sig;
}

int raidlab_init_signal(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	mcontext_t *mc = &uc->uc_mcontext;
	unsigned long ip = mc->gregs[REG_RIP], sp = mc->gregs[REG_RSP];
	unsigned long stack = (unsigned long)frame.uc_stack.ss_sp;
	unsigned long fs;

	/* Of the program, although another signal has come before this one's handler: SIGSYS by Syscall User Dispatch. */
	if (raidlab_init_selector != BLOCK && !(sig == SIGSYS && si->si_code == SYS_USER_DISPATCH))
		return 0;
	fs = fs_base();
	set_fs_base(raidlab_init_kernel_fs);
	raidlab_init_selector = ALLOW;
	if (sp - stack < frame.uc_stack.ss_size || is_within(ip, raidlab_init_call, raidlab_init_call_end)) {
		/* On the way into the kernel: in another signal's call of this function, before the line above, or in a call. */
		mark_sigio_pending();
		set_fs_base(fs);
		return 1;
	}
	/* On the way out of the kernel, the registers are still in memory. */
	if (!is_within(ip, raidlab_init_resume, raidlab_init_resume_end + 1) &&
	    !is_within(ip, raidlab_init_return, raidlab_init_return_end)) {
		get_regs_from_mc(raidlab_init_user, mc);
		raidlab_init_user->gp[HOST_FS_BASE] = fs;
		raidlab_init_user->gp[HOST_ORIG_AX] = sig == SIGSYS ? mc->gregs[REG_RAX] : -1;
		GET_FAULTINFO_FROM_MC(raidlab_init_user->faultinfo, mc);
		memcpy(raidlab_init_user->fp, mc->fpregs, fp_bytes);
	}
	if (sig != SIGSYS) {
		info = *si;
		/* The handlers of all signals but SIGSYS block some. */
		sigprocmask(SIG_SETMASK, &frame.uc_sigmask, NULL);
	}
	longjmp(raidlab_init_back, sig);
	__builtin_unreachable();
}

static void learn_frame(const ucontext_t *uc)
{
	unsigned int magic;

	frame = *uc;
	memcpy(frame_sw, (char *)uc->uc_mcontext.fpregs + SW_OFFSET, SW_BYTES);
	memcpy(&magic, frame_sw, sizeof(magic));
	fp_bytes = FXSAVE_BYTES;
	if (magic == FP_MAGIC1)
		memcpy(&fp_bytes, frame_sw + SW_SIZE, sizeof(fp_bytes));
}

static void sigsys(int sig, siginfo_t *si, void *context)
{
	static const char message[] = "raidlab: SIGSYS in the guest's kernel\n";

	if (!fp_bytes)
		learn_frame(context);
	else if (!raidlab_init_signal(sig, si, context))
		_exit(write(2, message, sizeof(message) - 1) < 0 ? 2 : 1);
}

int raidlab_init_prepare(unsigned long room, unsigned long task_size)
{
	struct sigaction action = {
		.sa_sigaction = sigsys,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	/* What this process maps itself, from above, must not reach the init's addresses. */
	void *lowest = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (lowest == MAP_FAILED || munmap(lowest, 1) < 0 || (unsigned long)lowest < task_size + OWN_BYTES)
		return -1;
	if (getenv("RAIDLAB_PTRACE") || !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		return -1;
	if (sigaction(SIGSYS, &action, NULL) < 0 || kill(getpid(), SIGSYS) < 0)
		return -1;
	if (!fp_bytes || fp_bytes > room)
		return -1;
	frame_fp = mmap(NULL, fp_bytes + sizeof(FP_MAGIC2), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (frame_fp == MAP_FAILED)
		return -1;
	frame.uc_mcontext.fpregs = (void *)frame_fp;
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, raidlab_init_resume_call,
		  raidlab_init_resume_end - raidlab_init_resume_call + 1, &raidlab_init_selector) < 0)
		return -1;
	raidlab_init_kernel_fs = fs_base();
	/* User-Mode Linux has handlers that end it in good order, which they could not on the program's stack. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return 0;
}

unsigned long raidlab_init_entry(void)
{
	return raidlab_init_kernel_fs ? (unsigned long)raidlab_init_call : 0;
}

unsigned long raidlab_init_enter_kernel(void)
{
	unsigned long fs;

	if (!raidlab_init_kernel_fs)
		return 0;
	fs = fs_base();
	set_fs_base(raidlab_init_kernel_fs);
	return fs;
}

void raidlab_init_leave_kernel(unsigned long fs)
{
	if (fs)
		set_fs_base(fs);
}
