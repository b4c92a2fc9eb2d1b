// SPDX-License-Identifier: GPL-2.0
/* Which bytes are in the processor's caches: known by the page. */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <as-layout.h>
#include "model.h"

/*
 * The caches, as one that forgets the page that was used least recently: of each page of memory, how many pages had
 * come into the cache when it was last used. Partly used pages count as a whole.
 */
static u32 *used_at;
static u64 pages_of_memory;
static u32 came;

static bool in_cache(const void *address)
{
	u64 page = ((unsigned long)address - uml_physmem) >> PAGE_SHIFT;
	bool is;

	if (page >= pages_of_memory)
		return true;
	is = used_at[page] && came - used_at[page] < raidlab_cpu_model.cache_pages;
	if (!is)
		came++;
	used_at[page] = came;
	return is;
}

unsigned long raidlab_cpu_missing(const void *address, unsigned long n)
{
	unsigned long piece, sum = 0;

	for (; n; address += piece, n -= piece) {
		piece = min(n, PAGE_SIZE - offset_in_page(address));
		if (!in_cache(address))
			sum += piece;
	}
	return sum;
}

void raidlab_cpu_reads(enum raidlab_cpu_cost cost, const void *from, unsigned long n)
{
	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_charge(cost, n);
	raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_READ, raidlab_cpu_missing(from, n));
}
EXPORT_SYMBOL(raidlab_cpu_reads);

void raidlab_cpu_writes(enum raidlab_cpu_cost cost, const void *to, unsigned long n)
{
	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_charge(cost, n);
	raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, raidlab_cpu_missing(to, n));
}
EXPORT_SYMBOL(raidlab_cpu_writes);

void raidlab_cpu_copies(const void *to, const void *from, unsigned long n)
{
	unsigned long piece;
	bool to_cache, from_cache;

	if (!raidlab_cpu_on)
		return;
	raidlab_cpu_charge(RAIDLAB_CPU_COPY, n);
	for (; n; to += piece, from += piece, n -= piece) {
		piece = min3(n, PAGE_SIZE - offset_in_page(from), PAGE_SIZE - offset_in_page(to));
		from_cache = in_cache(from);
		to_cache = in_cache(to);
		if (!from_cache && !to_cache)
			raidlab_cpu_charge(RAIDLAB_CPU_MEMORY, piece);
		else if (!from_cache)
			raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_READ, piece);
		else if (!to_cache)
			raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, piece);
	}
}
EXPORT_SYMBOL(raidlab_cpu_copies);

/*
 * Where raidlab's own program has its buffers depends on how it was compiled: which pages they are on, and on how many, must
 * not decide anything. So all of its memory counts as in the caches, and its copies are charged as a whole and not by the
 * page.
 */
void raidlab_cpu_copies_from_user(const void *to, unsigned long n)
{
	/* One byte: fault_in_readable() tries each page of a buffer. */
	if (raidlab_cpu_is_of_init() && n > 1)
		raidlab_cpu_writes(RAIDLAB_CPU_COPY, to, n);
}

void raidlab_cpu_copies_to_user(const void *from, unsigned long n)
{
	if (raidlab_cpu_is_of_init() && n > 1)
		raidlab_cpu_reads(RAIDLAB_CPU_COPY, from, n);
}

void raidlab_cpu_copies_piece(const void *to, const void *from, unsigned long n)
{
	if (!raidlab_cpu_is_of_init())
		raidlab_cpu_copies(to, from, n);
}

void raidlab_cpu_zeroes_piece(const void *to, unsigned long n)
{
	if (raidlab_cpu_is_of_init())
		raidlab_cpu_charge(RAIDLAB_CPU_ZERO, n);
	else
		raidlab_cpu_writes(RAIDLAB_CPU_ZERO, to, n);
}

void raidlab_cpu_xors(unsigned int sources, unsigned int bytes, void *to, void **from)
{
	unsigned int i;

	if (!raidlab_cpu_on)
		return;
	for (i = 0; i < sources; i++)
		raidlab_cpu_reads(RAIDLAB_CPU_XOR, from[i], bytes);
	raidlab_cpu_charge(RAIDLAB_CPU_MEMORY_WRITE, raidlab_cpu_missing(to, bytes));
}

void __init raidlab_cpu_init_caches(void)
{
	pages_of_memory = ((unsigned long)high_memory - uml_physmem) >> PAGE_SHIFT;
	used_at = vzalloc(pages_of_memory * sizeof(*used_at));
	if (!used_at)
		panic("raidlab_cpu: no memory");
}
