//! The man pages and the completions of shells, generated from the same definitions as `--help`.

mod examples;

use crate::cli::{Arguments, exit_status};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use std::fs;
use std::io;
use std::path::Path;

/// Paths with their descriptions.
const FILES: &[(&str, &str)] = &[
    (
        "raidlab.db",
        "The results, an SQLite database in the current folder, unless --store names another.",
    ),
    (
        "~/.cache/raidlab",
        "Kernels that were built here, with their sources and logs; it can be deleted at any time.",
    ),
    ("~/.config/raidlab/disks", "Your own disk models, one file each."),
    ("~/.config/raidlab/cpus", "Your own processor models, one file each."),
    (
        "/var/lib/raidlab",
        "Ledgers of runs on this machine's disks: everything that raidlab clean still has to undo.",
    ),
    (
        "/usr/lib/raidlab/kernels",
        "Kernels of the package raidlab-kernel-6.12.",
    ),
    ("/usr/share/raidlab/studies", "Example studies."),
    (
        "/usr/share/doc/raidlab",
        "The documentation: docs/study.md describes every key of a study.",
    ),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", "Used instead of ~/.cache."),
    ("XDG_CONFIG_HOME", "Used instead of ~/.config."),
    ("RAIDLAB_STATE", "Used instead of /var/lib/raidlab."),
    (
        "NO_COLOR",
        "If set, there are no colours, unless --color asks for them.",
    ),
];

/// Manual pages of other packages that a reader may need.
const OTHER_PAGES: &[(&str, &str)] = &[
    ("fio", "1"),
    ("md", "4"),
    ("mdadm", "8"),
    ("lvm", "8"),
    ("mkfs", "8"),
    ("mount", "8"),
];

/// Writes the folders `man` and `completions`, whose files have their installed names. The pages have the date
/// `unix_s`.
pub fn write(folder: &Path, unix_s: u64) -> io::Result<()> {
    let command = visible(&Arguments::command());
    let date = report::time(unix_s);
    let date = date.split(' ').next().unwrap_or_default();
    let pages = folder.join("man");
    fs::create_dir_all(&pages)?;
    for command in tree(&command) {
        let name = page_name(command);
        fs::write(pages.join(format!("{name}.1")), page(command, date)?)?;
    }
    let completions = folder.join("completions");
    for (shell, path) in [
        (Shell::Bash, "bash/raidlab"),
        (Shell::Zsh, "zsh/_raidlab"),
        (Shell::Fish, "fish/raidlab.fish"),
    ] {
        let path = completions.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), "raidlab", &mut script);
        fs::write(path, script)?;
    }
    Ok(())
}

/// The command without hidden parts, which completions would show.
fn visible(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let mut visible = Command::new("raidlab")
        .args(command.get_arguments().cloned())
        .subcommands(shown.cloned())
        .subcommand_required(true)
        .disable_help_subcommand(true);
    visible = visible.version(env!("CARGO_PKG_VERSION"));
    if let Some(about) = command.get_about() {
        visible = visible.about(about.clone());
    }
    if let Some(about) = command.get_long_about() {
        visible = visible.long_about(about.clone());
    }
    visible.build();
    visible
}

/// The command and all its subcommands.
fn tree(command: &Command) -> Vec<&Command> {
    let mut all = vec![command];
    all.extend(command.get_subcommands().flat_map(tree));
    all
}

/// `raidlab-disk-show`
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, date: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .source(concat!("raidlab ", env!("CARGO_PKG_VERSION")))
        .date(date)
        .manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut roff = Roff::new();
    exit_status_section(&mut roff, command);
    list(&mut roff, "ENVIRONMENT", ENVIRONMENT);
    list(&mut roff, "FILES", FILES);
    examples_section(&mut roff, command);
    see_also(&mut roff, command);
    roff.to_writer(&mut page)?;
    Ok(page)
}

fn exit_status_section(roff: &mut Roff, command: &Command) {
    let codes = match page_name(command) {
        "raidlab-digest" => exit_status::OF_DIGEST,
        "raidlab-soak" => exit_status::OF_SOAK,
        "raidlab-merge" => exit_status::OF_MERGE,
        "raidlab-submit" => exit_status::OF_SUBMIT,
        _ => exit_status::OF_COMMANDS,
    };
    let codes: Vec<(String, &str)> = codes.iter().map(|(code, words)| (code.to_string(), *words)).collect();
    let codes: Vec<(&str, &str)> = codes.iter().map(|(code, words)| (code.as_str(), *words)).collect();
    list(roff, "EXIT STATUS", &codes);
}

fn list(roff: &mut Roff, heading: &str, items: &[(&str, &str)]) {
    roff.control("SH", [heading]);
    for (term, words) in items {
        roff.control("TP", []);
        roff.text([bold(*term)]);
        roff.text([roman(*words)]);
    }
}

fn examples_section(roff: &mut Roff, command: &Command) {
    let own = examples::of(page_name(command));
    if own.is_empty() {
        return;
    }
    roff.control("SH", ["EXAMPLES"]);
    for (line, words) in own {
        roff.control("TP", []);
        roff.text([bold(*line)]);
        roff.text([roman(*words)]);
    }
}

fn see_also(roff: &mut Roff, command: &Command) {
    let own = page_name(command);
    let mut pages: Vec<(String, &str)> = Vec::new();
    // The commands above it; those below it have their own section.
    let above = own.match_indices('-').map(|(at, _)| &own[..at]);
    pages.extend(above.map(|name| (name.to_owned(), "1")));
    pages.extend(OTHER_PAGES.iter().map(|(name, section)| ((*name).to_owned(), *section)));
    let mut line: Vec<Inline> = Vec::new();
    for (number, (name, section)) in pages.iter().enumerate() {
        let end = if number + 1 == pages.len() { "" } else { ", " };
        line.push(bold(name));
        line.push(roman(format!("({section}){end}")));
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::collections::BTreeSet;

    #[test]
    fn every_example_is_a_command_line_that_raidlab_accepts() {
        for (command, examples) in examples::ALL {
            for (line, _) in *examples {
                let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "sudo").collect();
                if let Err(error) = Arguments::try_parse_from(&words) {
                    panic!("{command}: {line}: {error}");
                }
            }
        }
    }

    #[test]
    fn every_command_that_does_something_has_an_example() {
        let command = visible(&Arguments::command());
        let wanted: BTreeSet<String> = tree(&command)
            .into_iter()
            .filter(|command| !command.has_subcommands())
            .map(|command| page_name(command).to_owned())
            .collect();
        let there: BTreeSet<String> = examples::ALL.iter().map(|(name, _)| name.replace(' ', "-")).collect();
        let missing: Vec<_> = wanted.difference(&there).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for (name, _) in examples::ALL {
            let is_one = tree(&command)
                .into_iter()
                .any(|command| page_name(command) == name.replace(' ', "-"));
            assert!(is_one, "`{name}` is no command");
        }
    }

    #[test]
    fn hidden_commands_have_no_page_and_no_completion() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), 1_700_000_000).expect("it can be written");
        let man = folder.path().join("man");
        assert!(man.join("raidlab-disk-show.1").exists() && !man.join("raidlab-host-job.1").exists());
        let bash = fs::read_to_string(folder.path().join("completions/bash/raidlab")).expect("it was written");
        assert!(bash.contains("doctor") && !bash.contains("host-job") && !bash.contains("package-files"));
    }
}
