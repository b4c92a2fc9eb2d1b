//! `raidlab doctor`: what this machine lacks, why it is needed, and the command that fixes it.

use super::print;
use crate::cli::{DoctorArguments, Format};
use crate::expected::{EXIT_MACHINE, ExpectedError};
use crate::progress::{note, say};
use filesystems::{FilesystemKind, Flavour, Need};
use lab::kernel::{BCACHEFS, Cache, DEFAULT_VERSION, KernelName};
use lab::programs::{fetched_bcachefs, has_bcachefs};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const BUILDS_KERNEL: &str = "builds the lab's kernel";

/// What building the lab's kernel needs.
const OF_KERNEL: &[Need] = &[
    Need {
        file: "/usr/src/linux-source-6.12.tar.xz",
        package: "linux-source-6.12",
        why: "the lab's kernel",
    },
    Need {
        file: "make",
        package: "make",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "gcc",
        package: "gcc",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "/usr/include/stdio.h",
        package: "libc6-dev",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "ld",
        package: "binutils",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "flex",
        package: "flex",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "bison",
        package: "bison",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "bc",
        package: "bc",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "perl",
        package: "perl",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "patch",
        package: "patch",
        why: BUILDS_KERNEL,
    },
    Need {
        file: "xz",
        package: "xz-utils",
        why: BUILDS_KERNEL,
    },
];

const OF_ARRAYS: Need = Need {
    file: "mdadm",
    package: "mdadm",
    why: "makes arrays",
};

/// What runs need whose filesystems are those of most studies.
const OF_RUNS: &[Need] = &[
    Need {
        file: "losetup",
        package: "mount",
        why: "attaches files to loop devices (`--loop`)",
    },
    Need {
        file: "wipefs",
        package: "util-linux",
        why: "identifies what is on a disk",
    },
    Need {
        file: "fio",
        package: "fio",
        why: "runs fio workloads",
    },
];

const OF_LVM: Need = Need {
    file: "lvm",
    package: "lvm2",
    why: "creates LVM volumes",
};

const OF_INTEGRITY: Need = Need {
    file: "integritysetup",
    package: "cryptsetup-bin",
    why: "puts dm-integrity below md (`integrity`)",
};

const OF_BONNIE: Need = Need {
    file: "bonnie++",
    package: "bonnie++",
    why: "runs Bonnie workloads",
};

/// What no run does without, and the filesystems of most studies.
fn needs() -> Vec<&'static Need> {
    let mut needs: Vec<&Need> = match builds_default_kernel() {
        true => OF_KERNEL.iter().collect(),
        false => Vec::new(),
    };
    needs.push(&OF_ARRAYS);
    needs.extend(needs_of_filesystems(Flavour::Base));
    needs.extend(OF_RUNS);
    needs
}

/// Otherwise it is installed as a package, and only studies that need another kernel build one.
fn builds_default_kernel() -> bool {
    Cache::of_user()
        .installed(&KernelName::parse(DEFAULT_VERSION))
        .is_none()
}

/// What only those studies need that ask for it; a run says which package is missing before it begins.
fn needs_of_some() -> Vec<&'static Need> {
    let mut needs: Vec<&Need> = match builds_default_kernel() {
        true => Vec::new(),
        false => OF_KERNEL.iter().collect(),
    };
    needs.push(&OF_LVM);
    needs.push(&OF_INTEGRITY);
    needs.extend(needs_of_filesystems(Flavour::More));
    needs.extend(needs_of_filesystems(Flavour::Zfs));
    needs.push(&OF_BONNIE);
    needs
}

/// What the filesystems of a kernel's flavour need, each once.
fn needs_of_filesystems(flavour: Flavour) -> Vec<&'static Need> {
    let mut needs: Vec<&Need> = Vec::new();
    let kinds = FilesystemKind::ALL.iter().map(|kind| kind.get());
    for need in kinds
        .filter(|filesystem| filesystem.kernel.flavour == flavour)
        .flat_map(|filesystem| filesystem.needs)
    {
        if !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}

/// Space that building a kernel takes in the cache folder.
const CACHE_FREE_BYTES: u64 = 3 << 30;

/// A finding that no package fixes.
struct Finding {
    what: String,
    fix: String,
}

