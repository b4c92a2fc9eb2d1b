//! Possibly unintended measurements of a study: memory instead of disks, caches of drives, a small part of the
//! disks, one wide mirror instead of several, a queue depth that the disks do not have, syncs of a kernel with a defect,
//! writes that wait for the bitmap, requests that a processor would limit, too little RAM for an array. Reported before a run and in its report; no figure depends on it.

mod acts;
mod ages;
mod arrays;
mod bitmap;
mod discards;
pub(crate) mod disks;
mod free_processor;
mod known_defects;
mod length;
mod page_cache;

use disks::{Disks, KnownDisks};
use disksim::description::Device;
use disksim::request::SECTOR_BYTES;
use std::collections::{BTreeSet, HashMap};
use study::plan::{Cell, Plan};
use study::workload::{IoJob, IoSpec, SyncMode, Work};
use study_file::describe_size;

/// Random requests are in a corner of the disks if seek and rotation take this many times as long over all of them.
const POSITIONING_RATIO_MIN: f64 = 1.5;
/// Files of this size are written within half an hour of device time on one disk.
const FILLED_BYTES_MAX: u64 = 256 << 30;
/// Follows the subject of a warning of short seeks.
const SEEKS: &str = "seeks within ";
/// A filesystem uses some of its device itself.
const ROOM_PERCENT: u64 = 97;

/// Warnings of one kind that are listed; those of more cells are counted.
const LISTED_MAX: usize = 8;

/// What changes comparisons of stacks most comes first: the terminal shows only some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Unsafe,
    Acts,
    InMemory,
    LittleRam,
    TooShort,
    InDriveCaches,
    BitmapFirst,
    InACorner,
    NoBitmap,
    AgedAgain,
    KnownDefect,
    WideMirror,
    TwoDiskParity,
    EqualWriteMostly,
    ShortQueue,
    DepthWithoutEffect,
    DiscardsWithoutEffect,
    BelowASecond,
    FreeProcessor,
    FreeEncryption,
    /// What would mislead in a test, if its first warning did not say that it measures memory or caches.
    OfCaches,
}

/// What is known of a plan's measurements.
pub struct PlanWarnings {
    /// Without duplicates, by kind, and of a kind in the plan's order.
    pub sentences: Vec<String>,
    /// What may lose data on real disks, too.
    pub of_safety: Vec<String>,
    /// Tests that may be too short to count. Not in a report: it has measured how long they took.
    pub of_length: Vec<String>,
    /// Names of workloads and tests that measure memory or the caches of drives rather than disks.
    pub of_caches: BTreeSet<(String, String)>,
}

/// All sentences, for those who have not run the plan.
pub fn of(plan: &Plan) -> Vec<String> {
    let advice = advice(plan);
    [advice.of_safety, advice.sentences, advice.of_length].concat()
}

pub fn advice(plan: &Plan) -> PlanWarnings {
    let mut known = KnownDisks::new(plan);
    let mut listed: Vec<(Kind, String)> = Vec::new();
    let mut unlisted: HashMap<Kind, usize> = HashMap::new();
    let mut of_caches = BTreeSet::new();
    let names_processor = plan.cells.iter().any(|cell| cell.machine.processor.is_some());
    for cell in &plan.cells {
        let has_weight = plan.weights.iter().any(|(name, _)| name == cell.workload_entry());
        for (kind, sentence) in of_cell(cell, known.of(cell), &mut of_caches) {
            let is_known = match kind {
                Kind::BelowASecond => has_weight,
                // The study asks what a processor changes.
                Kind::FreeProcessor => names_processor,
                _ => false,
            };
            if is_known {
                continue;
            }
            // One for stacks of different sizes: its figures are those of the first.
            let is_again =
                |(other_kind, other): &(Kind, String)| *other_kind == kind && subject(other) == subject(&sentence);
            if listed.iter().any(is_again) {
                continue;
            }
            if listed.iter().filter(|(other, _)| *other == kind).count() < LISTED_MAX {
                listed.push((kind, sentence));
            } else {
                *unlisted.entry(kind).or_default() += 1;
            }
        }
    }
    for (kind, sentence) in listed.iter_mut().rev() {
        if let Some(count) = unlisted.remove(kind) {
            let more = if count == 1 {
                "1 more cell has"
            } else {
                &format!("{count} more cells have")
            };
            *sentence += &format!(" ({more} a warning of this kind)");
        }
    }
    listed.sort_by_key(|(kind, _)| *kind);
    let (mut of_safety, mut of_length, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, sentence) in listed {
        match kind {
            Kind::Unsafe => of_safety.push(sentence),
            Kind::BelowASecond => of_length.push(sentence),
            _ => sentences.push(sentence),
        }
    }
    PlanWarnings {
        sentences,
        of_safety,
        of_length,
        of_caches,
    }
}

