//! `raidlab disk measure`: a model of a disk of this machine. Nothing is written to the disk, unless it was given up by
//! its serial number.

use super::super::output::Output;
use super::device::Device;
use super::measured_page;
use super::resumed::Resumed;
use crate::expected::ExpectedError;
use crate::progress::{note, say};
use disksim::catalogue::Model;
use host::{Disk, DiskError, Identity, JUDGING};
use measure::model::Known;
use measure::{Access, Measured, Measurement, Platters, Step};
use std::fs;
use std::path::{Path, PathBuf};
use tools::Tools;

/// Rules for names of models: see `disksim`'s catalogue.
const NAME_CHARS_MAX: usize = 64;

/// What the user asked for.
pub struct Wanted<'a> {
    pub device: &'a Path,
    pub output: &'a Path,
    /// The serial number of the disk, if it may be overwritten.
    pub destroy: Option<&'a str>,
    pub html: Option<&'a Path>,
}

pub fn measure(wanted: &Wanted<'_>) -> Result<String, ExpectedError> {
    let disk = free_disk(wanted.device)?;
    let place = free_output(wanted.output)?;
    let page = wanted.html.map(|path| Output::check(path, None)).transpose()?;
    if let Some(serial) = wanted.destroy {
        check_given_up(&disk, serial)?;
    }
    let failed = |source| not_measured(wanted, source);
    let resumed = Resumed::of(&disk, place.file());
    let mut measurement = match resumed.found()? {
        Some(found) => found,
        None => Measurement::new(disk.size_bytes / 512).map_err(failed)?,
    };
    let mut device = open(&disk, wanted.destroy.is_some())?;
    note(&format!("raidlab: measuring {disk}; this takes 20 minutes and more"));
    steps(&mut measurement, &mut device, wanted, &resumed)?;
    let found = measurement.measured();
    device.say("choosing the queue that comes closest");
    let title = title(&disk);
    let name = name(wanted.output);
    let known = Known {
        name: &name,
        title: &title,
        write_back: write_back(&disk),
    };
    let text = measure::model::write(&known, &found).map_err(failed)?;
    if let Some(page) = page {
        page.write(&measured_page::page(&title, &found, &Model::parse(&name, &text)?)?)?;
    }
    place.write(&text)?;
    resumed.remove();
    match place.file() {
        Some(file) => Ok(summary(&found, file)),
        None => Ok(String::new()),
    }
}

fn not_measured(wanted: &Wanted<'_>, source: measure::Error) -> ExpectedError {
    let written = match wanted.destroy {
        Some(_) => "; the model was not written",
        None => "; nothing was written",
    };
    ExpectedError::NotMeasured {
        device: wanted.device.to_owned(),
        source,
        written,
    }
}

/// All steps that are left; what each found is kept.
fn steps(
    measurement: &mut Measurement,
    device: &mut Device,
    wanted: &Wanted<'_>,
    resumed: &Resumed,
) -> Result<(), ExpectedError> {
    while let Some(step) = measurement.next(&access(device, wanted)) {
        let index = Step::ALL.iter().position(|other| *other == step).unwrap_or(0);
        let last = Step::ALL.len() - usize::from(wanted.destroy.is_none());
        device.say(&format!("step {} of {last}: {}", index + 1, step.word()));
        let done = measurement.advance(&mut access(device, wanted));
        done.map_err(|source| not_measured(wanted, source))?;
        resumed.keep(measurement)?;
    }
    Ok(())
}

fn access<'a>(device: &'a mut Device, wanted: &Wanted<'_>) -> Access<'a> {
    match wanted.destroy {
        Some(_) => Access::Destroy(device),
        None => Access::Read(device),
    }
}

/// Opens it; if it will be overwritten, only the disk that was checked.
fn open(disk: &Disk, destroys: bool) -> Result<Device, ExpectedError> {
    let cannot = |error| refused(format!("cannot open {disk}: {}", super::super::reason(&error)));
    if !destroys {
        return Device::open(disk).map_err(cannot);
    }
    let device = Device::open_to_destroy(disk).map_err(cannot)?;
    // While it is open the kernel gives its name to no other disk.
    let now = Disk::at(&disk.node).map_err(|error| refused(error.to_string()))?;
    let same = Identity::of(disk).check(&Identity::of(&now));
    same.map_err(|differs| refused(format!("{disk} is not the disk that was checked: {differs}")))?;
    say(&format!("raidlab: {disk} will be overwritten"));
    Ok(device)
}

/// The user named the disk by its serial number, or the kernel's name if it has none, and nothing speaks against it but its contents.
fn check_given_up(disk: &Disk, serial: &str) -> Result<(), ExpectedError> {
    let own = disk.handle();
    if own != serial {
        return Err(refused(format!(
            "--destroy {serial} does not name {disk}: `--destroy {own}` does"
        )));
    }
    let tools = Tools::find(&JUDGING)?;
    let devices: [PathBuf; 1] = [disk.given.clone()];
    let serials = [serial.to_owned()];
    host::choose(
        &host::Wanted {
            devices: &devices,
            destroy: &serials,
            count: 1,
            bytes_each: 0,
        },
        &tools,
    )?;
    Ok(())
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

fn folder(disk: &Disk) -> PathBuf {
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
    let writes = found
        .writes
        .as_ref()
        .map(|writes| words_of_writes(writes, &found.cache))
        .unwrap_or_default();
    let depths = found.depths.iter().map(|depth| {
        format!(
            "{:>6} reads/s at depth {}, {:.2} ms\n",
            format!("{:.1}", depth.per_s),
            depth.depth,
            depth.mean_ms
        )
    });
    format!(
        "{mechanics}{}{writes}`{}` is the model: `raidlab disk show {}` shows what it does\n",
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

fn words_of_writes(writes: &measure::Writes, cache: &measure::Cache) -> String {
    let elsewhere = if writes.go_elsewhere(cache) {
        "scattered writes are first written elsewhere, as drives with shingled tracks (SMR) do: the model does not have this, \
         and its writes are not to be trusted\n"
    } else {
        ""
    };
    let cache = match (writes.is_cached, writes.extents, writes.sectors) {
        (false, ..) => "no write cache".to_owned(),
        (true, extents, sectors) => {
            let extents = extents.map_or("any number of".to_owned(), |extents| extents.to_string());
            let mib = sectors.map_or("as much as was tried".to_owned(), |sectors| {
                format!("{:.1} MiB", f64::from(sectors) / 2048.0)
            });
            format!("a write cache of {extents} scattered writes and {mib}")
        }
    };
    let depths = writes.random.iter().map(|depth| {
        format!(
            "{:>6} writes/s at depth {}\n",
            format!("{:.1}", depth.per_s),
            depth.depth
        )
    });
    format!(
        "{cache}; a random write and a flush take {:.2} ms\n{}{elsewhere}",
        writes.sync_ms,
        depths.collect::<String>()
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
