//! The lab: Linux in virtual time on simulated disks.
//!
//! Outside, [`kernel`] builds and keeps the User-Mode Linux kernels and [`guest`] runs one guest for one trial.
//! Inside the guest, [`init`] is its first process. The two sides speak through files that are open before the
//! kernel starts and through `/dev/raidlab`; the numbers and shapes are those of `kernel/driver/raidlab.h`.

pub mod channel;
pub mod guest;
pub mod init;
pub mod job;
pub mod kernel;
