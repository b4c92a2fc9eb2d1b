/* Tasks that have values in vector registers while they are in system calls. Ends with 0 if none of them changes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static int wrong;

/* A system call without arguments with this value in xmm8; 1 if the register has another one afterwards. */
static int changed(long call, long value, long *result)
{
	long after;

	asm volatile("movq %2, %%xmm8\n\tsyscall\n\tmovq %%xmm8, %1"
		     : "=a"(*result), "=r"(after)
		     : "r"(value), "0"(call)
		     : "rcx", "r11", "xmm8", "memory");
	return after != value;
}

/* The child of a vfork, which runs in the address space of its parent, sets the register and exits. */
static int changed_by_vfork(long value)
{
	long after, child = SYS_vfork;

	asm volatile("movq %2, %%xmm8\n\tsyscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\t"
		     "pcmpeqd %%xmm8, %%xmm8\n\txor %%edi, %%edi\n\tmov %3, %%eax\n\tsyscall\n"
		     "1:\tmovq %%xmm8, %1"
		     : "+a"(child), "=&r"(after)
		     : "r"(value), "i"(SYS_exit)
		     : "rcx", "r11", "rdi", "xmm8", "memory");
	waitpid(child, NULL, 0);
	return after != value;
}

static void handler(int number)
{
	long result;

	__sync_fetch_and_or(&wrong, 8 * changed(SYS_sched_yield, -number, &result));
}

static void *thread(void *argument)
{
	long result, number = (long)argument;

	for (long turn = 0; turn < 500; turn++)
		__sync_fetch_and_or(&wrong, changed(SYS_sched_yield, number << 32 | turn, &result));
	return NULL;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler};
	struct itimerval interval = {{0, 100}, {0, 100}};
	pthread_t threads[3];
	long child;
	int status, turn;

	for (long number = 0; number < 3; number++)
		if (pthread_create(&threads[number], NULL, thread, (void *)(number + 1)))
			return 99;
	for (turn = 0; turn < 3; turn++)
		pthread_join(threads[turn], NULL);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	thread((void *)7);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);

	for (turn = 0; turn < 20; turn++) {
		/* Both have the register as the parent set it. */
		wrong |= 2 * changed(SYS_fork, 0x1234567 + turn, &child);
		if (child == 0)
			_Exit(wrong);
		waitpid(child, &status, 0);
		wrong |= WEXITSTATUS(status) | (child < 0 ? 64 : 0);
		wrong |= 4 * changed_by_vfork(0x7654321 + turn);
	}
	printf("wrong: %d\n", wrong);
	return wrong;
}
