//! Block devices of this machine, as the kernel reports them. Only reads.

pub(crate) mod blank_check;
pub(crate) mod device_number;
pub(crate) mod disk;
pub(crate) mod identity;
pub(crate) mod loop_status;
pub(crate) mod relations;
pub(crate) mod sysfs;
