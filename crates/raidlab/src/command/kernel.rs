//! `raidlab kernel`: build, list.

use super::print;
use crate::cli::KernelCommand;
use crate::expected::ExpectedError;
use crate::progress::KernelBar;
use lab::kernel::{Cache, DEFAULT_VERSION, Kernel, KernelError, Source};
use std::path::Path;
use std::process::ExitCode;

pub fn kernel(command: &KernelCommand) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    match command {
        KernelCommand::List => print(&list(&cache))?,
        KernelCommand::Build { what, name } => {
            let what = what.as_deref().unwrap_or(DEFAULT_VERSION);
            let kernel = if Path::new(what).is_dir() {
                build(&cache, &Source::tree(Path::new(what), name.as_deref())?)?
            } else {
                ready(&cache, what)?
            };
            print(&line(&kernel))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The kernel of that name; built now if it was not.
pub fn ready(cache: &Cache, name: &str) -> Result<Kernel, KernelError> {
    match cache.find(name)? {
        Ok(kernel) => Ok(kernel),
        Err(source) => build(cache, &source),
    }
}

fn build(cache: &Cache, source: &Source) -> Result<Kernel, KernelError> {
    let bar = KernelBar::new(&source.name);
    let kernel = cache.build(source, &mut |progress| bar.show(progress));
    bar.end();
    kernel
}

fn list(cache: &Cache) -> String {
    let kernels = cache.list();
    if kernels.is_empty() {
        return "no kernel is built yet\n".to_owned();
    }
    kernels.iter().map(line).collect()
}

fn line(kernel: &Kernel) -> String {
    format!("{:<12} {:<24} {}\n", kernel.name, kernel.release, kernel.source)
}
