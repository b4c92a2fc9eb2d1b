//! Debian's packages that this machine's own apt does not offer: of other suites or components, from the same mirror,
//! downloaded and unpacked into the cache. Neither apt's sources nor what is installed is touched, and nobody has to
//! be root.

use super::compile::{self, run_logged};
use super::{KernelError, create_dir, io_error};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The keys that Debian signs with, of the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Names that a stable Debian's own suite may have in apt's sources besides its codename.
const SUITES: &[&str] = &["stable", "oldstable", "testing", "unstable", "sid"];

/// What is to be had.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The package that the rest belongs to, in whose version all of it comes.
    pub name: &'a str,
    /// Others that are unpacked to the same place.
    pub others: &'a [&'a str],
    /// Those packages that one of `others` depends on come too, whose names begin and end so.
    pub libraries: Option<(&'a str, &'a str)>,
    pub component: &'a str,
    /// Where it is looked for, the best first; `{}` is the codename of this machine's Debian.
    pub suites: &'a [&'a str],
}

/// Packages, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// What would be / on a machine that has them.
    pub root: PathBuf,
    /// Of the package that named the order.
    pub version: String,
}

/// What an earlier [`fetch`] left in the cache.
pub fn fetched(packages: &Path, name: &str) -> Option<Fetched> {
    let folder = packages.join(name);
    let version = fs::read_to_string(folder.join("version")).ok()?;
    let root = folder.join("root");
    Some(Fetched { root, version })
}

/// Downloads and unpacks. Whoever calls it has the lock of the cache.
pub fn fetch(packages: &Path, order: &Order) -> Result<Fetched, KernelError> {
    let mirror = Mirror::of_machine()?;
    let folder = packages.join(order.name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(io_error("cannot remove", &folder))?;
    }
    create_dir(&folder)?;
    let (mut last, mut tried) = (None, Vec::new());
    for suite in order.suites {
        let suite = suite.replace("{}", &mirror.codename);
        let apt = Apt::new(&mirror, &suite, order, &folder)?;
        match apt.download() {
            Ok(()) => return unpack(&folder, order),
            Err(error) => last = Some(error),
        }
        tried.push(format!("{suite}/{}", order.component));
    }
    Err(KernelError::NotOffered {
        package: order.name.to_owned(),
        tried: tried.join(", "),
        why: last.map_or_else(String::new, |error| error.to_string()),
    })
}

fn unpack(folder: &Path, order: &Order) -> Result<Fetched, KernelError> {
    let (root, log) = (folder.join("root"), folder.join("log"));
    let mut version = String::new();
    for deb in debs(folder)? {
        let mut dpkg = Command::new("dpkg-deb");
        dpkg.arg("--extract").arg(&deb).arg(&root);
        run_logged(&mut dpkg, "unpacking", order.name, &log, &mut |_| {})?;
        let is_first = |name: &str| name.starts_with(&format!("{}_", order.name));
        if deb.file_name().is_some_and(|name| is_first(&name.to_string_lossy())) {
            let mut ask = Command::new("dpkg-deb");
            ask.arg("--field").arg(&deb).arg("Version");
            run_logged(&mut ask, "reading the version", order.name, &log, &mut |line| {
                version = line.trim().to_owned();
            })?;
        }
        fs::remove_file(&deb).map_err(io_error("cannot remove", &deb))?;
    }
    let _ = fs::remove_dir_all(folder.join("apt"));
    // Written last: what has it is whole.
    let path = folder.join("version");
    fs::write(&path, &version).map_err(io_error("cannot write", &path))?;
    Ok(Fetched { root, version })
}

fn debs(folder: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let entries = fs::read_dir(folder).map_err(io_error("cannot read", folder))?;
    let mut debs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    debs.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    debs.sort();
    Ok(debs)
}

/// Where this machine has its Debian from.
struct Mirror {
    uri: String,
    codename: String,
}

