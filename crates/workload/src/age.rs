//! Ageing of a filesystem before a workload: it is filled with files, and then files are deleted, created and overwritten until the
//! bytes of the filled filesystem have been written again as often as asked ([`population`]: which ones).
//!
//! **Files** are in `MOUNT/aged/NUMBER/NUMBER`, 64 of them in a directory on average, and stay there. Their data is written, not
//! reserved: fallocate(2) would be quicker in the lab, but delayed allocation decides the layout of ext4, XFS and btrfs when
//! data is written back, and ZFS reserves nothing. Data is written through the page cache, and a syncfs(2) follows when a quarter of
//! the space that stays free has been written, at most 64 MiB: files that live no longer than that are on no disk, as with a kernel
//! that writes back every 30 s.
//!
//! **Fill.** After each of these syncs statfs(2) says how much more may be written, with the filesystem's metadata. The end is
//! within 0.2 % of the size; [`judge`] allows 1 %, at the beginning of each trial.
//!
//! **Contents.** Every block has the same 4 KiB of random bytes, which the lab's disks hold once; filesystems that
//! compress get a mebibyte without repetition.

mod extents;
mod ground;
mod population;

use crate::environment::Host;
use crate::{Target, WorkloadError};
use ground::Ground;
use population::{File, Population, space_of};
use std::path::Path;
use std::time::{Duration, Instant};
use study::event::{Event, Guard};
use study::wording::{bytes, count, number};
use study::workload::AgeSpec;

/// A filesystem is as full as asked within this part of its size.
const TOLERANCE_PART: u64 = 500;

/// The guard allows one per cent.
const GUARD_PART: u64 = 100;

/// On the machine's clock, which is virtual in the lab.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

const SYNC_BYTES_MIN: u64 = 1 << 20;
const SYNC_BYTES_MAX: u64 = 64 << 20;

/// Attempts to find space that deleted files have freed.
const FULL_MAX: u32 = 16;

/// Passes until the fill is right.
const CORRECTIONS_MAX: u32 = 32;

/// What has been done, for a person.
#[derive(Default)]
struct Churn {
    created: u64,
    created_bytes: u64,
    deleted: u64,
    overwritten_bytes: u64,
}

/// A filesystem while it is aged.
struct Ager<'a> {
    spec: &'a AgeSpec,
    host: &'a mut dyn Host,
    ground: Ground,
    files: Population,
    began: Instant,
    churn: Churn,
    /// Bytes that may still be written; negative if files must be deleted first.
    room: i64,
    /// Bytes written since the last sync.
    unsynced: u64,
    sync_bytes: u64,
    filesystem_bytes: u64,
}

/// Ages the filesystem of a workload, and reports what it is like afterwards.
pub(crate) fn age(
    spec: &AgeSpec,
    target: &Target<'_>,
    replicate: u32,
    host: &mut dyn Host,
) -> Result<(), WorkloadError> {
    let mount_point = mounted(target)?;
    host.step("age");
    let seed = Population::seed(spec, replicate);
    let filesystem_bytes = ground::usage(mount_point)?.bytes;
    let largest = AgeSpec::file_bytes_max(filesystem_bytes);
    let expected = filesystem_bytes / 100 * u64::from(spec.fill_percent) / spec.profile.mean_bytes(largest).max(1);
    let mut ager = Ager {
        spec,
        ground: Ground::new(mount_point, expected, host.compresses(), seed)?,
        host,
        files: Population::new(spec.profile, largest, seed),
        began: Instant::now(),
        churn: Churn::default(),
        room: 0,
        unsynced: 0,
        sync_bytes: SYNC_BYTES_MIN,
        filesystem_bytes,
    };
    ager.measure()?;
    ager.fill()?;
    ager.churn()?;
    ager.correct()?;
    ager.report(mount_point)
}

fn mounted<'a>(target: &Target<'a>) -> Result<&'a Path, WorkloadError> {
    let none = || WorkloadError::Spec("`age` ages a filesystem, but this stack has none".to_owned());
    target.mount_point.ok_or_else(none)
}

