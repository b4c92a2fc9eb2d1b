// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated disks as block devices /dev/vda, /dev/vdb, …
 *
 * All disks live in one world of the model's. A request is handed to the model when it is queued; the model says
 * when its next event is, and one event of virtual time wakes us then. Contents move when a request completes.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/time-internal.h>
#ifdef CONFIG_RAIDLAB_CPU
#include <linux/raidlab-cpu.h>
#endif
#include "channel.h"
#include "raidlab.h"

#define COMPLETIONS 64
/* Commands that a SATA drive queues; an SSD that queues more is an NVMe drive. */
#define SATA_DEPTH 32
/* The model takes no more. */
#define DELAY_NS_MAX (60ULL * NSEC_PER_SEC)
#define HANG_NS_MAX (30ULL * NSEC_PER_SEC)

struct sim_request {
	u64 submit_ns;
#ifdef CONFIG_RAIDLAB_CPU
	struct list_head late;
	u8 op;
#endif
};

struct sim_disk {
	struct gendisk *gendisk;
	struct blk_mq_tag_set tags;
	u32 index;
};

static struct sim_disk *disks;
static u32 disk_count;
static DEFINE_SPINLOCK(world_lock);
static struct time_travel_event wakeup;
static struct time_travel_event power_cut;
/* By time; the next one is at cut_next. */
static const struct rl_power_cut *cuts;
static u64 cut_count, cut_next;
/* Requests under way. */
static atomic_t requests = ATOMIC_INIT(0);

u32 raidlab_disk_count(void)
{
	return disk_count;
}

/* Have the model's next event wake us; world_lock held. */
static void arm(u64 now_ns)
{
	u64 next_ns = rl_next_event();

	if (wakeup.pending) {
		if (wakeup.time == next_ns)
			return;
		time_travel_del_event(&wakeup);
	}
	if (next_ns != ~0ULL)
		time_travel_add_event_rel(&wakeup, next_ns > now_ns ? next_ns - now_ns : 0);
}

static blk_status_t move_contents(u32 disk, struct request *rq)
{
	u64 sector = blk_rq_pos(rq);
	struct req_iterator iter;
	struct bio_vec bv;

	switch (req_op(rq)) {
	case REQ_OP_DISCARD:
		rl_discard(disk, sector, blk_rq_sectors(rq));
		return BLK_STS_OK;
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		break;
	default:
		return BLK_STS_OK;
	}
	/* Pages that lie side by side are one vector, and guest memory is mapped in one piece. */
	rq_for_each_bvec(bv, rq, iter) {
		void *data = page_address(bv.bv_page) + bv.bv_offset;
		s32 bad = req_op(rq) == REQ_OP_WRITE ? rl_write(disk, sector, data, bv.bv_len) :
						       rl_read(disk, sector, data, bv.bv_len);
		if (bad)
			return BLK_STS_IOERR;
		sector += bv.bv_len >> SECTOR_SHIFT;
	}
	return BLK_STS_OK;
}

static blk_status_t model_status(u32 status)
{
	switch (status) {
	case 0:
		return BLK_STS_OK;
	case 1:
		return BLK_STS_MEDIUM;
	case 2:
		return BLK_STS_OFFLINE;
	default:
		return BLK_STS_IOERR;
	}
}

static void finish(const struct rl_completion *c, u64 now_ns)
{
	struct sim_disk *disk;
	struct request *rq;
	blk_status_t status;

	if (WARN_ON_ONCE(c->disk >= disk_count))
		return;
	disk = &disks[c->disk];
	rq = blk_mq_tag_to_rq(disk->tags.tags[0], c->tag);
	if (WARN_ON_ONCE(!rq))
		return;
	status = model_status(c->status);
	if (status == BLK_STS_OK)
		status = move_contents(c->disk, rq);
	atomic_dec(&requests);
	raidlab_trace(c->disk, rq, ((struct sim_request *)blk_mq_rq_to_pdu(rq))->submit_ns, now_ns, c->status);
	blk_mq_end_request(rq, status);
}

