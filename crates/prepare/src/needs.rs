//! Programs and files that this machine lacks: the purpose and the package of each.

use crate::Error;
use filesystems::{FilesystemKind, Flavour, Need};
use lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use std::path::Path;
use std::process::Stdio;

const BUILDS_KERNEL: &str = "builds the lab's kernel";

/// Requirements for building the lab's kernel.
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

/// Requirements of runs with the filesystems of most studies.
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

const OF_LUKS: Need = Need {
    file: "cryptsetup",
    package: "cryptsetup-bin",
    why: "encrypts members or arrays (`luks`)",
};

const OF_BCACHE: Need = Need {
    file: "make-bcache",
    package: "bcache-tools",
    why: "puts bcache on arrays (`cache`)",
};

const OF_BONNIE: Need = Need {
    file: "bonnie++",
    package: "bonnie++",
    why: "runs Bonnie workloads",
};

/// Requirements of every run, and the filesystems of most studies.
pub fn needs() -> Vec<&'static Need> {
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

/// Requirements of some studies only; a run reports missing packages before it starts.
pub fn needs_of_some() -> Vec<&'static Need> {
    let mut needs: Vec<&Need> = match builds_default_kernel() {
        true => Vec::new(),
        false => OF_KERNEL.iter().collect(),
    };
    needs.push(&OF_LVM);
    needs.push(&OF_INTEGRITY);
    needs.push(&OF_LUKS);
    needs.push(&OF_BCACHE);
    needs.extend(needs_of_filesystems(Flavour::More));
    needs.extend(needs_of_filesystems(Flavour::Zfs));
    needs.push(&OF_BONNIE);
    needs
}

/// Requirements of the filesystems of a kernel flavour, without duplicates.
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

/// Space for building a kernel in the cache folder.
const CACHE_FREE_BYTES: u64 = 3 << 30;

/// A finding that no package fixes.
pub struct UnmetNeed {
    pub what: String,
    pub fix: String,
}

pub fn missing(needs: Vec<&'static Need>) -> Vec<&'static Need> {
    needs.into_iter().filter(|need| !is_there(need.file)).collect()
}

fn is_there(file: &str) -> bool {
    if file.starts_with('/') {
        return Path::new(file).exists();
    }
    // Programs of a trial are searched on a path of their own.
    let mut of_trials = std::env::split_paths(tools::SEARCH_PATH);
    tools::has_host_program(file) || of_trials.any(|folder| folder.join(file).exists())
}

pub fn packages(missing: &[&Need]) -> Vec<&'static str> {
    missing.iter().map(|need| need.package).collect()
}

pub fn install(missing: &[&Need]) -> Result<(), Error> {
    let lines = missing
        .iter()
        .map(|need| format!("\n  {:<18} {}", need.package, need.why));
    log::info!("installing Debian packages:{}", lines.collect::<String>());
    let root = rustix::process::geteuid().is_root();
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages(missing));
    for arguments in [vec!["update"], install] {
        let mut command = tools::host_program(if root { "apt-get" } else { "sudo" });
        if !root {
            command.args(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        }
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(&arguments)
            .stdin(Stdio::null());
        // Results go to standard output; apt's messages are progress.
        command.stdout(Stdio::from(std::io::stderr()));
        let status = command.status();
        if !status.as_ref().is_ok_and(|status| status.success()) {
            let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            return Err(Error::Install {
                command: arguments[0],
                how,
                packages: packages(missing).join(" "),
            });
        }
    }
    Ok(())
}

pub fn findings() -> Vec<UnmetNeed> {
    [cache_finding(), left_over()].into_iter().flatten().collect()
}

/// Leftovers of killed runs on this machine's disks.
fn left_over() -> Option<UnmetNeed> {
    let state = host::LedgerFolder::of_machine();
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
    Some(UnmetNeed {
        what,
        fix: "as root: raidlab clean".to_owned(),
    })
}

fn cache_finding() -> Option<UnmetNeed> {
    let cache = Cache::of_user();
    let existing = cache.folder().ancestors().find(|folder| folder.exists())?;
    let space = rustix::fs::statvfs(existing).ok()?;
    let free = space.f_bavail * space.f_frsize;
    (cache.list().is_empty() && free < CACHE_FREE_BYTES).then(|| UnmetNeed {
        what: format!(
            "{} has {} MiB free: building a kernel takes 3 GiB",
            existing.display(),
            free >> 20
        ),
        fix: "free some space, or set XDG_CACHE_HOME to a folder with more".to_owned(),
    })
}