pub fn doctor(arguments: &DoctorArguments) -> Result<ExitCode, ExpectedError> {
    let mut missing = missing(needs());
    let mut missing_for_some = self::missing(needs_of_some());
    let mut wanted = missing.clone();
    if arguments.all {
        wanted.extend(&missing_for_some);
    }
    if arguments.install && !wanted.is_empty() {
        install(&wanted)?;
        missing = self::missing(needs());
        missing_for_some = self::missing(needs_of_some());
    }
    if arguments.all && arguments.install && !has_bcachefs() {
        // Experimental may be without it one day, and nothing but bcachefs needs it.
        if let Err(error) = fetched_bcachefs(&Cache::of_user(), &mut |words| note(&format!("raidlab: {words}"))) {
            say(&format!("raidlab: {error}"));
        }
    }
    let findings = findings();
    print(&match arguments.format {
        Format::Text => rendered(&missing, &missing_for_some, &findings),
        Format::Json => format!("{:#}\n", as_json(&missing, &missing_for_some, &findings)),
    })?;
    if arguments.all {
        missing.extend(missing_for_some);
    }
    Ok(if missing.is_empty() && findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_MACHINE)
    })
}

fn missing(needs: Vec<&'static Need>) -> Vec<&'static Need> {
    needs.into_iter().filter(|need| !is_there(need.file)).collect()
}

fn is_there(file: &str) -> bool {
    if file.starts_with('/') {
        return Path::new(file).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = std::env::split_paths(tools::SEARCH_PATH);
    std::env::split_paths(&path)
        .chain(system)
        .any(|folder| folder.join(file).exists())
}

fn packages(missing: &[&Need]) -> Vec<&'static str> {
    missing.iter().map(|need| need.package).collect()
}

fn install(missing: &[&Need]) -> Result<(), ExpectedError> {
    note("raidlab: installing Debian packages:");
    for need in missing {
        note(&format!("  {:<18} {}", need.package, need.why));
    }
    let root = rustix::process::geteuid().is_root();
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages(missing));
    for arguments in [vec!["update"], install] {
        let mut command = Command::new(if root { "apt-get" } else { "sudo" });
        if !root {
            command.args(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        }
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(&arguments)
            .stdin(Stdio::null());
        // Results go to standard output; what apt says is progress.
        command.stdout(Stdio::from(std::io::stderr()));
        let status = command.status();
        if !status.as_ref().is_ok_and(|status| status.success()) {
            let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            return Err(ExpectedError::Install {
                command: arguments[0],
                how,
                packages: packages(missing).join(" "),
            });
        }
    }
    Ok(())
}

fn findings() -> Vec<Finding> {
    [cache_finding(), left_over()].into_iter().flatten().collect()
}

/// What killed runs left on this machine's own disks.
fn left_over() -> Option<Finding> {
    let state = host::State::of_machine();
    if !state.has_ledgers() {
        return None;
    }
    let what = match state.leftovers() {
        Ok(leftovers) if leftovers.is_empty() => return None,
        Ok(leftovers) => {
            let acts: Vec<String> = leftovers.into_iter().flat_map(|leftover| leftover.acts).collect();
            match acts.is_empty() {
                true => "a killed run left its ledger".to_owned(),
                false => format!("a killed run left something to undo: {}", acts.join("; ")),
            }
        }
        Err(error) => format!("a killed run may have left something to undo: {error}"),
    };
    Some(Finding {
        what,
        fix: "as root: raidlab clean".to_owned(),
    })
}

fn cache_finding() -> Option<Finding> {
    let cache = Cache::of_user();
    let existing = cache.folder().ancestors().find(|folder| folder.exists())?;
    let space = rustix::fs::statvfs(existing).ok()?;
    let free = space.f_bavail * space.f_frsize;
    (cache.list().is_empty() && free < CACHE_FREE_BYTES).then(|| Finding {
        what: format!(
            "{} has {} MiB free: building a kernel takes 3 GiB",
            existing.display(),
            free >> 20
        ),
        fix: "free some space, or set XDG_CACHE_HOME to a folder with more".to_owned(),
    })
}

fn as_json(missing: &[&Need], missing_for_some: &[&Need], findings: &[Finding]) -> Value {
    let needs = |needs: &[&Need]| -> Value {
        needs
            .iter()
            .map(|need| json!({ "file": need.file, "package": need.package, "why": need.why }))
            .collect()
    };
    let (kernels, _) = super::kernel::in_use(&Cache::of_user());
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

fn rendered(missing: &[&Need], missing_for_some: &[&Need], findings: &[Finding]) -> String {
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
    let (kernels, others) = super::kernel::in_use(&cache);
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

/// It is no package that this machine could install.
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