/* Called in interrupt context at the time asked for. */
static void wake(struct time_travel_event *event)
{
	struct rl_completion done[COMPLETIONS];
	u64 now_ns = time_travel_now();
	unsigned long flags;
	u32 n, i;

#ifdef CONFIG_RAIDLAB_CPU
	raidlab_cpu_charge(RAIDLAB_CPU_INTERRUPT, 1);
#endif
	do {
		spin_lock_irqsave(&world_lock, flags);
		n = rl_advance(now_ns, done, COMPLETIONS);
		if (n < COMPLETIONS)
			arm(now_ns);
		spin_unlock_irqrestore(&world_lock, flags);
		/* Without the lock: ending a request may queue the next. */
		for (i = 0; i < n; i++)
			finish(&done[i], now_ns);
	} while (n == COMPLETIONS);
}

static void submit(struct sim_disk *disk, struct request *rq, u8 op, u64 now_ns)
{
	rl_submit(disk->index, rq->tag, op, !!(rq->cmd_flags & REQ_FUA), op == 2 ? 0 : blk_rq_pos(rq),
		  op == 2 ? 0 : blk_rq_sectors(rq), now_ns);
}

#ifdef CONFIG_RAIDLAB_CPU
/*
 * Requests of tasks that have not paid yet for what they did: a disk sees one when the task would have got that far.
 * By time, which is submit_ns.
 */
static LIST_HEAD(late);
static struct time_travel_event doorbell;

static void doorbell_rings(struct time_travel_event *event)
{
	u64 now_ns = time_travel_now();
	struct sim_request *first;
	unsigned long flags;

	spin_lock_irqsave(&world_lock, flags);
	while ((first = list_first_entry_or_null(&late, struct sim_request, late)) && first->submit_ns <= now_ns) {
		struct request *rq = blk_mq_rq_from_pdu(first);

		list_del(&first->late);
		submit(rq->q->queuedata, rq, first->op, now_ns);
	}
	arm(now_ns);
	if (first)
		time_travel_add_event_rel(&doorbell, first->submit_ns - now_ns);
	spin_unlock_irqrestore(&world_lock, flags);
}

/* Whether the request has to wait for its task; world_lock held. */
static bool is_late(struct request *rq, u8 op, u64 now_ns, u64 lag_ns)
{
	struct sim_request *own = blk_mq_rq_to_pdu(rq);
	struct list_head *before;

	if (!lag_ns)
		return false;
	own->submit_ns = now_ns + lag_ns;
	own->op = op;
	list_for_each_prev(before, &late)
		if (list_entry(before, struct sim_request, late)->submit_ns <= own->submit_ns)
			break;
	list_add(&own->late, before);
	if (before == &late) {
		time_travel_del_event(&doorbell);
		time_travel_add_event_rel(&doorbell, lag_ns);
	}
	return true;
}
#endif

static void expect_next_cut(u64 now_ns)
{
	if (cut_next < cut_count)
		time_travel_add_event_rel(&power_cut, max(cuts[cut_next].at_ns, now_ns) - now_ns);
}

static void keep_state(const struct rl_power_cut *cut, u64 now_ns)
{
	unsigned long flags;

	spin_lock_irqsave(&world_lock, flags);
	if (rl_host_begin_state() || rl_keep_state(cut->seed, now_ns) ||
	    rl_host_end_state(cut, raidlab_events_bytes()))
		raidlab_no_room();
	arm(now_ns);
	spin_unlock_irqrestore(&world_lock, flags);
}

/* Called in interrupt context at the moment of the power cut. */
static void cut_power(struct time_travel_event *event)
{
	u64 now_ns = time_travel_now();

	if (rl_host_is_open(RL_FD_STATES)) {
		for (; cut_next < cut_count && cuts[cut_next].at_ns <= now_ns; cut_next++)
			keep_state(&cuts[cut_next], now_ns);
		expect_next_cut(now_ns);
		return;
	}
	rl_power_cut(cuts[0].seed, now_ns);
	raidlab_end(true);
}

int raidlab_take_state(u64 index)
{
	static const char *states;
	static u64 length;
	const struct rl_state *state;
	unsigned long flags;
	u64 offset = 0;
	int err;

	if (!states)
		states = rl_host_slurp(RL_FD_STATES, &length);
	if (!states)
		return -ENOENT;
	for (;; index--, offset += sizeof(*state) + state->length) {
		if (length - offset < sizeof(*state))
			return -ENOENT;
		state = (const struct rl_state *)(states + offset);
		if (state->length > length - offset - sizeof(*state))
			return -EIO;
		if (!index)
			break;
	}
	if (atomic_read(&requests))
		return -EBUSY;
	spin_lock_irqsave(&world_lock, flags);
	err = rl_restore(state + 1, state->length) ? -EIO : 0;
	arm(time_travel_now());
	spin_unlock_irqrestore(&world_lock, flags);
	return err;
}

