//! A disk of this machine: which one a path refers to, and how it is identified.

use crate::device::device_number::DeviceNumber;
use crate::device::relations::Relations;
use crate::device::sysfs;
use rustix::fs::FileType;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A block device, identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The path that the user gave.
    pub given: PathBuf,
    /// The kernel's node, `/dev/sdb`: may be another disk after a reboot.
    pub node: PathBuf,
    /// `sdb`
    pub kernel_name: String,
    pub number: DeviceNumber,
    /// The kernel's sequence number of the disk (`diskseq`); for a partition, that of its disk.
    pub sequence: Option<u64>,
    /// Its stable path below /dev/disk/by-id, if udev created one.
    pub by_id: Option<PathBuf>,
    pub model: Option<String>,
    pub serial: Option<String>,
    /// World-wide name; two paths to one disk show the same.
    pub wwid: Option<String>,
    pub size_bytes: u64,
    pub read_only: bool,
    /// Its folder in /sys.
    pub(crate) sysfs: PathBuf,
}

/// Why a path is not a disk.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error(
        "there is no `{0}`: `lsblk -o PATH,MODEL,SERIAL,SIZE` lists the disks, /dev/disk/by-id their stable names"
    )]
    Missing(PathBuf),
    #[error("`{0}` is not a block device: name a disk, such as /dev/disk/by-id/…, or use --loop for files")]
    NotABlockDevice(PathBuf),
    #[error("cannot examine `{path}`: {reason}")]
    Unreadable { path: PathBuf, reason: String },
}

impl Disk {
    /// Finds the disk that a path refers to, following symbolic links such as those in /dev/disk/by-id.
    pub fn at(path: &Path) -> Result<Disk, DiskError> {
        let unreadable = |reason: String| DiskError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let stat = match rustix::fs::stat(path) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
                return Err(DiskError::Missing(path.to_owned()));
            }
            Err(errno) => return Err(unreadable(std::io::Error::from(errno).to_string())),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(DiskError::NotABlockDevice(path.to_owned()));
        }
        let number = DeviceNumber::of_rdev(stat.st_rdev);
        let sysfs = fs::canonicalize(number.sysfs_link())
            .map_err(|_| unreadable("the kernel has no such device".to_owned()))?;
        Ok(Self::of(path, number, sysfs))
    }

    /// The disk with this folder in /sys.
    pub(crate) fn at_folder(folder: &Path) -> Option<Disk> {
        let number = sysfs::device_number(folder)?;
        Some(Self::of(&node(folder), number, folder.to_owned()))
    }

    fn of(given: &Path, number: DeviceNumber, sysfs: PathBuf) -> Disk {
        let kernel_name = sysfs::name(&sysfs);
        let whole = whole_disk(&sysfs);
        Disk {
            given: given.to_owned(),
            node: node(&sysfs),
            by_id: by_id(number),
            model: model(&whole),
            serial: serial(&whole),
            wwid: ["wwid", "device/wwid"]
                .iter()
                .find_map(|name| sysfs::text(&whole.join(name))),
            size_bytes: sysfs::number(&sysfs.join("size")).unwrap_or(0) * 512,
            read_only: sysfs::number(&sysfs.join("ro")) == Some(1),
            sequence: sysfs::number(&whole.join("diskseq")),
            kernel_name,
            number,
            sysfs,
        }
    }

    /// Its argument for `--destroy`: the serial number, or the kernel's name if it has none.
    pub fn handle(&self) -> &str {
        self.serial.as_deref().unwrap_or(&self.kernel_name)
    }

    /// The nodes of its partitions.
    pub fn partitions(&self) -> Vec<PathBuf> {
        let parts = sysfs::entries(&self.sysfs).into_iter();
        parts
            .filter(|entry| entry.join("partition").exists())
            .map(|entry| node(&entry))
            .collect()
    }

    /// Whether another is the same device or a part of it.
    pub(crate) fn is_same_disk(&self, other: &Disk) -> bool {
        let same_wwid = self.wwid.is_some() && self.wwid == other.wwid;
        same_wwid || whole_disk(&self.sysfs) == whole_disk(&other.sysfs)
    }

    /// Numbers of the device, of its whole disk and of all devices below it.
    pub(crate) fn claimed_numbers(&self) -> Vec<DeviceNumber> {
        Relations::of(&self.sysfs).claimed()
    }
}

/// `/dev/sdb (WDC WD5000YS, serial WD-WCANU1234567, 465.8 GiB)`
impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.as_deref().unwrap_or("no model");
        let size = binary_size(self.size_bytes);
        write!(f, "{} ({model}, ", self.node.display())?;
        match &self.serial {
            Some(serial) => write!(f, "serial {serial}, {size})"),
            None => write!(f, "no serial number, {size})"),
        }
    }
}

