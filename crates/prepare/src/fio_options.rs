//! Whether the installed fio knows the options and engines of a job file.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use study::plan::Cell;
use study::workload::{FioFileSpec, Work};
use tools::{Tool, Tools, Version};

/// What fio says of job files, each set of options and engines tried once: it takes 0.3 s.
#[derive(Default)]
pub struct FioOptions {
    known: HashMap<Vec<String>, Option<String>>,
    /// The program, looked for once; none if it is not installed.
    fio: OnceCell<Option<PathBuf>>,
}

impl FioOptions {
    /// Why fio would not run the cell's job file, if so. A fio that is not installed is not asked.
    pub fn refusal(&mut self, cell: &Cell) -> Option<&str> {
        let Work::FioFile(spec) = &cell.workload.work else {
            return None;
        };
        let fio = self.fio.get_or_init(installed).as_deref()?;
        let known = self.known.entry(kinds(spec)).or_insert_with(|| {
            let said = refusal_of(fio.as_os_str(), spec)?;
            let version = printed(Command::new(fio).arg("--version"));
            let version = version.and_then(|(_, text)| Version::parse(&text)).unwrap_or_else(Version::unknown);
            Some(format!(
                "the installed fio {version} does not take workload `{}`: {said}; another fio, or other options, are needed",
                cell.workload.name
            ))
        });
        known.as_deref()
    }
}

fn installed() -> Option<PathBuf> {
    let tools = Tools::find(&[Tool::Fio]).ok()?;
    tools.files().next().map(Path::to_owned)
}

/// The names of all options, and the engines. Other values of an option do not decide whether fio knows it.
fn kinds(spec: &FioFileSpec) -> Vec<String> {
    let options = spec.sections.iter().flat_map(|section| &section.options);
    let mut kinds: Vec<String> = options
        .map(|(name, value)| match name.as_str() {
            "ioengine" => format!("{name}={value}"),
            _ => name.clone(),
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The first line of what fio prints, if it does not parse the sections.
fn refusal_of(fio: &OsStr, spec: &FioFileSpec) -> Option<String> {
    let mut command = Command::new(fio);
    command.arg("--parse-only");
    for section in &spec.sections {
        command.arg(format!("--name={}", section.name));
        command.args(section.options.iter().map(|(name, value)| format!("--{name}={value}")));
    }
    let (success, text) = printed(&mut command)?;
    let mut lines = text
        .lines()
        .map(|line| line.split_once("fio: ").map_or(line, |(_, said)| said));
    let first = lines
        .find(|line| !line.is_empty() && !line.contains("func="))
        .unwrap_or("it prints no reason");
    (!success).then(|| first.to_owned())
}

/// Whether the program succeeds, and what it prints; none if it cannot be run.
fn printed(command: &mut Command) -> Option<(bool, String)> {
    let output = command.env_clear().current_dir("/").output().ok()?;
    let text = [output.stderr, output.stdout].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::workload::{FioSection, IoPattern};

    /// fio of Debian 12 lacks options that `plan` accepts: the trial failed.
    #[test]
    fn issue_39_a_job_file_that_the_installed_fio_does_not_take_is_known_before_the_run() {
        if requirements::met(requirements::program("fio", "fio")).is_none() {
            return;
        }
        let refusal = |name: &str, value: &str| {
            let section = FioSection {
                name: "a b".to_owned(),
                options: vec![
                    ("size".to_owned(), "1m".to_owned()),
                    (name.to_owned(), value.to_owned()),
                ],
                pattern: IoPattern::Read,
                block_bytes: 4096,
                size_bytes: 1 << 20,
                jobs: 1,
                files: 1,
                runtime_ns: None,
                direct: false,
                end_fsync: false,
                shared: Vec::new(),
                file_bytes: None,
                directions: None,
            };
            let spec = FioFileSpec {
                path: "x.fio".to_owned(),
                sections: vec![section],
                notes: Vec::new(),
            };
            refusal_of(installed().expect("it is installed").as_os_str(), &spec)
        };
        assert_eq!(refusal("rw", "randrw"), None);
        assert_eq!(
            refusal("of_a_later_fio", "1").expect("refused"),
            "unrecognized option '--of_a_later_fio=1'"
        );
        assert!(
            refusal("ioengine", "of-a-later-fio")
                .expect("refused")
                .contains("of-a-later-fio")
        );
    }
}
