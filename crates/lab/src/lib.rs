//! The lab: Linux in virtual time on simulated disks.
//!
//! Outside, [`disks`] describes the simulated disks, [`kernel`] builds and caches the User-Mode Linux kernels and
//! [`guest`] runs one guest for one trial. Inside the guest, [`init`] is the first process. The two sides
//! communicate through files that are open before the kernel starts and through `/dev/raidlab`; numbers and
//! structures are defined in `kernel/driver/raidlab.h`.

pub mod bench;
pub mod bound;
pub mod carried;
pub mod channel;
pub mod disks;
pub mod guest;
pub mod init;
pub mod job;
pub mod kernel;
pub mod power_cut;
pub mod processor;
pub mod programs;
pub mod setting;
pub mod shell;
#[cfg(test)]
mod test_study;
pub mod trace;
pub mod trial_folder;

use sha2::{Digest, Sha256};

/// A short hash of this program's own file.
///
/// # Errors
/// If it cannot be read, for example after an update while it runs.
pub fn own_build() -> std::io::Result<String> {
    let program = std::fs::read("/proc/self/exe")?;
    Ok(hex::encode(&Sha256::digest(&program)[..4]))
}
