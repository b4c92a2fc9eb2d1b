//! The user's own disk models: the `.toml` files of `~/.config/raidlab/disks`, which belong to the catalogue.

use super::text;
use crate::expected::ExpectedError;
use crate::progress::say;
use disksim::catalogue::{self, Model};
use disksim::request::SECTOR_BYTES;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use study::stack::OwnModel;
use study_file::{KnownModel, MODEL_BYTES_MAX, UnusableModel};

/// The user's part of the catalogue.
#[derive(Debug, Default)]
pub struct OwnDisks {
    /// By name.
    pub usable: Vec<OwnDisk>,
    pub unusable: Vec<UnusableFile>,
}

#[derive(Debug)]
pub struct OwnDisk {
    pub file: PathBuf,
    pub model: Model,
    text: String,
}

/// A file of the folder that is not a model, or the folder itself.
#[derive(Debug)]
pub struct UnusableFile {
    /// Names by which its model may be meant: its own and that of the file.
    names: Vec<String>,
    /// What is wrong, and in which file.
    why: String,
}

impl OwnDisks {
    pub fn of_user() -> OwnDisks {
        folder_of_user().map_or_else(OwnDisks::default, |folder| Self::in_folder(&folder))
    }

    pub fn in_folder(folder: &Path) -> OwnDisks {
        let mut own = OwnDisks::default();
        let files = match files(folder) {
            Ok(files) => files,
            Err(error) => {
                own.unusable.push(UnusableFile {
                    names: Vec::new(),
                    why: format!("`{}` cannot be read: {}", folder.display(), super::reason(&error)),
                });
                return own;
            }
        };
        for file in files {
            match read(&file) {
                Ok(disk) => own.usable.push(disk),
                Err(unusable) => own.unusable.push(unusable),
            }
        }
        own.refuse_ambiguous();
        own.usable.sort_by(|a, b| a.model.file.name.cmp(&b.model.file.name));
        own
    }

    /// The model with this name or alias, if it is one of the user's.
    ///
    /// # Errors
    /// If a file that cannot be used may be meant.
    pub fn find(&self, name: &str) -> Result<Option<Model>, ExpectedError> {
        let is_it = |other: &String| other.eq_ignore_ascii_case(name);
        if let Some(file) = self.unusable.iter().find(|file| file.names.iter().any(is_it)) {
            return Err(ExpectedError::OwnModel(file.why.clone()));
        }
        let disk = self.usable.iter().find(|disk| names(&disk.model).any(is_it));
        Ok(disk.map(|disk| disk.model.clone()))
    }

    /// As a study may name them.
    pub fn known(&self) -> impl Iterator<Item = KnownModel> {
        self.usable.iter().map(|disk| known(&disk.model, &disk.text))
    }

    /// Names that a study may not use, and why.
    pub fn unusable_names(&self) -> Vec<UnusableModel> {
        let all = self.unusable.iter().flat_map(|file| {
            file.names.iter().map(|name| UnusableModel {
                name: name.clone(),
                why: file.why.clone(),
            })
        });
        all.collect()
    }

    /// Says on standard error which files cannot be used. True if there are any.
    pub fn report_unusable(&self) -> bool {
        for file in &self.unusable {
            say(&format!("raidlab: {}", file.why));
        }
        !self.unusable.is_empty()
    }

    /// Models with a name of a built-in model or of another file.
    fn refuse_ambiguous(&mut self) {
        let whys: Vec<Option<String>> = self.usable.iter().map(|disk| self.ambiguity(disk)).collect();
        for (disk, why) in std::mem::take(&mut self.usable).into_iter().zip(whys) {
            match why {
                None => self.usable.push(disk),
                Some(why) => self.unusable.push(UnusableFile {
                    names: names(&disk.model).cloned().collect(),
                    why,
                }),
            }
        }
    }

    fn ambiguity(&self, disk: &OwnDisk) -> Option<String> {
        names(&disk.model).find_map(|name| {
            let is_it = |other: &String| other.eq_ignore_ascii_case(name);
            let is_other = |other: &&OwnDisk| other.file != disk.file && names(&other.model).any(is_it);
            let whose = match self.usable.iter().find(is_other) {
                Some(other) => format!("that of `{}`", other.file.display()),
                None if catalogue::find(name).is_ok() => "that of a built-in model".to_owned(),
                None => return None,
            };
            Some(format!(
                "{}: the name `{name}` is ambiguous, it is also {whose}; write another `name`",
                disk.file.display()
            ))
        })
    }
}

/// A model as a study may name it.
pub fn known(model: &Model, text: &str) -> KnownModel {
    KnownModel {
        name: model.file.name.clone(),
        capacity_bytes: model.sectors * SECTOR_BYTES,
        own: Some(OwnModel::new(&model.file.name, text)),
    }
}

fn names(model: &Model) -> impl Iterator<Item = &String> {
    std::iter::once(&model.file.name).chain(&model.file.aliases)
}

/// `$XDG_CONFIG_HOME/raidlab/disks`, or `~/.config/raidlab/disks`.
fn folder_of_user() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(folder.join("raidlab/disks"))
}

/// In the order of their names, without hidden ones.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".toml") && !name.starts_with('.') {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<OwnDisk, UnusableFile> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = file.display().to_string();
    let text = text::read_regular(file, MODEL_BYTES_MAX).map_err(|error| UnusableFile {
        names: stem.iter().cloned().collect(),
        why: format!("`{name}` {error}"),
    })?;
    match Model::parse(&name, &text) {
        Ok(model) => Ok(OwnDisk {
            file: file.to_owned(),
            model,
            text,
        }),
        Err(error) => Err(UnusableFile {
            names: stem.into_iter().chain(catalogue::name_in(&text)).collect(),
            why: error.to_string(),
        }),
    }
}
