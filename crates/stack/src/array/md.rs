//! md arrays: how mdadm is called.

use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use study::stack::{ArraySpec, Bitmap, Level};
use tools::{Invocation, Tool};

/// Name and members of an array to create.
#[derive(Debug)]
pub(crate) struct Creation<'a> {
    pub(crate) spec: &'a ArraySpec,
    pub(crate) node: &'a Path,
    pub(crate) name: &'a str,
    pub(crate) uuid: &'a str,
    pub(crate) members: &'a [PathBuf],
    /// The disk of md's write journal, if it has one.
    pub(crate) journal: Option<&'a Path>,
    /// Folder for the file of an external bitmap.
    pub(crate) bitmap_file: Option<&'a Path>,
    /// Copies and parity are consistent already, or are taken to be.
    pub(crate) in_sync: bool,
}

impl Creation<'_> {
    /// `mdadm --create`, without reading this machine's mdadm.conf and without questions.
    pub(crate) fn invocation(&self) -> Result<Invocation, Cause> {
        let spec = self.spec;
        let active = self.members.len() - spec.spares as usize;
        let mut call = Invocation::new(Tool::Mdadm)
            .arg("--create")
            .arg(self.node)
            .args(["--config=none", "--homehost=<none>"])
            .arg(format!("--name={}", self.name))
            .arg(format!("--uuid={}", self.uuid))
            .arg("--run")
            .arg(format!("--level={}", spec.level.facts().type_word))
            .arg(format!("--raid-devices={active}"));
        if spec.spares > 0 {
            call = call.arg(format!("--spare-devices={}", spec.spares));
        }
        if let Some(metadata) = &spec.metadata {
            call = call.arg(format!("--metadata={metadata}"));
        }
        if let Some(bytes) = spec.chunk_bytes {
            call = call.arg(format!("--chunk={}K", kibibytes("chunk", bytes)?));
        }
        if let Some(layout) = &spec.layout {
            call = call.arg(format!("--layout={layout}"));
        }
        if let Some(bytes) = spec.member_size_bytes {
            call = call.arg(format!("--size={}K", kibibytes("member size", bytes)?));
        }
        if spec.level.is_redundant() {
            call = self.consistency(call)?;
            if self.in_sync {
                call = call.arg("--assume-clean");
            }
        }
        let (read, write_mostly) = self.members.split_at(self.members.len() - write_mostly(spec));
        call = call.args(read);
        if !write_mostly.is_empty() {
            call = call.arg("--write-mostly").args(write_mostly);
        }
        Ok(call)
    }
}

impl Creation<'_> {
    /// The consistency policy. It is always given, because mdadm would otherwise ask, or choose by size.
    fn consistency(&self, call: Invocation) -> Result<Invocation, Cause> {
        if let Some(journal) = self.journal {
            return Ok(call.arg("--write-journal").arg(journal));
        }
        if self.spec.ppl {
            return Ok(call.arg("--consistency-policy=ppl"));
        }
        let mut call = match (self.spec.bitmap, self.bitmap_file) {
            (Bitmap::External, Some(file)) => call.arg("--bitmap").arg(file),
            (Bitmap::Internal, _) => call.arg("--bitmap=internal"),
            _ => return Ok(call.arg("--bitmap=none")),
        };
        if let Some(bytes) = self.spec.bitmap_chunk_bytes {
            call = call.arg(format!("--bitmap-chunk={}K", kibibytes("bitmap chunk", bytes)?));
        }
        if let Some(writes) = self.spec.write_behind {
            call = call.arg(format!("--write-behind={writes}"));
        }
        Ok(call)
    }
}

/// Number of write-mostly members, counted from the last one.
pub(crate) fn write_mostly(spec: &ArraySpec) -> usize {
    spec.write_mostly.unwrap_or(0) as usize
}

/// The array itself, without its nested arrays.
pub(crate) fn outer(spec: &ArraySpec) -> ArraySpec {
    let mut outer = spec.clone();
    if outer.of.take().is_some() && !outer.level.is_redundant() {
        outer.bitmap = Bitmap::None;
        (outer.bitmap_chunk_bytes, outer.sync_speed_min, outer.sync_speed_max) = (None, None, None);
    }
    outer
}

/// The inner arrays of nested RAID, each as a spec.
pub(crate) fn inner(spec: &ArraySpec) -> Option<ArraySpec> {
    let of = spec.of?;
    let plain = ArraySpec {
        level: of.level,
        chunk_bytes: of.chunk_bytes,
        metadata: spec.metadata.clone(),
        integrity: spec.integrity,
        ..ArraySpec::default()
    };
    if !of.level.is_redundant() {
        return Some(plain);
    }
    Some(ArraySpec {
        bitmap: spec.bitmap,
        bitmap_chunk_bytes: spec.bitmap_chunk_bytes,
        sync_speed_min: spec.sync_speed_min,
        sync_speed_max: spec.sync_speed_max,
        ..plain
    })
}

