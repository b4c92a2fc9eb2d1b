//! What the steps of a measurement found, kept next to the model file, so that a measurement that was ended is continued.

use crate::Error;
use files::Output;
use host::Disk;
use measure::Measurement;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where it is kept, if anywhere: a model on standard output has no place.
pub struct Resumed {
    path: Option<PathBuf>,
    disk: KeptDisk,
}

/// Names the disk, so that the steps of one are not taken for those of another.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptDisk {
    model: Option<String>,
    serial: Option<String>,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Of raidlab: another one may measure in another way.
    version: String,
    disk: KeptDisk,
    measurement: Measurement,
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

    /// What an earlier command found.
    ///
    /// # Errors
    /// If the file cannot be read, or is of another disk.
    pub fn found(&self) -> Result<Option<Measurement>, Error> {
        let Some(path) = &self.path else { return Ok(None) };
        let refused = |why: String| {
            Error::Refused(format!(
                "`{}` {why}: remove it to begin anew, or choose another file with -o",
                path.display()
            ))
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(format!("cannot be read ({})", files::reason(&error)))),
        };
        let kept: Kept = serde_json::from_str(&text)
            .map_err(|_| refused("is not what an ended measurement leaves".to_owned()))?;
        if kept.disk != self.disk || kept.measurement.sectors() != self.disk.bytes / 512 {
            return Err(refused("was measured of another disk".to_owned()));
        }
        if kept.version != env!("CARGO_PKG_VERSION") {
            return Err(refused(format!("was measured by version {} of raidlab", kept.version)));
        }
        log::info!("continuing with what is in {}", path.display());
        Ok(Some(kept.measurement))
    }

    /// Keeps what was found so far.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, measurement: &Measurement) -> Result<(), Error> {
        let Some(path) = &self.path else { return Ok(()) };
        let kept = Kept {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            disk: self.disk.clone(),
            measurement: measurement.clone(),
        };
        let text = serde_json::to_string(&kept).map_err(|error| Error::Simulation(error.to_string()))?;
        Ok(Output::check(path, None)?.write(&text)?)
    }

    /// Once the model is written. If it cannot be removed, the next command says so.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}
