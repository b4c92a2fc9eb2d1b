//! The stack of a thread that does measured work; its pages are populated when the thread starts.

use std::mem::MaybeUninit;

/// More than any thread here uses, regardless of the compiler.
const STACK_BYTES: usize = 64 << 10;

/// Populates the calling thread's stack down to a fixed depth. Otherwise the number of touched pages, which depends
/// on the compiler, would determine the memory left for the workload.
pub(crate) fn back_with_memory() {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are written by the first call if it succeeds, and released by the last; the advice changes
    // no content, and all pages belong to this thread's stack.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return;
        }
        if libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut bytes) == 0 && bytes >= STACK_BYTES {
            // Kernels before 5.14 do not know the advice: pages are then populated when touched.
            libc::madvise(
                lowest.byte_add(bytes - STACK_BYTES),
                STACK_BYTES,
                libc::MADV_POPULATE_WRITE,
            );
        }
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};

    /// Bit 63 of a page's entry in /proc/self/pagemap: the page is present.
    fn is_backed(address: usize) -> bool {
        let pagemap = open("/proc/self/pagemap", OFlags::RDONLY, Mode::empty()).expect("one's own can be read");
        let mut entry = [0; 8];
        rustix::io::pread(&pagemap, &mut entry, (address / 4096 * 8) as u64).expect("the page is mapped");
        u64::from_le_bytes(entry) >> 63 == 1
    }

    #[test]
    fn a_threads_stack_is_there_before_it_is_used() {
        let below = |_: &()| {
            let here = 0_u8;
            (&raw const here).addr() - STACK_BYTES / 2
        };
        let seen = std::thread::spawn(move || {
            let before = is_backed(below(&()));
            back_with_memory();
            (before, is_backed(below(&())))
        });
        assert_eq!(seen.join().expect("it ends"), (false, true));
    }
}
