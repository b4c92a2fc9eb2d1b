//! What runs inside a guest. It uses what [`crate::protocol`] and [`crate::processor`] say, and nothing that runs
//! outside.

mod cpu_time;
pub mod init;
mod raidlab_device;
mod shell;
mod stack_bench;
