//! The measurement from the checks of the disk to the model file.

use crate::Error;
use crate::device::Device;
use crate::page;
use crate::resumed::Resumed;
use crate::summary::summary;
use disksim::catalogue::Model;
use files::Output;
use host::{Disk, DiskError, Identity, JUDGING};
use measure::model::KnownFacts;
use measure::{DiskAccess, DiskMeasurement, SsdLimits, Step};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tools::Tools;

/// Rules for names of models: see `disksim`'s catalogue.
const NAME_CHARS_MAX: usize = 64;

/// The user's arguments.
pub struct MeasureArguments<'a> {
    pub device: &'a Path,
    pub output: &'a Path,
    /// The serial number of the disk, if it may be overwritten.
    pub destroy: Option<&'a str>,
    /// Maximum time for filling an SSD, and again for random writes.
    pub precondition: Duration,
    pub html: Option<&'a Path>,
}

pub fn measure(wanted: &MeasureArguments<'_>) -> Result<String, Error> {
    let disk = free_disk(wanted.device)?;
    let place = free_output(wanted.output)?;
    let html = wanted.html.map(|path| Output::check(path, None)).transpose()?;
    if let Some(serial) = wanted.destroy {
        check_given_up(&disk, serial)?;
    }
    let failed = |source| not_measured(wanted, source);
    let resumed = Resumed::of(&disk, place.file());
    let limits = SsdLimits::of(wanted.precondition.as_secs_f64());
    let mut measurement = match resumed.found()? {
        Some(found) => found.with_limits(limits),
        None => DiskMeasurement::new(disk.size_bytes / 512, rotates(&disk), limits).map_err(failed)?,
    };
    let mut device = open(&disk, wanted.destroy.is_some())?;
    log::info!("measuring {disk}{}", expected(&measurement, wanted));
    steps(&mut measurement, &mut device, wanted, &resumed)?;
    let found = measurement.measured();
    device.say(match found.ssd {
        Some(_) => "fitting the parameters",
        None => "fitting the queue",
    });
    let title = title(&disk);
    let name = name(wanted.output);
    let known = KnownFacts {
        name: &name,
        title: &title,
        write_back: write_back(&disk),
    };
    let text = measure::model::write(&known, &found).map_err(failed)?;
    if let Some(output) = html {
        output.write(&page::page(&title, &found, &Model::parse(&name, &text)?)?)?;
    }
    place.write(&text)?;
    resumed.remove();
    match place.file() {
        Some(file) => Ok(summary(&found, file)),
        None => Ok(String::new()),
    }
}

fn not_measured(wanted: &MeasureArguments<'_>, source: measure::Error) -> Error {
    let written = match wanted.destroy {
        Some(_) => "; the model was not written",
        None => "; nothing was written",
    };
    Error::NotMeasured {
        device: wanted.device.to_owned(),
        source,
        written,
    }
}

/// As the kernel reports it. If it reports nothing, rotation is determined by reads.
fn rotates(disk: &Disk) -> bool {
    fs::read_to_string(folder(disk).join("queue/rotational")).map_or(true, |text| text.trim() != "0")
}

/// Description of the measurement and its duration.
fn expected(measurement: &DiskMeasurement, wanted: &MeasureArguments<'_>) -> String {
    if !measurement.is_ssd() {
        return "; this takes 20 minutes and more".to_owned();
    }
    let how = " as an SSD, since it does not rotate (queue/rotational is 0)";
    match wanted.destroy {
        None => format!("{how}; this takes a few minutes"),
        Some(_) => format!(
            "{how}; it is filled and written at random for up to {} each, and then measured for about ten minutes",
            report::clock(wanted.precondition)
        ),
    }
}

/// Runs all remaining steps; the results of each are stored.
fn steps(
    measurement: &mut DiskMeasurement,
    device: &mut Device,
    wanted: &MeasureArguments<'_>,
    resumed: &Resumed,
) -> Result<(), Error> {
    while let Some(step) = measurement.next(&access(device, wanted)) {
        let all = measurement.steps(&access(device, wanted));
        let index = all.iter().position(|other| *other == step).unwrap_or(0);
        device.say(&format!("step {} of {}: {}", index + 1, all.len(), step.word()));
        let done = measurement.advance(&mut access(device, wanted));
        done.map_err(|source| not_measured(wanted, source))?;
        if step == Step::Rotation && measurement.is_ssd() {
            device.say("its reads show no rotation: measuring it as an SSD");
        }
        resumed.keep(measurement)?;
    }
    Ok(())
}