/// Whether the filesystem is as full as asked, before the files of the workload are made.
pub(crate) fn judge(spec: &AgeSpec, target: &Target<'_>, host: &mut dyn Host) -> Result<(), WorkloadError> {
    let usage = ground::usage(mounted(target)?)?;
    let asked = usage.bytes / 100 * u64::from(spec.fill_percent);
    let used = usage.bytes - usage.free_bytes;
    let passed = used.abs_diff(asked) <= usage.bytes / GUARD_PART;
    let mut detail = format!(
        "{} % of the filesystem's {} are in use; asked for: {} %",
        number(used as f64 * 100.0 / usage.bytes.max(1) as f64, 1),
        bytes(usage.bytes),
        spec.fill_percent
    );
    if !passed {
        detail +=
            ", within 1 %; use a larger array, or a `fill` that leaves the filesystem more room for its metadata";
    }
    host.event(Event::Guard(Guard {
        name: "aged".to_owned(),
        test: None,
        passed,
        detail,
    }));
    Ok(())
}

impl Ager<'_> {
    /// Writes back, and finds how much may be written until the filesystem is as full as asked.
    fn measure(&mut self) -> Result<(), WorkloadError> {
        self.ground.sync()?;
        self.host
            .free_deleted()
            .map_err(WorkloadError::host("free the space of deleted files"))?;
        let usage = self.ground.steady_usage()?;
        let stays_free = usage.bytes / 100 * u64::from(100 - self.spec.fill_percent);
        self.room = usage.free_bytes.cast_signed() - stays_free.cast_signed();
        self.unsynced = 0;
        let quarter = usage.free_bytes.min(stays_free) / 4;
        self.sync_bytes = quarter.clamp(SYNC_BYTES_MIN, SYNC_BYTES_MAX);
        if self.began.elapsed() > TIME_MAX {
            let (written, hours) = (bytes(self.churn.created_bytes), TIME_MAX.as_secs() / 3600);
            return Err(WorkloadError::Spec(format!(
                "ageing was not done after {hours} h, with {written} of new files written: use a smaller `size` of the array, or less \
                 `turnover`"
            )));
        }
        Ok(())
    }

    fn wrote(&mut self, written: u64) -> Result<(), WorkloadError> {
        self.unsynced += written;
        match self.unsynced >= self.sync_bytes {
            true => self.measure(),
            false => Ok(()),
        }
    }

    fn has_right_fill(&self) -> bool {
        self.room.unsigned_abs() <= self.filesystem_bytes / TOLERANCE_PART
    }

    /// Does what needs space, and repeats it after a sync if there was none: copy-on-write filesystems free what was deleted when
    /// their transaction ends.
    fn with_space(
        &mut self,
        act: &mut dyn FnMut(&Ground) -> Result<bool, WorkloadError>,
    ) -> Result<(), WorkloadError> {
        for _ in 0..FULL_MAX {
            if act(&self.ground)? {
                return Ok(());
            }
            self.measure()?;
        }
        Err(self.no_space())
    }

    fn create(&mut self, size: u64) -> Result<(), WorkloadError> {
        let file = self.files.create(size);
        self.with_space(&mut |ground| ground.create(file))?;
        self.churn.created += 1;
        self.churn.created_bytes += size;
        self.room -= file.space().cast_signed();
        self.wrote(file.space())
    }

    fn no_space(&self) -> WorkloadError {
        let free = ground::usage(self.ground.mount_point()).map_or(0, |usage| usage.free_bytes);
        WorkloadError::Spec(format!(
            "the filesystem has no space for one more file, with {} free and {} of {} in `aged`: use a smaller `fill`, or a larger array",
            bytes(free),
            count(self.files.live().len(), "file"),
            bytes(self.files.live().iter().map(|file| file.bytes).sum()),
        ))
    }

    fn delete(&mut self) -> Result<bool, WorkloadError> {
        let Some(file) = self.files.victim() else {
            return Ok(false);
        };
        self.ground.delete(file)?;
        self.churn.deleted += 1;
        self.room += file.space().cast_signed();
        Ok(true)
    }

    /// Writes files until the filesystem is as full as asked. The last one is as large as what is left.
    fn fill(&mut self) -> Result<(), WorkloadError> {
        for _ in 0..CORRECTIONS_MAX {
            while self.room >= population::BLOCK_BYTES.cast_signed() {
                let size = self.files.draw_size().min(self.room.unsigned_abs());
                self.create(size)?;
            }
            self.measure()?;
            if self.has_right_fill() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn churn(&mut self) -> Result<(), WorkloadError> {
        let filled: u64 = self.files.live().iter().map(|file: &File| file.space()).sum();
        let asked = filled.saturating_mul(u64::from(self.spec.turnover));
        let (mut written, mut overwritten) = (0, 0);
        while written < asked {
            if overwritten * 100 < written * u64::from(self.spec.overwrite_percent) {
                let Some(part) = self.files.overwritten() else {
                    overwritten += population::BLOCK_BYTES;
                    continue;
                };
                self.with_space(&mut |ground| ground.overwrite(part))?;
                written += part.bytes;
                overwritten += part.bytes;
                self.churn.overwritten_bytes += part.bytes;
                self.wrote(part.bytes)?;
                continue;
            }
            let size = self.files.draw_size();
            while self.room < space_of(size).cast_signed() && self.delete()? {}
            self.create(size)?;
            // An empty file is work as well.
            written += space_of(size).max(1);
        }
        Ok(())
    }

    /// Corrects the fill by what metadata took and gave back meanwhile.
    fn correct(&mut self) -> Result<(), WorkloadError> {
        for _ in 0..CORRECTIONS_MAX {
            self.measure()?;
            if self.has_right_fill() {
                break;
            }
            while self.room < 0 && self.delete()? {}
            self.fill()?;
        }
        Ok(())
    }

    fn report(&mut self, mount_point: &Path) -> Result<(), WorkloadError> {
        let live = self.files.live();
        let data: u64 = live.iter().map(|file| file.bytes).sum();
        let churn = &self.churn;
        let mut facts = vec![(
            "age.churn",
            format!(
                "profile {}, seed {}: {} of {} created, {} deleted, {} overwritten",
                self.spec.profile.name(),
                self.spec.seed,
                count(churn.created as usize, "file"),
                bytes(churn.created_bytes),
                number(churn.deleted as f64, 0),
                bytes(churn.overwritten_bytes)
            ),
        )];
        let mut files = format!("{}, {}", count(live.len(), "file"), bytes(data));
        let free = self.ground.free_extents()?;
        let layout = self.ground.layout(live)?;
        if let Some(layout) = layout {
            let extents = layout.extents.len();
            let in_extents: u64 = layout.extents.iter().map(|extent| extent.bytes).sum();
            files += &format!(
                ", on average {} extents of {}; {} % of the files with data have two or more",
                number(extents as f64 / layout.files.max(1) as f64, 2),
                bytes(in_extents / extents.max(1) as u64),
                number(layout.split as f64 * 100.0 / layout.files.max(1) as f64, 1)
            );
            if free.is_none() {
                facts.push(("age.gaps", extents::words(&extents::gaps(layout.extents))));
            }
        }
        facts.push(("age.files", files));
        if let Some(free) = free {
            facts.push(("age.free_space", extents::words(&free)));
        }
        let own = self.host.fragmentation();
        let own = own.map_err(WorkloadError::host("read the fragmentation of the free space"))?;
        facts.extend(own.map(|own| ("age.fragmentation", own)));
        let usage = ground::usage(mount_point)?;
        let used = usage.bytes - usage.free_bytes;
        facts.push(("age.used", format!("{} of {}", bytes(used), bytes(usage.bytes))));
        for (key, value) in facts {
            self.host.event(Event::Provenance {
                key: key.to_owned(),
                value,
            });
        }
        Ok(())
    }
}