/// Checks the spec for this number of devices, before anything is changed.
pub(crate) fn check(spec: &ArraySpec, devices: usize) -> Result<(), Cause> {
    let refuse = |reason: String| Err(Cause::Impossible(reason));
    let level = spec.level.facts().type_word;
    if let Some(of) = spec.of {
        let disks = of.disks as usize;
        if disks == 0 || !devices.is_multiple_of(disks) {
            return refuse(format!("{devices} devices cannot be divided into arrays of {disks}"));
        }
        let inner = inner(spec).expect("it is nested RAID");
        check(&inner, disks)?;
        return check(&outer(spec), devices / disks);
    }
    let spares = spec.spares as usize;
    let Some(active) = devices.checked_sub(spares) else {
        return refuse(format!("{spares} spares of {devices} devices leave none for the array"));
    };
    // A filesystem that builds its own array has its own spares.
    if !spec.level.is_redundant() && spec.level != Level::None && spares > 0 {
        return refuse(format!(
            "{level} cannot have spares: it has nothing to rebuild them from"
        ));
    }
    if !spec.level.is_redundant() && spec.bitmap != Bitmap::None {
        return refuse(format!("{level} cannot have a bitmap: it has nothing to resync"));
    }
    check_write_mostly(spec, active)?;
    if spec.level == Level::Single {
        if active == 0 {
            return refuse("level `single` needs a disk, but no device is given".to_owned());
        }
        if let Some(what) = what_only_arrays_have(spec) {
            return refuse(format!("a single disk has no {what}"));
        }
    }
    if spec.level.is_md() && spec.chunk_bytes.is_some() && !spec.level.facts().has_chunk {
        return refuse(format!("{level} has no chunk"));
    }
    let fewest = spec.level.facts().members_min as usize;
    if active < fewest {
        return refuse(format!(
            "{level} needs at least {fewest} devices in addition to spares, but only {active} are given"
        ));
    }
    Ok(())
}

fn check_write_mostly(spec: &ArraySpec, active: usize) -> Result<(), Cause> {
    let refuse = |reason: String| Err(Cause::Impossible(reason));
    let (level, marked) = (spec.level.facts().type_word, write_mostly(spec));
    if marked > 0 && spec.level != Level::Raid1 {
        return refuse(format!("{level} cannot have write-mostly members: only raid1 can"));
    }
    if marked > 0 && (marked >= active || spec.spares > 0) {
        return refuse(format!(
            "{marked} of {active} members cannot be write-mostly: one is needed for reads, and there must be no spares"
        ));
    }
    if spec.write_behind.is_some() && (marked == 0 || spec.bitmap == Bitmap::None) {
        return refuse("write-behind needs a bitmap and write-mostly members".to_owned());
    }
    Ok(())
}

fn what_only_arrays_have(spec: &ArraySpec) -> Option<&'static str> {
    [
        (spec.chunk_bytes.is_some(), "chunk"),
        (spec.layout.is_some(), "layout"),
        (spec.metadata.is_some(), "metadata format"),
        (spec.member_size_bytes.is_some(), "member size"),
    ]
    .into_iter()
    .find_map(|(given, what)| given.then_some(what))
}

fn kibibytes(what: &str, bytes: u64) -> Result<u64, Cause> {
    if bytes == 0 || !bytes.is_multiple_of(1024) {
        return Err(Cause::Impossible(format!(
            "the {what} must be a multiple of 1 KiB, not {bytes} bytes"
        )));
    }
    Ok(bytes / 1024)
}

/// An unused node /dev/mdN. Numbers below 100 are left to the machine's own arrays.
pub(crate) fn free_node(executor: &mut dyn Executor) -> Result<PathBuf, Cause> {
    (100..256)
        .map(|number| format!("md{number}"))
        .find(|name| {
            !executor.exists(&Path::new("/sys/block").join(name)) && !executor.exists(&Path::new("/dev").join(name))
        })
        .map(|name| Path::new("/dev").join(name))
        .ok_or_else(|| Cause::State("every node from /dev/md100 to /dev/md255 is in use".to_owned()))
}

/// `mdadm --assemble` of an array that was created before, without reading this machine's mdadm.conf. `members` has the disk of
/// its journal as well.
pub(crate) fn assembly(node: &Path, options: &[&OsStr], members: &[PathBuf]) -> Invocation {
    Invocation::new(Tool::Mdadm)
        .arg("--assemble")
        .arg(node)
        .args(["--config=none", "--homehost=<none>", "--run"])
        .args(options)
        .args(members)
}

/// The small filesystem for the file of an external bitmap; md requires ext2 or ext3.
pub(crate) fn filesystem_of_bitmap(disk: &Path, uuid: &str) -> Invocation {
    const BLOCKS: &str = "65536";
    Invocation::new(Tool::MKE2FS)
        .args(["-q", "-F", "-t", "ext2", "-b", "4096", "-E", "nodiscard", "-U", uuid])
        .arg(disk)
        .arg(BLOCKS)
}

mod running;
mod settings;

pub use running::Array;

#[cfg(test)]
mod tests;
