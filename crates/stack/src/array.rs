//! What is below a filesystem: partitions, md, LVM, bcache, dm-integrity, LUKS and the pools of ZFS. How their programs are called.

pub(crate) mod bcache;
pub(crate) mod integrity;
pub(crate) mod luks;
pub(crate) mod lvm;
pub(crate) mod lvm_cache;
pub(crate) mod lvm_volume;
pub(crate) mod md;
pub(crate) mod partition_table;
pub(crate) mod stripes;
pub(crate) mod zfs;
