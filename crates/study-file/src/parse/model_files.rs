//! User-defined disk and processor models: files that a study names, and invalid models.

use crate::known::is_file;
use crate::parse::entry::Entry;
use crate::parse::value::{Given, Value};
use crate::syntax::diagnostic::Found;
use crate::syntax::named_file::{self, FileKind};
use crate::{INFINITE, Known, KnownModel, KnownProcessor, UnusableModel};
use study::plan::Cell;
use study::stack::{MachineKind, OwnModel};

/// Reject larger files.
pub const MODEL_BYTES_MAX: u64 = 1 << 20;

const DISK_FILE: FileKind = FileKind {
    words: "a disk model",
    bytes_max: MODEL_BYTES_MAX,
    help: "name a model file in the study's folder or below it; models in ~/.config/raidlab/disks are named without a path",
};

const PROCESSOR_FILE: FileKind = FileKind {
    words: "a processor model",
    bytes_max: MODEL_BYTES_MAX,
    help: "name a model file in the study's folder or below it, `raidlab cpu measure` writes one of this machine; models in ~/.config/raidlab/cpus are named without a path",
};

/// A model that a study may name.
trait Named: Clone {
    fn name(&self) -> &str;
    fn own(&self) -> Option<&OwnModel>;
}

impl Named for KnownModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn own(&self) -> Option<&OwnModel> {
        self.own.as_ref()
    }
}

impl Named for KnownProcessor {
    fn name(&self) -> &str {
        &self.name
    }

    fn own(&self) -> Option<&OwnModel> {
        self.own.as_ref()
    }
}

/// Reads the model files that a study names for its disks and its processor, and replaces each path by the name in
/// the model. The result also contains these models.
pub(crate) fn resolve(top: &mut Entry, kind: MachineKind, known: &Known, found: &mut Found) -> Known {
    let mut all = known.clone();
    // On a host the model is only a note about the disks, and the processor is the host's own.
    if kind != MachineKind::Lab {
        return all;
    }
    if let Some(disks) = top.tables_mut("disks").first_mut() {
        let named = names_in(disks);
        let mut files = Files {
            known,
            kind: &DISK_FILE,
            models: &known.models,
            read_model: known.read_model,
            unusable: &known.unusable_models,
            named: &named,
            read: Vec::new(),
        };
        files.resolve(disks.values_mut("model"), found);
        for group in disks.tables_mut("NAME") {
            files.resolve(group.values_mut("model"), found);
        }
        files.replace(&mut all.models);
    }
    let named = names(top.values("cpu").iter());
    let mut files = Files {
        known,
        kind: &PROCESSOR_FILE,
        models: &known.processors,
        read_model: known.read_processor,
        unusable: &known.unusable_processors,
        named: &named,
        read: Vec::new(),
    };
    files.resolve(top.values_mut("cpu"), found);
    files.replace(&mut all.processors);
    all
}

/// The models that the disks refer to by name.
fn names_in(disks: &Entry) -> Vec<String> {
    let of_groups = disks.tables("NAME").iter().flat_map(|group| group.values("model"));
    names(disks.values("model").iter().chain(of_groups))
}

/// The values that are model names, not files.
fn names<'a>(values: impl Iterator<Item = &'a Given>) -> Vec<String> {
    values
        .map(|given| given.value.word())
        .filter(|word| !is_file(word))
        .collect()
}

/// Parses a model, as [`crate::ReadModel`] does.
type Read<M> = fn(&str, &str) -> Result<M, String>;

/// The files of one kind that a study names.
struct Files<'a, M> {
    known: &'a Known,
    kind: &'a FileKind,
    /// Models that are not in these files.
    models: &'a [M],
    read_model: Option<Read<M>>,
    unusable: &'a [UnusableModel],
    /// Models that the study refers to by name.
    named: &'a [String],
    read: Vec<M>,
}

