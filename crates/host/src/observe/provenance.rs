//! Provenance: the properties of this machine on which figures depend.

use crate::device::disk::{Disk, short_serial, whole_disk};
use crate::device::sysfs;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use study::{ProvenanceEntry, TestDisk};

type Facts = Vec<(String, String)>;

fn push(facts: &mut Facts, key: impl Into<String>, value: Option<String>) {
    facts.extend(value.map(|value| (key.into(), value)));
}

/// Bytes of memory that this machine has.
pub fn ram_bytes() -> u64 {
    let table = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = table.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Identifies this machine and its kernel, as far as figures depend on them.
pub fn identity() -> String {
    const SHOWN: [&str; 4] = ["kernel", "kernel.build", "host.processor", "host.ram_bytes"];
    let facts = of_machine();
    let shown = facts.iter().filter(|(key, _)| SHOWN.contains(&key.as_str()));
    shown.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
}

/// Free bytes of the filesystem of a folder.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

/// Kernel, processors and memory.
pub(crate) fn of_machine() -> Facts {
    let mut facts = Facts::new();
    let kernel = rustix::system::uname();
    let text = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
    push(&mut facts, "kernel", text(kernel.release()));
    push(&mut facts, "kernel.build", text(kernel.version()));
    push(&mut facts, "kernel.source", Some("this machine's own".to_owned()));
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    push(&mut facts, "host.processor", processor(&processors));
    let cpu = Path::new("/sys/devices/system/cpu/cpu0/cpufreq");
    let governor = sysfs::text(&cpu.join("scaling_governor"));
    push(
        &mut facts,
        "host.governor",
        governor.or_else(|| Some("the kernel shows none".to_owned())),
    );
    push(
        &mut facts,
        "host.frequency_driver",
        sysfs::text(&cpu.join("scaling_driver")),
    );
    push(&mut facts, "host.ram_bytes", Some(ram_bytes().to_string()));
    let huge_pages = sysfs::text(Path::new("/sys/kernel/mm/transparent_hugepage/enabled"));
    push(
        &mut facts,
        "host.huge_pages",
        huge_pages.map(|line| sysfs::in_use(&line).to_owned()),
    );
    facts
}

/// `2 × Intel(R) Xeon(R) …`
fn processor(table: &str) -> Option<String> {
    let models: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map(|(_, model)| model.trim())
        .collect();
    Some(format!("{} × {}", models.len(), models.first()?))
}

/// Model, settings and controller of a disk.
pub(crate) fn test_disk(place: usize, disk: &Disk, full_serials: bool) -> TestDisk {
    let whole = whole_disk(&disk.sysfs);
    let attribute = |name: &str| sysfs::text(&whole.join(name));
    let serial = disk.serial.clone();
    let serial = serial.map(|serial| if full_serials { serial } else { short_serial(&serial) });
    let firmware = ["device/firmware_rev", "device/rev"];
    let backing_file = attribute("loop/backing_file");
    let properties = [
        ("model", disk.model.clone()),
        ("serial", serial),
        ("size_bytes", Some(disk.size_bytes.to_string())),
        ("firmware", firmware.iter().find_map(|name| attribute(name))),
        ("write_cache", attribute("queue/write_cache")),
        ("rotational", attribute("queue/rotational")),
        ("logical_block_bytes", attribute("queue/logical_block_size")),
        ("physical_block_bytes", attribute("queue/physical_block_size")),
        ("queue_depth", attribute("device/queue_depth")),
        ("requests_max", attribute("queue/nr_requests")),
        ("controller", controller(&whole)),
        ("temperature_c", temperature(&whole)),
        ("loop.direct_io", attribute("loop/dio")),
        ("loop.filesystem", backing_file.and_then(|file| filesystem_of(&file))),
    ];
    let entry = |(key, value): (&str, Option<String>)| {
        let key = key.to_owned();
        value.map(|value| ProvenanceEntry { key, value })
    };
    TestDisk {
        place,
        node: disk.kernel_name.clone(),
        properties: properties.into_iter().filter_map(entry).collect(),
    }
}

/// The disks' temperatures after the workload, where available.
pub(crate) fn temperatures(nodes: &[PathBuf]) -> Facts {
    let mut facts = Facts::new();
    for (index, node) in nodes.iter().enumerate() {
        let degrees = Disk::at(node)
            .ok()
            .and_then(|disk| temperature(&whole_disk(&disk.sysfs)));
        push(&mut facts, format!("disk.{index}.temperature_after_c"), degrees);
    }
    facts
}

/// From the kernel's sensors (`drivetemp`, NVMe), which do not disturb the disk.
fn temperature(disk: &Path) -> Option<String> {
    let mut sensors = sysfs::entries(&disk.join("device/hwmon"));
    // An NVMe namespace's sensor is its controller's.
    sensors.extend(
        sysfs::entries(&disk.join("device"))
            .into_iter()
            .filter(|path| sysfs::name(path).starts_with("hwmon")),
    );
    let thousandths = sensors
        .iter()
        .find_map(|sensor| sysfs::text(&sensor.join("temp1_input"))?.parse::<i64>().ok())?;
    Some(format!("{}", thousandths / 1000))
}

/// The nearest device above the disk that is on the PCI bus: `ahci, PCI 8086:a282`.
fn controller(disk: &Path) -> Option<String> {
    let above = disk.ancestors().skip(1);
    let device = above
        .take_while(|path| path.starts_with("/sys/devices"))
        .find(|path| fs::canonicalize(path.join("subsystem")).is_ok_and(|bus| sysfs::name(&bus) == "pci"))?;
    let id = |name: &str| sysfs::text(&device.join(name)).map(|id| id.trim_start_matches("0x").to_owned());
    let driver = fs::canonicalize(device.join("driver")).map_or("no driver".to_owned(), |path| sysfs::name(&path));
    Some(format!("{driver}, PCI {}:{}", id("vendor")?, id("device")?))
}

/// The type of filesystem that a file is on, without its mount point.
pub(crate) fn filesystem_of(file: &str) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (mut longest, mut kind) = (0, None);
    for line in mounts.lines() {
        let Some((left, right)) = line.split_once(" - ") else {
            continue;
        };
        let Some(folder) = left.split(' ').nth(4) else { continue };
        if Path::new(file).starts_with(folder) && folder.len() >= longest {
            longest = folder.len();
            kind = right.split(' ').next().map(str::to_owned);
        }
    }
    kind
}

