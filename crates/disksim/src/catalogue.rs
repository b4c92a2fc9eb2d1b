//! Disk models from data files; each figure has a source and a certainty.
//!
//! A model file is TOML; [`format`] describes its keys. The files of `data/disks/` are built in.

pub mod build;
pub mod figures;
pub mod format;
mod layout;
pub(crate) mod plausibility;
pub mod uncertainty;

use crate::contents::Survival;
use crate::description::{Device, DiskDescription, Interface};
use crate::faults::Faults;
use format::ModelFile;
use std::fmt;
use std::string::{String, ToString};
use std::vec::Vec;

pub(crate) use layout::{SPARING_NAMES, known as known_layout};

/// The built-in model file of this name.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../data/disks/", $name, ".toml")))),*]
    };
}

/// The built-in model files: name of the file, contents.
const FILES: &[(&str, &str)] = built_in![
    "crucial-mx200-250gb",
    "crucial-mx500-1tb",
    "hitachi-7k250-250gb",
    "hitachi-7k500",
    "hitachi-t7k250-250gb",
    "hp-c2247a",
    "ibm-18es-9gb",
    "ibm-deskstar-180gxp-120gb",
    "ibm-deskstar-75gxp-45gb",
    "ibm-ultrastar-146z10",
    "intel-p4510-2tb",
    "intel-s4510-3840gb",
    "maxtor-atlas-10k-v-300gb",
    "maxtor-d540x-4g-120gb",
    "micron-7450-pro-1920gb",
    "nvme-ssd-1920gb",
    "quantum-atlas-10k",
    "quantum-atlas-iii-9gb",
    "ram",
    "samsung-860-pro-512gb",
    "samsung-870-evo-4tb",
    "samsung-870-evo-500gb",
    "samsung-870-qvo-4tb",
    "samsung-970-evo-500gb",
    "samsung-980-1tb",
    "samsung-980-pro-1tb",
    "samsung-f1-1tb",
    "samsung-f3-500gb",
    "samsung-pm883-480gb",
    "samsung-pm9a3-1920gb",
    "samsung-t166-500gb",
    "sata-ssd-960gb",
    "seagate-archive-8tb",
    "seagate-barracuda-st32171w",
    "seagate-cheetah-15k7-450gb",
    "seagate-cheetah-4lp",
    "seagate-cheetah-9lp",
    "seagate-exos-8tb",
    "seagate-exos-x16-16tb",
    "seagate-exos-x20-20tb",
    "seagate-ironwolf-12tb",
    "seagate-ironwolf-4tb",
    "seagate-st2000dl003",
    "seagate-st2000dm001",
    "seagate-st31500541as",
    "seagate-st32000542as",
    "toshiba-mg08-16tb",
    "wd-500gb-2007",
    "wd-raptor-150gb",
    "wd-ultrastar-hc550-18tb",
    "wd-wd10eacs",
    "wd-wd20ears",
    "wd-wd30efrx",
    "wd-wd40efax",
    "wd-wd40efrx",
];

/// The model of a study that names none.
pub const DEFAULT: &str = "hitachi-7k500";

/// A model, from which disks are created.
#[derive(Clone, Debug)]
pub struct Model {
    pub file: ModelFile,
    pub sectors: u64,
    pub device: Device,
    /// The bus on which traces of the disk were taken.
    pub rig: Option<Interface>,
    /// Every figure of the file with its source.
    pub notes: Vec<figures::Note>,
}

/// An entry of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub title: String,
    pub sectors: u64,
    pub media: MediaType,
    /// Published or measured figures that are independent of the model; see [`crate::comparison`].
    pub independent_figures: usize,
}

/// What a disk keeps its data on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    Platters,
    /// Platters with shingled tracks.
    Shingled,
    Flash,
}

