//! How the filesystem of a stack is mounted.

use crate::array::zfs::Pool;
use crate::filesystem;
use crate::machine::access::Access;
use crate::machine::error::Cause;
use crate::machine::executor::{Mount, Mounted};
use crate::machine::mount_options::{self, MountArguments};
use std::path::{Path, PathBuf};
use study::stack::{FilesystemKind, StackSpec};
use tools::{Invocation, Tool};

/// How a filesystem is mounted and remounted.
#[derive(Debug)]
pub(crate) struct Mounting {
    /// The source for mount(2): a device, or several separated by colons.
    pub(crate) source: PathBuf,
    /// The kernel shows one of these as the source.
    pub(crate) devices: Vec<PathBuf>,
    pub(crate) kind: FilesystemKind,
    pub(crate) arguments: MountArguments,
    /// The study's options, unchanged, for a program that mounts.
    pub(crate) options: Vec<String>,
    /// For ZFS.
    pub(crate) pool: Option<Pool>,
    /// The study uses lazy initialisation.
    pub(crate) is_lazy: bool,
}

impl Mounting {
    /// For a filesystem on these devices that is not a pool.
    pub(crate) fn of(spec: &StackSpec, devices: Vec<PathBuf>, journal: Option<&Path>) -> Result<Self, Cause> {
        let of = &spec.filesystem;
        let mut arguments = mount_options::parse(&spec.mount_options, filesystem::journal_option(of).as_deref())?;
        arguments.add(&filesystem::own_options(of, &devices, journal));
        Ok(Self {
            source: filesystem::mount_source(of.kind, &devices),
            devices,
            kind: of.kind,
            arguments,
            options: spec.mount_options.clone(),
            pool: None,
            is_lazy: of.lazy_init,
        })
    }

    pub(crate) fn mount(&self, folder: &Path, access: &mut Access<'_>) -> Result<Mounted, Cause> {
        let Some(program) = self.kind.mounting.program else {
            return access.executor.mount(&Mount {
                source: &self.source,
                folder,
                kind: self.kind.mount_type(),
                arguments: &self.arguments,
            });
        };
        let mut call = Invocation::new(Tool::Filesystem(program)).arg(&self.source).arg(folder);
        if !self.options.is_empty() {
            call = call.arg("-o").arg(self.options.join(","));
        }
        access.run(&call, &self.devices)?;
        access.executor.mounted(folder)?.ok_or_else(|| {
            let folder = folder.display();
            Cause::State(format!("{} succeeded, but {folder} is not mounted", program.file))
        })
    }
}
