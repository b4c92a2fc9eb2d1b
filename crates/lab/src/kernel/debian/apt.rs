//! apt with its own sources, lists and cache: installed packages and the configuration of this machine's apt have
//! no effect, except for the trusted keys.

use super::{Mirror, Order, logged};
use crate::kernel::{KernelError, create_dir, io_error};
use std::fs;
use std::path::{Path, PathBuf};

/// Debian's archive keys, from the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// An apt with a few suites, the best first, and its own lists.
pub struct Apt<'a> {
    order: &'a Order<'a>,
    downloads: &'a Path,
    options: Vec<String>,
}

impl Apt<'_> {
    pub fn new<'a>(
        mirror: &Mirror,
        suites: &[&str],
        order: &'a Order<'a>,
        downloads: &'a Path,
    ) -> Result<Apt<'a>, KernelError> {
        let own = downloads.join("apt");
        for part in ["lists/partial", "cache/archives/partial"] {
            create_dir(&own.join(part))?;
        }
        let signed_by = match Path::new(KEYRING).exists() {
            true => format!("[signed-by={KEYRING}] "),
            false => String::new(),
        };
        let (sources, status) = (own.join("sources.list"), own.join("status"));
        let line = |suite: &&str| format!("deb {signed_by}{} {suite} {}\n", mirror.uri, order.component);
        let lines: String = suites.iter().map(line).collect();
        fs::write(&sources, lines).map_err(io_error("cannot write", &sources))?;
        // As on an empty machine, so that installed packages have no effect.
        fs::write(&status, "").map_err(io_error("cannot write", &status))?;
        let options = [
            ("Dir::Etc::sourcelist", sources),
            ("Dir::Etc::sourceparts", PathBuf::from("/dev/null")),
            ("Dir::Etc::preferences", PathBuf::from("/dev/null")),
            ("Dir::Etc::preferencesparts", PathBuf::from("/dev/null")),
            ("Dir::State::lists", own.join("lists")),
            ("Dir::State::status", status),
            ("Dir::Cache", own.join("cache")),
        ];
        let mut options: Vec<String> = options
            .map(|(key, path)| format!("--option={key}={}", path.display()))
            .into();
        // The sandbox user _apt cannot write into the user's cache, and only package indexes are needed.
        options.extend(
            [
                "APT::Sandbox::User=",
                "Acquire::Languages=none",
                "Debug::NoLocking=true",
            ]
            .map(|option| format!("--option={option}")),
        );
        if let [first, _, ..] = suites {
            options.push(format!("--option=APT::Default-Release={first}"));
        }
        Ok(Apt {
            order,
            downloads,
            options,
        })
    }

    /// Downloads the packages of the order into the folder.
    pub fn download(&self) -> Result<(), KernelError> {
        // Otherwise apt-get continues with its existing lists, which are empty.
        self.run("apt-get", &["--option=APT::Update::Error-Mode=any", "update"])?;
        let mut packages = vec![self.order.name.to_owned()];
        packages.extend(self.order.others.iter().map(|&name| name.to_owned()));
        if let Some(is_library) = self.order.libraries {
            self.add_libraries(is_library, &mut packages)?;
        }
        let mut arguments = vec!["download"];
        arguments.extend(packages.iter().map(String::as_str));
        self.run("apt-get", &arguments).map(drop)
    }

    /// Adds the packages' dependencies, recursively.
    fn add_libraries(&self, is_library: fn(&str) -> bool, packages: &mut Vec<String>) -> Result<(), KernelError> {
        let mut asked = 0;
        while asked < packages.len() {
            let mut arguments = vec!["depends"];
            arguments.extend(packages[asked..].iter().map(String::as_str));
            let output = self.run("apt-cache", &arguments)?;
            asked = packages.len();
            for name in output.lines().filter_map(dependency).filter(|name| is_library(name)) {
                if packages.iter().all(|there| there != name) {
                    packages.push(name.to_owned());
                }
            }
        }
        Ok(())
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, KernelError> {
        let mut command = tools::host_program(program);
        command.args(&self.options).args(arguments).env("LC_ALL", "C");
        command.current_dir(self.downloads);
        let mut output = String::new();
        logged(&mut command, "fetching", self.order, self.downloads, &mut |line| {
            output.push_str(line);
            output.push('\n');
        })?;
        Ok(output)
    }
}

/// The name in a line of `apt-cache depends`.
fn dependency(line: &str) -> Option<&str> {
    let (kind, name) = line.trim_start_matches([' ', '|']).split_once(": ")?;
    matches!(kind, "Depends" | "PreDepends").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_cannot_be_without() {
        let output = "bcachefs-tools\n  Depends: libaio1t64\n |Depends: libc6\n  PreDepends: init\n  Depends: <python3:any>\n    python3\n Recommends: sudo\n";
        let names: Vec<&str> = output.lines().filter_map(dependency).collect();
        assert_eq!(names, ["libaio1t64", "libc6", "init", "<python3:any>"]);
    }
}
