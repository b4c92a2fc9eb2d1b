//! The user's own disk and processor models: the `.toml` files of `~/.config/raidlab/disks` and `cpus`, which
//! extend the catalogues.

use crate::Error;
use disksim::catalogue::{self, MediaType, Model};
use disksim::request::SECTOR_BYTES;
use etcetera::base_strategy::{BaseStrategy, Xdg};
use files::read_file;
use lab::processor::{self, Processor};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use study::stack::OwnModel;
use study_file::{INFINITE, KnownModel, KnownProcessor, MODEL_BYTES_MAX, MediaKind, UnusableModel};

/// A kind of model whose catalogue the user can extend.
pub trait Catalogued: Clone {
    /// The user's folder in `~/.config/raidlab`.
    const FOLDER: &'static str;
    /// The representation for studies.
    type Known;

    /// `file` is the name of the file for messages.
    fn parse(file: &str, text: &str) -> Result<Self, String>;

    /// Its name and aliases.
    fn names(&self) -> Vec<&str>;

    fn is_built_in(name: &str) -> bool;

    /// The model of a file, for studies.
    fn known(&self, text: &str) -> Self::Known;
}

impl Catalogued for Model {
    const FOLDER: &'static str = "disks";
    type Known = KnownModel;

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        Self::parse(file, text).map_err(|error| error.to_string())
    }

    fn names(&self) -> Vec<&str> {
        let all = std::iter::once(&self.file.name).chain(&self.file.aliases);
        all.map(String::as_str).collect()
    }

    fn is_built_in(name: &str) -> bool {
        catalogue::find(name).is_ok()
    }

    fn known(&self, text: &str) -> KnownModel {
        KnownModel {
            name: self.file.name.clone(),
            capacity_bytes: self.sectors * SECTOR_BYTES,
            media: media(self.media()),
            own: Some(OwnModel::new(&self.file.name, text)),
        }
    }
}

pub(crate) const fn media(of: MediaType) -> MediaKind {
    match of {
        MediaType::Platters => MediaKind::Platters,
        MediaType::Shingled => MediaKind::ShingledPlatters,
        MediaType::Flash => MediaKind::Flash,
    }
}

impl Catalogued for Processor {
    const FOLDER: &'static str = "cpus";
    type Known = KnownProcessor;

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        processor::parse(file, text).map_err(|error| error.to_string())
    }

    fn names(&self) -> Vec<&str> {
        vec![&self.name]
    }

    fn is_built_in(name: &str) -> bool {
        let mut built_in = processor::list().into_iter().map(|built_in| built_in.name);
        name.eq_ignore_ascii_case(INFINITE) || built_in.any(|built_in| built_in.eq_ignore_ascii_case(name))
    }

    fn known(&self, text: &str) -> KnownProcessor {
        KnownProcessor {
            name: self.name.clone(),
            cores: self.cores,
            own: Some(OwnModel::new(&self.name, text)),
        }
    }
}

/// The user's part of a catalogue.
#[derive(Debug)]
pub struct OwnModels<M> {
    /// By name.
    pub usable: Vec<OwnFile<M>>,
    pub unusable: Vec<UnusableFile>,
}

#[derive(Debug)]
pub struct OwnFile<M> {
    pub file: PathBuf,
    pub model: M,
    text: String,
}

/// A file in the folder that is not a model, or the folder itself.
#[derive(Debug)]
pub struct UnusableFile {
    /// Possible names of its model: its own and that of the file.
    names: Vec<String>,
    /// The reason, and the file.
    why: String,
}

impl<M: Catalogued> OwnModels<M> {
    /// An empty part.
    pub const fn none() -> Self {
        Self {
            usable: Vec::new(),
            unusable: Vec::new(),
        }
    }

