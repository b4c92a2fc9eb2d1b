// SPDX-License-Identifier: GPL-2.0
/* What the processor is like: the kernel's command line. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include "model.h"

static const char *const raidlab_cpu_names[RAIDLAB_CPU_COSTS] = {
	"call", "user", "fio", "clock", "fault", "switch", "wakeup", "interrupt", "request", "block",
	"memory", "memory_read", "memory_write", "copy", "zero", "scan", "xor", "pq", "pq_recover", "crc32", "sha256", "xxhash", "blake2b",
	"zstd", "unzstd", "lz4", "unlz4", "zlib", "unzlib", "lzo", "unlzo", "aes",
};

struct raidlab_cpu_model raidlab_cpu_model = { .grain_ps = 5000 * 1000 };

unsigned int raidlab_cpu_cores(void)
{
	return max(raidlab_cpu_model.cores, 1u);
}

static int __init take(const char *name, u64 value)
{
	int i;

	if (!strcmp(name, "cores")) {
		if (value < 1 || value > CORES_MAX)
			return -ERANGE;
		raidlab_cpu_model.cores = value;
		return 0;
	}
	if (!strcmp(name, "cache")) {
		/* KiB. */
		if (value >> 30)
			return -ERANGE;
		raidlab_cpu_model.cache_pages = value >> (PAGE_SHIFT - 10);
		return 0;
	}
	if (!strcmp(name, "grain")) {
		raidlab_cpu_model.grain_ps = value;
		return 0;
	}
	for (i = 0; i < RAIDLAB_CPU_COSTS; i++) {
		if (!strcmp(name, raidlab_cpu_names[i])) {
			raidlab_cpu_model.cost_ps[i] = value;
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
	if (!raidlab_cpu_model.cores)
		return 0;
	raidlab_cpu_init_caches();
	raidlab_cpu_wrap_raid6();
	raidlab_cpu_take_blocks();
	raidlab_cpu_total.cores = raidlab_cpu_model.cores;
	raidlab_cpu_on = 1;
	return raidlab_cpu_init_device();
}
/* When all else is there: boot itself is free. */
late_initcall_sync(cpu_init);
