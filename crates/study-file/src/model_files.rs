//! Disk models of the user's own: files that a study names, and models that cannot be used.

use crate::diagnostic::Found;
use crate::document::Entry;
use crate::named_file::{self, FileKind};
use crate::value::{Given, Value};
use crate::{Known, KnownModel, ReadModel};
use study::plan::Cell;
use study::stack::{MachineKind, OwnModel};

/// A larger file is not a disk model.
pub const MODEL_BYTES_MAX: u64 = 1 << 20;

const MODEL_FILE: FileKind = FileKind {
    words: "a disk model",
    bytes_max: MODEL_BYTES_MAX,
    help: "name a model file in the study's folder or below it; models in ~/.config/raidlab/disks are named without a path",
};

/// Reads the model files that the disks of a study name, and replaces each path by the model's own name. The result
/// also knows these models.
pub(crate) fn resolve(top: &mut Entry, kind: MachineKind, known: &Known, found: &mut Found) -> Known {
    let mut all = known.clone();
    // On a host the model is only a note about the disks.
    let Some(disks) = top.tables_mut("disks").first_mut().filter(|_| kind == MachineKind::Lab) else {
        return all;
    };
    let named = names_in(disks);
    let mut files = Files {
        known,
        named: &named,
        read: Vec::new(),
    };
    files.resolve(disks.values_mut("model"), found);
    for group in disks.tables_mut("NAME") {
        files.resolve(group.values_mut("model"), found);
    }
    let is_replaced = |model: &KnownModel| files.read.iter().any(|read| read.name == model.name);
    all.models.retain(|model| !is_replaced(model));
    all.models.extend(files.read);
    all
}

/// A path, not the name of a model.
fn is_file(word: &str) -> bool {
    word.contains('/') || word.ends_with(".toml")
}

/// The models that the disks name by their names.
fn names_in(disks: &Entry) -> Vec<String> {
    let of_groups = disks.tables("NAME").iter().flat_map(|group| group.values("model"));
    let all = disks.values("model").iter().chain(of_groups);
    all.map(|given| given.value.word())
        .filter(|word| !is_file(word))
        .collect()
}

struct Files<'a> {
    known: &'a Known,
    /// Models that the study names by their names.
    named: &'a [String],
    read: Vec<KnownModel>,
}

impl Files<'_> {
    fn resolve(&mut self, values: &mut [Given], found: &mut Found) {
        for at in 0..values.len() {
            let Value::Text(word) = &values[at].value else { continue };
            let span = values[at].span.clone();
            let value = match (self.known.read_model, is_file(word)) {
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
                _ => match self.known.unusable_models.iter().find(|model| model.name == *word) {
                    Some(model) => {
                        let message = format!("the disk model `{word}` cannot be used: {}", model.why);
                        found.add_with_help(&span, message, "correct the file, or name another model");
                        Value::Broken
                    }
                    None => continue,
                },
            };
            values[at].value = value;
        }
    }

    /// The name of the model in a file. Two models of a study have different names.
    fn name_of(&mut self, path: &str, read: ReadModel) -> Result<String, named_file::Wrong> {
        let text = named_file::read(path, self.known, &MODEL_FILE)?;
        let model = read(path, &text).map_err(|why| (why, "correct the file, or name another model".to_owned()))?;
        let name = model.name.clone();
        let same_name = |other: &&KnownModel| other.name.eq_ignore_ascii_case(&name);
        let is_same = |other: &KnownModel| other.own == model.own && other.name == name;
        if let Some(other) = self.read.iter().find(same_name) {
            return match is_same(other) {
                true => Ok(name),
                false => Err(taken(path, &name, "another model file of this study")),
            };
        }
        if let Some(other) = self.known.models.iter().find(same_name).filter(|other| !is_same(other)) {
            if other.own.is_none() {
                return Err(taken(path, &name, "a model of the catalogue"));
            }
            if self.named.contains(&other.name) {
                return Err(taken(path, &name, "a model that this study also names"));
            }
        }
        self.read.push(model);
        Ok(name)
    }
}

fn taken(path: &str, name: &str, whose: &str) -> named_file::Wrong {
    (
        format!("the model in `{path}` has the name of {whose}, `{name}`"),
        "write another `name` into the file: tables and claims show it".to_owned(),
    )
}

/// The models of the cells' disks that are not built in, in their order.
pub(crate) fn own_models(cells: &[Cell], known: &Known) -> Vec<OwnModel> {
    let mut all: Vec<OwnModel> = Vec::new();
    for group in cells.iter().flat_map(|cell| &cell.machine.disks) {
        let Some(sha256) = &group.model_sha256 else { continue };
        if all.iter().any(|model| model.sha256 == *sha256) {
            continue;
        }
        let own = known.models.iter().filter_map(|model| model.own.as_ref());
        all.extend(own.filter(|own| own.sha256 == *sha256).take(1).cloned());
    }
    all
}
