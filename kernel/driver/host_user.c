// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the driver that speaks to the host: compiled against its libc, knows nothing of the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "raidlab.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

void *rl_host_slurp(int fd, rl_u64 *length)
{
	struct stat st;
	void *data;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return NULL;
	data = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return NULL;
	*length = st.st_size;
	return data;
}

int rl_host_read(int fd, rl_u64 offset, void *data, rl_u64 length)
{
	rl_u64 done = 0;

	while (done < length) {
		ssize_t n = pread(fd, (char *)data + done, length - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			return 0;
		done += n;
	}
	return 0;
}

int rl_host_ram(rl_u64 length)
{
	int fd = fcntl(RL_FD_RAM, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0 && ftruncate(fd, length) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Of a mapping of the file's bytes from `from` to `end`: maps the pages that the file already has, which costs less than a fault
 * for each, and clears them if asked to.
 */
static void map_pages(int fd, void *mapping, rl_u64 from, rl_u64 end, int clear)
{
	off_t begin, hole;

	for (begin = lseek(fd, from, SEEK_DATA); begin >= 0 && begin < end; begin = lseek(fd, hole, SEEK_DATA)) {
		char *data = (char *)mapping + (begin - from);

		hole = lseek(fd, begin, SEEK_HOLE);
		if (hole < 0 || hole > end)
			hole = end;
		/* Reading maps several pages with one fault. Hosts before Linux 5.14 lack the advice. */
		madvise(data, hole - begin, MADV_POPULATE_READ);
		if (clear)
			memset(data, 0, hole - begin);
	}
}

void rl_host_clear_ram(int fd, void *mapping, rl_u64 from, rl_u64 end)
{
	/* Some of it is mapped later. */
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, from);
	map_pages(fd, mapping, from, end, 1);
}

void *rl_host_map(rl_u64 length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Every process of the guest begins as a clone of this one: do not copy page tables for nothing. */
	madvise(p, length, MADV_DONTFORK);
	return p;
}

static void *map_shared(int fd, rl_u64 offset, rl_u64 length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, length, MADV_DONTFORK);
	return p;
}

/* Reported to the program outside; the guest sees only an I/O error. */
static void *no_room(void)
{
	static struct rl_heartbeat *heartbeat;

	if (!heartbeat)
		heartbeat = rl_host_heartbeat();
	if (heartbeat)
		heartbeat->no_room = 1;
	return NULL;
}

/* Segments that a guest with states can have; one has 32 MiB. */
#define PRIVATE_SEGMENTS 1024

/* A copy of a segment, made when it is written to. Earlier changes go. */
static void *private_segment(rl_u64 index, rl_u64 in_memory, rl_u64 length)
{
	static void *known[PRIVATE_SEGMENTS];
	int fd = index < in_memory ? RL_FD_MEMORY : RL_FD_SPILL;
	rl_u64 offset = (index < in_memory ? index : index - in_memory) * length;
	int flags = MAP_PRIVATE;
	struct stat st;
	void *p;

	if (index >= PRIVATE_SEGMENTS || fstat(fd, &st) < 0)
		return no_room();
	if (offset + length > (rl_u64)st.st_size)
		flags |= MAP_ANONYMOUS;
	if (known[index])
		flags |= MAP_FIXED;
	p = mmap(known[index], length, PROT_READ | PROT_WRITE, flags, flags & MAP_ANONYMOUS ? -1 : fd,
		 flags & MAP_ANONYMOUS ? 0 : offset);
	if (p == MAP_FAILED)
		return no_room();
	madvise(p, length, MADV_DONTFORK);
	known[index] = p;
	return p;
}

void *rl_host_segment(rl_u64 index, rl_u64 length)
{
	struct stat st;
	rl_u64 in_memory;
	void *segment;

	/* The memory file's size is the budget. */
	if (fstat(RL_FD_MEMORY, &st) < 0)
		return NULL;
	in_memory = st.st_size / length;
	if (rl_host_is_open(RL_FD_STATES) && !rl_host_is_open(RL_FD_POWER_CUT))
		return private_segment(index, in_memory, length);
	if (index < in_memory) {
		segment = map_shared(RL_FD_MEMORY, index * length, length);
		if (!segment)
			return no_room();
		map_pages(RL_FD_MEMORY, segment, index * length, (index + 1) * length, 0);
		return segment;
	}
	index -= in_memory;
	/* Room on the disk is taken now: a write into a hole on a full disk would be a SIGBUS. */
	if (posix_fallocate(RL_FD_SPILL, index * length, length))
		return no_room();
	segment = map_shared(RL_FD_SPILL, index * length, length);
	return segment ? segment : no_room();
}

int rl_host_empty_contents(void)
{
	if (ftruncate(RL_FD_CONTENTS, 0) < 0 || lseek(RL_FD_CONTENTS, 0, SEEK_SET) < 0)
		return -1;
	return 0;
}

rl_s32 rl_host_keep(const void *data, rl_u64 length)
{
	return rl_host_write(RL_FD_CONTENTS, data, length) < 0 ? -1 : 0;
}

/* Where the state that is being written begins. */
static off_t state_at;

int rl_host_begin_state(void)
{
	struct rl_state none = { 0 };

	state_at = lseek(RL_FD_STATES, 0, SEEK_END);
	if (state_at < 0)
		return -1;
	return rl_host_write(RL_FD_STATES, &none, sizeof(none)) < 0 ? -1 : 0;
}

rl_s32 rl_host_keep_state(const void *data, rl_u64 length)
{
	return rl_host_write(RL_FD_STATES, data, length) < 0 ? -1 : 0;
}

int rl_host_end_state(const struct rl_power_cut *cut, rl_u64 events_bytes)
{
	off_t end = lseek(RL_FD_STATES, 0, SEEK_END);
	struct rl_state state = {
		.at_ns = cut->at_ns,
		.seed = cut->seed,
		.events_bytes = events_bytes,
		.length = end - state_at - sizeof(state),
	};

	if (end < 0 || pwrite(RL_FD_STATES, &state, sizeof(state), state_at) != sizeof(state))
		return -1;
	return 0;
}

struct rl_heartbeat *rl_host_heartbeat(void)
{
	return map_shared(RL_FD_HEARTBEAT, 0, 4096);
}

long rl_host_write(int fd, const void *data, unsigned long length)
{
	unsigned long done = 0;

	while (done < length) {
		ssize_t n = write(fd, (const char *)data + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += n;
	}
	return done;
}

int rl_host_is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

void rl_host_say(const char *message, rl_u64 length)
{
	rl_host_write(STDERR_FILENO, message, length);
	rl_host_write(STDERR_FILENO, "\n", 1);
}

void rl_host_exit(int status)
{
	_exit(status);
}