static blk_status_t sim_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct sim_disk *disk = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	u64 now_ns = time_travel_now();
	unsigned long flags;
	u8 op;

	switch (req_op(rq)) {
	case REQ_OP_READ:
		op = 0;
		break;
	case REQ_OP_WRITE:
		op = 1;
		break;
	case REQ_OP_FLUSH:
		op = 2;
		break;
	case REQ_OP_DISCARD:
		op = 3;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	blk_mq_start_request(rq);
	atomic_inc(&requests);
	((struct sim_request *)blk_mq_rq_to_pdu(rq))->submit_ns = now_ns;
	raidlab_count_request();
#ifdef CONFIG_RAIDLAB_CPU
	raidlab_cpu_charge(RAIDLAB_CPU_REQUEST, 1);
#endif

	spin_lock_irqsave(&world_lock, flags);
#ifdef CONFIG_RAIDLAB_CPU
	if (!is_late(rq, op, now_ns, raidlab_cpu_lag_ns()))
#endif
	submit(disk, rq, op, now_ns);
	/* More may come in this batch; the model is asked once, at the last. */
	if (bd->last)
		arm(now_ns);
	spin_unlock_irqrestore(&world_lock, flags);
	return BLK_STS_OK;
}

static void sim_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	unsigned long flags;

	spin_lock_irqsave(&world_lock, flags);
	arm(time_travel_now());
	spin_unlock_irqrestore(&world_lock, flags);
}

static const struct blk_mq_ops sim_mq_ops = {
	.queue_rq = sim_queue_rq,
	.commit_rqs = sim_commit_rqs,
};

static const struct block_device_operations sim_fops = {
	.owner = THIS_MODULE,
};

/* /sys/block/vda/media_delay_ns: from now on each access of the disk's media takes so much longer. */
static ssize_t media_delay_ns_store(struct device *dev, struct device_attribute *attr, const char *text,
				    size_t length)
{
	struct sim_disk *disk = dev_to_disk(dev)->queue->queuedata;
	unsigned long flags;
	u64 delay_ns;
	int err = kstrtou64(text, 10, &delay_ns);

	if (err)
		return err;
	if (delay_ns > DELAY_NS_MAX)
		return -ERANGE;
	spin_lock_irqsave(&world_lock, flags);
	rl_delay(disk->index, delay_ns, time_travel_now());
	arm(time_travel_now());
	spin_unlock_irqrestore(&world_lock, flags);
	return length;
}
static DEVICE_ATTR_WO(media_delay_ns);

/*
 * /sys/block/vda/hang_ns: the disk answers nothing for so long. 0: for ever; like the SCSI layer (SD_TIMEOUT), the
 * driver gives it up after 30 s, without the time of the resets that the SCSI layer tries then.
 */
static ssize_t hang_ns_store(struct device *dev, struct device_attribute *attr, const char *text, size_t length)
{
	struct sim_disk *disk = dev_to_disk(dev)->queue->queuedata;
	unsigned long flags;
	u64 hang_ns;
	int err = kstrtou64(text, 10, &hang_ns);

	if (err)
		return err;
	if (hang_ns > HANG_NS_MAX)
		return -ERANGE;
	spin_lock_irqsave(&world_lock, flags);
	rl_hang(disk->index, hang_ns ?: HANG_NS_MAX, !hang_ns, time_travel_now());
	arm(time_travel_now());
	spin_unlock_irqrestore(&world_lock, flags);
	return length;
}
static DEVICE_ATTR_WO(hang_ns);

/* /sys/block/vda/ignore_flushes: once 1 is written, the disk ends each flush at once and writes nothing for it. */
static ssize_t ignore_flushes_store(struct device *dev, struct device_attribute *attr, const char *text,
				    size_t length)
{
	struct sim_disk *disk = dev_to_disk(dev)->queue->queuedata;
	unsigned long flags;

	if (!sysfs_streq(text, "1"))
		return -EINVAL;
	spin_lock_irqsave(&world_lock, flags);
	rl_ignore_flushes(disk->index, time_travel_now());
	spin_unlock_irqrestore(&world_lock, flags);
	return length;
}
static DEVICE_ATTR_WO(ignore_flushes);

static struct attribute *sim_attrs[] = {
	&dev_attr_media_delay_ns.attr,
	&dev_attr_hang_ns.attr,
	&dev_attr_ignore_flushes.attr,
	NULL,
};
ATTRIBUTE_GROUPS(sim);

