// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's own root: the programs, libraries and folders that the program outside hands over (RL_FD_ROOT), and nothing
 * else of the host.
 *
 * Like the memory of the init (init.c) its pages are taken from the page allocator before anything else asks it, their number
 * does not follow the sizes of the files, they are no part of what the guest counts as its memory, and they are never
 * reclaimed: a program, its version and its libraries take no memory from the workload, and starting one reads no disk.
 *
 * A guest without RL_FD_ROOT has the host's files as its root, through hostfs.
 */
#include <linux/device.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/init_syscalls.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/task_work.h>
#include "raidlab.h"

#define CHUNK_PAGES (1UL << MAX_PAGE_ORDER)
#define CHUNK_BYTES (CHUNK_PAGES * PAGE_SIZE)
#define CHUNKS_MAX 256

static struct page *chunks[CHUNKS_MAX];
static unsigned long pages_reserved;
static unsigned long pages_used;

static int __init root_reserve(void)
{
	struct rl_root_header header = {};
	unsigned long i;

	if (!rl_host_is_open(RL_FD_ROOT))
		return 0;
	if (rl_host_read(RL_FD_ROOT, 0, &header, sizeof(header)) || header.memory_bytes % CHUNK_BYTES ||
	    header.memory_bytes / CHUNK_BYTES > CHUNKS_MAX)
		panic("raidlab: the root cannot be read");
	pages_reserved = header.memory_bytes / PAGE_SIZE;
	for (i = 0; i < pages_reserved / CHUNK_PAGES; i++) {
		chunks[i] = alloc_pages(GFP_KERNEL, MAX_PAGE_ORDER);
		if (!chunks[i])
			panic("raidlab: no memory for the root");
		split_page(chunks[i], MAX_PAGE_ORDER);
		adjust_managed_page_count(chunks[i], -(long)CHUNK_PAGES);
	}
	return 0;
}
/* Before the watermarks of memory are set, which is at postcore; after the init's memory. */
core_initcall(root_reserve);

static struct page *__init take_page(void)
{
	struct page *page;

	if (pages_used == pages_reserved)
		return NULL;
	page = chunks[pages_used / CHUNK_PAGES] + pages_used % CHUNK_PAGES;
	pages_used++;
	return page;
}

/* Reads the contents into pages of the reserve, which become the file's in the page cache. */
static int __init fill(struct file *file, u64 offset, u64 length)
{
	u64 at;

	for (at = 0; at < length; at += PAGE_SIZE) {
		u64 n = min_t(u64, PAGE_SIZE, length - at);
		struct page *page = take_page();
		struct folio *folio;
		int err;

		if (!page)
			return -ENOSPC;
		memset(page_address(page) + n, 0, PAGE_SIZE - n);
		if (rl_host_read(RL_FD_ROOT, offset + at, page_address(page), n))
			return -EIO;
		folio = page_folio(page);
		err = filemap_add_folio(file->f_mapping, folio, at >> PAGE_SHIFT, GFP_KERNEL);
		if (err)
			return err;
		folio_mark_uptodate(folio);
		folio_mark_dirty(folio);
		folio_unlock(folio);
		folio_put(folio);
	}
	i_size_write(file_inode(file), length);
	return 0;
}

static int __init make_file(const char *name, umode_t mode, u64 offset, u64 length)
{
	struct file *file = filp_open(name, O_WRONLY | O_CREAT | O_EXCL | O_LARGEFILE, mode & 07777);
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = fill(file, offset, length);
	fput(file);
	return err;
}

static int __init make_link(const char *name, u64 offset, u64 length)
{
	char *target = kzalloc(length + 1, GFP_KERNEL);
	int err = -ENOMEM;

	if (target) {
		err = rl_host_read(RL_FD_ROOT, offset, target, length);
		if (!err)
			err = init_symlink(target, name);
	}
	kfree(target);
	return err;
}

static int __init make_entry(const struct rl_root_entry *entry, const char *name)
{
	int err;

	switch (entry->mode & S_IFMT) {
	case S_IFDIR:
		/* noinitramfs.c has made some. */
		err = init_mkdir(name, entry->mode & 07777);
		return err == -EEXIST ? 0 : err;
	case S_IFLNK:
		return make_link(name, entry->offset, entry->length);
	default:
		return make_file(name, entry->mode, entry->offset, entry->length);
	}
}

static int __init root_make(void)
{
	struct rl_root_header header = {};
	struct rl_root_entry *entry;
	u64 i;

	if (!rl_host_is_open(RL_FD_ROOT))
		return 0;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry || rl_host_read(RL_FD_ROOT, 0, &header, sizeof(header)))
		panic("raidlab: the root cannot be read");
	for (i = 0; i < header.entries; i++) {
		int err = rl_host_read(RL_FD_ROOT, sizeof(header) + i * sizeof(*entry), entry, sizeof(*entry));

		entry->name[sizeof(entry->name) - 1] = 0;
		if (!err)
			err = make_entry(entry, entry->name);
		if (err)
			panic("raidlab: the root's %s cannot be made (%d)", entry->name, err);
	}
	kfree(entry);
	/* Files that were written to are not executed: they are closed now. */
	flush_delayed_fput();
	task_work_run();
	/* The kernel does so only after it has mounted a root. */
	return devtmpfs_mount();
}
/* Before init=, which is in this root. */
late_initcall(root_make);
