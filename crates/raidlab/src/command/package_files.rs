//! `raidlab package-files`: files for `make deb` that only this program can generate.

use crate::error::ExpectedError;
use crate::manual;
use crate::progress::KernelBar;
use lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use prepare::{kernels, now_unix_s};
use std::path::Path;
use std::process::ExitCode;

/// The package's folder for kernels.
const INSTALLED: &str = "/usr/lib/raidlab/kernels";

pub fn package_files(folder: &Path, with_kernel: bool) -> Result<ExitCode, ExpectedError> {
    // The convention of reproducible builds.
    let date = std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    manual::write(folder, date.unwrap_or_else(now_unix_s)).map_err(ExpectedError::Machine)?;
    if !with_kernel {
        return Ok(ExitCode::SUCCESS);
    }
    let kernel = kernels::ready(
        &Cache::of_user(),
        &KernelName::parse(DEFAULT_VERSION),
        KernelBar::show_build,
    )?;
    let own = folder.join("kernel");
    kernel.write_package(&own.join("kernels"), &own.join("added"), Path::new(INSTALLED))?;
    Ok(ExitCode::SUCCESS)
}
