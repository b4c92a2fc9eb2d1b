// SPDX-License-Identifier: GPL-2.0
/* RAID 6 syndromes: one place for md, device mapper and btrfs. */
#include <linux/init.h>
#include <linux/raid/pq.h>
#include "model.h"

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
		raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, raidlab_cpu_missing(ptrs[i], bytes));
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

void __init raidlab_cpu_wrap_raid6(void)
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
