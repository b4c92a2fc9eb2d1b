//! Every filesystem that raidlab knows, one file each: its name in studies, its options, how it is made and mounted,
//! which kernels have it, and which packages contain its programs.
//!
//! The keys and rules of study files, the kernel configuration, `raidlab doctor`, the calls of mkfs and the generated
//! pages are derived from here; no other crate lists filesystems. This crate runs nothing and reads no files.

mod filesystem;
mod kind;
mod make;
mod mount_option;
mod program;
mod spec;

pub use filesystem::{
    Amount, BlockSizes, Checker, Compression, Filesystem, Journal, KernelSupport, MountSource, Mounting, Need,
    Several, SeveralDevices,
};
pub use kind::{names, words};
pub use make::{Made, Mkfs, Request, Stripes, fill};
pub use mount_option::refused_mount_option;
pub use program::{Flavour, Program};
pub use spec::{Align, FilesystemSpec, JournalMode, Pool, Profile, ZfsSpec, ZfsSync};

/// Declares the modules below and a [`FilesystemKind`] for each, in the order of studies and pages.
macro_rules! registry {
    ($($kind:ident $module:ident,)*) => {
        $(pub mod $module;)*

        /// A filesystem. Its properties are in the value that describes it: code outside this crate should not match on
        /// the kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum FilesystemKind {
            $($kind,)*
        }

        impl FilesystemKind {
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The words of each filesystem in study files; raidlab writes the first one.
            pub const WORDS: &[&[&str]] = &[$($module::FILESYSTEM.words,)*];

            /// The description of this filesystem.
            pub const fn get(self) -> &'static Filesystem {
                match self {
                    $(Self::$kind => &$module::FILESYSTEM,)*
                }
            }
        }
    };
}

registry! {
    Raw raw,
    Ext2 ext2,
    Ext3 ext3,
    Ext4 ext4,
    Xfs xfs,
    Jfs jfs,
    Reiserfs reiserfs,
    Btrfs btrfs,
    Zfs zfs,
    Bcachefs bcachefs,
    F2fs f2fs,
    Nilfs2 nilfs2,
    Vfat vfat,
    Exfat exfat,
    Ntfs3 ntfs3,
    Ntfs3g ntfs3g,
    Udf udf,
}
