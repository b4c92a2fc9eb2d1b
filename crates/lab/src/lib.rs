//! The lab: Linux in virtual time on simulated disks.
//!
//! Outside, [`disks`] describes the simulated disks, [`kernel`] builds and caches the User-Mode Linux kernels and
//! [`guest`] runs one guest for one trial. Inside the guest, [`init`] is the first process; folder `inside` has only
//! such code, and no other folder has any. The two sides communicate through files that are open before the kernel
//! starts and through `/dev/raidlab`: folder `protocol`, and `kernel/driver/raidlab.h` with numbers and structures.

mod affinity;
pub mod cached;
pub mod disks;
pub mod guest;
mod inside;
pub mod kept_stacks;
pub mod kernel;
pub mod power_cut;
pub mod processor;
mod protocol;

pub use disks::{rebuild_time, throughput_ceiling, trace};
pub use guest::{programs, trial_folder};
pub use inside::init;
pub use protocol::{carried, job, setting};

use sha2::{Digest, Sha256};

/// A short hash of this program's own file.
///
/// # Errors
/// If it cannot be read, for example after an update while it runs.
pub fn own_build() -> std::io::Result<String> {
    let program = std::fs::read("/proc/self/exe")?;
    Ok(hex::encode(&Sha256::digest(&program)[..4]))
}
