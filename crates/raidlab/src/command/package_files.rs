//! `raidlab package-files`: what `make deb` puts into packages and only this program knows.

use super::kernel::ready;
use crate::expected::ExpectedError;
use crate::manual;
use lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use std::path::Path;
use std::process::ExitCode;

/// Where the package has kernels.
const INSTALLED: &str = "/usr/lib/raidlab/kernels";

pub fn package_files(folder: &Path, with_kernel: bool) -> Result<ExitCode, ExpectedError> {
    manual::write(folder).map_err(ExpectedError::Machine)?;
    if !with_kernel {
        return Ok(ExitCode::SUCCESS);
    }
    let kernel = ready(&Cache::of_user(), &KernelName::parse(DEFAULT_VERSION))?;
    let own = folder.join("kernel");
    kernel.write_package(&own.join("kernels"), &own.join("added"), Path::new(INSTALLED))?;
    Ok(ExitCode::SUCCESS)
}
