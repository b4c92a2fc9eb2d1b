//! What a stack and its workload keep in a guest's memory for certain. A guest with less runs out of memory and fails.

use crate::rules::consistency::is_md_with_parity;
use crate::rules::impossible::{Impossible, impossible};
use crate::rules::integrity;
use crate::rules::md_geometry::active_disks;
use crate::syntax::unit::{describe_size, format_size};
use study::stack::{ArraySpec, MachineKind, MachineSpec, StackSpec};
use study::wording::number;
use study::workload::Work;

const MIB: u64 = 1 << 20;
const PAGE_BYTES: u64 = 4 << 10;
/// The kernel, raidlab's process and what the trial calls. Seen in the lab: 256 MiB hold 188 MiB of stripes, and not
/// 219 MiB.
const KERNEL_BYTES: u64 = 40 * MIB;
/// dm-integrity's workqueues and buffers of checksums, besides its journals.
const CHECKSUMS_BYTES: u64 = 56 * MIB;
/// `struct stripe_head`, and `struct r5dev` with its two bios for each member.
const STRIPE_HEAD_BYTES: u64 = 512;
const STRIPE_MEMBER_BYTES: u64 = 384;

/// A part of what is needed.
struct Part {
    what: String,
    bytes: u64,
    /// The keys that determine it.
    about: &'static [&'static str],
}

/// Why the stack does not fit into the guest.
pub(crate) fn of_stack(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Option<Impossible> {
    judge(machine, stack_parts(machine, stack, disk_bytes))
}

/// Why the buffers of a workload do not fit there, too.
pub(crate) fn of_work(
    machine: &MachineSpec,
    stack: &StackSpec,
    work: &Work,
    disk_bytes: Option<u64>,
) -> Option<Impossible> {
    let mut parts = stack_parts(machine, stack, disk_bytes);
    parts.extend(buffers(work));
    parts.extend(names(work));
    judge(machine, parts)
}

fn stack_parts(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Vec<Part> {
    let disks = machine.member_count(&stack.array);
    let array = &stack.array;
    [stripe_cache(array, disks), journals(array, disks, disk_bytes)]
        .into_iter()
        .flatten()
        .collect()
}

/// md allocates `stripe_cache_size` stripes of a page for each member when the array is started.
fn stripe_cache(array: &ArraySpec, disks: u32) -> Option<Part> {
    let (arrays, members) = match array.of.filter(|of| of.disks > 0) {
        Some(of) if is_md_with_parity(of.level) => (disks / of.disks, of.disks),
        Some(of) => (1, disks / of.disks),
        None => (1, active_disks(array, disks)),
    };
    if !is_md_with_parity(array.level) && array.of.is_none_or(|of| !is_md_with_parity(of.level)) {
        return None;
    }
    let stripes = array.stripe_cache_pages.unwrap_or(ArraySpec::STRIPE_CACHE_PAGES);
    let stripe = STRIPE_HEAD_BYTES + u64::from(members) * (PAGE_BYTES + STRIPE_MEMBER_BYTES);
    Some(Part {
        what: format!("stripe cache of {stripes} stripes of {members} members"),
        bytes: u64::from(arrays) * u64::from(stripes) * stripe,
        about: &["stripe_cache", "count", "ram"],
    })
}

fn journals(array: &ArraySpec, disks: u32, disk_bytes: Option<u64>) -> Option<Part> {
    array.integrity?;
    Some(Part {
        what: format!("dm-integrity's journals of {disks} disks"),
        bytes: u64::from(disks) * integrity::journal_bytes(disk_bytes?) + CHECKSUMS_BYTES,
        about: &["ram", "integrity"],
    })
}

/// A block for each request in flight, of the test that needs most.
fn buffers(work: &Work) -> Option<Part> {
    let jobs = work.spec().jobs();
    let need = |jobs: u32, depth: u32, block: u64| {
        let requests = u64::from(jobs).saturating_mul(u64::from(depth));
        requests.saturating_mul(block)
    };
    let job = jobs
        .iter()
        .max_by_key(|job| need(job.io.jobs, job.io.queue_depth, job.io.block_bytes))?;
    let (io, block) = (&job.io, job.io.block_bytes);
    Some(Part {
        what: format!(
            "buffers of {} × {} requests of {}",
            io.jobs,
            io.queue_depth,
            format_size(block)
        ),
        bytes: need(io.jobs, io.queue_depth, block),
        about: &["numjobs", "iodepth", "bs", "ram"],
    })
}

/// The lists of files and directories that a workload makes: an entry of 32 or 56 bytes, and a name of its own.
fn names(work: &Work) -> Option<Part> {
    const FILE_BYTES: u64 = 64;
    const DIRECTORY_BYTES: u64 = 96;
    let (files, directories) = match work {
        Work::Tree(spec) => (spec.files, spec.directories),
        Work::Server(spec) => (spec.files, spec.directories),
        _ => return None,
    };
    Some(Part {
        what: format!(
            "names of {} files and {} directories",
            number(f64::from(files), 0),
            number(f64::from(directories), 0)
        ),
        bytes: u64::from(files) * FILE_BYTES + u64::from(directories) * DIRECTORY_BYTES,
        about: match files < directories {
            true => &["directories", "ram"],
            false => &["files", "ram"],
        },
    })
}

fn judge(machine: &MachineSpec, mut parts: Vec<Part>) -> Option<Impossible> {
    // A group's own stack does not know the guest's memory, and a host's is its administrator's.
    if machine.kind != MachineKind::Lab || machine.ram_bytes == 0 {
        return None;
    }
    let needs = parts
        .iter()
        .fold(KERNEL_BYTES, |sum, part| sum.saturating_add(part.bytes));
    if needs <= machine.ram_bytes {
        return None;
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    let about = parts.first().map_or(&["ram"][..], |part| part.about);
    let words: Vec<String> = parts
        .iter()
        .filter(|part| part.bytes >= MIB)
        .map(|part| format!("{}: {}", part.what, describe_size(part.bytes)))
        .collect();
    let reason = format!(
        "the guest has {} of RAM, and needs {} ({}; kernel and programs: {})",
        describe_size(machine.ram_bytes),
        describe_size(needs),
        words.join("; "),
        describe_size(KERNEL_BYTES)
    );
    let ram = needs.saturating_add(64 * MIB) / (64 * MIB) * (64 * MIB);
    let help = match about[0] {
        "ram" => format!("write ram = \"{}\" or more", format_size(ram)),
        key => format!("write ram = \"{}\" or more, or a smaller `{key}`", format_size(ram)),
    };
    impossible(about, reason, help)
}
