//! What a run of a plan costs on this machine, before its first trial: time, memory, kernels to build, and what is
//! missing. Time is an estimate from the plan and its disks alone.

use crate::advice::disks::{Disks, KnownDisks};
use crate::cells_without_tools::Missing;
use crate::lab_run::{MEMORY_SHARE, free_memory_bytes, kernels_of};
use lab::kernel::{Cache, KernelError};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use study::plan::{Cell, Plan};
use study::stack::MachineKind;
use study::wording::count;
use study::workload::{IoSpec, Work};
use study_file::describe_size;

/// Processor time of a kernel's build: 800 files, of which each takes about one second.
const KERNEL_BUILD_S: u64 = 900;
/// The estimate of a trial is right within this factor on most machines.
const FACTOR: u64 = 3;

/// As shown by the plan.
pub fn paragraph(plan: &Plan, cache: &Cache, guests: usize) -> String {
    let mut text = String::from("\non this machine:\n");
    let guests = guests.max(1) as u64;
    let (least, most) = (plan.precision.min_trials, plan.precision.max_trials);
    let mut known = KnownDisks::new(plan);
    let once_us: u64 = plan.cells.iter().map(|cell| expected_us(cell, &mut known)).sum();
    let aged_us = ageing_us(plan, &mut known);
    let wall = |trials: u32| {
        let trials_us = once_us.saturating_mul(u64::from(trials));
        Duration::from_micros(trials_us.saturating_add(aged_us) / guests)
    };
    let low = wall(least) / FACTOR as u32;
    let high = wall(most) * FACTOR as u32;
    let is_lab = plan.cells.iter().any(|cell| cell.machine.kind == MachineKind::Lab);
    let at_once = match is_lab {
        true => format!(" with {} at the same time", count(guests as usize, "guest")),
        false => String::new(),
    };
    let _ = writeln!(
        text,
        "      time: {} to {}{at_once}, an estimate until the first trials have ended",
        rounded(low),
        rounded(high)
    );
    if is_lab {
        memory(&mut text, plan, &mut known, guests, cache);
        kernels(&mut text, plan, cache);
    }
    programs(&mut text, plan);
    text
}

/// Requests per second of a disk with heads: a short seek and half a turn, with a queue.
const OF_HEADS_IOPS: u64 = 300;
/// Bytes per second of a stream of a disk with heads.
const OF_HEADS_BYTES_S: u64 = 200_000_000;
/// Requests per second of flash for each one in flight, and of an array of it.
const OF_FLASH_IOPS: u64 = 10_000;
const OF_FLASH_MAX_IOPS: u64 = 400_000;

/// Expected wall time of ageing the filesystems of stacks that are created once: each for all its workloads.
fn ageing_us<'a>(plan: &'a Plan, known: &mut KnownDisks<'a>) -> u64 {
    let mut aged: Vec<(&Cell, u64)> = Vec::new();
    let is_made_once = |cell: &&Cell| cell.machine.create_once && cell.workload.age.is_some();
    for cell in plan.cells.iter().filter(is_made_once) {
        let age = |other: &Cell| (other.workload.age, other.replicate);
        let is_same = |(other, _): &(&Cell, u64)| {
            other.machine == cell.machine && other.stack == cell.stack && age(other) == age(cell)
        };
        if !aged.iter().any(is_same) {
            let disk_bytes = known.of(cell).map(Disks::disk_bytes);
            aged.push((cell, runner::ageing_us(cell, disk_bytes)));
        }
    }
    aged.iter().fold(0, |sum, (_, us)| sum.saturating_add(*us))
}

/// Expected wall time of one trial of a cell.
fn expected_us<'a>(cell: &'a Cell, known: &mut KnownDisks<'a>) -> u64 {
    let Some(disks) = known.of(cell) else {
        return runner::expected_us(cell);
    };
    runner::expected_us_on(cell, Some(disks.disk_bytes()), |io| requests_a_second(io, disks))
}

fn requests_a_second(io: &IoSpec, disks: &Disks) -> u64 {
    match (disks.has_heads(), io.pattern.is_random()) {
        (true, true) => disks.count * OF_HEADS_IOPS,
        (true, false) => disks.count * OF_HEADS_BYTES_S / io.block_bytes.max(1),
        (false, _) => {
            let in_flight = u64::from(io.queue_depth).saturating_mul(u64::from(io.jobs));
            in_flight.saturating_mul(OF_FLASH_IOPS).min(OF_FLASH_MAX_IOPS)
        }
    }
}

