//! What the host side of the driver offers (`driver/host_user.c`).

use core::ffi::c_void;
use core::ptr::NonNull;

unsafe extern "C" {
    fn rl_host_map(length: u64) -> *mut c_void;
    fn rl_host_segment(index: u64, length: u64) -> *mut c_void;
    fn rl_host_keep(data: *const u8, length: u64) -> i32;
    fn rl_host_keep_state(data: *const u8, length: u64) -> i32;
    fn rl_host_say(message: *const u8, length: u64);
    fn rl_host_exit(status: i32) -> !;
}

/// Zeroed memory of the host's, or none.
pub fn map(length: usize) -> Option<NonNull<u8>> {
    // SAFETY: any length is allowed; the result is checked.
    NonNull::new(unsafe { rl_host_map(length as u64) }.cast())
}

/// Segment `index` of the disks' contents, or none.
pub fn segment(index: usize, length: usize) -> Option<NonNull<u8>> {
    // SAFETY: any index is allowed; the result is checked.
    NonNull::new(unsafe { rl_host_segment(index as u64, length as u64) }.cast())
}

/// Appends to what the next guest gets to know of the disks' contents; whether there is room.
pub fn keep(data: &[u8]) -> bool {
    // SAFETY: pointer and length are of one slice.
    unsafe { rl_host_keep(data.as_ptr(), data.len() as u64) == 0 }
}

/// Appends to the state that is being written; whether there is room.
pub fn keep_state(data: &[u8]) -> bool {
    // SAFETY: pointer and length are of one slice.
    unsafe { rl_host_keep_state(data.as_ptr(), data.len() as u64) == 0 }
}

/// A line on the host's standard error.
pub fn say(message: &str) {
    // SAFETY: pointer and length are of one string.
    unsafe { rl_host_say(message.as_ptr(), message.len() as u64) }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    say(&alloc::format!("raidlab: the disk model panicked: {info}"));
    // SAFETY: ends the process.
    unsafe { rl_host_exit(70) }
}

/// Named by the unwinding tables of the compiler's own libraries. A panic ends the process, so nobody calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// As above.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