/// What a warning of short seeks is about.
fn subject(sentence: &str) -> &str {
    sentence.split(SEEKS).next().unwrap_or(sentence)
}

fn of_cell(cell: &Cell, disks: Option<&Disks>, of_caches: &mut BTreeSet<(String, String)>) -> Vec<(Kind, String)> {
    let of_stack = [
        (Kind::WideMirror, arrays::wide_mirror(cell)),
        (Kind::TwoDiskParity, arrays::two_disk_parity(cell)),
        (Kind::EqualWriteMostly, arrays::equal_write_mostly(cell)),
        (Kind::ShortQueue, disks.and_then(|disks| short_queue(cell, disks))),
        (Kind::DiscardsWithoutEffect, discards::without_effect(cell, disks)),
        (Kind::FreeProcessor, free_processor::threads(cell)),
    ];
    let of_stack = of_stack
        .into_iter()
        .filter_map(|(kind, sentence)| Some((kind, format!("`{}` {}", cell.stack_label, sentence?))));
    let acts = disks.and_then(|disks| acts::of_cell(cell, disks));
    let acts = acts.map(|sentence| (Kind::Acts, sentence));
    let of_array = [
        (Kind::Unsafe, known_defects::early_syncs(cell, disks)),
        (Kind::KnownDefect, known_defects::split_reads(cell, disks)),
        (Kind::NoBitmap, bitmap::none_by_size(cell)),
        (Kind::AgedAgain, ages::each_time(cell)),
        (Kind::FreeEncryption, free_processor::encryption(cell)),
    ];
    let of_array = of_array
        .into_iter()
        .filter_map(|(kind, sentence)| Some((kind, sentence?)));
    let of_stack = of_array.chain(of_stack);
    of_stack.chain(of_jobs(cell, disks, of_caches)).chain(acts).collect()
}

/// What files that the study names say without effect, and where their names of files lead: without duplicates.
pub fn notes(plan: &Plan) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for cell in &plan.cells {
        if let Work::FioFile(spec) = &cell.workload.work {
            for note in &spec.notes {
                if !all.contains(&note.as_str()) {
                    all.push(note);
                }
            }
        }
    }
    all
}

/// A queue depth that the disks' model does not have.
fn short_queue(cell: &Cell, disks: &Disks) -> Option<String> {
    let (wanted, model) = (cell.stack.queue_depth?, &disks.model);
    let depth = match &model.device {
        Device::Mechanical(disk) => disk.queue.depth,
        Device::Flash(disk) => disk.queue_depth,
    };
    (wanted > depth).then(|| {
        format!(
            "has `queue_depth = {wanted}`, but the model {} takes {depth} at a time: it is measured with that",
            model.file.name
        )
    })
}

/// Notes and warnings as shown by the plan.
pub fn paragraph(plan: &Plan) -> String {
    let notes: String = notes(plan).iter().map(|note| format!("note: {note}\n")).collect();
    let between = if notes.is_empty() { "" } else { "\n" };
    let warnings = of(plan).into_iter().map(|sentence| format!("\nwarning: {sentence}\n"));
    format!("{between}{notes}{}", warnings.collect::<String>())
}

/// Input of the warnings: a job on the stack and the machine of a cell.
struct OnStack<'a> {
    cell: &'a Cell,
    job: IoJob<'a>,
    /// Bytes that the stack can hold, if the size of its disks is known.
    room_bytes: Option<u64>,
    /// The same if its array took the whole disks.
    whole_room_bytes: Option<u64>,
}

