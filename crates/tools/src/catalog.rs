//! The programs that are known: what they are called, whose package they are, how they tell their version.

/// An external program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    Mdadm,
    Mke2fs,
    MkfsXfs,
    MkfsJfs,
    MkfsReiserfs,
    MkfsBtrfs,
    Fio,
    Bonnie,
    Iozone,
    Wipefs,
    Losetup,
    MkfsF2fs,
    MkfsNilfs2,
    MkfsVfat,
    MkfsExfat,
    MkfsNtfs,
    Ntfs3g,
    Lvm,
    Bcachefs,
    Sfdisk,
    Zpool,
}

impl Tool {
    pub const ALL: [Self; 21] = [
        Self::Mdadm,
        Self::Mke2fs,
        Self::MkfsXfs,
        Self::MkfsJfs,
        Self::MkfsReiserfs,
        Self::MkfsBtrfs,
        Self::Fio,
        Self::Bonnie,
        Self::Iozone,
        Self::Wipefs,
        Self::Losetup,
        Self::MkfsF2fs,
        Self::MkfsNilfs2,
        Self::MkfsVfat,
        Self::MkfsExfat,
        Self::MkfsNtfs,
        Self::Ntfs3g,
        Self::Lvm,
        Self::Bcachefs,
        Self::Sfdisk,
        Self::Zpool,
    ];

    /// The name of its file.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Mdadm => "mdadm",
            Self::Mke2fs => "mke2fs",
            Self::MkfsXfs => "mkfs.xfs",
            Self::MkfsJfs => "mkfs.jfs",
            Self::MkfsReiserfs => "mkfs.reiserfs",
            Self::MkfsBtrfs => "mkfs.btrfs",
            Self::Fio => "fio",
            Self::Bonnie => "bonnie++",
            Self::Iozone => "iozone",
            Self::Wipefs => "wipefs",
            Self::Losetup => "losetup",
            Self::MkfsF2fs => "mkfs.f2fs",
            Self::MkfsNilfs2 => "mkfs.nilfs2",
            Self::MkfsVfat => "mkfs.vfat",
            Self::MkfsExfat => "mkfs.exfat",
            Self::MkfsNtfs => "mkfs.ntfs",
            Self::Ntfs3g => "ntfs-3g",
            Self::Lvm => "lvm",
            Self::Bcachefs => "bcachefs",
            Self::Sfdisk => "sfdisk",
            Self::Zpool => "zpool",
        }
    }

    /// Debian's package that has it.
    pub const fn package(self) -> &'static str {
        match self {
            Self::Mdadm => "mdadm",
            Self::Mke2fs => "e2fsprogs",
            Self::MkfsXfs => "xfsprogs",
            Self::MkfsJfs => "jfsutils",
            Self::MkfsReiserfs => "reiserfsprogs",
            Self::MkfsBtrfs => "btrfs-progs",
            Self::Fio => "fio",
            Self::Bonnie => "bonnie++",
            // Of the section non-free.
            Self::Iozone => "iozone3",
            Self::Wipefs => "util-linux",
            Self::Losetup => "mount",
            Self::MkfsF2fs => "f2fs-tools",
            Self::MkfsNilfs2 => "nilfs-tools",
            Self::MkfsVfat => "dosfstools",
            Self::MkfsExfat => "exfatprogs",
            Self::MkfsNtfs => "ntfs-3g",
            Self::Ntfs3g => "ntfs-3g",
            Self::Lvm => "lvm2",
            Self::Bcachefs => "bcachefs-tools",
            Self::Sfdisk => "fdisk",
            Self::Zpool => "zfsutils-linux",
        }
    }

    /// Whether the lab's guests get it, with their kernel or besides, so that their host need not have it.
    pub const fn is_carried(self) -> bool {
        matches!(self, Self::Zpool | Self::Bcachefs)
    }

    /// Where Debian has its package, if that is not where it has the others.
    pub const fn suite(self) -> Option<&'static str> {
        match self {
            Self::Bcachefs => Some("experimental"),
            _ => None,
        }
    }

    /// The argument that makes it print its version and end.
    ///
    /// fio calibrates the processor's clock before it looks at its arguments: 10 s of wall time in a lab guest.
    /// There its version is handed in by [`crate::Tools::set_version`].
    pub(crate) const fn version_argument(self) -> &'static str {
        match self {
            Self::Mke2fs
            | Self::MkfsXfs
            | Self::MkfsJfs
            | Self::MkfsReiserfs
            | Self::MkfsF2fs
            | Self::MkfsNilfs2
            | Self::MkfsExfat
            | Self::MkfsNtfs => "-V",
            Self::Lvm | Self::Bcachefs | Self::Zpool => "version",
            // Tells its version, and then how it is used.
            Self::MkfsVfat => "--help",
            Self::Iozone => "-v",
            // Bonnie++ has no such argument, and says its version when it does not know one.
            Self::Bonnie
            | Self::Sfdisk
            | Self::Ntfs3g
            | Self::Mdadm
            | Self::MkfsBtrfs
            | Self::Fio
            | Self::Wipefs
            | Self::Losetup => "--version",
        }
    }

    /// Variables that keep this machine's own settings out of what the program does.
    pub(crate) const fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // Without a file of this name mke2fs takes the defaults compiled into it, the same on every machine.
            Self::Mke2fs => &[("MKE2FS_CONFIG", "/nonexistent/mke2fs.conf")],
            // Otherwise mdadm may start services of the machine that look after its arrays.
            Self::Mdadm => &[("MDADM_NO_SYSTEMCTL", "1")],
            // Otherwise zpool waits for udev to name each device that it takes up again, udev or not.
            Self::Zpool => &[("ZFS_VDEV_DEVID_OPT_OUT", "YES"), ("ZPOOL_IMPORT_UDEV_TIMEOUT_MS", "1")],
            _ => &[],
        }
    }
}