/// Errors of finding or reading a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    Unknown {
        name: String,
        near: Vec<String>,
    },
    /// An invalid model file, with the position.
    Invalid {
        file: String,
        line: usize,
        column: usize,
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown { name, near } if near.is_empty() => {
                write!(f, "there is no disk model `{name}`; `raidlab disk list` lists all")
            }
            Error::Unknown { name, near } => {
                write!(
                    f,
                    "there is no disk model `{name}`; did you mean `{}`?",
                    near.join("` or `")
                )
            }
            Error::Invalid {
                file,
                line,
                column,
                message,
            } => write!(f, "{file}:{line}:{column}: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// All models of the catalogue, by name.
pub fn list() -> Vec<Entry> {
    let mut entries: Vec<Entry> = FILES
        .iter()
        .filter_map(|(name, text)| Model::parse(name, text).ok())
        .map(|model| model.entry())
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// The model with this name or alias.
pub fn find(name: &str) -> Result<Model, Error> {
    let wanted = name.to_ascii_lowercase();
    if let Some((file, text)) = FILES.iter().find(|(file, _)| *file == wanted) {
        return Model::parse(&std::format!("{file}.toml"), text);
    }
    let mut names: Vec<(usize, String)> = Vec::new();
    for (file, text) in FILES {
        let Ok(model) = Model::parse(&std::format!("{file}.toml"), text) else {
            continue;
        };
        if model.file.aliases.iter().any(|a| a.eq_ignore_ascii_case(&wanted)) {
            return Ok(model);
        }
        let spellings = model.file.aliases.iter().chain([&model.file.name]);
        let distance = spellings
            .map(|s| distance(&s.to_ascii_lowercase(), &wanted))
            .min()
            .unwrap_or(usize::MAX);
        names.push((distance, model.file.name));
    }
    names.sort();
    let near = names
        .into_iter()
        .filter(|(d, _)| *d <= 2 + wanted.len() / 4)
        .take(3)
        .map(|(_, n)| n)
        .collect();
    Err(Error::Unknown {
        name: name.to_string(),
        near,
    })
}

/// The name in the text of a possibly invalid model file, if it can be found.
pub fn name_in(text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).ok()?;
    Some(table.get("name")?.as_str()?.to_string())
}

impl Model {
    /// Parses a model file. `file` is its name for messages.
    pub fn parse(file: &str, text: &str) -> Result<Model, Error> {
        let error = |offset: usize, message: &str| {
            let (line, column) = position(text, offset);
            Error::Invalid {
                file: file.to_string(),
                line,
                column,
                message: message.to_string(),
            }
        };
        let parsed: ModelFile = toml::from_str(text).map_err(|e| {
            error(
                e.span().map_or(0, |s| s.start),
                e.message().lines().next().unwrap_or_default(),
            )
        })?;
        Model::build(parsed, text).map_err(|e| error(e.offset, &e.message))
    }

    /// Builds a model from a parsed file; `text` is its text.
    pub fn build(file: ModelFile, text: &str) -> Result<Model, build::Wrong> {
        let (sectors, device) = build::device(&file)?;
        plausibility::file(&file, text)?;
        uncertainty::check(&file)?;
        let rig = build::rig(&file)?;
        let notes = figures::collect(text);
        let model = Model {
            file,
            sectors,
            device,
            rig,
            notes,
        };
        let disks = std::vec![model.description(0)];
        crate::check::description(&crate::description::Description {
            links: Vec::new(),
            disks,
        })
        .map_err(|e| build::Wrong {
            offset: plausibility::place_of(e.reason, &model.file),
            message: e.reason.into(),
        })?;
        plausibility::device(&model.file, &model.device)?;
        Ok(model)
    }

    /// The model as a catalogue lists it.
    pub fn entry(&self) -> Entry {
        Entry {
            name: self.file.name.clone(),
            title: self.file.title.clone(),
            sectors: self.sectors,
            media: self.media(),
            independent_figures: crate::comparison::independent_figures(self),
        }
    }

    pub const fn media(&self) -> MediaType {
        match &self.device {
            Device::Mechanical(disk) if disk.shingled.is_some() => MediaType::Shingled,
            Device::Mechanical(_) => MediaType::Platters,
            Device::Flash(_) => MediaType::Flash,
        }
    }

    /// A disk of this model, of full size, on no shared link and without faults.
    pub fn description(&self, seed: u64) -> DiskDescription {
        DiskDescription {
            sectors: self.sectors,
            seed,
            device: self.device.clone(),
            links: Vec::new(),
            faults: Faults::default(),
            survival: Survival::default(),
        }
    }

    /// The same disk on the rig of its traces. Without a rig, unchanged.
    pub fn on_rig(&self, seed: u64) -> DiskDescription {
        let mut disk = self.description(seed);
        if let (Device::Mechanical(model), Some(rig)) = (&mut disk.device, self.rig) {
            model.interface = rig;
        }
        disk
    }
}

/// Line and column (from 1) of an offset.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Levenshtein distance; a name that contains the other counts as near.
fn distance(a: &str, b: &str) -> usize {
    if b.len() >= 3 && a.contains(b) {
        return 1;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