/// The disks of this machine with a serial number: more than one if a disk has several paths.
pub fn disks_of_serial(serial: &str) -> Vec<Disk> {
    let disks = sysfs::entries(Path::new("/sys/block")).into_iter();
    disks
        .filter_map(|folder| Disk::at_folder(&folder.canonicalize().ok()?))
        .filter(|disk| disk.serial.as_deref() == Some(serial))
        .collect()
}

/// The last characters of a serial number: enough for the owner to distinguish disks, not enough to identify them.
pub fn short_serial(serial: &str) -> String {
    const KEPT: usize = 4;
    let count = serial.chars().count();
    let end: String = serial.chars().skip(count.saturating_sub(KEPT)).collect();
    if count <= KEPT { end } else { format!("…{end}") }
}

/// `465.8 GiB`
pub(crate) fn binary_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{size:.1} {}", UNITS[unit]),
    }
}

/// The folder of the disk that a partition is on; of the disk itself otherwise.
pub(crate) fn whole_disk(sysfs: &Path) -> PathBuf {
    match sysfs.parent() {
        Some(parent) if sysfs.join("partition").exists() => parent.to_owned(),
        _ => sysfs.to_owned(),
    }
}

/// The node that the kernel made for a device.
pub(crate) fn node(sysfs: &Path) -> PathBuf {
    let events = sysfs::text(&sysfs.join("uevent")).unwrap_or_default();
    let name = events
        .lines()
        .find_map(|line| line.strip_prefix("DEVNAME=").map(str::to_owned))
        .unwrap_or_else(|| sysfs::name(sysfs));
    Path::new("/dev").join(name)
}

fn model(disk: &Path) -> Option<String> {
    let vendor =
        sysfs::text(&disk.join("device/vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    let model = sysfs::text(&disk.join("device/model"))?;
    Some(vendor.map_or(model.clone(), |vendor| format!("{vendor} {model}")))
}

fn serial(disk: &Path) -> Option<String> {
    ["device/serial", "serial"]
        .iter()
        .find_map(|name| sysfs::text(&disk.join(name)))
        .or_else(|| unit_serial_number(&fs::read(disk.join("device/vpd_pg80")).ok()?))
}

/// SCSI vital product data page 80h: a header of four bytes, then the number.
fn unit_serial_number(page: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(page.get(4..)?);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn by_id(number: DeviceNumber) -> Option<PathBuf> {
    const TELLING: [&str; 5] = ["ata-", "nvme-", "scsi-", "virtio-", "usb-"];
    let is_it = |path: &PathBuf| DeviceNumber::of_node(path) == Some(number);
    let mut names: Vec<PathBuf> = sysfs::entries(Path::new("/dev/disk/by-id"))
        .into_iter()
        .filter(is_it)
        .collect();
    names.sort_by_key(|path| {
        let name = sysfs::name(path);
        // `nvme-eui.…` and `scsi-3…` contain world-wide names.
        let rank = TELLING.iter().position(|start| name.starts_with(start));
        (rank.unwrap_or(TELLING.len()), name.contains("-eui."), name.len())
    });
    names.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_are_shortened_to_their_end() {
        assert_eq!(short_serial("WD-WCANU1234567"), "…4567");
        assert_eq!(short_serial("AB12"), "AB12");
        assert_eq!(short_serial("ñandú9"), "…ndú9");
    }

    #[test]
    fn sizes_are_said_in_the_unit_that_fits() {
        assert_eq!(binary_size(500_107_862_016), "465.8 GiB");
        assert_eq!(binary_size(512), "512 B");
        assert_eq!(binary_size(20 << 40), "20.0 TiB");
    }

    #[test]
    fn what_is_no_disk_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        assert!(matches!(Disk::at(&file), Err(DiskError::NotABlockDevice(_))));
        assert!(matches!(
            Disk::at(Path::new("/dev/null")),
            Err(DiskError::NotABlockDevice(_))
        ));
        assert!(matches!(
            Disk::at(&folder.path().join("gone")),
            Err(DiskError::Missing(_))
        ));
        assert!(matches!(Disk::at(&file.join("below")), Err(DiskError::Missing(_))));
    }

    #[test]
    fn a_page_of_vital_product_data() {
        assert_eq!(
            unit_serial_number(b"\x00\x80\x00\x08  S3Z9NB "),
            Some("S3Z9NB".to_owned())
        );
        assert_eq!(unit_serial_number(b"\x00\x80"), None);
    }
}
