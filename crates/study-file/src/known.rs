//! The names that a study may use.

use study::stack::{ArraySpec, DiskGroup, GroupDisk, MachineKind, MachineSpec, OwnModel};

/// The names that a study may use; passed in, because this crate does not know disks or kernels.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Disk models of the catalogue; the first is the default. Empty if any name is accepted.
    pub models: Vec<KnownModel>,
    /// The user's own disk models that have errors.
    pub unusable_models: Vec<UnusableModel>,
    /// Reads a disk model from a file that the study names; absent if files are not permitted.
    pub read_model: Option<ReadModel>,
    /// Kernels that the lab has or can build; the first is the default. Empty if any name is accepted.
    pub kernels: Vec<String>,
    /// Processors of the catalogue. Empty if any name is accepted.
    pub processors: Vec<KnownProcessor>,
    /// The user's own processor models that have errors.
    pub unusable_processors: Vec<UnusableModel>,
    /// Reads a processor model from a file that the study names; absent if files are not permitted.
    pub read_processor: Option<ReadProcessor>,
    /// Memory of the machine that the lab's guests share; absent if any amount is accepted.
    pub memory_bytes: Option<u64>,
    /// The study's folder, which contains the files that it names; absent if files are not permitted.
    pub folder: Option<std::path::PathBuf>,
}

/// A disk model.
#[derive(Clone, Debug)]
pub struct KnownModel {
    pub name: String,
    pub capacity_bytes: u64,
    pub media: MediaKind,
    /// Absent if it is built in.
    pub own: Option<OwnModel>,
}

/// What a disk keeps its data on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Platters,
    /// Platters with shingled tracks, behind the drive's own translation.
    ShingledPlatters,
    Flash,
}

/// A disk or processor model that cannot be used.
#[derive(Clone, Debug)]
pub struct UnusableModel {
    pub name: String,
    /// The reason, and the file.
    pub why: String,
}

/// Parses a disk model. Arguments: the file as the study names it, and its text. The error begins with file and
/// line.
pub type ReadModel = fn(&str, &str) -> Result<KnownModel, String>;

/// A processor model.
#[derive(Clone, Debug)]
pub struct KnownProcessor {
    pub name: String,
    pub cores: u32,
    /// Absent if it is built in.
    pub own: Option<OwnModel>,
}

/// Parses a processor model, as [`ReadModel`] does a disk model.
pub type ReadProcessor = fn(&str, &str) -> Result<KnownProcessor, String>;

/// The infinitely fast processor, which is in no catalogue.
pub const INFINITE: &str = "infinite";

impl Known {
    /// Whether a study may name this processor. Files are read later.
    pub(crate) fn accepts_processor(&self, word: &str) -> bool {
        let may_be_file = self.read_processor.is_some() && is_file(word);
        // Rejected later, with the reason.
        let is_unusable = self.unusable_processors.iter().any(|processor| processor.name == word);
        word == INFINITE
            || self.processors.is_empty()
            || may_be_file
            || is_unusable
            || self.processor(word).is_some()
    }

    pub(crate) fn processor(&self, name: &str) -> Option<&KnownProcessor> {
        self.processors.iter().find(|known| known.name == name)
    }

    /// A group of disks of a model.
    pub(crate) fn disks(&self, kind: MachineKind, name: &str, model: &str, count: u32) -> DiskGroup {
        let own = self.models.iter().find(|known| known.name == model);
        let own = own
            .filter(|_| kind == MachineKind::Lab)
            .and_then(|known| known.own.as_ref());
        DiskGroup {
            name: name.to_owned(),
            model: model.to_owned(),
            model_sha256: own.map(|own| own.sha256.clone()),
            count,
            state: None,
        }
    }

    /// The media of a model, if it is known.
    pub(crate) fn media(&self, model: &str) -> Option<MediaKind> {
        Some(self.models.iter().find(|known| known.name == model)?.media)
    }

    /// Size of the machine's disks under test; unknown on a host.
    pub(crate) fn capacity(&self, kind: MachineKind, machine: &MachineSpec, members: &[GroupDisk]) -> Option<u64> {
        if kind != MachineKind::Lab {
            return None;
        }
        let of_model = |model: &str| Some(self.models.iter().find(|known| known.name == *model)?.capacity_bytes);
        let array = ArraySpec {
            members: members.to_vec(),
            ..ArraySpec::default()
        };
        let groups = machine
            .members(&array)
            .into_iter()
            .map(|(group, _)| of_model(&group.model));
        groups.collect::<Option<Vec<u64>>>()?.into_iter().min()
    }
}

/// A path, not the name of a model.
pub(crate) fn is_file(word: &str) -> bool {
    word.contains('/') || word.ends_with(".toml")
}
