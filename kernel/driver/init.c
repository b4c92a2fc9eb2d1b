// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that the guest's first process runs in: raidlab's own program, which must not matter to what it measures.
 *
 * Of a fixed size whatever the program's, taken from the page allocator before anything else asks it, no part of what
 * the guest counts as its memory, never faulted in and never reclaimed. The loader that the program outside hands over
 * as the guest's init (crates/lab/src/guest/init.rs) maps it and jumps into it.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <os.h>
#include "channel.h"
#include "init.h"
#include "raidlab.h"

#define CHUNK_PAGES (1UL << MAX_PAGE_ORDER)
#define CHUNK_BYTES (CHUNK_PAGES * PAGE_SIZE)
#define CHUNKS (RL_INIT_BYTES / CHUNK_BYTES)

static struct page *chunks[CHUNKS];

static int __init init_load(void)
{
	unsigned long i;

	if (!rl_host_is_open(RL_FD_IMAGE))
		return 0;	/* the init is an ordinary program */
	for (i = 0; i < CHUNKS; i++) {
		chunks[i] = alloc_pages(GFP_KERNEL, MAX_PAGE_ORDER);
		if (!chunks[i])
			panic("raidlab: no memory for the init");
		/* Each page is mapped, and counted, on its own. */
		split_page(chunks[i], MAX_PAGE_ORDER);
		adjust_managed_page_count(chunks[i], -(long)CHUNK_PAGES);
		if (rl_host_read(RL_FD_IMAGE, i * CHUNK_BYTES, page_address(chunks[i]), CHUNK_BYTES))
			panic("raidlab: the init cannot be read");
	}
	return 0;
}
/* Before the watermarks of memory are set, which is at postcore. */
core_initcall(init_load);

int raidlab_has_init(void)
{
	return chunks[CHUNKS - 1] != NULL;
}

unsigned long raidlab_top(void)
{
	return is_global_init(current) ? TASK_SIZE : TASK_SIZE - RAIDLAB_INIT_TOP;
}

unsigned long raidlab_mmap_base(void)
{
	return is_global_init(current) ? RAIDLAB_INIT_MMAP : RAIDLAB_PROGRAM_START;
}

int raidlab_map_init(struct vm_area_struct *vma)
{
	unsigned long i;
	int err = 0;

	if (!is_global_init(current) || !chunks[CHUNKS - 1])
		return -EPERM;
	if (vma->vm_end - vma->vm_start != RL_INIT_BYTES || vma->vm_pgoff || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	*(unsigned long *)(page_address(chunks[0]) + RL_INIT_ENTRY) = vma->vm_mm->context.id.pid ? 0 : raidlab_init_entry();
	/*
	 * A child that shared it would write into its parent's data. Programs are started by vfork, whose child has
	 * its parent's mappings; one that is forked dies at its first instruction.
	 */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	/* Written to from the start: no page is ever faulted in. */
	vma->vm_page_prot = __pgprot(pgprot_val(vma->vm_page_prot) | _PAGE_DIRTY | _PAGE_ACCESSED);
	for (i = 0; i < CHUNKS * CHUNK_PAGES && !err; i++)
		err = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE, chunks[i / CHUNK_PAGES] + i % CHUNK_PAGES);
	return err;
}