/// Common to all kinds of workloads.
fn of_jobs(cell: &Cell, disks: Option<&Disks>, of_caches: &mut BTreeSet<(String, String)>) -> Vec<(Kind, String)> {
    let room = |cell: &Cell| {
        disks.and_then(|disks| study_file::room_bytes(cell, Some(disks.model.sectors * SECTOR_BYTES)))
    };
    let room_bytes = room(cell);
    let whole_room_bytes = match cell.stack.array.member_size_bytes {
        None => room_bytes,
        Some(_) => {
            let mut whole = cell.clone();
            whole.stack_mut().array.member_size_bytes = None;
            room(&whole)
        }
    };
    let mut all = Vec::new();
    for job in cell.workload.work.spec().jobs() {
        let subject = match &cell.workload.work {
            Work::Io(_) => format!("`{}`", cell.workload.name),
            _ => format!("`{}` [{}]", cell.workload.name, job.test),
        };
        let on_stack = OnStack {
            cell,
            job,
            room_bytes,
            whole_room_bytes,
        };
        let is_of_caches = on_stack.in_memory().is_some()
            || disks
                .is_some_and(|disks| on_stack.in_drive_caches(disks).is_some() || on_stack.is_mostly_cached(disks));
        if is_of_caches {
            of_caches.insert((cell.workload.name.clone(), on_stack.job.test.to_string()));
        }
        let sentences = [
            (Kind::InMemory, on_stack.in_memory()),
            (Kind::LittleRam, disks.and_then(|disks| on_stack.little_ram(disks))),
            (Kind::DepthWithoutEffect, on_stack.depth_without_effect()),
            (
                Kind::InDriveCaches,
                disks.and_then(|disks| on_stack.in_drive_caches(disks)),
            ),
            (Kind::InACorner, disks.and_then(|disks| on_stack.in_a_corner(disks))),
            (
                Kind::BitmapFirst,
                disks.and_then(|disks| bitmap::of_job(&on_stack, disks)),
            ),
            (Kind::TooShort, disks.and_then(|disks| on_stack.too_short(disks))),
            (Kind::TooShort, on_stack.ramp_alone()),
            (Kind::BelowASecond, on_stack.below_a_second()),
            (Kind::BelowASecond, disks.and_then(|disks| on_stack.few_records(disks))),
            (
                Kind::FreeProcessor,
                disks.and_then(|disks| free_processor::of_job(&on_stack, disks)),
            ),
        ];
        let kind_of = |kind| match kind {
            Kind::InACorner | Kind::BitmapFirst if is_of_caches => Kind::OfCaches,
            kind => kind,
        };
        for (kind, sentence) in sentences {
            all.extend(sentence.map(|sentence| (kind_of(kind), format!("{subject} {sentence}"))));
        }
    }
    all
}

