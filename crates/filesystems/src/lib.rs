//! Every filesystem that raidlab knows, one file each: what studies call it, what it lets one choose, how it is made and
//! mounted, which kernels have it, which packages bring its programs.
//!
//! The words and rules of study files, the kernel's configuration, `raidlab doctor`, the calls of mkfs and the generated
//! pages are read from here; no other crate lists filesystems. Nothing is run here, and nothing is read from disk.

mod filesystem;
mod kind;
mod make;
mod program;
mod spec;

pub use filesystem::{
    Amount, BlockSizes, Checker, Compression, Filesystem, Journal, Kernel, MountSource, Mounting, Need, Several,
    SeveralDevices,
};
pub use kind::{names, words};
pub use make::{Made, Mkfs, Request, Stripes, fill};
pub use program::{Flavour, Program};
pub use spec::{Align, FilesystemSpec, JournalMode, Pool, Profile, ZfsSpec, ZfsSync};

/// Declares the modules below and a [`FilesystemKind`] for each, in the order in which studies and pages list them.
macro_rules! registry {
    ($($kind:ident $module:ident,)*) => {
        $(pub mod $module;)*

        /// A filesystem, by the value that describes it. What is known of it is in that value alone: outside this crate
        /// no code should ask which filesystem it has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum FilesystemKind {
            $($kind,)*
        }

        impl FilesystemKind {
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The words for each in study files, the one that raidlab writes first.
            pub const WORDS: &[&[&str]] = &[$($module::FILESYSTEM.words,)*];

            /// What is known of it.
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
