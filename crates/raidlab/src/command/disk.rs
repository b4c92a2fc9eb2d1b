//! `raidlab disk`: the catalogue, properties of a model, and its comparison with a real disk.

mod check;
mod replay;
mod show;

use super::{print, print_as, run};
use crate::cli::{DiskCommand, Format, RunArguments};
use crate::error::{EXIT_INPUT, ExpectedError};
use disksim::catalogue::{self, Model};
use disksim::comparison::INDEPENDENT_MIN;
use disksim::disksim_import;
use disksim::request::SECTOR_BYTES;
use files::{ReadError, read_file};
use prepare::own_models::OwnModels;
use std::path::{Component, Path};
use std::process::ExitCode;

/// The longest validation traces are a few MB.
const FILE_BYTES_MAX: u64 = 256 << 20;

pub fn disk(command: &DiskCommand) -> Result<ExitCode, ExpectedError> {
    match command {
        DiskCommand::List { format } => {
            let own = OwnModels::<Model>::of_user();
            print_as(*format, &list(*format, &own))?;
            if own.report_unusable() {
                return Ok(ExitCode::from(EXIT_INPUT));
            }
        }
        DiskCommand::Show { model, format } => print_as(*format, &show::show(&model_of(model)?, *format)?)?,
        DiskCommand::Check { models, draws, format } => print_as(*format, &check::check(models, *draws, *format)?)?,
        DiskCommand::Replay {
            model,
            trace,
            format,
            html,
        } => {
            let text = replay::replay(&model_of(model)?, trace, *format, html.as_deref())?;
            print(&text)?;
        }
        DiskCommand::Measure {
            device,
            output,
            destroy,
            precondition,
            html,
        } => {
            let wanted = real_disk::MeasureArguments {
                device,
                output,
                destroy: destroy.as_deref(),
                precondition: *precondition,
                html: html.as_deref(),
            };
            print(&real_disk::measure(&wanted)?)?;
        }
        DiskCommand::Sensitivity {
            study,
            store,
            trials,
            only,
            seed,
            jobs,
        } => {
            return run::run(&RunArguments {
                study: study.clone(),
                store: store.clone(),
                moves_figures: Some(*trials),
                only: only.clone(),
                seed: *seed,
                jobs: *jobs,
                ..RunArguments::default()
            });
        }
        DiskCommand::Import { file } => print(&import(file)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A model of the list.
struct Listed {
    entry: catalogue::Entry,
    is_own: bool,
}

/// The built-in models, then the user's own.
fn listed(own: &OwnModels<Model>) -> impl Iterator<Item = Listed> {
    let built_in = catalogue::list()
        .into_iter()
        .map(|entry| Listed { entry, is_own: false });
    built_in.chain(own.usable.iter().map(|disk| Listed {
        entry: disk.model.entry(),
        is_own: true,
    }))
}

fn list(format: Format, own: &OwnModels<Model>) -> String {
    let listed = listed(own);
    match format {
        Format::Text => listed.map(|listed| line(&listed)).collect(),
        Format::Json => {
            let entry = |Listed { entry, is_own }: Listed| {
                serde_json::json!({
                    "name": entry.name,
                    "title": entry.title,
                    "size_bytes": entry.sectors * SECTOR_BYTES,
                    "independent_figures": entry.independent_figures,
                    "own": is_own,
                })
            };
            format!("{}\n", listed.map(entry).collect::<serde_json::Value>())
        }
    }
}

fn line(Listed { entry, is_own }: &Listed) -> String {
    let few = if entry.independent_figures < INDEPENDENT_MIN {
        let figures = report::count(entry.independent_figures, "independent figure");
        format!("; barely validated ({figures})")
    } else {
        String::new()
    };
    let own = if *is_own { "; your own" } else { "" };
    format!(
        "{:<28} {:>9}  {}{own}{few}\n",
        entry.name,
        capacity(entry.sectors),
        entry.title
    )
}

/// A model of the catalogue, a model file (`.toml`), or DiskSim's parameters (`.diskspecs`).
fn model_of(name: &str) -> Result<Model, ExpectedError> {
    let path = Path::new(name);
    Ok(match path.extension().and_then(|extension| extension.to_str()) {
        // Lines in messages are those of the model, not of DiskSim's file.
        Some("diskspecs") => Model::parse(&format!("`raidlab disk import {name}`"), &import(path)?)?,
        Some("toml") => Model::parse(name, &read_model(path)?)?,
        _ => match OwnModels::<Model>::of_user().find(name)? {
            Some(model) => model,
            None => {
                let names = catalogue::list().into_iter().map(|entry| entry.name);
                match ambiguous(name, names) {
                    Some(named) => return Err(ExpectedError::AmbiguousModel(name.to_owned(), named)),
                    None => catalogue::find(name)?,
                }
            }
        },
    })
}

/// The models of which a word is a part of the name, if there are several: an alias is that of one of them only.
fn ambiguous(word: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let wanted = format!("-{}-", word.to_ascii_lowercase());
    let names: Vec<String> = names.filter(|name| format!("-{name}-").contains(&wanted)).collect();
    let is_name = names.iter().any(|name| name.eq_ignore_ascii_case(word));
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (names.len() > 1 && !is_name).then(|| quoted.join(", "))
}

/// DiskSim's parameters in the catalogue's format.
fn import(path: &Path) -> Result<String, ExpectedError> {
    // The files that it names are in its folder.
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    read(path)?;
    let mut files = |file: &str| {
        let is_below = Path::new(file)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_below {
            return Err("it is not in the folder of the file that names it".to_owned());
        }
        read_file::read_regular(&folder.join(file), FILE_BYTES_MAX).map_err(|words| format!("it {words}"))
    };
    let model = disksim_import::import(&name, &mut files)?;
    disksim_import::to_toml(&model).map_err(|error| ExpectedError::Simulation(error.to_string()))
}

fn read(path: &Path) -> Result<String, ExpectedError> {
    named(path, read_file::read(path, FILE_BYTES_MAX))
}

fn read_model(path: &Path) -> Result<String, ExpectedError> {
    named(path, read_file::read_regular(path, study_file::MODEL_BYTES_MAX))
}

fn named(path: &Path, text: Result<String, ReadError>) -> Result<String, ExpectedError> {
    Ok(text.map_err(|error| error.of(path, ""))?)
}

/// In the units in which disks are sold.
fn capacity(sectors: u64) -> String {
    let gigabytes = (sectors * SECTOR_BYTES) as f64 / 1e9;
    if gigabytes < 1000.0 {
        format!("{gigabytes:.1} GB")
    } else {
        format!("{:.1} TB", gigabytes / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 39, C14: `ironwolf` showed one of two.
    #[test]
    fn a_word_of_two_names_is_ambiguous() {
        let names = || {
            ["seagate-ironwolf-12tb", "seagate-ironwolf-4tb", "ram"]
                .into_iter()
                .map(str::to_owned)
        };
        let two = "`seagate-ironwolf-12tb`, `seagate-ironwolf-4tb`";
        assert_eq!(ambiguous("ironwolf", names()).as_deref(), Some(two));
        assert_eq!(ambiguous("IronWolf", names()).as_deref(), Some(two));
        for word in ["ironwolf-4tb", "seagate-ironwolf-4tb", "ram", "iron", "wd"] {
            assert_eq!(ambiguous(word, names()), None, "{word}");
        }
    }
}
