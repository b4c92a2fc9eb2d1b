//! What runs inside a guest. It uses what [`crate::protocol`] and [`crate::processor`] say, and nothing that runs
//! outside.

mod account;
mod bench;
mod channel;
pub mod init;
mod shell;