fn access<'a>(device: &'a mut Device, wanted: &MeasureArguments<'_>) -> DiskAccess<'a> {
    match wanted.destroy {
        Some(_) => DiskAccess::Destroy(device),
        None => DiskAccess::Read(device),
    }
}

/// Opens it; if it will be overwritten, only the disk that was checked.
fn open(disk: &Disk, destroys: bool) -> Result<Device, Error> {
    let cannot = |error| refused(format!("cannot open {disk}: {}", files::reason(&error)));
    if !destroys {
        return Device::open(disk).map_err(cannot);
    }
    let device = Device::open_to_destroy(disk).map_err(cannot)?;
    // While it is open the kernel gives its name to no other disk.
    let now = Disk::at(&disk.node).map_err(|error| refused(error.to_string()))?;
    let same = Identity::of(disk).check(&Identity::of(&now));
    same.map_err(|differs| refused(format!("{disk} is not the disk that was checked: {differs}")))?;
    log::warn!("{disk} will be overwritten");
    Ok(device)
}

/// The user named the disk by its serial number, or by the kernel's name if it has none, and the only objection is
/// its contents.
fn check_given_up(disk: &Disk, serial: &str) -> Result<(), Error> {
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
        &host::WantedDisks {
            devices: &devices,
            destroy: &serials,
            count: 1,
            bytes_each: 0,
        },
        &tools,
    )?;
    Ok(())
}

fn refused(why: String) -> Error {
    Error::Refused(why)
}

/// A whole disk that is not in use.
fn free_disk(path: &Path) -> Result<Disk, Error> {
    let disk = Disk::at(path).map_err(|error| match error {
        DiskError::NotABlockDevice(_) => refused(format!(
            "`{}` is not a block device: name a disk, such as /dev/sdb; `lsblk -d -o PATH,MODEL,ROTA,SIZE` lists them",
            path.display()
        )),
        other => refused(other.to_string()),
    })?;
    if folder(&disk).join("partition").exists() {
        let why = "is a partition: name the whole disk, since it is measured from end to end";
        return Err(refused(format!("`{}` {why}", path.display())));
    }
    if is_made_by_the_kernel(&disk.kernel_name) {
        let why = "is a virtual device of the kernel, not a disk: name a single physical disk, since a model \
            describes one";
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

/// md arrays, LVM and ZFS volumes, loop devices and other devices that are not drives, by their kernel names.
fn is_made_by_the_kernel(name: &str) -> bool {
    const NAMES: [&str; 10] = ["md", "dm-", "loop", "bcache", "drbd", "nbd", "rbd", "ram", "zram", "zd"];
    let is_numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == '_');
    NAMES
        .iter()
        .any(|prefix| name.strip_prefix(prefix).is_some_and(is_numbered))
}

fn folder(disk: &Disk) -> PathBuf {
    Path::new("/sys/class/block").join(&disk.kernel_name)
}

fn free_output(output: &Path) -> Result<Output, Error> {
    let place = Output::check(output, None)?;
    let Some(file) = place.file() else {
        return Ok(place);
    };
    if file.exists() {
        let why = "exists, and is not overwritten: choose a new file with -o";
        return Err(refused(format!("`{}` {why}", output.display())));
    }
    if file.extension().is_none_or(|extension| extension != "toml") {
        let why = "does not end in .toml, by which `raidlab disk show` and studies recognise a model file";
        return Err(refused(format!("-o `{}` {why}", output.display())));
    }
    Ok(place)
}

/// The file's name, as far as it can name a model.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_model() {
        assert_eq!(name(Path::new("disks/my raptor.toml")), "my-raptor");
        assert_eq!(name(Path::new("default.toml")), "measured");
        assert_eq!(name(Path::new("-")), "measured");
    }

    #[test]
    fn arrays_volumes_and_files_are_no_disks() {
        for name in ["md0", "md_d0", "md127", "dm-3", "loop0", "zram0", "nbd1", "zd16"] {
            assert!(is_made_by_the_kernel(name), "{name}");
        }
        for name in ["sda", "vda", "nvme0n1", "mmcblk0", "xvdb", "hda"] {
            assert!(!is_made_by_the_kernel(name), "{name}");
        }
    }
}
