//! What speaks against overwriting a disk.

use crate::disk::{self, Disk, binary_size};
use crate::sysfs;
use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tools::{Invocation, Tool, Tools};

/// A reason not to touch a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Mounted {
        device: String,
        folder: String,
    },
    Swap {
        device: String,
    },
    /// The kernel has built something on it that runs.
    InUse {
        device: String,
        by: String,
    },
    /// Nothing known holds it, but it cannot be opened exclusively.
    Held {
        device: String,
    },
    /// A process has it open.
    Open {
        device: String,
        pid: u32,
        program: String,
    },
    /// It says of itself that it belongs to something made of several devices.
    Member {
        device: String,
        of: String,
        release: String,
    },
    /// It carries something that can be recognised.
    Signature {
        device: String,
        what: String,
    },
    /// It cannot be told what is on it.
    Unknown {
        device: String,
        why: String,
    },
    ReadOnly,
    TooSmall {
        has_bytes: u64,
        needs_bytes: u64,
    },
}

impl Obstacle {
    /// Whether the user may lift it by naming the disk's serial number.
    pub fn can_be_lifted(&self) -> bool {
        matches!(self, Self::Signature { .. })
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, folder } => write!(f, "{device} is mounted on {folder}"),
            Self::Swap { device } => write!(f, "{device} is swapped to"),
            Self::InUse { device, by } => write!(f, "{device} is {by}"),
            Self::Held { device } => write!(f, "{device} is held open exclusively by the kernel or a program"),
            Self::Open { device, pid, program } => write!(f, "{device} is open in process {pid} ({program})"),
            Self::Member { device, of, release } => {
                write!(
                    f,
                    "{device} is a member of {of}; to give it up for good, by hand: `{release}`"
                )
            }
            Self::Signature { device, what } => write!(f, "{device} carries {what}"),
            Self::Unknown { device, why } => write!(f, "it cannot be told what is on {device}: {why}"),
            Self::ReadOnly => write!(f, "it is read-only"),
            Self::TooSmall { has_bytes, needs_bytes } => {
                let (has, needs) = (binary_size(*has_bytes), binary_size(*needs_bytes));
                write!(f, "it is too small: {has}, and the study needs {needs}")
            }
        }
    }
}

/// All that speaks against overwriting a disk, except its size. Looks only.
pub fn obstacles(disk: &Disk, tools: &Tools) -> Vec<Obstacle> {
    let parts = with_partitions(disk);
    let mut found = Vec::new();
    if disk.read_only {
        found.push(Obstacle::ReadOnly);
    }
    let family = parts
        .iter()
        .flat_map(|part| with_holders(part))
        .collect::<BTreeSet<_>>();
    found.extend(mounts(&family));
    found.extend(swaps(&family));
    for part in &parts {
        found.extend(uses(part));
    }
    if found.iter().all(|obstacle| *obstacle == Obstacle::ReadOnly) {
        found.extend(parts.iter().filter(|part| is_held(part)).map(|part| Obstacle::Held {
            device: sysfs::name(part),
        }));
        found.extend(opened(&parts));
    }
    for part in &parts {
        found.extend(signatures(part, tools));
    }
    found
}

/// A device's folder in /sys, and those of its partitions.
fn with_partitions(disk: &Disk) -> Vec<PathBuf> {
    let mut parts = vec![disk.sysfs.clone()];
    parts.extend(
        sysfs::entries(&disk.sysfs)
            .into_iter()
            .filter(|entry| entry.join("partition").exists()),
    );
    parts
}

/// A device and everything that is stacked on it, however high.
fn with_holders(sysfs_folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![sysfs_folder.to_owned()];
    for holder in sysfs::entries(&sysfs_folder.join("holders")) {
        if let Ok(folder) = fs::canonicalize(&holder) {
            all.extend(with_holders(&folder));
        }
    }
    all
}

fn number(sysfs_folder: &Path) -> Option<String> {
    sysfs::text(&sysfs_folder.join("dev"))
}