    pub fn of_user() -> Self {
        let mut own = Self::none();
        let Some(folder) = folder_of_user(M::FOLDER) else {
            return own;
        };
        let files = match files(&folder) {
            Ok(files) => files,
            Err(error) => {
                own.unusable.push(UnusableFile {
                    names: Vec::new(),
                    why: format!("`{}` cannot be read: {}", folder.display(), files::reason(&error)),
                });
                return own;
            }
        };
        for file in files {
            match read::<M>(&file) {
                Ok(disk) => own.usable.push(disk),
                Err(unusable) => own.unusable.push(unusable),
            }
        }
        own.refuse_ambiguous();
        own.usable.sort_by(|a, b| a.model.names().cmp(&b.model.names()));
        own
    }

    /// The model with this name or alias, if it is one of the user's.
    ///
    /// # Errors
    /// If an invalid file may be meant.
    pub fn find(&self, name: &str) -> Result<Option<M>, Error> {
        let is_it = |other: &str| other.eq_ignore_ascii_case(name);
        if let Some(file) = self
            .unusable
            .iter()
            .find(|file| file.names.iter().any(|name| is_it(name)))
        {
            return Err(Error::OwnModel(file.why.clone()));
        }
        let disk = self
            .usable
            .iter()
            .find(|disk| disk.model.names().into_iter().any(is_it));
        Ok(disk.map(|disk| disk.model.clone()))
    }

    /// The models for studies.
    pub fn known(&self) -> impl Iterator<Item = M::Known> {
        self.usable.iter().map(|own| own.model.known(&own.text))
    }

    /// Names that a study must not use, with reasons.
    pub fn unusable_names(&self) -> Vec<UnusableModel> {
        let all = self.unusable.iter().flat_map(|file| {
            file.names.iter().map(|name| UnusableModel {
                name: name.clone(),
                why: file.why.clone(),
            })
        });
        all.collect()
    }

    /// Reports invalid files on standard error. True if there are any.
    pub fn report_unusable(&self) -> bool {
        for file in &self.unusable {
            log::warn!("{}", file.why);
        }
        !self.unusable.is_empty()
    }

    /// Rejects models with the name of a built-in model or of another file.
    fn refuse_ambiguous(&mut self) {
        let whys: Vec<Option<String>> = self.usable.iter().map(|own| self.ambiguity(own)).collect();
        for (disk, why) in std::mem::take(&mut self.usable).into_iter().zip(whys) {
            match why {
                None => self.usable.push(disk),
                Some(why) => self.unusable.push(UnusableFile {
                    names: disk.model.names().into_iter().map(str::to_owned).collect(),
                    why,
                }),
            }
        }
    }

    fn ambiguity(&self, disk: &OwnFile<M>) -> Option<String> {
        disk.model.names().into_iter().find_map(|name| {
            let is_it = |other: &str| other.eq_ignore_ascii_case(name);
            let is_other =
                |other: &&OwnFile<M>| other.file != disk.file && other.model.names().into_iter().any(is_it);
            let whose = match self.usable.iter().find(is_other) {
                Some(other) => format!("that of `{}`", other.file.display()),
                None if M::is_built_in(name) => "that of a built-in model".to_owned(),
                None => return None,
            };
            Some(format!(
                "{}: the name `{name}` is ambiguous, it is also {whose}; write another `name`",
                disk.file.display()
            ))
        })
    }
}

/// `$XDG_CONFIG_HOME/raidlab/…`, or `~/.config/raidlab/…`.
fn folder_of_user(name: &str) -> Option<PathBuf> {
    Some(Xdg::new().ok()?.config_dir().join("raidlab").join(name))
}

/// Sorted by name, without hidden files.
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

fn read<M: Catalogued>(file: &Path) -> Result<OwnFile<M>, UnusableFile> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = file.display().to_string();
    let text = read_file::read_regular(file, MODEL_BYTES_MAX).map_err(|error| UnusableFile {
        names: stem.iter().cloned().collect(),
        why: format!("`{name}` {error}"),
    })?;
    match M::parse(&name, &text) {
        Ok(model) => Ok(OwnFile {
            file: file.to_owned(),
            model,
            text,
        }),
        Err(error) => Err(UnusableFile {
            names: stem.into_iter().chain(catalogue::name_in(&text)).collect(),
            why: error,
        }),
    }
}
