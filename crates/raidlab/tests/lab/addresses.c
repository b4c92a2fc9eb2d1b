/* A program that takes addresses at which a guest's kernel and its init are. Ends with 0 if its memory keeps what is written. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (1L << 20)

static volatile int over;
static int wrong;

/* Another task in the same address space, which is in a system call when that moves. */
static void *yields(void *argument)
{
	char before[64], text[64] = "what a thread has on its stack";

	memcpy(before, text, sizeof(text));
	while (!over)
		sched_yield();
	__sync_fetch_and_or(&wrong, memcmp(before, text, sizeof(text)) ? 1 : 0);
	return NULL;
}

static int keeps(unsigned long address, int flags, int value)
{
	char *memory = mmap((void *)address, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	memset(memory, value, BYTES);
	sched_yield();
	return memory[0] == value && memory[BYTES - 1] == value;
}

int main(void)
{
	pthread_t thread;
	int child, status, mark = 4711;
	char *heap = strdup("what was allocated before");

	if (pthread_create(&thread, NULL, yields, NULL))
		return 99;
	sched_yield();
	/* The kernel's image, the guest's memory, the init's program, and its stack: 512 GiB are the end. */
	wrong |= 2 * !keeps(0x60000000, MAP_FIXED, 1);
	wrong |= 4 * !keeps(0x70000000, 0, 2);
	wrong |= 8 * !keeps(0x1000000000, MAP_FIXED, 3);
	wrong |= 16 * (mark != 4711 || strcmp(heap, "what was allocated before"));
	child = fork();
	if (child == 0)
		_exit(*(char *)0x60000000 != 1 || *(char *)0x1000000000 != 3);
	waitpid(child, &status, 0);
	wrong |= 32 * (status != 0);
	over = 1;
	pthread_join(thread, NULL);
	printf("wrong: %d\n", wrong);
	return wrong;
}
