//! The known programs: name, package, and how to get the version.

use filesystems::{FilesystemKind, Program, ext2};

/// An external program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    Mdadm,
    Lvm,
    Dmsetup,
    Fio,
    Bonnie,
    Iozone,
    Wipefs,
    Blkid,
    Partx,
    Losetup,
    Sfdisk,
    Integritysetup,
    Cryptsetup,
    MakeBcache,
    BcacheSuperShow,
    Blkdiscard,
    Fstrim,
    Truncate,
    Fallocate,
    Df,
    /// A program of a filesystem that makes, mounts or checks it.
    Filesystem(&'static Program),
}

static MDADM: Program = Program {
    // Otherwise mdadm may start the machine's services that monitor arrays.
    environment: &[("MDADM_NO_SYSTEMCTL", "1")],
    ..Program::new("mdadm", "mdadm")
};
static LVM: Program = Program::new("lvm", "lvm2").version_argument("version");
static DMSETUP: Program = Program::new("dmsetup", "dmsetup").version_argument("version");
// fio calibrates the CPU clock before it parses its arguments: 10 s of wall time in a lab guest. There
// `Tools::set_version` provides its version.
static FIO: Program = Program::new("fio", "fio");
// Bonnie++ has no such argument; it prints its version when it does not know an argument.
static BONNIE: Program = Program::new("bonnie++", "bonnie++");
// In Debian's section non-free.
static IOZONE: Program = Program::new("iozone", "iozone3").version_argument("-v");
static WIPEFS: Program = Program::new("wipefs", "util-linux");
static BLKID: Program = Program::new("blkid", "util-linux");
static PARTX: Program = Program::new("partx", "util-linux");
static LOSETUP: Program = Program::new("losetup", "mount");
static SFDISK: Program = Program::new("sfdisk", "fdisk");
static INTEGRITYSETUP: Program = Program::new("integritysetup", "cryptsetup-bin");
static CRYPTSETUP: Program = Program::new("cryptsetup", "cryptsetup-bin");
// Neither prints a version.
static MAKE_BCACHE: Program = Program::new("make-bcache", "bcache-tools").version_argument("");
static BCACHE_SUPER_SHOW: Program = Program::new("bcache-super-show", "bcache-tools").version_argument("");
static BLKDISCARD: Program = Program::new("blkdiscard", "util-linux");
static FSTRIM: Program = Program::new("fstrim", "util-linux");
static TRUNCATE: Program = Program::new("truncate", "coreutils");
static FALLOCATE: Program = Program::new("fallocate", "util-linux");
static DF: Program = Program::new("df", "coreutils");

impl Tool {
    /// mke2fs, which makes ext2, ext3 and ext4, and the small filesystem for the file of md's external bitmap.
    pub const MKE2FS: Self = Self::Filesystem(&ext2::MKE2FS);

    /// Programs that do not belong to one filesystem.
    const GENERAL: [Self; 20] = [
        Self::Mdadm,
        Self::Lvm,
        Self::Dmsetup,
        Self::Fio,
        Self::Bonnie,
        Self::Iozone,
        Self::Wipefs,
        Self::Blkid,
        Self::Partx,
        Self::Losetup,
        Self::Sfdisk,
        Self::Integritysetup,
        Self::Cryptsetup,
        Self::MakeBcache,
        Self::BcacheSuperShow,
        Self::Blkdiscard,
        Self::Fstrim,
        Self::Truncate,
        Self::Fallocate,
        Self::Df,
    ];

    /// Every program except those that only check filesystems, each once.
    pub fn all() -> Vec<Self> {
        let mut all = Self::GENERAL.to_vec();
        for kind in FilesystemKind::ALL {
            let programs = [kind.maker(), kind.mounting.program];
            for tool in programs.into_iter().flatten().map(Self::Filesystem) {
                if !all.contains(&tool) {
                    all.push(tool);
                }
            }
        }
        all
    }

    const fn describe(self) -> &'static Program {
        match self {
            Self::Mdadm => &MDADM,
            Self::Lvm => &LVM,
            Self::Dmsetup => &DMSETUP,
            Self::Fio => &FIO,
            Self::Bonnie => &BONNIE,
            Self::Iozone => &IOZONE,
            Self::Wipefs => &WIPEFS,
            Self::Blkid => &BLKID,
            Self::Partx => &PARTX,
            Self::Losetup => &LOSETUP,
            Self::Sfdisk => &SFDISK,
            Self::Integritysetup => &INTEGRITYSETUP,
            Self::Cryptsetup => &CRYPTSETUP,
            Self::MakeBcache => &MAKE_BCACHE,
            Self::BcacheSuperShow => &BCACHE_SUPER_SHOW,
            Self::Blkdiscard => &BLKDISCARD,
            Self::Fstrim => &FSTRIM,
            Self::Truncate => &TRUNCATE,
            Self::Fallocate => &FALLOCATE,
            Self::Df => &DF,
            Self::Filesystem(program) => program,
        }
    }

    /// File name of the program.
    pub const fn program(self) -> &'static str {
        self.describe().file
    }

    /// The Debian package.
    pub const fn package(self) -> &'static str {
        self.describe().package
    }

    /// Whether raidlab provides it in lab guests, so that the host need not have it.
    pub const fn is_carried(self) -> bool {
        self.describe().is_carried
    }

    /// The Debian suite of its package, if not stable.
    pub const fn suite(self) -> Option<&'static str> {
        self.describe().suite
    }

    /// The argument that makes it print its version and exit; empty if none does.
    pub(crate) const fn version_argument(self) -> &'static str {
        self.describe().version_argument
    }

    /// Environment variables that keep local configuration out.
    pub(crate) const fn environment(self) -> &'static [(&'static str, &'static str)] {
        self.describe().environment
    }
}
