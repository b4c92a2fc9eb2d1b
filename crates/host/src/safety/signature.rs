//! Signatures on a device, found by libblkid through wipefs, partx and blkid of util-linux.

use crate::device::sysfs;
use crate::safety::obstacle::Obstacle;
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use tools::{Invocation, Tool, ToolError, Tools};

/// Types that use only one device, so that the user may release them. All others, including unknown ones, count as
/// members of something.
const OF_ONE_DEVICE: &[&str] = &[
    "ext2",
    "ext3",
    "ext4",
    "ext4dev",
    "jbd",
    "xfs",
    "xfs_external_log",
    "jfs",
    "reiserfs",
    "reiser4",
    "f2fs",
    "nilfs2",
    "vfat",
    "exfat",
    "ntfs",
    "swap",
    "swsuspend",
    "udf",
    "iso9660",
    "hfs",
    "hfsplus",
    "apfs",
    "ufs",
    "minix",
    "squashfs",
    "squashfs3",
    "erofs",
    "cramfs",
    "romfs",
    "crypto_LUKS",
    "BitLocker",
];

const PARTITION_TABLES: &[&str] = &[
    "gpt",
    "dos",
    "PMBR",
    "mac",
    "bsd",
    "sun",
    "sgi",
    "atari",
    "solaris_x86",
    "unixware",
    "ultrix",
];

/// Partition types, by GUID or DOS type, that belong to an array or pool even without a signature.
const MEMBER_PARTITIONS: &[(&str, &str)] = &[
    ("e75caf8f-f680-4cee-afa3-b001e56efc2d", "Windows Storage Spaces"),
    ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "a dynamic disk of Windows"),
    ("af9b60a0-1431-4f62-bc68-3311714a69ad", "a dynamic disk of Windows"),
    ("0x42", "a dynamic disk of Windows"),
    ("aa31e02a-400f-11db-9590-000c2911d1b8", "a VMFS"),
    ("0xfb", "a VMFS"),
    ("381cfccc-7288-11e0-92ee-000c2911d0b2", "a vSAN"),
    ("4fbd7e29-9d25-41b8-afd0-062c0ceff05d", "a Ceph cluster"),
    ("45b0969e-9b03-4f30-b4c6-b4b80ceff106", "a Ceph cluster"),
];

#[derive(Deserialize)]
struct Signatures {
    #[serde(default)]
    signatures: Vec<Signature>,
}

#[derive(Deserialize)]
pub(crate) struct Signature {
    pub(crate) r#type: Option<String>,
    label: Option<String>,
    pub(crate) uuid: Option<String>,
}

/// What libblkid recognises on a device and in the partitions of its table, even if the kernel has not scanned them.
pub(crate) fn signatures(folder: &Path, node: &Path, tools: &Tools) -> Vec<Obstacle> {
    if sysfs::number(&folder.join("size")) == Some(0) {
        return Vec::new();
    }
    let device = sysfs::name(folder);
    let unknown = |why: String| Obstacle::Unknown {
        device: device.clone(),
        why,
    };
    let list = match listed(node, tools) {
        Ok(list) => list,
        Err(why) => return vec![unknown(why)],
    };
    let mut found: Vec<Obstacle> = Vec::new();
    let mut has_table = false;
    for signature in list {
        let kind = signature.r#type.as_deref().unwrap_or("something");
        has_table |= PARTITION_TABLES.contains(&kind);
        let obstacle = recognised(&device, node, kind, signature.label.as_deref());
        if !found.contains(&obstacle) {
            found.push(obstacle);
        }
    }
    if has_table {
        match in_partitions(&device, node, tools) {
            Ok(more) => found.extend(more),
            Err(why) => found.push(unknown(why)),
        }
    }
    found
}

/// Identifies the signatures on a device among others of the same types.
pub(crate) fn identity(node: &Path, tools: &Tools) -> Result<String, String> {
    let call = Invocation::new(Tool::Wipefs)
        .args([
            "--no-act",
            "--noheadings",
            "--parsable",
            "--output",
            "TYPE,UUID,OFFSET,LABEL",
        ])
        .arg(node)
        .limit(Duration::from_secs(60));
    let printed = tools.run(&call, &mut |_| ()).map_err(|error| error.to_string())?.stdout;
    let mut lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    Ok(lines.join("; "))
}

/// The signatures on a device.
pub(crate) fn listed(node: &Path, tools: &Tools) -> Result<Vec<Signature>, String> {
    let call = Invocation::new(Tool::Wipefs)
        .args(["--no-act", "--json", "--output", "TYPE,LABEL,UUID"])
        .arg(node)
        .limit(Duration::from_secs(60));
    let printed = tools.run(&call, &mut |_| ()).map_err(|error| error.to_string())?.stdout;
    match serde_json::from_str::<Signatures>(&printed) {
        Ok(list) => Ok(list.signatures),
        Err(_) if printed.trim().is_empty() => Ok(Vec::new()),
        // There is something unreadable, which does not justify overwriting it.
        Err(_) => Err(format!("wipefs says `{}`", printed.trim())),
    }
}