fn mounts(family: &BTreeSet<PathBuf>) -> Vec<Obstacle> {
    let mut found: Vec<Obstacle> = Vec::new();
    // What is mounted for the machine, and what for this process alone.
    for table in ["/proc/1/mountinfo", "/proc/self/mountinfo"] {
        let table = fs::read_to_string(table).unwrap_or_default();
        for line in table.lines() {
            let Some(mounted) = Mounted::parse(line) else { continue };
            let device = family.iter().find(|device| mounted.is_of(device));
            found.extend(device.map(|device| Obstacle::Mounted {
                device: sysfs::name(device),
                folder: mounted.folder.clone(),
            }));
        }
    }
    found.dedup();
    found.sort_by_key(ToString::to_string);
    found.dedup();
    found
}

/// A line of mountinfo.
struct Mounted {
    number: String,
    folder: String,
    source: String,
}

impl Mounted {
    fn parse(line: &str) -> Option<Mounted> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ');
        let number = left.nth(2)?.to_owned();
        let folder = left.nth(1)?.replace("\\040", " ");
        let source = right.split(' ').nth(1)?.to_owned();
        Some(Mounted { number, folder, source })
    }

    /// btrfs shows a number of its own making, and one of its devices as source.
    fn is_of(&self, device: &Path) -> bool {
        number(device).is_some_and(|number| number == self.number || number_of_node(&self.source) == Some(number))
    }
}

fn number_of_node(path: &str) -> Option<String> {
    let stat = rustix::fs::stat(path).ok().filter(|_| path.starts_with('/'))?;
    let is_block = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::BlockDevice;
    is_block.then(|| {
        format!(
            "{}:{}",
            rustix::fs::major(stat.st_rdev),
            rustix::fs::minor(stat.st_rdev)
        )
    })
}

fn swaps(family: &BTreeSet<PathBuf>) -> Vec<Obstacle> {
    let table = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let areas: Vec<String> = table
        .lines()
        .skip(1)
        .filter_map(|line| number_of_node(line.split_whitespace().next()?))
        .collect();
    let is_swap = |device: &&PathBuf| number(device).is_some_and(|number| areas.contains(&number));
    family
        .iter()
        .filter(is_swap)
        .map(|device| Obstacle::Swap {
            device: sysfs::name(device),
        })
        .collect()
}

/// Arrays, volumes, filesystems of several devices and loop devices that run on a device.
fn uses(part: &Path) -> Vec<Obstacle> {
    let device = sysfs::name(part);
    let in_use = |by: String| Obstacle::InUse {
        device: device.clone(),
        by,
    };
    let mut found: Vec<Obstacle> = sysfs::entries(&part.join("holders"))
        .iter()
        .map(|holder| in_use(format!("a member of {}", holder_words(holder))))
        .collect();
    if part.join("bcache").exists() {
        found.push(in_use("a member of a bcache".to_owned()));
    }
    for filesystem in sysfs::entries(Path::new("/sys/fs/btrfs")) {
        if filesystem.join("devices").join(&device).exists() {
            found.push(in_use(format!(
                "a member of the btrfs {}, which is mounted",
                sysfs::name(&filesystem)
            )));
        }
    }
    let node = disk::node(part);
    for other in sysfs::entries(Path::new("/sys/block")) {
        let backing = sysfs::text(&other.join("loop/backing_file"));
        if backing.is_some_and(|backing| Path::new(&backing) == node) {
            found.push(in_use(format!("what {} is attached to", sysfs::name(&other))));
        }
    }
    found
}