impl OnStack<'_> {
    fn io(&self) -> &IoSpec {
        &self.job.io
    }

    fn working_bytes(&self) -> u64 {
        self.job.files_bytes()
    }

    /// Whether the stack has room for more than this, so that a larger workload can be recommended.
    fn has_room_beyond(&self, bytes: u64) -> bool {
        self.room_bytes.is_none_or(|room| room / 100 * ROOM_PERCENT > bytes)
    }

    /// `key = value` in the syntax of the file that defines the workload.
    fn setting(&self, key: &str, value: &str) -> String {
        match &self.cell.workload.work {
            Work::FioFile(_) => format!("`{key}={value}`"),
            _ => format!("`{key} = \"{value}\"`"),
        }
    }

    fn direct(&self) -> String {
        match &self.cell.workload.work {
            Work::FioFile(_) => "write `direct=1`".to_owned(),
            _ => "write `direct = true`".to_owned(),
        }
    }

    fn in_memory(&self) -> Option<String> {
        let (io, working, ram) = (self.io(), self.working_bytes(), self.cell.machine.ram_bytes);
        if io.direct || io.runtime_ns.is_none() || !io.time_based || working > ram {
            return None;
        }
        let mut help = Vec::new();
        if self.has_room_beyond(ram) {
            help.push(format!("make `{}` larger than `ram`", self.job.grows_by));
        } else if let Some(room) = self.room_bytes {
            help.push(format!(
                "use less `ram`: the stack has room for {} only",
                describe_size(room)
            ));
        }
        if self.job.can_be_direct {
            help.push(self.direct());
        }
        Some(format!(
            "repeats {} until its runtime is over, but the machine has {} of RAM: after the first pass, data is {} in \
             memory; {}",
            describe_size(working),
            describe_size(ram),
            match io.sync {
                SyncMode::None => "read and overwritten",
                _ => "read",
            },
            help.join(", or ")
        ))
    }

    /// A queue depth that fio's engine ignores.
    fn depth_without_effect(&self) -> Option<String> {
        let io = self.io();
        let engine = io.ignores_depth().filter(|_| io.queue_depth > 1)?;
        let is_named = match &self.cell.workload.work {
            Work::FioFile(spec) => spec.sections.iter().any(|section| {
                section.name == self.job.test && section.options.iter().any(|(name, _)| name == "ioengine")
            }),
            _ => true,
        };
        let default = if is_named { "" } else { ", its default," };
        Some(format!(
            "has `iodepth` {}, but fio's engine {engine}{default} keeps one request in flight, whereas `io` keeps {}; \
             write {}",
            io.queue_depth,
            io.queue_depth,
            self.setting("ioengine", "io_uring")
        ))
    }

    /// Writes that return while the drives still hold them, all of which fit into the caches.
    fn in_drive_caches(&self, disks: &Disks) -> Option<String> {
        let io = self.io();
        if !io.pattern.has_writes() || !io.direct || io.end_fsync || io.syncs() {
            return None;
        }
        let data = u32::try_from(disks.count).unwrap_or(u32::MAX);
        let written = self.cell.stack.array.member_bytes_min(data, self.working_bytes());
        let caches = disks.cache_bytes();
        if written > caches {
            return None;
        }
        let larger = match self.has_room_beyond(caches) {
            true => format!("make `{}` larger, or ", self.job.grows_by),
            false => String::new(),
        };
        Some(format!(
            "writes to an area of {}{}, but the write caches of {} hold {}: most writes end before the data is on the \
             media; {larger}write `end_fsync = true` without `runtime`",
            describe_size(self.working_bytes()),
            match written > self.working_bytes() {
                true => format!(", {} with copies and parity", describe_size(written)),
                false => String::new(),
            },
            plural(disks.count),
            describe_size(caches)
        ))
    }

    fn in_a_corner(&self, disks: &Disks) -> Option<String> {
        let io = self.io();
        if !io.pattern.is_random() {
            return None;
        }
        let (span, working) = (self.whole_room_bytes?, self.working_bytes());
        let slower = disks.whole_to_part(working as f64 / span as f64)?;
        if slower < POSITIONING_RATIO_MIN {
            return None;
        }
        // Without the stack's exact room: stacks for which all else is equal have one warning.
        Some(format!(
            "{SEEKS}{}, {} of the stack: over the whole disks, seek and rotation take {slower:.1} times as long{}",
            describe_size(working),
            match working as f64 / span as f64 * 100.0 {
                ..1.0 => "less than 1 %".to_owned(),
                ..10.0 => "less than 10 %".to_owned(),
                percent => format!("{percent:.0} %"),
            },
            self.wider(span, disks)
                .map(|help| format!("; {help}"))
                .unwrap_or_default()
        ))
    }

    /// What large files cost before the test, and what has none.
    fn of_large_files(&self) -> String {
        if self.cell.stack.filesystem.kind.is_raw() {
            return String::new();
        }
        let written = match self.io().pattern.has_reads() {
            true => "written before they are read, which takes hours of device time",
            false => "prepared first, which takes minutes",
        };
        let raw = match &self.cell.workload.work {
            Work::Io(_) | Work::FioFile(_) => "; `io` on a stack with an `fs` of type `raw` needs no files",
            _ => "",
        };
        format!(", but these files are {written}{raw}")
    }

    /// What seeks over enough of the disks; `None` if the stack has no room for more.
    fn wider(&self, span: u64, disks: &Disks) -> Option<String> {
        let sets = self.job.sets_of_files();
        let is_wide = |size: &u64| {
            let part = size.saturating_mul(sets) as f64 / span as f64;
            part >= 1.0
                || disks
                    .whole_to_part(part)
                    .is_none_or(|slower| slower < POSITIONING_RATIO_MIN)
        };
        let mut sizes = std::iter::successors(Some(self.io().size_bytes.next_power_of_two()), |size| {
            size.checked_mul(2)
        });
        let least = sizes.find(is_wide)?;
        let larger = match self.job.grows_by {
            "files" | "records" => format!("more `{}`", self.job.grows_by),
            key => format!("{} or more", self.setting(key, &study_file::format_size(least))),
        };
        if self.has_room_beyond(least.saturating_mul(sets)) {
            let of_raw = match least.saturating_mul(sets) > FILLED_BYTES_MAX {
                true => self.of_large_files(),
                false => String::new(),
            };
            return Some(format!("less than {POSITIONING_RATIO_MIN} times with {larger}{of_raw}"));
        }
        self.cell.stack.array.member_size_bytes?;
        Some(match self.cell.acts.is_empty() {
            true => format!("less than {POSITIONING_RATIO_MIN} times with {larger} and without `size` of `array`"),
            // Rebuilds of whole disks are not what the study asks for.
            false => {
                "`size` of `array` keeps the acts short; measure these requests in a study without it".to_owned()
            }
        })
    }
}

fn plural(disks: u64) -> String {
    match disks {
        1 => "the disk".to_owned(),
        count => format!("the {count} disks"),
    }
}

#[cfg(test)]
mod tests;
