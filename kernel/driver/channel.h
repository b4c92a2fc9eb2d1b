/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RAIDLAB_CHANNEL_H
#define RAIDLAB_CHANNEL_H

#include <linux/blk-mq.h>
#include <linux/mm_types.h>
#include <linux/version.h>

/* Merging became the rule, and the flag went, in 6.14. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define RAIDLAB_TAG_FLAGS BLK_MQ_F_SHOULD_MERGE
#else
#define RAIDLAB_TAG_FLAGS 0
#endif

u32 raidlab_disk_count(void);
void raidlab_count_request(void);
/* Ends the guest. What the disks hold is kept for the next one, if there is to be one. */
void raidlab_end(bool power_cut) __noreturn;
/* Bytes that the init wrote to the events. */
u64 raidlab_events_bytes(void);
/* Reports that neither memory nor the spill file has room for what the disks hold. */
void raidlab_no_room(void);
/* Has the disks begin with state number index of RL_FD_STATES. 0 or an error; -EBUSY while requests are under way. */
int raidlab_take_state(u64 index);
/* Maps the init's memory, for the init alone. */
int raidlab_map_init(struct vm_area_struct *vma);
void raidlab_trace(u32 disk, struct request *rq, u64 submit_ns, u64 complete_ns, u32 status);

#endif