static int __init add_one(struct sim_disk *disk, u32 index, int major)
{
	struct rl_disk_info info;
	struct queue_limits lim = {
		.logical_block_size = 512,
		.max_hw_sectors = 8192,
		.max_segments = 256,
	};
	int err;

	rl_disk_info(index, &info);
	disk->index = index;
	lim.physical_block_size = info.physical_block_bytes;
	if (info.write_cache)
		lim.features |= BLK_FEAT_WRITE_CACHE;
	if (info.fua)
		lim.features |= BLK_FEAT_FUA;
	if (info.rotational)
		lim.features |= BLK_FEAT_ROTATIONAL;
	if (info.discard) {
		lim.max_hw_discard_sectors = 1 << 22;
		lim.max_discard_segments = 1;
		lim.discard_granularity = 4096;
	}

	disk->tags.ops = &sim_mq_ops;
	disk->tags.nr_hw_queues = 1;
	disk->tags.queue_depth = info.queue_depth;
	disk->tags.cmd_size = sizeof(struct sim_request);
	disk->tags.numa_node = NUMA_NO_NODE;
	disk->tags.flags = RAIDLAB_TAG_FLAGS;
	/* NVMe: a queue for each processor, for which Linux has no default scheduler. */
	if (!info.rotational && info.queue_depth > SATA_DEPTH)
		disk->tags.flags |= BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	err = blk_mq_alloc_tag_set(&disk->tags);
	if (err)
		return err;
	disk->gendisk = blk_mq_alloc_disk(&disk->tags, &lim, disk);
	if (IS_ERR(disk->gendisk))
		return PTR_ERR(disk->gendisk);
	disk->gendisk->major = major;
	disk->gendisk->first_minor = index * 16;
	disk->gendisk->minors = 16;
	disk->gendisk->fops = &sim_fops;
	/* vda … vdz, vdaa …, as virtio_blk names its own. */
	if (index < 26)
		snprintf(disk->gendisk->disk_name, DISK_NAME_LEN, "vd%c", 'a' + index);
	else
		snprintf(disk->gendisk->disk_name, DISK_NAME_LEN, "vd%c%c", 'a' + index / 26 - 1,
			 'a' + index % 26);
	set_capacity(disk->gendisk, info.sectors);
	return device_add_disk(NULL, disk->gendisk, sim_groups);
}

static int __init raidlab_disks_init(void)
{
	u64 length = 0;
	void *description = rl_host_slurp(RL_FD_DISKS, &length);
	int major, err;
	s32 n;
	u32 i;

	if (!description)
		return 0;	/* started by hand, without disks */
	n = rl_open(description, length);
	if (n < 0)
		panic("raidlab: the description of the disks makes no sense");
	if (rl_host_is_open(RL_FD_CONTENTS)) {
		void *saved = rl_host_slurp(RL_FD_CONTENTS, &length);

		if (saved && rl_restore(saved, length))
			panic("raidlab: the contents of the disks cannot be restored");
		/* The first write makes the saved index obsolete. */
		if (rl_host_empty_contents())
			panic("raidlab: the file of the disks' contents cannot be emptied");
	}
	if (rl_host_is_open(RL_FD_POWER_CUT)) {
		cuts = rl_host_slurp(RL_FD_POWER_CUT, &length);
		cut_count = cuts ? length / sizeof(*cuts) : 0;
		if (!cut_count)
			panic("raidlab: the time of the power cut cannot be read");
		rl_expect_power_cut();
		time_travel_set_event_fn(&power_cut, cut_power);
		expect_next_cut(time_travel_now());
	}
	time_travel_set_event_fn(&wakeup, wake);
#ifdef CONFIG_RAIDLAB_CPU
	time_travel_set_event_fn(&doorbell, doorbell_rings);
#endif
	disks = kcalloc(n, sizeof(*disks), GFP_KERNEL);
	if (!disks)
		return -ENOMEM;
	disk_count = n;
	major = register_blkdev(0, "raidlab");
	if (major < 0)
		return major;
	for (i = 0; i < disk_count; i++) {
		err = add_one(&disks[i], i, major);
		if (err)
			panic("raidlab: disk %u: error %d", i, err);
	}
	return 0;
}
/* After mq-deadline, which is linked after this driver: without it the default scheduler would be none. */
late_initcall(raidlab_disks_init);
