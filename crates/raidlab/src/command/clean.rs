//! `raidlab clean`: undoes what a killed run left on this machine.

use super::print;
use crate::error::{EXIT_TRIAL_FAILED, ExpectedError};
use crate::progress::say;
use host::LedgerFolder;
use std::path::Path;
use std::process::ExitCode;

pub fn clean() -> Result<ExitCode, ExpectedError> {
    let state = LedgerFolder::of_machine();
    let machine = |source: std::io::Error| ExpectedError::LedgerFolder {
        folder: state.folder().to_owned(),
        source,
        advice: match rustix::process::geteuid().is_root() {
            true => "",
            false => "; it belongs to root: `sudo raidlab clean`",
        },
    };
    let leftovers = state.leftovers().map_err(machine)?;
    let mut whole = true;
    for other in state.alive().map_err(machine)? {
        let is_ours = leftovers
            .iter()
            .any(|leftover| leftover.header.as_ref().is_some_and(|header| header.name == other.name));
        if !is_ours && !Path::new(&format!("/proc/{}", other.pid)).exists() {
            whole = false;
            say(&format!(
                "raidlab: cannot undo what `{}` left: the run was killed, but a process that it started still runs, \
                 probably waiting for a disk; run `raidlab clean` again when it has exited",
                other.command
            ));
        } else if !is_ours {
            say(&format!(
                "raidlab: process {} is running a study; it cleans up after itself",
                other.pid
            ));
        }
    }
    if leftovers.is_empty() && whole {
        print("nothing to clean up\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    for leftover in leftovers {
        let rolled_back = leftover.roll_back().map_err(machine)?;
        for words in &rolled_back.undone {
            print(&format!("undone: {words}\n"))?;
        }
        for words in &rolled_back.not_ours {
            print(&format!("left: {words}\n"))?;
        }
        if rolled_back.is_whole() {
            let remains = match rolled_back.remains.as_slice() {
                [] => String::new(),
                disks => format!(
                    ", with `--destroy {}`: what the interrupted trial wrote is still there, and cannot be distinguished \
                     from your data",
                    disks.join(",")
                ),
            };
            let header = leftover.header;
            let command = header.as_ref().map(|header| header.command.clone()).unwrap_or_default();
            print(&format!(
                "everything left by `{command}` was removed; run the same command to continue{remains}\n"
            ))?;
        } else {
            whole = false;
            say(&format!(
                "raidlab: {}; it stays in {}",
                rolled_back.left(),
                leftover.path().display()
            ));
        }
    }
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_TRIAL_FAILED)
    })
}
