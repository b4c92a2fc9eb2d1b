//! System calls of the init, by a call of the kernel's function.
//!
//! The init of a guest runs in the process of the kernel, if the host can do that (`kernel/driver/init_user.c`). The instruction
//! `syscall` costs a signal there; the functions of the C library below, which measurements call most often, call the
//! kernel instead. Everywhere else they do what those of the C library do.

use crate::protocol::{ENTRY_OFFSET, MEMORY_ADDRESS, MEMORY_BYTES};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::arch::asm;
use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The kernel's function; 0 if there is none.
static ENTRY: AtomicUsize = AtomicUsize::new(0);

/// Whether this program is the init of a guest.
static IN_GUEST: AtomicBool = AtomicBool::new(false);

/// The addresses at which the kernel itself is, if the init runs in its process (`RAIDLAB_KERNEL_START` and `RAIDLAB_KERNEL_END`).
const KERNEL: std::ops::Range<u64> = 0x6000_0000..MEMORY_ADDRESS;

/// First in a guest's init. From now on the kernel's function is called, if there is one, and no memory is mapped where the kernel is.
pub(super) fn take_entry() -> io::Result<()> {
    IN_GUEST.store(true, Ordering::Relaxed);
    let own = (&raw const ENTRY).addr() as u64;
    // The first clock read of the C library maps the kernel's page of functions. It is mapped either way.
    // SAFETY: the kernel gives the page's address, or 0.
    unsafe {
        let functions = std::ptr::with_exposed_provenance::<u8>(libc::getauxval(libc::AT_SYSINFO_EHDR) as usize);
        if !functions.is_null() {
            functions.read_volatile();
        }
    }
    if (MEMORY_ADDRESS..MEMORY_ADDRESS + MEMORY_BYTES).contains(&own) {
        // User-Mode Linux maps upwards, from 0x4000_0000. A mapping without access takes no memory.
        let (start, bytes) = (KERNEL.start as usize, (KERNEL.end - KERNEL.start) as usize);
        // SAFETY: nothing is mapped there: this is the first thing that the program does.
        unsafe {
            mmap_anonymous(
                std::ptr::without_provenance_mut::<c_void>(start),
                bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE,
            )?
        };
        let word = std::ptr::with_exposed_provenance::<usize>((MEMORY_ADDRESS + ENTRY_OFFSET) as usize);
        // SAFETY: this program is in the memory that begins at that address, whose first page the driver has written.
        ENTRY.store(unsafe { word.read_volatile() }, Ordering::Relaxed);
    }
    Ok(())
}

/// The result of the kernel: negative errors.
///
/// The kernel's function is jumped to in place of `syscall` and returns behind it: a call that is restarted is restarted there.
///
/// # Safety
/// As for the system call.
#[inline]
unsafe fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result: isize;
    // SAFETY: the caller's; the function keeps the registers that functions keep, as the call does.
    unsafe {
        asm!(
            "test r11, r11",
            "jz 20f",
            "lea rcx, [rip + 30f]",
            "jmp r11",
            "20:",
            "syscall",
            "30:",
            in("r11") ENTRY.load(Ordering::Relaxed),
            inlateout("rax") number as isize => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            in("r9") sixth,
            clobber_abi("sysv64"),
        );
    }
    result
}

/// As functions of the C library return it: -1, and the error in errno.
///
/// # Safety
/// As for the system call.
#[inline]
unsafe fn answer(number: c_long, arguments: [usize; 6]) -> isize {
    // SAFETY: the caller's.
    let result = unsafe { call(number, arguments) };
    if !(-4095..0).contains(&result) {
        return result;
    }
    // SAFETY: the address is this thread's own.
    unsafe { *libc::__errno_location() = -result as c_int };
    -1
}

unsafe extern "C" {
    /// That of the C library, which reads the clock without a system call where the host offers that.
    fn __clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int;
}

/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    if ENTRY.load(Ordering::Relaxed) == 0 {
        // SAFETY: the caller's.
        return unsafe { __clock_gettime(clock, time) };
    }
    // SAFETY: the caller's.
    unsafe { answer(libc::SYS_clock_gettime, [clock as usize, time.addr(), 0, 0, 0, 0]) as c_int }
}

/// # Safety
/// As that of the C library, which takes as many arguments as the call has; more are only copied.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    sixth: usize,
) -> c_long {
    // SAFETY: the caller's.
    unsafe { answer(number, [first, second, third, fourth, fifth, sixth]) as c_long }
}

/// In a guest `F_GETFD` is answered without a call. Builds with debug assertions ask for it before they close a file, others do
/// not, and even a call that is not charged is a point where the guest's time may pass.
///
/// # Safety
/// As that of the C library, which takes as many arguments as the command has; more are only copied.
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(file: c_int, command: c_int, argument: usize) -> c_int {
    if command == libc::F_GETFD && IN_GUEST.load(Ordering::Relaxed) {
        return libc::FD_CLOEXEC;
    }
    // SAFETY: the caller's.
    unsafe { answer(libc::SYS_fcntl, [file as usize, command as usize, argument, 0, 0, 0]) as c_int }
}

/// Functions of the C library that are one system call: their names, and the call with its arguments.
macro_rules! functions {
    ($($number:ident: $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// # Safety
        /// As that of the C library.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let mut arguments = [0; 6];
            let given: &[usize] = &[$($argument as usize),*];
            arguments[..given.len()].copy_from_slice(given);
            // SAFETY: the caller's.
            unsafe { answer(libc::$number, arguments) as $result }
        }
    )*};
}

functions! {
    SYS_close: close(file: c_int) -> c_int;
    SYS_read: read(file: c_int, to: *mut c_void, bytes: usize) -> isize;
    SYS_write: write(file: c_int, from: *const c_void, bytes: usize) -> isize;
    SYS_pread64: pread(file: c_int, to: *mut c_void, bytes: usize, at: i64) -> isize;
    SYS_pread64: pread64(file: c_int, to: *mut c_void, bytes: usize, at: i64) -> isize;
    SYS_pwrite64: pwrite(file: c_int, from: *const c_void, bytes: usize, at: i64) -> isize;
    SYS_pwrite64: pwrite64(file: c_int, from: *const c_void, bytes: usize, at: i64) -> isize;
    SYS_openat: openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    SYS_openat: openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    SYS_unlinkat: unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int;
    SYS_mkdirat: mkdirat(folder: c_int, path: *const c_char, mode: c_uint) -> c_int;
    SYS_fsync: fsync(file: c_int) -> c_int;
    SYS_fdatasync: fdatasync(file: c_int) -> c_int;
    SYS_syncfs: syncfs(file: c_int) -> c_int;
    SYS_ftruncate: ftruncate(file: c_int, bytes: i64) -> c_int;
    SYS_ftruncate: ftruncate64(file: c_int, bytes: i64) -> c_int;
}
