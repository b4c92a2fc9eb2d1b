/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the three parts of the driver say to each other: the kernel side (disk.c, channel.c), the host side
 * (host_user.c, compiled against the host's libc) and the disk model (Rust, model.o).
 */
#ifndef RAIDLAB_H
#define RAIDLAB_H

/* Both sides must agree on the types, and the host side has no <linux/types.h> of the kernel's. */
typedef unsigned char rl_u8;
typedef unsigned int rl_u32;
typedef int rl_s32;
typedef unsigned long long rl_u64;

/*
 * Files that the program which starts the guest leaves open under these numbers. Numbers and not paths, so that
 * nothing that differs from run to run is on the command line.
 */
#define RL_FD_DISKS 100		/* read: the description of the disks, for rl_open() */
#define RL_FD_JOB 101		/* read: what the guest's init is to do */
#define RL_FD_EVENTS 102	/* write: what the guest's init says */
#define RL_FD_MEMORY 103	/* map: contents of the disks, up to the budget */
#define RL_FD_SPILL 104		/* map: contents of the disks past the budget */
#define RL_FD_HEARTBEAT 105	/* map: one page, struct rl_heartbeat */
#define RL_FD_TRACE 106		/* write: struct rl_trace_record, one a request; need not be open */
#define RL_FD_INIT 107		/* execute: the guest's init, /raidlab-init (0008-init-by-number.patch) */
#define RL_FD_IMAGE 108		/* read: the memory of the program that the init loads; need not be open */

#define RL_FD_CONTENTS 109	/* read, write: which block of the contents lies where, from one guest to the next; need not be open */
#define RL_FD_POWER_CUT 110	/* read: one struct rl_power_cut or more, by time; need not be open */
/*
 * States of the disks, each a struct rl_state and what rl_restore() takes; need not be open. With RL_FD_POWER_CUT:
 * write, one at each power cut, and the guest goes on. Without: read, and RL_FD_MEMORY and RL_FD_SPILL stay unchanged.
 */
#define RL_FD_STATES 111
#define RL_FD_ROOT 112		/* read: struct rl_root_header, its entries, and their contents; need not be open */
#define RL_FD_RAM 113		/* map: the guest's RAM, with what an earlier guest left in it; need not be open */

/* Bytes of the memory that the init's program runs in, its stack included. */
#define RL_INIT_BYTES (64UL << 20)
/* In its first page: where it jumps to for system calls (init_user.c), or 0. */
#define RL_INIT_ENTRY 32

/* Begins RL_FD_ROOT. */
struct rl_root_header {
	rl_u64 memory_bytes;	/* reserved for the contents of files; a multiple of 4 MiB */
	rl_u64 entries;		/* their number; each folder precedes what is in it */
};

/* A folder, file or symbolic link of the guest's root. */
struct rl_root_entry {
	rl_u64 mode;		/* as in stat(2) */
	rl_u64 offset;		/* of the contents in RL_FD_ROOT; of a symbolic link: its target */
	rl_u64 length;
	char name[232];		/* path from the root, ended by a zero byte */
};

/* Signs of life for the program outside, in a page shared with it. */
struct rl_heartbeat {
	rl_u64 virtual_ns;
	rl_u64 requests;
	rl_u64 no_room;		/* contents were refused: neither memory nor the spill file has room */
	rl_u64 power_cut;	/* the guest ended as struct rl_power_cut says */
};

/* A power cut of the machine and all its disks. */
struct rl_power_cut {
	rl_u64 at_ns;		/* virtual time */
	rl_u64 seed;		/* decides what of the disks' caches survives */
};

/* Begins a state in RL_FD_STATES. */
struct rl_state {
	rl_u64 at_ns;		/* of its power cut */
	rl_u64 seed;
	rl_u64 events_bytes;	/* written to RL_FD_EVENTS until then */
	rl_u64 length;		/* of what follows */
};

/* One request as the trace has it; little-endian, as the machine is. */
struct rl_trace_record {
	rl_u64 submit_ns;
	rl_u64 complete_ns;
	rl_u64 sector;
	rl_u32 sectors;
	rl_u8 disk;
	rl_u8 op;
	rl_u8 fua;
	rl_u8 status;
};

/* What the block layer must know of a disk. */
struct rl_disk_info {
	rl_u64 sectors;
	rl_u32 queue_depth;
	rl_u32 physical_block_bytes;
	rl_u8 rotational;
	rl_u8 write_cache;
	rl_u8 fua;
	rl_u8 discard;
};

/* The end of a request; layout shared with the model. */
struct rl_completion {
	rl_u32 disk;
	rl_u32 tag;
	rl_u32 status;		/* 0 ok, 1 medium error, 2 device gone, 3 invalid */
};

#define RL_COUNTERS 16
#define RL_DIGEST_BYTES 16

/* --- the model (Rust) --------------------------------------------------------------------------------------- */
/* Number of disks, or -1 when the description makes no sense (why is said on the host's stderr). */
rl_s32 rl_open(const void *description, rl_u64 length);
/*
 * After rl_open(), without requests under way: the disks get the contents saved by an earlier guest, and begin anew
 * otherwise. 0, or -1 (with the reason on the host's stderr).
 */
rl_s32 rl_restore(const void *saved, rl_u64 length);
/* Passes what rl_restore() takes to rl_host_keep(). 0, or -1 without space. */
rl_s32 rl_save(void);
/* Before the first request: data in caches is distinguished from data on media, for rl_power_cut(). */
void rl_expect_power_cut(void);
/* Data in the disks' caches is lost, or in part. */
void rl_power_cut(rl_u64 seed, rl_u64 now_ns);
/* Passes the contents that the disks would have after a power cut to rl_host_keep_state(). 0, or -1 without room. */
rl_s32 rl_keep_state(rl_u64 seed, rl_u64 now_ns);
/* From now on each access of the disk's media takes so much longer; 0 ends that. */
void rl_delay(rl_u32 disk, rl_u64 access_ns, rl_u64 now_ns);
/* The disk takes no request for so long; if it dies then, every request fails afterwards. */
void rl_hang(rl_u32 disk, rl_u64 for_ns, rl_u8 dies, rl_u64 now_ns);
/* The disk ends flushes at once from now on, and writes nothing for them. */
void rl_ignore_flushes(rl_u32 disk, rl_u64 now_ns);
void rl_disk_info(rl_u32 disk, struct rl_disk_info *info);
void rl_submit(rl_u32 disk, rl_u32 tag, rl_u8 op, rl_u8 fua, rl_u64 sector, rl_u32 sectors, rl_u64 now_ns);
/* Virtual time of the model's next event; all ones if there is none. */
rl_u64 rl_next_event(void);
/* What completed until now; call again while it fills the array. */
rl_u32 rl_advance(rl_u64 now_ns, struct rl_completion *done, rl_u32 room);
/* Contents; 0, or -1 when no memory is left for them. */
rl_s32 rl_write(rl_u32 disk, rl_u64 sector, const void *data, rl_u32 length);
rl_s32 rl_read(rl_u32 disk, rl_u64 sector, void *data, rl_u32 length);
void rl_discard(rl_u32 disk, rl_u64 sector, rl_u64 sectors);
void rl_counters(rl_u32 disk, rl_u64 counters[RL_COUNTERS]);
void rl_digest(rl_u32 disk, rl_u8 digest[RL_DIGEST_BYTES]);

/* --- the host side (host_user.c) ---------------------------------------------------------------------------- */
/* The whole of a file, in memory of the host's; its length in *length. NULL if it cannot be read. */
void *rl_host_slurp(int fd, rl_u64 *length);
/* RL_FD_RAM under another number, with this length. Negative if it is not open. */
int rl_host_ram(rl_u64 length);
/* Clears the guest's RAM, of which the file's bytes from `from` to `end` are mapped. */
void rl_host_clear_ram(int fd, void *mapping, rl_u64 from, rl_u64 end);
/* Memory that is not the guest's: zeroed, never moved, not copied when a process is cloned. NULL if none. */
void *rl_host_map(rl_u64 length);
/*
 * Segment of the disks' contents, with what an earlier guest left in it, whichever disks that had. NULL if neither memory nor the
 * spill file has room. The memory budget is so many whole segments; later ones go to the spill file. A guest that reads states gets
 * a copy of its own, at each call the same memory as it was at first.
 */
void *rl_host_segment(rl_u64 index, rl_u64 length);
/* Empties RL_FD_CONTENTS. 0, or -1. */
int rl_host_empty_contents(void);
/* Appends to RL_FD_CONTENTS. 0, or -1 without space. */
rl_s32 rl_host_keep(const void *data, rl_u64 length);
/* Begins a state in RL_FD_STATES, appends to it, and ends it, after which it counts. 0, or -1 without space. */
int rl_host_begin_state(void);
rl_s32 rl_host_keep_state(const void *data, rl_u64 length);
int rl_host_end_state(const struct rl_power_cut *cut, rl_u64 events_bytes);
/* The page of signs of life, mapped. NULL if it is not there. */
struct rl_heartbeat *rl_host_heartbeat(void);
/* Reads from an offset of a file, as much as there is. 0, or -1 when it cannot be read. */
int rl_host_read(int fd, rl_u64 offset, void *data, rl_u64 length);
long rl_host_write(int fd, const void *data, unsigned long length);
int rl_host_is_open(int fd);
/* A line on the host's standard error. */
void rl_host_say(const char *message, rl_u64 length);
/* Ends the guest's process at once. */
void rl_host_exit(int status) __attribute__((noreturn));

#endif
