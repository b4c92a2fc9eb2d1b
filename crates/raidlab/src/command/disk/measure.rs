//! `raidlab disk measure`: a model of a disk of this machine, by reads alone.

use super::super::output::Output;
use super::device::Device;
use crate::expected::ExpectedError;
use crate::progress::note;
use host::{Disk, DiskError};
use measure::model::Known;
use measure::{Measured, Platters, STEPS};
use std::cell::RefCell;
use std::fs;
use std::path::Path;

/// Rules for names of models: see `disksim`'s catalogue.
const NAME_CHARS_MAX: usize = 64;

pub fn measure(path: &Path, output: &Path) -> Result<String, ExpectedError> {
    let disk = free_disk(path)?;
    let place = free_output(output)?;
    let open = Device::open(&disk);
    let mut device =
        open.map_err(|error| refused(format!("cannot open {disk}: {}", super::super::reason(&error))))?;
    note(&format!(
        "raidlab: measuring {disk} by reads; nothing is written to it; this takes 20 minutes and more"
    ));
    let failed = |source| ExpectedError::NotMeasured {
        device: path.to_owned(),
        source,
    };
    let found = measured(&mut device).map_err(failed)?;
    device.say("choosing the queue that comes closest");
    let title = title(&disk);
    let known = Known {
        name: &name(output),
        title: &title,
        write_back: write_back(&disk),
    };
    let text = measure::model::write(&known, &found).map_err(failed)?;
    place.write(&text)?;
    match place.file() {
        Some(file) => Ok(summary(&found, file)),
        None => Ok(String::new()),
    }
}

fn measured(device: &mut Device) -> Result<Measured, measure::Error> {
    let device = RefCell::new(device);
    let mut target = Shared(&device);
    measure::measure(&mut target, &mut |step| {
        let name = STEPS.get(step).copied().unwrap_or_default();
        device
            .borrow_mut()
            .say(&format!("step {} of {}: {name}", step + 1, STEPS.len()));
    })
}

/// The device, between whose reads the steps are reported.
struct Shared<'a, 'b>(&'a RefCell<&'b mut Device>);

impl measure::Target for Shared<'_, '_> {
    fn sectors(&self) -> u64 {
        self.0.borrow().sectors()
    }

    fn run(&mut self, reads: &[measure::Read], depth: u32) -> Result<Vec<measure::Timing>, measure::Error> {
        self.0.borrow_mut().run(reads, depth)
    }

    fn pause(&mut self, ms: u64) {
        self.0.borrow_mut().pause(ms);
    }
}

fn refused(why: String) -> ExpectedError {
    ExpectedError::NotMeasurable(why)
}

/// A whole disk with platters that nobody uses.
fn free_disk(path: &Path) -> Result<Disk, ExpectedError> {
    let disk = Disk::at(path).map_err(|error| match error {
        DiskError::NotABlockDevice(_) => refused(format!(
            "`{}` is not a block device: name a disk, such as /dev/sdb; `lsblk -d -o PATH,MODEL,ROTA,SIZE` lists them",
            path.display()
        )),
        other => refused(other.to_string()),
    })?;
    if folder(&disk).join("partition").exists() {
        let why = "is a partition: name the whole disk, since its zones and seeks are measured from end to end";
        return Err(refused(format!("`{}` {why}", path.display())));
    }
    if fs::read_to_string(folder(&disk).join("queue/rotational")).is_ok_and(|text| text.trim() == "0") {
        let why =
            "has no platters, as its kernel says (queue/rotational is 0): only disks that rotate can be measured";
        return Err(refused(format!("`{}` {why}", path.display())));
    }
    let users = host::in_use(&disk);
    if users.is_empty() {
        return Ok(disk);
    }
    let users: Vec<String> = users.iter().map(ToString::to_string).collect();
    Err(refused(format!(
        "{disk} is in use, and other requests would be measured with it: {}",
        users.join("; ")
    )))
}

fn folder(disk: &Disk) -> std::path::PathBuf {
    Path::new("/sys/class/block").join(&disk.kernel_name)
}

fn free_output(output: &Path) -> Result<Output, ExpectedError> {
    let place = Output::check(output, None)?;
    let Some(file) = place.file() else {
        return Ok(place);
    };
    if file.exists() {
        let why = "exists, and is not overwritten: choose a new file with -o";
        return Err(refused(format!("`{}` {why}", output.display())));
    }
    if file.extension().is_none_or(|extension| extension != "toml") {
        let why = "does not end in .toml, by which `raidlab disk show` and studies know a model file";
        return Err(refused(format!("-o `{}` {why}", output.display())));
    }
    Ok(place)
}

/// That of the file, as far as it can name a model.
fn name(output: &Path) -> String {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let sound = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = stem.chars().map(sound).take(NAME_CHARS_MAX).collect();
    let is_name = name.chars().any(|c| c != '-') && name != "default";
    if is_name { name } else { "measured".to_owned() }
}

fn title(disk: &Disk) -> String {
    let model = disk.model.as_deref().unwrap_or("a disk without a name");
    let model: String = model.chars().filter(|c| !c.is_control()).take(100).collect();
    format!("{model}, measured by raidlab")
}

/// Whether the write cache is on, as the drive reports it to the kernel.
fn write_back(disk: &Disk) -> Option<bool> {
    let text = fs::read_to_string(folder(disk).join("queue/write_cache")).ok()?;
    match text.trim() {
        "write back" => Some(true),
        "write through" => Some(false),
        _ => None,
    }
}

fn summary(found: &Measured, file: &Path) -> String {
    let mechanics = found.platters.as_ref().map(mechanics).unwrap_or_default();
    let depths = found.depths.iter().map(|depth| {
        format!(
            "{:>6} reads/s at depth {}, {:.2} ms\n",
            format!("{:.1}", depth.per_s),
            depth.depth,
            depth.mean_ms
        )
    });
    format!(
        "{mechanics}{}`{}` is the model: `raidlab disk show {}` shows what it does\n",
        depths.collect::<String>(),
        file.display(),
        file.display()
    )
}

fn mechanics(platters: &Platters) -> String {
    let zones = &platters.tracks.zones;
    let rate = |zone: Option<&measure::Zone>| zone.map_or(0.0, |zone| zone.mb_s);
    let seek = |seek: Option<&measure::SeekTime>| seek.map_or(0.0, |seek| seek.ms);
    format!(
        "{:.1} rpm, {} zones, {:.1} MB/s at the first sector, {:.1} at the last\nseeks of {:.2} ms to the next track, {:.2} \
         over the whole disk\n",
        platters.rpm(),
        zones.len(),
        rate(zones.first()),
        rate(zones.last()),
        seek(platters.seeks.first()),
        seek(platters.seeks.last())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_model() {
        assert_eq!(name(Path::new("disks/my raptor.toml")), "my-raptor");
        assert_eq!(name(Path::new("default.toml")), "measured");
        assert_eq!(name(Path::new("-")), "measured");
    }
}