/// Memory of the guests, and of the contents of their disks, which go to a file if there is not enough.
fn memory<'a>(text: &mut String, plan: &'a Plan, known: &mut KnownDisks<'a>, guests: u64, cache: &Cache) {
    let ram = plan.cells.iter().map(|cell| cell.machine.ram_bytes).max().unwrap_or(0);
    let written = plan
        .cells
        .iter()
        .map(|cell| written_bytes(cell, known))
        .max()
        .unwrap_or(0);
    let budget = free_memory_bytes() / MEMORY_SHARE;
    let beyond = written.saturating_mul(guests).saturating_sub(budget);
    let _ = write!(
        text,
        "      memory: {} for guests, up to {} for what they write",
        describe_size(ram.saturating_mul(guests)),
        describe_size(written.saturating_mul(guests).min(budget))
    );
    let _ = match beyond {
        0 => writeln!(text),
        beyond => {
            let free = free_disk_bytes(cache);
            let lack = match free.filter(|free| *free < beyond) {
                Some(free) => format!(
                    ", but {} has {} free: trials that write more fail; use smaller workloads, fewer `--jobs`, or another \
                     XDG_CACHE_HOME",
                    cache.folder().display(),
                    describe_size(free)
                ),
                None => String::new(),
            };
            writeln!(text, "; disk space: up to {}{lack}", describe_size(beyond))
        }
    };
}

/// Free space where contents of simulated disks go that do not fit into memory.
fn free_disk_bytes(cache: &Cache) -> Option<u64> {
    let existing = cache.folder().ancestors().find(|folder| folder.exists())?;
    host::free_bytes(existing)
}

/// Everything that a trial may write to its disks. Files that are read are written first, and raw disks are not.
fn written_bytes<'a>(cell: &'a Cell, known: &mut KnownDisks<'a>) -> u64 {
    let mut bytes = cell.workload.work.spec().bytes(4096);
    if let (Work::Io(io), Some(disks)) = (&cell.workload.work, known.of(cell)) {
        let writes_files = io.pattern.has_reads() && !cell.stack.filesystem.kind.is_raw();
        bytes = match io.runtime_ns {
            _ if writes_files => bytes,
            _ if !io.pattern.has_writes() => 0,
            None => bytes,
            Some(runtime_ns) => {
                let seconds = Duration::from_nanos(runtime_ns.saturating_add(io.ramp_ns)).as_secs() + 1;
                let blocks = requests_a_second(io, disks).saturating_mul(seconds);
                bytes.min(blocks.saturating_mul(io.block_bytes))
            }
        };
    }
    let members = cell.member_count().max(1);
    // An address that is written again takes no more space.
    let aged = cell.workload.age.map_or(0, |age| {
        let disk = known.of(cell).map(Disks::disk_bytes);
        let member = cell.stack.array.member_size_bytes.or(disk).unwrap_or(0);
        member.saturating_mul(u64::from(members)) / 100 * u64::from(age.fill_percent)
    });
    cell.stack.array.member_bytes_min(members, bytes).saturating_add(aged)
}

fn kernels(text: &mut String, plan: &Plan, cache: &Cache) {
    let minutes = (KERNEL_BUILD_S / crate::processors() as u64).div_ceil(60);
    for name in kernels_of(plan) {
        let what = match cache.find(&name) {
            Ok(Ok(_)) => continue,
            Ok(Err(_)) => format!("to be built first, about {minutes} min"),
            Err(KernelError::NotFetched { package, .. }) => {
                format!(
                    "{package} is to be downloaded from Debian's mirror, and the kernel built: about {minutes} min"
                )
            }
            Err(error) => error.to_string(),
        };
        let _ = writeln!(text, "      kernel {name}: {what}");
    }
}

/// Programs that are missing, and the number of cells that a run leaves out for them.
fn programs(text: &mut String, plan: &Plan) {
    let mut programs = Missing::default();
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    for cell in &plan.cells {
        if let Some(tools) = programs.of(cell, cell.machine.kind) {
            *missing.entry(tools.to_owned()).or_default() += 1;
        }
    }
    for (what, cells) in missing {
        let _ = writeln!(text, "      {what}; until then {} left out", are(cells));
    }
}

