//! `raidlab doctor`: what this machine lacks, why it is needed, and the command that fixes it.

use super::print_as;
use crate::cli::{DoctorArguments, Format};
use crate::error::{EXIT_MACHINE, ExpectedError};
use crate::progress::{note, say};
use filesystems::Need;
use lab::kernel::{BCACHEFS, Cache};
use lab::programs::{fetched_bcachefs, has_bcachefs};
use prepare::kernels;
use prepare::needs::{self, UnmetNeed, needs, needs_of_some, packages};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

pub fn doctor(arguments: &DoctorArguments) -> Result<ExitCode, ExpectedError> {
    let mut missing = needs::missing(needs());
    let mut missing_for_some = needs::missing(needs_of_some());
    let mut wanted = missing.clone();
    if arguments.all {
        wanted.extend(&missing_for_some);
    }
    if arguments.install && !wanted.is_empty() {
        needs::install(&wanted)?;
        missing = needs::missing(needs());
        missing_for_some = needs::missing(needs_of_some());
    }
    if arguments.all && arguments.install && !has_bcachefs() {
        // Experimental may drop it some day, and only bcachefs needs it.
        if let Err(error) = fetched_bcachefs(&Cache::of_user(), &mut |words| note(&format!("raidlab: {words}"))) {
            say(&format!("raidlab: {error}"));
        }
    }
    let findings = needs::findings();
    let text = match arguments.format {
        Format::Text => rendered(&missing, &missing_for_some, &findings),
        Format::Json => format!("{:#}\n", as_json(&missing, &missing_for_some, &findings)),
    };
    print_as(arguments.format, &text)?;
    if arguments.all {
        missing.extend(missing_for_some);
    }
    Ok(if missing.is_empty() && findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_MACHINE)
    })
}

fn as_json(missing: &[&Need], missing_for_some: &[&Need], findings: &[UnmetNeed]) -> Value {
    let needs = |needs: &[&Need]| -> Value {
        needs
            .iter()
            .map(|need| json!({ "file": need.file, "package": need.package, "why": need.why }))
            .collect()
    };
    let (kernels, _) = kernels::in_use(&Cache::of_user());
    json!({
        "ready": missing.is_empty() && findings.is_empty(),
        "missing": needs(missing),
        "missing_for_some_studies": needs(missing_for_some),
        "problems": findings
            .iter()
            .map(|finding| json!({ "problem": finding.what, "fix": finding.fix }))
            .collect::<Value>(),
        "kernels": kernels.iter().map(super::kernel::kernel_json).collect::<Value>(),
        "confines_guests": lab::guest::can_confine(),
    })
}

fn rendered(missing: &[&Need], missing_for_some: &[&Need], findings: &[UnmetNeed]) -> String {
    let mut text = String::new();
    let named = missing.iter().map(|need| ("missing", need));
    for (word, need) in named.chain(missing_for_some.iter().map(|need| ("for some", need))) {
        let file = Path::new(need.file)
            .file_name()
            .unwrap_or(OsStr::new(need.file))
            .to_string_lossy();
        let _ = writeln!(text, "{word:<8} {file:<28} package {:<18} {}", need.package, need.why);
    }
    for finding in findings {
        let _ = writeln!(text, "wrong    {}\n         {}", finding.what, finding.fix);
    }
    if !missing.is_empty() {
        let _ = writeln!(
            text,
            "\nto fix: `raidlab doctor --install`, or as root: apt-get install {}",
            packages(missing).join(" ")
        );
    } else if findings.is_empty() {
        text.push_str("nothing is missing: this machine can run the lab\n");
    }
    if !missing_for_some.is_empty() {
        let _ = writeln!(
            text,
            "for studies that need them: `raidlab doctor --install --all`, or as root: apt-get install {}",
            packages(missing_for_some).join(" ")
        );
    }
    let cache = Cache::of_user();
    let (kernels, others) = kernels::in_use(&cache);
    if kernels.is_empty() {
        text.push_str("no kernel is built yet: the first `raidlab run` builds it, or `raidlab kernel build`\n");
    }
    for kernel in kernels {
        let _ = writeln!(text, "kernel   {} ({})", kernel.name, kernel.release);
    }
    text.push_str(&super::kernel::others_words(&cache, others));
    text.push_str(&bcachefs_words(&cache));
    if !lab::guest::can_confine() {
        text.push_str("note     this kernel has no Landlock: guests are confined only by their read-only root\n");
    }
    text
}

/// It is not a package that this machine could install.
fn bcachefs_words(cache: &Cache) -> String {
    if has_bcachefs() {
        return String::new();
    }
    match cache.bcachefs() {
        Some(programs) => {
            let own = programs.packages.iter().find(|package| package.starts_with(BCACHEFS));
            format!(
                "program  bcachefs, for guests ({})\n",
                own.map_or(BCACHEFS, String::as_str)
            )
        }
        None => format!(
            "note     {BCACHEFS} is not in the cache: the first study of bcachefs downloads it from Debian's mirror, or \
             `raidlab doctor --install --all`\n"
        ),
    }
}
