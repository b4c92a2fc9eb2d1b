//! Upper bound of random requests per second for disks with arms: a part of a higher rate came from memory.
//!
//! The lower of two bounds counts:
//!
//! - **Rotation.** A random sector is on average half a revolution away when its request is submitted, whatever
//!   else is queued and in whichever order the drive serves it. With D requests in flight there are at most D /
//!   (half a revolution) per second (Little's law), regardless of the number of disks. Writes in a drive's cache
//!   are in flight as well.
//! - **Arms.** Requests on different tracks are at least the shortest seek or head switch apart. With D in flight
//!   on T tracks, each visit to a track serves 1 + D/T on average if the arm sweeps; twice the queue is allowed for
//!   a scheduler that prefers full tracks.
//!
//! Data in the drives' buffers costs neither, so their fraction of the area is allowed for. If it is large, there
//! is no bound.

use disksim::description::{Device, Mechanical};
use disksim::request::SECTOR_BYTES;
use study::plan::Cell;
use study::stack::{JournalMode, StackSpec};
use study::workload::{IoPattern, IoSpec, SyncMode};

/// Allowed excess: the guard `cache-hits` accepts a tenth of the reads from memory, and half a revolution is an
/// average.
const ALLOWANCE: f64 = 1.25;
/// Allowed excess in standard deviations of a sum of waits between 0 and 1 revolution.
const DEVIATIONS: f64 = 4.0;
/// There is no bound above this ratio of buffers to the area, or of their contents to the requests.
const SHARE_MAX: f64 = 0.5;

/// fio options that access some blocks more often than others, or larger ones than requested.
const UNEVEN: [&str; 5] = [
    "random_distribution",
    "norandommap",
    "percentage_random",
    "loops",
    "io_size",
];

/// A bound on a job of random reads or of random writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RequestBound {
    /// Requests per second, once the write caches are full.
    per_s: f64,
    /// Cached writes that need not be on the media at the end of the measurement.
    held: f64,
    pub(super) block_bytes: u64,
    /// Blocks in one pass over all files.
    blocks: f64,
    /// The job ends then, and with `repeats` not earlier.
    runtime_s: Option<f64>,
    repeats: bool,
    /// Requests that the job keeps in flight.
    in_flight: u64,
}

impl RequestBound {
    /// `None` if there is no arm, or if requests need not reach it one by one: buffered writes are sorted and
    /// merged in memory, and a filesystem or a journal may write them sequentially.
    pub(super) fn of(cell: &Cell, spec: &IoSpec, device: &Device, copies: f64) -> Option<Self> {
        let Device::Mechanical(disk) = device else {
            return None;
        };
        let disks = f64::from(cell.member_count());
        let uneven = |(name, value): &(String, String)| {
            UNEVEN.contains(&name.as_str()) || (name == "ioengine" && value == "mmap")
        };
        if spec.fio_options.iter().any(uneven) {
            return None;
        }
        let sector = SECTOR_BYTES as f64;
        let block = spec.block_bytes as f64;
        // Capacity of the buffers: bytes for reads, and cached writes.
        let (buffered, waiting, copies) = match spec.pattern {
            IoPattern::RandRead => {
                let sectors = f64::from(disk.buffer.segments) * f64::from(disk.buffer.segment_sectors);
                (sectors * sector, 0.0, 1.0)
            }
            IoPattern::RandWrite if writes_in_place(spec, &cell.stack) && disk.shingled.is_none() => {
                let cache = disk.write_cache;
                let is_on = cache.enabled && cell.stack.write_cache != Some(false);
                let waiting = if is_on { f64::from(cache.extents_max) } else { 0.0 };
                (waiting * block, waiting, copies)
            }
            _ => return None,
        };
        let area = area_bytes(spec);
        let share = disks * buffered / area;
        if share > SHARE_MAX {
            return None;
        }
        let in_flight = spec.in_flight();
        let rotation = (in_flight as f64 + disks * waiting) / (disk.revolution_ns as f64 / 2e9);
        let tracks = (area / disks / track_bytes(disk)).max(1.0);
        let stay = 1.0 + 2.0 * (in_flight as f64 + waiting) / tracks;
        let arms = disks * stay / shortest_move_s(disk) / copies;
        Some(Self {
            per_s: rotation.min(arms) * f64::from(spec.run_blocks.max(1)) / (1.0 - share),
            held: disks * waiting,
            block_bytes: spec.block_bytes,
            blocks: (area / block).max(1.0),
            runtime_s: spec.runtime_ns.map(|ns| ns as f64 / 1e9),
            repeats: spec.time_based,
            in_flight,
        })
    }

    /// The maximum rate for a test with `per_s` requests; `None` if the caches hold most of them.
    pub(super) fn most(&self, per_s: f64) -> Option<f64> {
        let requests = match self.runtime_s {
            Some(runtime) if self.repeats => per_s * runtime,
            Some(runtime) => self.blocks.min(per_s * runtime),
            None => self.blocks,
        };
        let held = self.held / requests.max(1.0);
        // The standard deviation of one wait is a revolution / sqrt(12), its average half a revolution.
        let scatter = DEVIATIONS * (1.0 / 3.0_f64).sqrt() / requests.max(1.0).sqrt();
        (held <= SHARE_MAX).then(|| self.per_s / (1.0 - held) * ALLOWANCE * (1.0 + scatter))
    }