/// `the md array md0`, `the LVM volume vg-home (dm-3)`
fn holder_words(holder: &Path) -> String {
    let name = sysfs::name(holder);
    if name.starts_with("md") {
        return format!("the md array {name}");
    }
    let Some(mapped) = sysfs::text(&holder.join("dm/name")) else {
        return format!("{name}, which runs");
    };
    let uuid = sysfs::text(&holder.join("dm/uuid")).unwrap_or_default();
    let kind = match uuid.split('-').next() {
        Some("LVM") => "LVM volume",
        Some("CRYPT") => "encrypted volume",
        Some("mpath") => "multipath device",
        _ => "device-mapper volume",
    };
    format!("the {kind} {mapped} ({name})")
}

/// ZFS, and whatever else leaves no trace in /sys, opens its disks exclusively.
fn is_held(part: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    matches!(
        rustix::fs::open(disk::node(part), flags, Mode::empty()),
        Err(rustix::io::Errno::BUSY)
    )
}

/// Processes that have the device open, and keep it open: udev looks into disks for a moment.
fn opened(parts: &[PathBuf]) -> Vec<Obstacle> {
    const TRIES: u32 = 10;
    let mut openers = openers(parts);
    for _ in 1..TRIES {
        if openers.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        let still = self::openers(parts);
        openers.retain(|opener| still.contains(opener));
    }
    openers
}

fn openers(parts: &[PathBuf]) -> Vec<Obstacle> {
    let devices: Vec<(u64, String)> = parts
        .iter()
        .filter_map(|part| Some((fs::metadata(disk::node(part)).ok()?.rdev(), sysfs::name(part))))
        .collect();
    let mut found = Vec::new();
    for process in sysfs::entries(Path::new("/proc")) {
        let Ok(pid) = sysfs::name(&process).parse::<u32>() else {
            continue;
        };
        for file in sysfs::entries(&process.join("fd")) {
            // A node is a path below /dev; other files need not be looked at.
            let is_node = fs::read_link(&file).is_ok_and(|target| target.starts_with("/dev"));
            let Some(meta) = is_node.then(|| fs::metadata(&file).ok()).flatten() else {
                continue;
            };
            let is_block = meta.mode() & libc::S_IFMT == libc::S_IFBLK;
            if let Some((_, device)) = devices.iter().find(|(rdev, _)| is_block && *rdev == meta.rdev()) {
                found.push(Obstacle::Open {
                    device: device.clone(),
                    pid,
                    program: sysfs::text(&process.join("comm")).unwrap_or_default(),
                });
                break;
            }
        }
    }
    found
}

#[derive(Deserialize)]
struct Signatures {
    #[serde(default)]
    signatures: Vec<Signature>,
}

#[derive(Deserialize)]
struct Signature {
    r#type: Option<String>,
    label: Option<String>,
}

/// What libblkid recognises: partition tables, filesystems, members, swap, encryption.
fn signatures(part: &Path, tools: &Tools) -> Vec<Obstacle> {
    let node = disk::node(part);
    if sysfs::number(&part.join("size")) == Some(0) {
        return Vec::new();
    }
    let call = Invocation::new(Tool::Wipefs)
        .args(["--no-act", "--json", "--output", "TYPE,LABEL"])
        .arg(&node)
        .limit(Duration::from_secs(60));
    let device = sysfs::name(part);
    let unknown = |why: String| {
        vec![Obstacle::Unknown {
            device: device.clone(),
            why,
        }]
    };
    let printed = match tools.run(&call, &mut |_| ()) {
        Ok(call) => call.stdout,
        Err(error) => return unknown(error.to_string()),
    };
    let list = match serde_json::from_str::<Signatures>(&printed) {
        Ok(list) => list.signatures,
        Err(_) if printed.trim().is_empty() => Vec::new(),
        // Something is there that we cannot read: no reason to overwrite it.
        Err(_) => return unknown(format!("wipefs says `{}`", printed.trim())),
    };
    let mut found: Vec<Obstacle> = Vec::new();
    for signature in list {
        let obstacle = recognised(&device, &node, &signature);
        if !found.contains(&obstacle) {
            found.push(obstacle);
        }
    }
    found
}