/// Kernel names of disks that are not these: whole disks only. The lab's have no device above them.
pub(crate) fn other_disks(ours: &BTreeSet<String>) -> Vec<String> {
    let is_disk = |disk: &Path| disk.join("device").exists() || disk.join("media_delay_ns").exists();
    sysfs::entries(Path::new("/sys/block"))
        .iter()
        .filter(|disk| is_disk(disk))
        .map(|disk| sysfs::name(disk))
        .filter(|name| !ours.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_kernel_and_memory() {
        let facts = of_machine();
        let value = |key: &str| {
            facts
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value.as_str())
        };
        assert!(value("kernel").is_some_and(|release| release.contains('.')));
        assert!(
            value("host.ram_bytes").is_some_and(|bytes| bytes.parse::<u64>().is_ok_and(|bytes| bytes > 1 << 20))
        );
    }

    #[test]
    fn processors_are_counted() {
        let table = "processor : 0\nmodel name\t: Fast One\nprocessor : 1\nmodel name\t: Fast One\n";
        assert_eq!(processor(table), Some("2 × Fast One".to_owned()));
        assert_eq!(processor(""), None);
    }

    #[test]
    fn a_file_in_proc_is_on_proc() {
        assert_eq!(filesystem_of("/proc/self/stat").as_deref(), Some("proc"));
    }
}