impl<M: Named> Files<'_, M> {
    fn resolve(&mut self, values: &mut [Given], found: &mut Found) {
        for at in 0..values.len() {
            let Value::Text(word) = &values[at].value else { continue };
            let span = values[at].span.clone();
            let value = match (self.read_model, is_file(word)) {
                (Some(read), true) => match self.name_of(word, read) {
                    Ok(name) if values[..at].iter().any(|other| other.value.word() == name) => {
                        let message = format!("the model of `{word}` is in the list twice");
                        found.add_with_help(&span, message, "leave one of the two out");
                        Value::Broken
                    }
                    Ok(name) => Value::Text(name),
                    Err((message, help)) => {
                        found.add_with_help(&span, message, help);
                        Value::Broken
                    }
                },
                _ => match self.unusable.iter().find(|model| model.name == *word) {
                    Some(model) => {
                        let kind = self.kind.words.trim_start_matches("a ");
                        let message = format!("the {kind} `{word}` cannot be used: {}", model.why);
                        found.add_with_help(&span, message, "correct the file, or name another model");
                        Value::Broken
                    }
                    None => continue,
                },
            };
            values[at].value = value;
        }
    }

    /// The name of the model in a file. The models of a study must have different names.
    fn name_of(&mut self, path: &str, read: Read<M>) -> Result<String, named_file::FileError> {
        let text = named_file::read(path, self.known, self.kind)?;
        let model = read(path, &text).map_err(|why| (why, "correct the file, or name another model".to_owned()))?;
        let name = model.name().to_owned();
        let same_name = |other: &&M| other.name().eq_ignore_ascii_case(&name);
        let is_same = |other: &M| other.own() == model.own() && other.name() == name;
        if name.eq_ignore_ascii_case(INFINITE) {
            return Err(taken(path, &name, "the infinitely fast processor"));
        }
        if let Some(other) = self.read.iter().find(same_name) {
            return match is_same(other) {
                true => Ok(name),
                false => Err(taken(path, &name, "another model file of this study")),
            };
        }
        if let Some(other) = self.models.iter().find(same_name).filter(|other| !is_same(other)) {
            if other.own().is_none() {
                return Err(taken(path, &name, "a model of the catalogue"));
            }
            if self.named.iter().any(|named| named == other.name()) {
                return Err(taken(path, &name, "a model that this study also names"));
            }
        }
        self.read.push(model);
        Ok(name)
    }

    /// Adds the models of the files to the known ones; they take precedence.
    fn replace(self, all: &mut Vec<M>) {
        all.retain(|model| !self.read.iter().any(|read| read.name() == model.name()));
        all.extend(self.read);
    }
}

fn taken(path: &str, name: &str, whose: &str) -> named_file::FileError {
    (
        format!("the model in `{path}` has the name of {whose}, `{name}`"),
        "write another `name` into the file: tables and claims show it".to_owned(),
    )
}

/// The disk models of the cells that are not built in, in order.
pub(crate) fn own_models(cells: &[Cell], known: &Known) -> Vec<OwnModel> {
    let groups = cells.iter().flat_map(|cell| &cell.machine.disks);
    with_hashes(groups.filter_map(|group| group.model_sha256.as_deref()), &known.models)
}

/// The processor models of the cells that are not built in, in order.
pub(crate) fn own_processors(cells: &[Cell], known: &Known) -> Vec<OwnModel> {
    let processors = cells.iter().filter_map(|cell| cell.machine.processor.as_ref());
    let hashes = processors.filter_map(|processor| processor.model_sha256.as_deref());
    with_hashes(hashes, &known.processors)
}

/// The models with these hashes, each once.
fn with_hashes<'a, M: Named>(hashes: impl Iterator<Item = &'a str>, known: &[M]) -> Vec<OwnModel> {
    let mut all: Vec<OwnModel> = Vec::new();
    for sha256 in hashes {
        if all.iter().any(|model| model.sha256 == sha256) {
            continue;
        }
        let mut own = known.iter().filter_map(Named::own);
        all.extend(own.find(|own| own.sha256 == sha256).cloned());
    }
    all
}
