//! What is below a filesystem: md, LVM, dm-integrity, LUKS and the pools of ZFS. How their programs are called.

pub(crate) mod integrity;
pub(crate) mod luks;
pub(crate) mod lvm;
pub(crate) mod lvm_cache;
pub(crate) mod md;
pub(crate) mod stripes;
pub(crate) mod zfs;
