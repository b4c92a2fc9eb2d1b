/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The init's program in the process of the kernel (init_user.c): what User-Mode Linux calls. Its struct mm_id has the pid 0.
 */
#ifndef RAIDLAB_INIT_H
#define RAIDLAB_INIT_H

struct uml_pt_regs;

/*
 * Addresses of the kernel itself: its image, the guest's memory, vmalloc(). The init's memory is below and above; the second
 * address is that of its program (MEMORY_ADDRESS in crates/lab/src/protocol.rs). Its other mappings begin at RAIDLAB_INIT_MMAP.
 */
#define RAIDLAB_INIT_MMAP 0x40000000UL
#define RAIDLAB_KERNEL_START 0x60000000UL
#define RAIDLAB_KERNEL_END 0x1000000000UL
/* With more memory than up to here, too little would be left for vmalloc(). */
#define RAIDLAB_MEMORY_END 0xc00000000UL

/* Other programs are above, so that one of them can be in the same process, up to this many bytes below the end. */
#define RAIDLAB_PROGRAM_START 0x2000000000UL
#define RAIDLAB_INIT_TOP (1UL << 30)

/* Whether the guest has a program for the init that may run in this process. */
int raidlab_has_init(void);
/*
 * Called once, on the kernel's thread. room: bytes of floating-point state in struct uml_pt_regs; task_size: end of the init's
 * addresses. -1 if the host lacks Syscall User Dispatch or instructions for the base of FS, or if RAIDLAB_PTRACE is set.
 */
int raidlab_init_prepare(unsigned long room, unsigned long task_size);
/* Where the init's program jumps to for system calls, once it runs in this process; otherwise 0. */
unsigned long raidlab_init_entry(void);
#ifdef SA_SIGINFO
/* Runs the program from these registers until a signal, and returns the signal; SIGSYS is a system call. */
int raidlab_init_run(struct uml_pt_regs *regs, siginfo_t *si);
/* First in each handler: 0 if a signal interrupted the kernel. If it interrupted the program, raidlab_init_run() returns. */
int raidlab_init_signal(int sig, siginfo_t *si, void *context);
#endif
/* Above the highest address of the current program, and where its mappings begin. */
unsigned long raidlab_top(void);
unsigned long raidlab_mmap_base(void);
/* Chooses the process in which the current program, other than the init, continues. */
void raidlab_place(void);
/* Around the rest of a handler: the base of FS is the kernel's. */
unsigned long raidlab_init_enter_kernel(void);
void raidlab_init_leave_kernel(unsigned long fs);

#endif