/// `1 cell is`, `2 cells are`.
fn are(cells: usize) -> String {
    format!("{} {}", count(cells, "cell"), if cells == 1 { "is" } else { "are" })
}

/// In the largest unit of which there are two.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{} s", seconds.max(1)),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `up to 16.0 TiB` of disk space were said of a study that wrote for 30 s.
    #[test]
    fn issue_39_space_is_that_of_what_is_written() {
        let written = |fs: &str, io: &str| {
            let study = format!(
                "[disks]\nmodel = \"seagate-ironwolf-4tb\"\ncount = 6\n[[stack]]\narray = {{ level = 10 }}\nfs = {{ type = \"{fs}\" }}\n\
                 [[workload]]\nname = \"w\"\nio = {{ bs = \"8K\", size = \"4T\", {io} }}\n"
            );
            let plan = study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study");
            written_bytes(&plan.cells[0], &mut KnownDisks::new(&plan))
        };
        let timed = "rw = \"randrw\", runtime = \"30s\"";
        assert!(written("none", timed) < 10 << 30);
        assert!(written("ext4", timed) > 4 << 40, "the files");
        assert_eq!(written("none", "rw = \"read\""), 0);
        assert!(written("none", "rw = \"write\"") > 4 << 40);
    }

    /// Issue 39, C13: the time was known after the first trial only, and kernels to build when they were built.
    #[test]
    fn what_a_run_costs_is_known_before_its_first_trial() {
        let study = "ram = \"512M\"\nkernel = \"6.12\"\n[disks]\ncount = 4\n[[stack]]\narray = { level = 5 }\n\
                     [[workload]]\nname = \"w\"\nio = { rw = \"write\", size = \"100M\" }\n[precision]\ntrials = 4\n";
        let known = study_file::Known {
            kernels: vec!["6.12".to_owned()],
            ..study_file::Known::default()
        };
        let plan = study_file::read(study, "a.toml", &known).expect("a study");
        let folder = tempfile::tempdir().expect("a folder");
        let said = paragraph(&plan, &Cache::at(folder.path().to_owned()), 2);
        assert!(
            said.contains("time: 1 s to ") && said.contains("with 2 guests at the same time"),
            "{said}"
        );
        assert!(
            said.contains("memory: 1 GiB for guests, up to 266.7 MiB for what they write"),
            "{said}"
        );
        assert!(said.contains("kernel 6.12: "), "no kernel is in the cache: {said}");
    }

    /// Each aged filesystem counts once if it is made once, otherwise in each trial.
    #[test]
    fn ageing_counts_as_often_as_it_is_done() {
        let of = |top: &str, workloads: &[&str]| {
            let workloads: String = workloads
                .iter()
                .enumerate()
                .map(|(number, age)| {
                    format!(
                        "[[workload]]\nname = \"w{number}\"\n{age}\nio = {{ rw = \"write\", size = \"{}M\" }}\n",
                        50 + number
                    )
                })
                .collect();
            let study = format!(
                "{top}\n[disks]\ncount = 4\n[[stack]]\narray = {{ level = 5, size = \"1G\" }}\n{workloads}"
            );
            let plan = study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study");
            let mut known = KnownDisks::new(&plan);
            let trials: u64 = plan.cells.iter().map(|cell| expected_us(cell, &mut known)).sum();
            (trials, ageing_us(&plan, &mut known))
        };
        let (once, age) = ("create_once = true", "age = { fill = \"90 %\", turnover = 3 }");
        let (new, none) = of(once, &[""]);
        let (trial, ageing) = of(once, &[age]);
        assert_eq!((new, none), (trial, 0));
        // 4 GiB of members written 0.9 × 4 times, at 500 MB/s.
        assert!(ageing > 30_000_000, "{ageing}");
        assert_eq!(of(once, &[age, age]).1, ageing);
        assert_eq!(
            of(once, &[age, "age = { fill = \"90 %\", turnover = 3, seed = 2 }"]).1,
            2 * ageing
        );
        assert_eq!(of("", &[age]), (trial + ageing, 0));
    }

    #[test]
    fn times_are_rounded() {
        let of = |seconds: u64| rounded(Duration::from_secs(seconds));
        assert_eq!(
            (of(0), of(119), of(120)),
            ("1 s".into(), "119 s".into(), "2 min".into())
        );
        assert_eq!((of(7200), of(200_000)), ("2 h".into(), "2 days".into()));
    }
}
