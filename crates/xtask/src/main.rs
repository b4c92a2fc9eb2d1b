//! Tools for developers. The program prints docs/study.md (every key of a study file, from the table that the reader
//! itself uses) docs/stacks.md (the stacks of studies/every-stack.toml, and impossible combinations), docs/disks.md
//! (every disk model compared with published figures), and data/disk-fit.toml (the same in short, for reports). `calibration`
//! writes docs/calibration.md and its plot, which takes minutes.

mod calibration;
mod disks;
mod stacks;
mod study_md;

use std::process::ExitCode;

const EVERY_STACK: &str = include_str!("../../../studies/every-stack.toml");

fn main() -> ExitCode {
    let page = match std::env::args().nth(1).as_deref() {
        Some("study") => Ok(study_md::page()),
        Some("stacks") => stacks::page(EVERY_STACK),
        Some("disks") => disks::written().map(|written| written.page),
        Some("disk-fit") => disks::written().map(|written| written.fit),
        Some("calibration") => calibration(),
        _ => Err("which page? `study`, `stacks`, `disks`, `disk-fit` or `calibration`".to_owned()),
    };
    match page {
        Ok(page) => {
            print!("{page}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Writes the page and its plot; returns what it wrote.
fn calibration() -> Result<String, String> {
    let written = calibration::written()?;
    let mut words = String::new();
    for (path, text) in [
        ("docs/calibration.md", written.page),
        ("docs/calibration.svg", written.plot),
    ] {
        std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))?;
        words += &format!("wrote {path}\n");
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make docs` writes them.
    #[test]
    fn the_pages_in_docs_are_those_of_the_tables() {
        assert_eq!(include_str!("../../../docs/study.md"), study_md::page());
        let stacks = stacks::page(EVERY_STACK).expect("a sound study");
        assert_eq!(include_str!("../../../docs/stacks.md"), stacks);
        let disks = disks::written().expect("sound models");
        assert_eq!(include_str!("../../../docs/disks.md"), disks.page);
        assert_eq!(include_str!("../../../data/disk-fit.toml"), disks.fit);
    }
}
