//! The machine on which stacks are built: devices, acts, the ledger of acts, and what the kernel reports.

pub(crate) mod access;
pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod device;
pub(crate) mod device_mapper;
pub(crate) mod disk_check;
pub(crate) mod disks;
pub(crate) mod error;
pub(crate) mod executor;
pub(crate) mod ledger;
pub(crate) mod mount;
pub(crate) mod mount_options;
pub(crate) mod page_cache;
pub(crate) mod request_queue;
pub(crate) mod sysfs;
pub(crate) mod undo;
pub(crate) mod uuid;
