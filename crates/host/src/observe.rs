//! Facts about this machine: what its kernel supports and on what figures depend. Only reads.

pub(crate) mod kernel_filesystems;
pub(crate) mod kernel_log;
pub(crate) mod kernel_support;
pub(crate) mod load;
pub(crate) mod provenance;