impl Mirror {
    fn of_machine() -> Result<Mirror, KernelError> {
        let os = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let codename = codename(&os).ok_or(KernelError::NoMirror)?;
        let output = Command::new("apt-get")
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

/// Of lines `URI suite component`, where the machine's own suite comes from.
fn mirror_of(targets: &str, codename: &str) -> Option<String> {
    targets.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (uri, suite, component) = (words.next()?, words.next()?, words.next()?);
        let is_own = suite == codename || SUITES.contains(&suite);
        (is_own && component == "main").then(|| uri.to_owned())
    })
}

/// The programs that fetching calls.
pub fn check_tools() -> Result<(), KernelError> {
    compile::check(&["apt-get", "apt-cache", "dpkg-deb"])
}

/// An apt with one suite and lists of its own.
struct Apt<'a> {
    order: &'a Order<'a>,
    folder: &'a Path,
    options: Vec<String>,
}

impl Apt<'_> {
    fn new<'a>(mirror: &Mirror, suite: &str, order: &'a Order, folder: &'a Path) -> Result<Apt<'a>, KernelError> {
        let own = folder.join("apt");
        for part in ["lists/partial", "cache/archives/partial"] {
            create_dir(&own.join(part))?;
        }
        let signed_by = match Path::new(KEYRING).exists() {
            true => format!("[signed-by={KEYRING}] "),
            false => String::new(),
        };
        let (sources, status) = (own.join("sources.list"), own.join("status"));
        let line = format!("deb {signed_by}{} {suite} {}\n", mirror.uri, order.component);
        fs::write(&sources, line).map_err(io_error("cannot write", &sources))?;
        // As on a machine that has nothing, so that what is installed here does not decide.
        fs::write(&status, "").map_err(io_error("cannot write", &status))?;
        let options = [
            ("Dir::Etc::sourcelist", sources),
            ("Dir::Etc::sourceparts", PathBuf::from("/dev/null")),
            ("Dir::Etc::preferencesparts", PathBuf::from("/dev/null")),
            ("Dir::State::lists", own.join("lists")),
            ("Dir::State::status", status),
            ("Dir::Cache", own.join("cache")),
        ];
        let mut options: Vec<String> = options
            .map(|(key, path)| format!("--option={key}={}", path.display()))
            .into();
        // Its own user could not write into the cache of ours; and no indexes are needed but those of packages.
        options.extend(
            [
                "APT::Sandbox::User=",
                "Acquire::Languages=none",
                "Debug::NoLocking=true",
            ]
            .map(|option| format!("--option={option}")),
        );
        Ok(Apt { order, folder, options })
    }

    fn download(&self) -> Result<(), KernelError> {
        // Otherwise apt-get goes on with the lists that it has, which are none.
        self.run("apt-get", &["--option=APT::Update::Error-Mode=any", "update"])?;
        let mut packages = vec![self.order.name.to_owned()];
        packages.extend(self.order.others.iter().map(|&name| name.to_owned()));
        if let Some((first, last)) = self.order.libraries {
            let mut arguments = vec!["depends"];
            arguments.extend(self.order.others);
            let told = self.run("apt-cache", &arguments)?;
            let depended = told.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
            packages.extend(
                depended
                    .filter(|name| name.starts_with(first) && name.ends_with(last))
                    .map(str::to_owned),
            );
        }
        let mut arguments = vec!["download"];
        arguments.extend(packages.iter().map(String::as_str));
        self.run("apt-get", &arguments).map(drop)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, KernelError> {
        let mut command = Command::new(program);
        command.args(&self.options).args(arguments).env("LC_ALL", "C");
        command.current_dir(self.folder);
        let (mut told, log) = (String::new(), self.folder.join("log"));
        run_logged(&mut command, "fetching", self.order.name, &log, &mut |line| {
            told.push_str(line);
            told.push('\n');
        })?;
        Ok(told)
    }
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