    /// `8 in flight on disks that turn`.
    pub(super) fn words(&self, verb: &str, per_s: f64, most: f64) -> String {
        let waiting = match self.in_flight {
            1 => "one in flight".to_owned(),
            count => format!("{count} in flight"),
        };
        let cached = if self.held > 0.0 { " and full write caches" } else { "" };
        format!(
            "{per_s:.0} random {verb}s a second, but with {waiting}{cached} the seeks and rotation of the disks allow \
                {most:.0}"
        )
    }
}

/// Whether each write is at its final place on a disk when it returns, or in the disk's cache.
fn writes_in_place(spec: &IoSpec, stack: &StackSpec) -> bool {
    let waits = spec.direct || spec.sync != SyncMode::None || spec.fsync_every == 1 || spec.fdatasync_every == 1;
    let filesystem = &stack.filesystem;
    let journals = |option: &String| option.split(',').any(|one| one == "data=journal");
    let journals_data =
        filesystem.journal_mode == Some(JournalMode::Journal) || stack.mount_options.iter().any(journals);
    waits && stack.overwrites() && !journals_data && !stack.array.write_journal
}

/// The area over which the job's requests are distributed.
fn area_bytes(spec: &IoSpec) -> f64 {
    let jobs = u64::from(spec.jobs.max(1));
    let apart = spec
        .offset_increment_bytes
        .unwrap_or(spec.size_bytes)
        .min(spec.size_bytes);
    apart.saturating_mul(jobs - 1).saturating_add(spec.size_bytes).max(1) as f64
}

/// The longest track, for a lower bound of the number of tracks.
fn track_bytes(disk: &Mechanical) -> f64 {
    let longest = disk.layout.zones.iter().map(|zone| zone.track_sectors).max();
    (u64::from(longest.unwrap_or(1)) * SECTOR_BYTES) as f64
}

fn shortest_move_s(disk: &Mechanical) -> f64 {
    let shortest_seek = disk.seek.iter().map(|point| point.seek_ns).min();
    let shortest = shortest_seek.unwrap_or(0);
    let shortest = if disk.heads > 1 {
        shortest.min(disk.head_switch_ns)
    } else {
        shortest
    };
    shortest as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use disksim::catalogue::{self, Model};
    use disksim::disk_set::{Description, World};
    use disksim::request::{Op, Request};

    /// The bound of a job on a single disk of a model, and the rate of a simulated disk, in requests per second.
    fn bound_and_simulated(model: &Model, op: Op, mib: u64, depth: u32) -> Option<(f64, f64)> {
        let (word, requests) = match op {
            Op::Read => ("randread", 1500),
            _ => ("randwrite", 6000),
        };
        let study = format!(
            "[disks]\nmodel = \"{}\"\ncount = 1\n[[stack]]\narray = {{ level = \"single\" }}\nfs = {{ type = \"raw\" }}\n\
             [[workload]]\nname = \"w\"\nio = {{ rw = \"{word}\", bs = \"4K\", direct = true, iodepth = {depth}, \
             size = \"{mib}M\" }}\n",
            model.file.name
        );
        let cell = crate::disks::test_study::plan(&study).cells.remove(0);
        let job = cell.workload.work.job(word).expect("a job");
        let mut bound = RequestBound::of(&cell, &job.io, &model.device, 1.0)?;
        bound.blocks = f64::from(requests);
        let simulated = simulated(model, op, mib << 8, depth, requests);
        Some((bound.most(simulated)?, simulated))
    }

    fn simulated(model: &Model, op: Op, blocks: u64, depth: u32, requests: u32) -> f64 {
        let description = Description {
            links: Vec::new(),
            disks: vec![model.description(1)],
        };
        let mut world = World::new(&description).expect("a model of the catalogue");
        let mut place: u64 = 1;
        let mut submit = |world: &mut World, now_ns: u64, tag: u32| {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let sector = (place >> 20) % blocks * 8;
            let request = Request {
                tag,
                op,
                sector,
                sectors: 8,
                fua: false,
            };
            world.submit(0, now_ns, request);
        };
        for tag in 0..depth {
            submit(&mut world, 0, tag);
        }
        let (mut done, mut ended, mut now_ns) = (Vec::new(), 0, 0);
        while ended < requests {
            now_ns = world.next_event_ns().expect("requests are in flight");
            world.advance(now_ns, &mut done);
            for completion in done.drain(..) {
                ended += 1;
                submit(&mut world, now_ns, completion.tag);
            }
        }
        f64::from(ended) / (now_ns as f64 / 1e9)
    }

    /// Every disk of the catalogue, with areas from 64 MiB to the whole disk and the deepest queues.
    #[test]
    fn no_disk_of_the_catalogue_is_faster_than_its_bound() {
        let mut judged = 0;
        for entry in catalogue::list() {
            let model = catalogue::find(&entry.name).expect("listed");
            let all = model.sectors >> 11;
            for mib in [64, 1 << 10, 8 << 10, all] {
                for (op, depth) in [
                    (Op::Read, 1),
                    (Op::Read, 8),
                    (Op::Read, 32),
                    (Op::Write, 1),
                    (Op::Write, 32),
                ] {
                    let Some((most, simulated)) = bound_and_simulated(&model, op, mib.min(all), depth) else {
                        continue;
                    };
                    judged += 1;
                    println!(
                        "{} {op:?} {mib} MiB depth {depth}: {simulated:.0} of {most:.0}",
                        entry.name
                    );
                    assert!(
                        simulated <= most,
                        "{} {op:?} {mib} MiB depth {depth}: {simulated:.0} of {most:.0}",
                        entry.name
                    );
                }
            }
        }
        assert!(judged > 100, "{judged}");
    }
}
