//! `--dry-run`: every command that would be run, for reading and for a shell; none is executed.

use crate::{Error, Prepared};
use lab::setting::{devices, setting_on};
use runner::disks_of;
use std::fmt::Write;
use std::path::PathBuf;
use study::plan::{Cell, Plan, Trial};
use trial::{Command, Disks, DryRunOn, TrialSetting};

/// The environment of a trial's stack.
pub struct Around {
    pub setting: TrialSetting,
    pub on: DryRunOn,
    /// Commands for its disks, before and after the trial.
    pub before: String,
    pub after: String,
}

/// The commands of each cell once: its trials differ only in their seeds.
pub fn commands(plan: &Plan, wanted: &Prepared) -> Result<String, Error> {
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
        let around = match wanted {
            Prepared::Lab(_) => Around {
                setting: guest(&trial)?,
                on: DryRunOn::Guest,
                before: String::new(),
                after: String::new(),
            },
            Prepared::Host(prepared) => prepared.around(&trial)?,
        };
        let commands = trial::dry_run(&trial, &around.setting, around.on).map_err(|failure| Error::DryRun {
            cell: cell.key.clone(),
            message: failure.message,
        })?;
        let _ = writeln!(text, "\n# {}", cell.key);
        text.push_str(&around.before);
        lines(&mut text, &commands.up);
        let _ = writeln!(text, "# {} on {}", work(cell), commands.place.display());
        for act in &cell.acts {
            let _ = writeln!(text, "# meanwhile: {act}");
        }
        lines(&mut text, &commands.down);
        text.push_str(&around.after);
    }
    Ok(text)
}

fn lines(text: &mut String, commands: &[Command]) {
    for command in commands {
        let _ = writeln!(text, "{command}");
    }
}

fn work(cell: &Cell) -> String {
    let tool = workload::tool(&cell.workload.work);
    let by = tool.map_or("raidlab's own engine", tools::Tool::program);
    format!("`{}` is done by {by}", cell.workload.name)
}

/// The setting of a stack in a guest.
fn guest(trial: &Trial) -> Result<TrialSetting, Error> {
    let count = u32::try_from(disks_of(trial)).unwrap_or(u32::MAX);
    Ok(setting_on(dealt(trial, &devices(count))?))
}

/// The trial's disks by group.
pub fn dealt(trial: &Trial, devices: &[PathBuf]) -> Result<Disks, Error> {
    Disks::of(&trial.cell.machine.disks, devices).map_err(|error| Error::TooFewDisks(error.to_string()))
}
