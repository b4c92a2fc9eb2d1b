//! Package files that only raidlab can generate: man pages and completions.

use crate::desk::Desk;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folders `man` and `completions`.
fn written(desk: &Desk) -> PathBuf {
    let mut raidlab = desk.raidlab(&["package-files", "files"]);
    let output = raidlab
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("raidlab is run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    desk.folder().join("files")
}

fn pages(files: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(files.join("man")).expect("it was written").flatten();
    entries.map(|entry| entry.path()).collect()
}

/// `None`, with a message, if the program is not installed.
fn tool(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            requirements::skip(format!("{}: {error}", command.get_program().to_string_lossy()));
            None
        }
    }
}

#[test]
fn every_command_has_a_page_with_the_usual_sections() {
    let desk = Desk::new();
    let files = written(&desk);
    let pages = pages(&files);
    for name in ["raidlab", "raidlab-run", "raidlab-disk", "raidlab-disk-show"] {
        assert!(pages.contains(&files.join(format!("man/{name}.1"))), "{name}");
    }
    for page in &pages {
        let text = fs::read_to_string(page).expect("it was written");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "FILES", "SEE ALSO"] {
            let heading = format!(".SH \"{section}\"");
            let is_there = text.contains(&heading) || text.contains(&format!(".SH {section}\n"));
            assert!(is_there, "{}: {section}", page.display());
        }
        assert!(text.contains("2023-11-14"), "the date of SOURCE_DATE_EPOCH");
    }
    let run = fs::read_to_string(files.join("man/raidlab-run.1")).expect("it was written");
    assert!(run.contains("\\-\\-dry\\-run") && run.contains("EXAMPLES"));
}

#[test]
fn man_has_no_warnings() {
    let desk = Desk::new();
    for page in pages(&written(&desk)) {
        let mut man = Command::new("groff");
        man.args(["-man", "-ww", "-Tutf8", "-Kutf8", "-z"]).arg(&page);
        let Some(output) = tool(&mut man) else { return };
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && warnings.is_empty(),
            "{}: {warnings}",
            page.display()
        );
    }
}

#[test]
fn bash_completes_commands() {
    let desk = Desk::new();
    let script = written(&desk).join("completions/bash/raidlab");
    let complete = "source \"$0\"; COMP_WORDS=(raidlab ru); COMP_CWORD=1; _raidlab raidlab ru raidlab; \
        echo \"${COMPREPLY[@]}\"";
    let Some(output) = tool(Command::new("bash").args(["-c", complete]).arg(script)) else {
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "run runs\n");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn zsh_and_fish_can_read_their_completions() {
    let desk = Desk::new();
    let completions = written(&desk).join("completions");
    for (shell, option, script) in [
        ("zsh", "-n", "zsh/_raidlab"),
        ("fish", "--no-execute", "fish/raidlab.fish"),
    ] {
        let Some(output) = tool(Command::new(shell).arg(option).arg(completions.join(script))) else {
            continue;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{shell}: {errors}");
    }
}