fn recognised(device: &str, node: &Path, signature: &Signature) -> Obstacle {
    let kind = signature.r#type.as_deref().unwrap_or("something");
    let device = device.to_owned();
    let node_words = node.display();
    let member = |of: &str, release: String| Obstacle::Member {
        device: device.clone(),
        of: of.to_owned(),
        release,
    };
    match kind {
        "linux_raid_member" => member("an md array", format!("mdadm --zero-superblock {node_words}")),
        "LVM2_member" | "LVM1_member" => member("an LVM volume group", format!("pvremove {node_words}")),
        "zfs_member" => member("a ZFS pool", format!("zpool labelclear -f {node_words}")),
        "bcache" | "bcachefs" => member(kind, format!("wipefs --all {node_words}")),
        "btrfs" if btrfs_devices(node) != Some(1) => {
            member("a btrfs of several devices", format!("wipefs --all {node_words}"))
        }
        _ if kind.ends_with("_raid_member") || kind.starts_with("DM_") || kind == "drbd" => {
            member(&format!("a {kind}"), format!("wipefs --all {node_words}"))
        }
        "gpt" | "dos" | "PMBR" | "mac" | "bsd" | "sun" | "sgi" | "atari" => Obstacle::Signature {
            device,
            what: format!("a partition table ({kind})"),
        },
        _ => Obstacle::Signature {
            device,
            what: match signature.label.as_deref() {
                Some(label) if !label.is_empty() => format!("{kind}, labelled `{label}`"),
                _ => kind.to_owned(),
            },
        },
    }
}

/// Of how many devices the btrfs is that has a superblock here (`num_devices` of `struct btrfs_super_block`).
fn btrfs_devices(node: &Path) -> Option<u64> {
    const SUPERBLOCK: u64 = 64 << 10;
    const NUM_DEVICES: u64 = 0x88;
    let mut number = [0; 8];
    let file = fs::File::open(node).ok()?;
    file.read_exact_at(&mut number, SUPERBLOCK + NUM_DEVICES).ok()?;
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, label: Option<&str>) -> Obstacle {
        let signature = Signature {
            r#type: Some(kind.to_owned()),
            label: label.map(str::to_owned),
        };
        recognised("sdb", Path::new("/nonexistent/sdb"), &signature)
    }

    #[test]
    fn members_are_not_lifted_and_signatures_are() {
        for kind in [
            "linux_raid_member",
            "LVM2_member",
            "zfs_member",
            "bcache",
            "isw_raid_member",
            "btrfs",
        ] {
            let obstacle = of(kind, None);
            assert!(matches!(obstacle, Obstacle::Member { .. }), "{kind}");
            assert!(!obstacle.can_be_lifted(), "{kind}");
        }
        for kind in ["gpt", "ext4", "swap", "crypto_LUKS", "xfs"] {
            assert!(of(kind, None).can_be_lifted(), "{kind}");
        }
        assert_eq!(
            of("ext4", Some("photos")).to_string(),
            "sdb carries ext4, labelled `photos`"
        );
        assert_eq!(of("gpt", Some("")).to_string(), "sdb carries a partition table (gpt)");
    }

    #[test]
    fn a_line_of_mountinfo() {
        let line = "29 1 254:0 / /mnt/my\\040disk rw,relatime shared:1 - ext4 /dev/vda rw";
        let mounted = Mounted::parse(line).expect("whole");
        assert_eq!(
            (mounted.number.as_str(), mounted.source.as_str()),
            ("254:0", "/dev/vda")
        );
        assert_eq!(mounted.folder, "/mnt/my disk");
        assert!(Mounted::parse("29 1 254:0").is_none());
    }

    #[test]
    fn signatures_are_read_as_wipefs_writes_them() {
        let printed = r#"{"signatures": [{"type":"ext4", "label":null}, {"type":"gpt"}]}"#;
        let list: Signatures = serde_json::from_str(printed).expect("JSON");
        assert_eq!(list.signatures.len(), 2);
    }
}
