//! `--dry-run`: every command that would be run, for reading and for a shell; none is.

use super::Prepared;
use crate::expected::ExpectedError;
use runner::disks_of;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use study::plan::{Cell, Plan, Trial};
use study::workload::{IoEngine, IoSpec, Work};
use trial::{Disks, Setting, Teardown};

/// The commands of each cell, once: its trials differ in their seeds alone.
pub fn commands(plan: &Plan, wanted: &Prepared) -> Result<String, ExpectedError> {
    let mut text = match wanted {
        Prepared::Lab(_) => "# each trial in a guest of the lab, which ends with it\n".to_owned(),
        Prepared::Host(prepared) => prepared.before_all(),
    };
    for cell in &plan.cells {
        let trial = Trial {
            cell: cell.clone(),
            index: 0,
            seed: 0,
        };
        let (setting, before, after) = match wanted {
            Prepared::Lab(_) => (guest(&trial)?, String::new(), String::new()),
            Prepared::Host(prepared) => prepared.rehearsal_of(&trial)?,
        };
        let commands = trial::rehearse(&trial, &setting).map_err(|failure| {
            ExpectedError::Input(format!("{}: {}; nothing was touched", cell.key, failure.message))
        })?;
        let _ = writeln!(text, "\n# {}", cell.key);
        text.push_str(&before);
        lines(&mut text, &commands.up);
        let _ = writeln!(text, "# {} on {}", work(cell), commands.place.display());
        if setting.teardown == Teardown::Full {
            lines(&mut text, &commands.down);
        }
        text.push_str(&after);
    }
    Ok(text)
}

fn lines(text: &mut String, commands: &[String]) {
    for command in commands {
        let _ = writeln!(text, "{command}");
    }
}

fn work(cell: &Cell) -> String {
    let by = match &cell.workload.work {
        Work::Io(IoSpec {
            engine: IoEngine::Fio, ..
        })
        | Work::FioFile(_) => "fio",
        Work::Bonnie(_) => "Bonnie++",
        _ => "raidlab's own engine",
    };
    format!("`{}` is done by {by}", cell.workload.name)
}

/// What a guest is to its stack.
fn guest(trial: &Trial) -> Result<Setting, ExpectedError> {
    let letter = |index: usize| char::from(b'a' + (index % 26) as u8);
    let name = |index: usize| match index {
        0..26 => format!("/dev/vd{}", letter(index)),
        _ => format!("/dev/vd{}{}", letter(index / 26 - 1), letter(index)),
    };
    let devices: Vec<PathBuf> = (0..disks_of(trial)).map(|index| PathBuf::from(name(index))).collect();
    Ok(Setting {
        disks: dealt(trial, &devices)?,
        folder: Path::new("/tmp/raidlab").to_owned(),
        name: "raidlab".to_owned(),
        zeroed: true,
        disks_are_set: true,
        teardown: Teardown::None,
        check_array: false,
    })
}

/// The trial's disks, by groups.
pub fn dealt(trial: &Trial, devices: &[PathBuf]) -> Result<Disks, ExpectedError> {
    Disks::of(&trial.cell.machine.disks, devices).map_err(|error| ExpectedError::Input(error.to_string()))
}
