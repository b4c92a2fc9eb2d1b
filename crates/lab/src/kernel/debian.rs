//! Debian packages that this machine's apt does not offer: from other suites or components of the same mirror,
//! downloaded and unpacked into the cache. apt's sources and installed packages are not changed, and root is not
//! needed.

mod apt;

use super::build_step::{self, run_logged};
use super::{KernelError, create_dir, io_error};
use apt::Apt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Contents of a package's folder in the cache: the unpacked root, the version of the order, and the list of packages
/// with their versions.
const ROOT: &str = "root";
const VERSION: &str = "version";
const PACKAGES: &str = "packages";

/// Suite names that apt's sources may use instead of the codename of a stable release.
const SUITES: &[&str] = &["stable", "oldstable", "testing", "unstable", "sid"];

/// Packages to fetch.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The main package; its version applies to all.
    pub name: &'a str,
    /// Other packages that are unpacked to the same root.
    pub others: &'a [&'a str],
    /// Selects, by name, the direct and indirect dependencies of these packages that are fetched as well.
    pub libraries: Option<fn(&str) -> bool>,
    pub component: &'a str,
    /// Suites to try, the best first; `{}` is the codename of this machine's Debian. Several suites joined by `+`
    /// are used together: a package comes from the first one that has it, otherwise as apt prefers.
    pub suites: &'a [&'a str],
    /// Checks whether the unpacked root can be used; if not, the next suite is tried.
    pub check: fn(&Path) -> Result<(), KernelError>,
    /// Alternative to suggest if it cannot be fetched.
    pub otherwise: &'a str,
}

/// Unpacked packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Corresponds to / on a machine that has them installed.
    pub root: PathBuf,
    /// Version of the main package.
    pub version: String,
    /// Each with its version.
    pub packages: Vec<String>,
}

/// Packages that an earlier [`fetch`] left in the cache.
pub fn fetched(packages: &Path, name: &str) -> Option<Fetched> {
    let folder = packages.join(name);
    let version = fs::read_to_string(folder.join(VERSION)).ok()?;
    let packages = fs::read_to_string(folder.join(PACKAGES)).unwrap_or_default();
    Some(Fetched {
        root: folder.join(ROOT),
        version,
        packages: packages.lines().map(str::to_owned).collect(),
    })
}

/// Downloads and unpacks. The caller holds the lock of the cache.
pub fn fetch(packages: &Path, order: &Order) -> Result<Fetched, KernelError> {
    let mirror = Mirror::of_machine()?;
    let folder = packages.join(order.name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(io_error("cannot remove", &folder))?;
    }
    create_dir(&folder)?;
    let (mut last, mut tried) = (None, Vec::new());
    for suites in order.suites {
        let suites = suites.replace("{}", &mirror.codename);
        match fetch_from(&mirror, &suites, order, &folder) {
            Ok(fetched) => return Ok(fetched),
            Err(error) => last = Some(error),
        }
        tried.push(format!("{suites}/{}", order.component));
    }
    Err(KernelError::NotOffered {
        package: order.name.to_owned(),
        tried: tried.join(", "),
        otherwise: order.otherwise.to_owned(),
        why: last.map_or_else(String::new, |error| error.to_string()),
    })
}

fn fetch_from(mirror: &Mirror, suites: &str, order: &Order, folder: &Path) -> Result<Fetched, KernelError> {
    let suites: Vec<&str> = suites.split('+').collect();
    let (downloads, root) = (folder.join("downloads"), folder.join(ROOT));
    for left_over in [&downloads, &root] {
        if left_over.exists() {
            fs::remove_dir_all(left_over).map_err(io_error("cannot remove", left_over))?;
        }
    }
    Apt::new(mirror, &suites, order, &downloads)?.download()?;
    let packages = unpack(&downloads, &root, order)?;
    (order.check)(&root)?;
    let _ = fs::remove_dir_all(&downloads);
    let own = packages
        .iter()
        .find_map(|package| package.strip_prefix(order.name)?.strip_prefix(' '));
    let version = own.unwrap_or_default().to_owned();
    // The version marks a complete folder, so it is written last.
    for (file, text) in [(PACKAGES, packages.join("\n")), (VERSION, version.clone())] {
        let path = folder.join(file);
        fs::write(&path, text).map_err(io_error("cannot write", &path))?;
    }
    Ok(Fetched {
        root,
        version,
        packages,
    })
}

