//! A GPT with one partition: how sfdisk is called, and how the kernel names the partition.

use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use std::path::{Path, PathBuf};
use study::stack::GptPartition;
use tools::{Invocation, Tool};

/// Where the partition is, in sectors of the device, and what it is for; absent for sfdisk's choice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) start: Option<u64>,
    pub(crate) sectors: Option<u64>,
    /// GUID of the type.
    pub(crate) kind: Option<&'static str>,
}

impl Place {
    /// That of a layer on a device with logical sectors of this size.
    pub(crate) fn of(partition: GptPartition, sector_bytes: u64) -> Result<Self, Cause> {
        let start_bytes = partition.start_sector * 512;
        if !start_bytes.is_multiple_of(sector_bytes) {
            return Err(Cause::Impossible(format!(
                "a partition cannot start at byte {start_bytes}: the device has logical sectors of {sector_bytes} bytes"
            )));
        }
        Ok(Self {
            start: Some(start_bytes / sector_bytes),
            ..Self::default()
        })
    }
}

/// Writes a table with one partition.
pub(crate) fn partitioning(device: &Path, uuid: &str, place: Place) -> Invocation {
    // sfdisk would begin no partition before sector 2048.
    let first = place
        .start
        .map(|_| format!("first-lba: {}\n", GptPartition::FIRST_USABLE));
    let fields = [
        place.start.map(|start| format!("start={start}")),
        place.sectors.map(|sectors| format!("size={sectors}")),
        Some(
            place
                .kind
                .map_or("type=linux".to_owned(), |kind| format!("type={kind}")),
        ),
    ];
    let fields: Vec<String> = fields.into_iter().flatten().collect();
    let input = format!(
        "label: gpt\nlabel-id: {uuid}\n{}{}\n",
        first.unwrap_or_default(),
        fields.join(", ")
    );
    Invocation::new(Tool::Sfdisk)
        .args(["--quiet", "--wipe", "always"])
        .arg(device)
        .input(input)
}

/// Has the kernel read the partition table of a device that it has not scanned.
pub(crate) fn scan_partitions(device: &Path, context: &mut Context<'_>) -> Result<(), Cause> {
    let update = Invocation::new(Tool::Partx).arg("--update").arg(device);
    context.access.ask(&update)?;
    Ok(())
}

/// The node of a device's first partition.
pub(crate) fn partition_of(device: &BlockDevice) -> PathBuf {
    first_partition(&device.kernel_name)
}

/// The kernel's name: `sda1`, `nvme0n1p1`.
pub(crate) fn first_partition(kernel_name: &str) -> PathBuf {
    let between = if kernel_name.ends_with(|last: char| last.is_ascii_digit()) {
        "p"
    } else {
        ""
    };
    Path::new("/dev").join(format!("{kernel_name}{between}1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_named_as_the_kernel_does() {
        assert_eq!(first_partition("vda"), Path::new("/dev/vda1"));
        assert_eq!(first_partition("nvme0n1"), Path::new("/dev/nvme0n1p1"));
        assert_eq!(first_partition("md100"), Path::new("/dev/md100p1"));
    }

    #[test]
    fn a_partition_may_start_at_any_sector_that_the_device_has() {
        let old = GptPartition { start_sector: 63 };
        let place = Place::of(old, 512).expect("is possible");
        let call = partitioning(Path::new("/dev/vda"), "U", place);
        assert_eq!(
            call.input_text(),
            "label: gpt\nlabel-id: U\nfirst-lba: 34\nstart=63, type=linux\n"
        );
        assert!(Place::of(old, 4096).is_err());
        let place = Place::of(GptPartition { start_sector: 2048 }, 4096).expect("is possible");
        assert_eq!(place.start, Some(256));
    }
}
