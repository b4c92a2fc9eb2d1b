//! Random writes that wait for md's write-intent bitmap.

use super::OnStack;
use super::disks::Disks;
use study::plan::Cell;
use study::stack::{ArraySpec, Bitmap, Level};
use study::workload::IoJob;
use study_file::describe_size;

/// Least `--bitmap-chunk` that mdadm chooses for an internal bitmap with metadata 1.x, bytes.
const CHUNK_BYTES: u64 = 64 << 20;
/// The largest `bitmap_chunk` of studies.
const CHUNK_BYTES_MAX: u64 = 1 << 30;
/// An area of fewer bits keeps most of them set: md clears a bit 5 to 10 s after its last write. Simulated, random writes of
/// 4 KiB: on RAID 10 of four disks of 4 TB with eight in flight 64 bits cost nothing, 1,024 a factor of 4, 65,536 one of 8;
/// with 16 in flight and 131,072 bits RAID 10 of eight reached a 29th, RAID 6 of eight a third.
const BITS_MIN: u64 = 512;

/// What a bitmap of many bits costs, simulated: one sentence for all levels of a study.
const COSTS: &str = "is first written for most of these writes, and the disks are flushed: on hard disks in the lab RAID 10 reached a quarter to a \
                     thirtieth of its rate without one, RAID 5 and 6, which update it once for several stripes, a quarter to three quarters";

/// An array without a bitmap because its members are small, which whole disks would have. The sentence does not name the cell,
/// so that a plan has it once.
pub(super) fn none_by_size(cell: &Cell) -> Option<String> {
    let size = cell
        .stack
        .array
        .member_size_bytes
        .filter(|_| cell.lacks_bitmap_by_size())?;
    let writes = |job: &IoJob<'_>| job.io.pattern.has_writes();
    cell.workload.work.spec().jobs().iter().any(writes).then(|| {
        format!(
            "arrays with members of {} have no bitmap, since mdadm adds none below 100 GiB; those of whole disks have one: write \
             `bitmap = \"internal\"` to measure its cost, or `bitmap = \"none\"`",
            describe_size(size)
        )
    })
}

/// Writes of a job that set a bit first: most of them, or those of the same job over the whole array, which in a small area
/// find their bits set.
pub(super) fn of_job(on_stack: &OnStack<'_>, disks: &Disks) -> Option<String> {
    let (array, io) = (&on_stack.cell.stack.array, on_stack.io());
    let is_scattered = io.pattern.is_random() && io.pattern.has_writes() && (io.direct || io.syncs());
    let has_bitmap = array.bitmap != Bitmap::None && array.of.is_none() && !on_stack.cell.lacks_bitmap_by_size();
    if !disks.has_heads() || !is_scattered || !has_bitmap {
        return None;
    }
    let chunk = array.bitmap_chunk_bytes.unwrap_or(CHUNK_BYTES).max(1);
    let (working, whole) = (on_stack.working_bytes(), on_stack.whole_room_bytes);
    let bits_of = |bytes| Some(covered_bytes(array, disks.count, bytes)? / chunk);
    let bits = bits_of(working)?;
    let whole_bits = whole.and_then(bits_of).unwrap_or(0);
    if bits < BITS_MIN {
        return (whole_bits >= BITS_MIN).then(|| {
            format!(
                "writes at random within {}, where the bits of the bitmap stay set; over the whole array a bitmap {COSTS}; stacks \
                 may rank differently there",
                describe_size(working)
            )
        });
    }
    let coarser = coarser_chunk(covered_bytes(
        array,
        disks.count,
        whole.unwrap_or(working).max(working),
    )?);
    Some(format!(
        "writes at random to {}, and a bit of the bitmap covers {}: the bitmap {COSTS}; {coarser}`bitmap = \"none\"` (of an array that \
         exists: `mdadm --grow --bitmap=none`) has no such cost, but after a crash md resyncs the whole array",
        describe_size(working),
        describe_size(chunk)
    ))
}

/// Bytes that the bits of random writes to this many bytes of an array are for; `None` for levels without a bitmap.
fn covered_bytes(array: &ArraySpec, disks: u64, working: u64) -> Option<u64> {
    match array.level {
        Level::Raid1 | Level::Raid10 => Some(working),
        // Bits of parity arrays are those of each member.
        Level::Raid4 | Level::Raid5 | Level::Raid6 => {
            let count = u32::try_from(disks).unwrap_or(u32::MAX);
            let members = u64::from(count.saturating_sub(array.spares).max(1));
            Some(array.member_bytes_min(count, working) / members)
        }
        _ => None,
    }
}

/// The size of a bit with which a whole array has few bits, as advice, if there is one.
fn coarser_chunk(whole_covered: u64) -> String {
    let least = (whole_covered / (BITS_MIN / 2)).next_power_of_two();
    match least <= CHUNK_BYTES_MAX {
        true => format!("`bitmap_chunk = \"{}\"` costs little; ", study_file::format_size(least)),
        false => String::new(),
    }
}
