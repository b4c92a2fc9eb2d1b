//! Results of a measurement's steps, stored next to the model file, so that an interrupted measurement can be
//! resumed.

use crate::Error;
use files::Output;
use host::Disk;
use measure::DiskMeasurement;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where they are stored; nowhere if the model goes to standard output.
pub struct Resumed {
    path: Option<PathBuf>,
    disk: KeptDisk,
}

/// Identifies the disk, so that results are not used for another one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptDisk {
    model: Option<String>,
    serial: Option<String>,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Version of raidlab: another one may measure differently.
    version: String,
    disk: KeptDisk,
    measurement: DiskMeasurement,
}

impl Resumed {
    /// `model`: the file that the measurement will write.
    pub fn of(disk: &Disk, model: Option<&Path>) -> Resumed {
        Resumed {
            path: model.map(|file| file.with_extension("measured.json")),
            disk: KeptDisk {
                model: disk.model.clone(),
                serial: disk.serial.clone(),
                bytes: disk.size_bytes,
            },
        }
    }

    /// The results of an earlier command.
    ///
    /// # Errors
    /// If the file cannot be read, or belongs to another disk.
    pub fn found(&self) -> Result<Option<DiskMeasurement>, Error> {
        let Some(path) = &self.path else { return Ok(None) };
        let refused = |why: String| {
            Error::Refused(format!(
                "`{}` {why}: remove it to start over, or choose another file with -o",
                path.display()
            ))
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(format!("cannot be read ({})", files::reason(&error)))),
        };
        let kept: Kept =
            serde_json::from_str(&text).map_err(|_| refused("is not an interrupted measurement".to_owned()))?;
        if kept.disk != self.disk || kept.measurement.sectors() != self.disk.bytes / 512 {
            return Err(refused("belongs to another disk".to_owned()));
        }
        if kept.version != env!("CARGO_PKG_VERSION") {
            return Err(refused(format!("was written by version {} of raidlab", kept.version)));
        }
        log::info!("continuing with what is in {}", path.display());
        Ok(Some(kept.measurement))
    }

    /// Stores the results so far.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, measurement: &DiskMeasurement) -> Result<(), Error> {
        let Some(path) = &self.path else { return Ok(()) };
        let kept = Kept {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            disk: self.disk.clone(),
            measurement: measurement.clone(),
        };
        let text = serde_json::to_string(&kept).map_err(|error| Error::Simulation(error.to_string()))?;
        Ok(Output::check(path, None)?.write(&text)?)
    }

    /// Called once the model is written. If the file cannot be removed, the next command reports it.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}