/// Each package with its version.
fn unpack(downloads: &Path, root: &Path, order: &Order) -> Result<Vec<String>, KernelError> {
    let mut packages = Vec::new();
    for deb in debs(downloads)? {
        let mut dpkg = tools::host_program("dpkg-deb");
        dpkg.arg("--extract").arg(&deb).arg(root);
        logged(&mut dpkg, "unpacking", order, downloads, &mut |_| {})?;
        let mut ask = tools::host_program("dpkg-deb");
        ask.args(["--show", "--showformat=${Package} ${Version}\n"]).arg(&deb);
        logged(&mut ask, "reading the version", order, downloads, &mut |line| {
            packages.push(line.trim().to_owned());
        })?;
    }
    Ok(packages)
}

fn debs(folder: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let entries = fs::read_dir(folder).map_err(io_error("cannot read", folder))?;
    let mut debs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    debs.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    debs.sort();
    Ok(debs)
}

/// Runs a program for an order, with a log in the download folder.
fn logged(
    command: &mut Command,
    step: &'static str,
    order: &Order,
    downloads: &Path,
    seen: &mut dyn FnMut(&str),
) -> Result<(), KernelError> {
    let log = downloads.with_file_name("log");
    run_logged(command, step, order.name, &log, seen).map_err(|error| match error {
        KernelError::Step { step, name, log, tail } => {
            let tail = apt_errors(&tail).unwrap_or(tail);
            KernelError::Package { step, name, log, tail }
        }
        other => other,
    })
}

/// The lines of apt's output that are errors.
fn apt_errors(said: &str) -> Option<String> {
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("E: ")).collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

/// The mirror of this machine's Debian.
struct Mirror {
    uri: String,
    codename: String,
}

impl Mirror {
    fn of_machine() -> Result<Mirror, KernelError> {
        let os = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let codename = codename(&os).ok_or(KernelError::NoMirror)?;
        let output = tools::host_program("apt-get")
            .args(["indextargets", "--option", "APT::Get::IndexTargets::OnlyPresent=false"])
            .args([
                "--format",
                "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                "Created-By: Packages",
            ])
            .output()
            .map_err(|_| KernelError::NoMirror)?;
        let uri = mirror_of(&String::from_utf8_lossy(&output.stdout), &codename).ok_or(KernelError::NoMirror)?;
        Ok(Mirror { uri, codename })
    }
}

fn codename(os_release: &str) -> Option<String> {
    let value = |key: &str| os_release.lines().find_map(|line| line.strip_prefix(key));
    let name = value("VERSION_CODENAME=")?.trim_matches('"');
    (value("ID=")?.trim_matches('"') == "debian").then(|| name.to_owned())
}

/// The mirror of the machine's own suite, from lines `URI suite component`.
fn mirror_of(targets: &str, codename: &str) -> Option<String> {
    targets.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (uri, suite, component) = (words.next()?, words.next()?, words.next()?);
        let is_own = suite == codename || SUITES.contains(&suite);
        (is_own && component == "main").then(|| uri.to_owned())
    })
}

/// The programs that fetching needs.
pub fn check_tools() -> Result<(), KernelError> {
    build_step::check(&["apt-get", "apt-cache", "dpkg-deb"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_machines_own_suite() {
        let targets = "https://other.example/ nodistro main\n\
                       http://security.example/debian-security/ bookworm-security main\n\
                       http://mirror.example/debian/ bookworm-updates main\n\
                       http://mirror.example/debian/ bookworm contrib\n\
                       http://mirror.example/debian/ bookworm main\n";
        assert_eq!(
            mirror_of(targets, "bookworm").as_deref(),
            Some("http://mirror.example/debian/")
        );
        assert_eq!(mirror_of(targets, "trixie"), None);
        let stable = "http://mirror.example/debian/ stable main\n";
        assert!(mirror_of(stable, "trixie").is_some());
    }

    #[test]
    fn only_debian_has_debians_packages() {
        let debian = "PRETTY_NAME=\"Debian\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        assert_eq!(codename(debian).as_deref(), Some("bookworm"));
        assert_eq!(codename("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n"), None);
    }
}
