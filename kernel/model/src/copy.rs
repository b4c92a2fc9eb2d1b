//! Copying and filling for the model alone. The kernel's own are chosen for the processor when it boots, which
//! User-Mode Linux does not do: it is left with the plain loops, at half the speed for blocks of contents.

use core::arch::asm;

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the direction flag is clear, as the calling convention has it.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") length => _,
            inout("rdi") to => _,
            inout("rsi") from => _,
            options(nostack, preserves_flags)
        );
    }
    to
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, length: usize) -> *mut u8 {
    // SAFETY: as above.
    unsafe {
        asm!(
            "rep stosb",
            inout("rcx") length => _,
            inout("rdi") to => _,
            in("al") byte as u8,
            options(nostack, preserves_flags)
        );
    }
    to
}
