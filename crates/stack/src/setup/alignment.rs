//! Whether members and array begin where the physical sectors of the disks do.

use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::sysfs;
use study::stack::{Layer, StackSpec};

/// Offsets must be multiples of this: the physical sectors of 512e disks, and flash pages.
const GRAIN_BYTES: u64 = 4096;

/// Records the guard `aligned` of members and array: whether their data begins at a physical sector of the disks.
/// The kernel computes it for partitions and for stacked devices (-1 means that it cannot align them). A partition that does not
/// because the study says so is no reason to exclude figures.
pub(crate) fn judge_alignment(
    spec: &StackSpec,
    members: &[BlockDevice],
    device: &BlockDevice,
    context: &mut Context<'_>,
) {
    let mut wrong = Vec::new();
    for disk in members.iter().chain([device]).filter(|disk| !disk.is_simulated()) {
        let number = |attribute: &str| sysfs::read(&disk.sysfs.join(attribute)).ok()?.parse::<i64>().ok();
        wrong.extend(misaligned(
            &disk.kernel_name,
            number("alignment_offset"),
            number("loop/offset"),
        ));
    }
    wrong.dedup();
    let is_asked = |layer: Layer| match layer {
        Layer::Partition(partition) => !(partition.start_sector * 512).is_multiple_of(GRAIN_BYTES),
        _ => false,
    };
    let is_asked = spec.all_layers().any(is_asked);
    let detail = match wrong.is_empty() {
        _ if is_asked => "a partition begins within a physical sector of 4 KiB, as the study says".to_owned(),
        true => "members and array begin where physical sectors do".to_owned(),
        false => format!(
            "{}; each write near the edge of a physical sector makes the disk read it first: begin partitions, loop \
             devices and data areas at multiples of 1 MiB",
            wrong.join(", ")
        ),
    };
    context.guard("aligned", is_asked || wrong.is_empty(), detail);
}

/// The misalignment of a device's start; attributes that the kernel lacks are `None`.
fn misaligned(name: &str, alignment_offset: Option<i64>, loop_offset: Option<i64>) -> Option<String> {
    match (alignment_offset, loop_offset) {
        (Some(offset), _) if offset < 0 => Some(format!("the members of {name} are aligned in different ways")),
        // Whole physical sectors: a chunk does not begin with the partition.
        (Some(offset), _) if offset > 0 && offset % GRAIN_BYTES.cast_signed() == 0 => None,
        (Some(offset), _) if offset > 0 => Some(format!(
            "the first physical sector of {name} begins {offset} bytes after its start"
        )),
        (_, Some(offset)) if offset % GRAIN_BYTES.cast_signed() != 0 => {
            Some(format!("{name} begins at byte {offset} of its file"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A partition that starts at sector 63, as in old partition tables, on a disk with 4 KiB physical sectors; a stack
    /// on members with different starts; a loop device within a file.
    #[test]
    fn starts_within_physical_sectors_are_found() {
        assert_eq!(misaligned("sda1", Some(0), None), None);
        assert_eq!(misaligned("loop0", Some(0), Some(1 << 20)), None);
        assert_eq!(misaligned("md0p1", Some(1 << 20), None), None);
        assert_eq!(misaligned("old", None, None), None);
        for (found, words) in [
            (
                misaligned("sda1", Some(512), None),
                "of sda1 begins 512 bytes after its start",
            ),
            (misaligned("md0", Some(-1), None), "members of md0"),
            (
                misaligned("loop0", Some(0), Some(63 * 512)),
                "loop0 begins at byte 32256",
            ),
        ] {
            let found = found.expect("it is not aligned");
            assert!(found.contains(words), "{found}");
        }
    }
}
