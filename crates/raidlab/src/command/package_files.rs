//! `raidlab package-files`: what `make deb` puts into packages and only this program knows.

use super::kernel::ready;
use crate::expected::ExpectedError;
use crate::manual;
use lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use std::path::Path;
use std::process::ExitCode;

/// Where the package has kernels.
const INSTALLED: &str = "/usr/lib/raidlab/kernels";

/// Builds the kernel, if it is not built yet.
pub fn package_files(folder: &Path) -> Result<ExitCode, ExpectedError> {
    manual::write(folder).map_err(ExpectedError::Machine)?;
    let kernel = ready(&Cache::of_user(), &KernelName::parse(DEFAULT_VERSION))?;
    let own = folder.join("kernel");
    kernel.write_package(&own.join("kernels"), &own.join("added"), Path::new(INSTALLED))?;
    Ok(ExitCode::SUCCESS)
}
