// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/raidlab: how the guest's init and the program that started the guest talk. Reading gives the job, writing
 * appends to the events, ioctls give counters and digests and end the guest. Neither takes virtual time.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/slab.h>
#include <linux/time-internal.h>
#include <linux/uaccess.h>
#include "channel.h"
#include "raidlab.h"

#define TRACE_RECORDS 2048
#define WRITE_MAX (1 << 20)

/* In: disk index in the first word. Out: the counters. */
#define RL_IOC_COUNTERS _IOWR('r', 1, __u64[RL_COUNTERS])
/* In: disk index in the first four bytes. Out: the digest. */
#define RL_IOC_DIGEST _IOWR('r', 2, __u8[RL_DIGEST_BYTES])
/* Number of disks, as the call's result. */
#define RL_IOC_DISKS _IO('r', 3)
/* The end; does not return. */
#define RL_IOC_POWER_OFF _IO('r', 4)

/* The disks begin anew, with a state of RL_FD_STATES: its index, from 0. */
#define RL_IOC_STATE _IOW('r', 5, __u64)

static const char *job;
static u64 job_length;
static struct rl_heartbeat *heartbeat;
/* There whether requests are recorded or not: recording must not take memory from the workload. */
static struct rl_trace_record trace[TRACE_RECORDS];
static u32 trace_count;
static bool traced;
static u64 events_bytes;

void raidlab_count_request(void)
{
	if (heartbeat)
		heartbeat->requests++;
}

u64 raidlab_events_bytes(void)
{
	return events_bytes;
}

void raidlab_no_room(void)
{
	if (heartbeat)
		heartbeat->no_room = 1;
}

static void trace_write_out(void)
{
	if (trace_count)
		rl_host_write(RL_FD_TRACE, trace, trace_count * sizeof(*trace));
	trace_count = 0;
}

void raidlab_trace(u32 disk, struct request *rq, u64 submit_ns, u64 complete_ns, u32 status)
{
	struct rl_trace_record *r;

	if (!traced)
		return;
	r = &trace[trace_count++];
	r->submit_ns = submit_ns;
	r->complete_ns = complete_ns;
	r->sector = blk_rq_pos(rq);
	r->sectors = blk_rq_sectors(rq);
	r->disk = disk;
	r->op = req_op(rq) == REQ_OP_FLUSH ? 2 : req_op(rq) == REQ_OP_DISCARD ? 3 : req_op(rq) == REQ_OP_WRITE;
	r->fua = !!(rq->cmd_flags & REQ_FUA);
	r->status = status;
	if (trace_count == TRACE_RECORDS)
		trace_write_out();
}

void raidlab_end(bool power_cut)
{
	trace_write_out();
	if (rl_host_is_open(RL_FD_CONTENTS) && rl_save())
		raidlab_no_room();
	if (power_cut && heartbeat)
		heartbeat->power_cut = 1;
	rl_host_exit(0);
}

static ssize_t channel_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	return job ? simple_read_from_buffer(to, n, pos, job, job_length) : 0;
}

static ssize_t channel_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	void *copy;
	long err;

	if (n > WRITE_MAX)
		n = WRITE_MAX;
	copy = vmemdup_user(from, n);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	err = rl_host_write(RL_FD_EVENTS, copy, n);
	if (err > 0)
		events_bytes += err;
	kvfree(copy);
	return err;
}

static long channel_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	u64 counters[RL_COUNTERS] = {};
	u8 digest[RL_DIGEST_BYTES] = {};
	u64 state;
	u32 disk = 0;

	switch (cmd) {
	case RL_IOC_DISKS:
		return raidlab_disk_count();
	case RL_IOC_STATE:
		return get_user(state, (u64 __user *)user) ? -EFAULT : raidlab_take_state(state);
	case RL_IOC_POWER_OFF:
		raidlab_end(false);
	}
	if (copy_from_user(&disk, user, sizeof(disk)))
		return -EFAULT;
	if (disk >= raidlab_disk_count())
		return -ENXIO;
	switch (cmd) {
	case RL_IOC_COUNTERS:
		rl_counters(disk, counters);
		return copy_to_user(user, counters, sizeof(counters)) ? -EFAULT : 0;
	case RL_IOC_DIGEST:
		rl_digest(disk, digest);
		return copy_to_user(user, digest, sizeof(digest)) ? -EFAULT : 0;
	}
	return -ENOTTY;
}

static int channel_mmap(struct file *file, struct vm_area_struct *vma)
{
	return raidlab_map_init(vma);
}

static const struct file_operations channel_fops = {
	.mmap = channel_mmap,
	.read = channel_read,
	.write = channel_write,
	.unlocked_ioctl = channel_ioctl,
	.llseek = default_llseek,
};

static struct miscdevice channel_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "raidlab",
	.fops = &channel_fops,
	.mode = 0600,
};

static int __init channel_init(void)
{
	job = rl_host_slurp(RL_FD_JOB, &job_length);
	heartbeat = rl_host_heartbeat();
	if (heartbeat)
		time_travel_mirror = &heartbeat->virtual_ns;
	traced = rl_host_is_open(RL_FD_TRACE);
	return misc_register(&channel_device);
}
/* Before the disks, whose partition scans are traced already. */
fs_initcall(channel_init);