/// Members in the partitions of the table that is on a device.
fn in_partitions(device: &str, node: &Path, tools: &Tools) -> Result<Vec<Obstacle>, String> {
    let call = Invocation::new(Tool::Partx)
        .args(["--show", "--raw", "--noheadings", "--output", "NR,START,SECTORS,TYPE"])
        // The device is treated as a disk, even if it is a partition.
        .arg("-")
        .arg(node)
        .limit(Duration::from_secs(60));
    let table = match tools.run(&call, &mut |_| ()) {
        Ok(call) => call.stdout,
        // A table without partitions.
        Err(ToolError::Exit { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let mut found = Vec::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, start, sectors, more @ ..] = words.as_slice() else {
            return Err(format!("partx printed `{line}`"));
        };
        let (Ok(start), Ok(sectors)) = (start.parse::<u64>(), sectors.parse::<u64>()) else {
            return Err(format!("partx printed `{line}`"));
        };
        let name = format!("partition {number} of {device}");
        let kind = more.first().map(|kind| kind.to_lowercase()).unwrap_or_default();
        if let Some((_, of)) = MEMBER_PARTITIONS.iter().find(|(other, _)| *other == kind) {
            found.push(Obstacle::Member {
                device: name.clone(),
                of: (*of).to_owned(),
                release: format!("wipefs --all {}", node.display()),
            });
        }
        // The two sectors of an extended partition contain a table, whose partitions are listed.
        let Some(kind) = probed(node, start, sectors, tools)?.filter(|_| sectors > 2) else {
            continue;
        };
        let obstacle = recognised(&name, node, &kind, None);
        found.extend(Some(obstacle).filter(|obstacle| matches!(obstacle, Obstacle::Member { .. })));
    }
    Ok(found)
}

/// What libblkid recognises in a part of a device.
fn probed(node: &Path, start: u64, sectors: u64, tools: &Tools) -> Result<Option<String>, String> {
    /// The exit status of blkid(8) when it finds nothing.
    const NOTHING: i32 = 2;
    let call = Invocation::new(Tool::Blkid)
        .args(["--probe", "--output", "value", "--match-tag", "TYPE"])
        .arg("--offset")
        .arg(start.saturating_mul(512).to_string())
        .arg("--size")
        .arg(sectors.saturating_mul(512).to_string())
        .arg(node)
        .limit(Duration::from_secs(60));
    match tools.run(&call, &mut |_| ()) {
        Ok(call) => Ok(Some(call.stdout.trim().to_owned()).filter(|kind| !kind.is_empty())),
        Err(ToolError::Exit { status: NOTHING, .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn recognised(device: &str, node: &Path, kind: &str, label: Option<&str>) -> Obstacle {
    let device = device.to_owned();
    let node_words = node.display();
    let member = |of: &str, release: String| Obstacle::Member {
        device: device.clone(),
        of: of.to_owned(),
        release,
    };
    match kind {
        // `mdadm --create --name` of a stack; on some hosts the host's name precedes it.
        "linux_raid_member" if label.is_some_and(|label| label.contains("raidlab-")) => member(
            "an md array that a run of raidlab made",
            format!("raidlab clean`, or, if it finds nothing, `mdadm --zero-superblock {node_words}"),
        ),
        "linux_raid_member" => member("an md array", format!("mdadm --zero-superblock {node_words}")),
        "LVM2_member" | "LVM1_member" => member("an LVM volume group", format!("pvremove {node_words}")),
        "zfs_member" => member("a ZFS pool", format!("zpool labelclear -f {node_words}")),
        "btrfs" if btrfs_devices(node) != Some(1) => {
            member("a btrfs of several devices", format!("wipefs --all {node_words}"))
        }
        _ if PARTITION_TABLES.contains(&kind) => Obstacle::Signature {
            device,
            what: format!("a partition table ({kind})"),
        },
        _ if OF_ONE_DEVICE.contains(&kind) || kind == "btrfs" => Obstacle::Signature {
            device,
            what: match label {
                Some(label) if !label.is_empty() => format!("{kind}, labelled `{label}`"),
                _ => kind.to_owned(),
            },
        },
        _ => member(&format!("a {kind}"), format!("wipefs --all {node_words}")),
    }
}

/// Number of devices of the btrfs that has a superblock here (`num_devices` of `struct btrfs_super_block`).
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
        recognised("sdb", Path::new("/nonexistent/sdb"), kind, label)
    }

    /// Its superblock may be that of a run that is under way, or that `raidlab clean` would undo.
    #[test]
    fn the_owner_of_a_member_of_another_run_is_not_told_to_erase_it() {
        for label in ["raidlab-0badcafe", "nas:raidlab-0badcafe"] {
            let words = of("linux_raid_member", Some(label)).to_string();
            assert!(words.contains("run: `raidlab clean`"), "{words}");
        }
        let words = of("linux_raid_member", Some("nas:0")).to_string();
        assert!(words.contains("run: `mdadm --zero-superblock"), "{words}");
    }

    /// Types of libblkid and an unknown one.
    #[test]
    fn members_of_any_kind_are_not_lifted_and_what_is_of_one_disk_is() {
        for kind in [
            "linux_raid_member",
            "LVM2_member",
            "zfs_member",
            "bcache",
            "isw_raid_member",
            "ddf_raid_member",
            "btrfs",
            "stratis",
            "VMFS",
            "VMFS_volume_member",
            "ceph_bluestore",
            "drbd",
            "DM_integrity",
            "vdo",
            "gfs2",
            "ocfs2",
            "oracleasm",
            "mpath_member",
            "bcachefs",
            "something_new",
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
    fn signatures_are_read_as_wipefs_writes_them() {
        let printed = r#"{"signatures": [{"type":"ext4", "label":null}, {"type":"gpt"}]}"#;
        let list: Signatures = serde_json::from_str(printed).expect("JSON");
        assert_eq!(list.signatures.len(), 2);
    }
}
