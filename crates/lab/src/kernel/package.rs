//! A kernel as part of a package.

use super::{Kernel, KernelError, KernelName, create_dir, embedded, io_error};
use std::fs;
use std::path::Path;

impl Kernel {
    /// Writes the kernel for a package: `NAME-KEY/linux` and its record, which refers to the folder `installed`,
    /// into the folder `kernels`; and the configuration, patches and driver, as they were compiled, into `added`.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write_package(&self, kernels: &Path, added: &Path, installed: &Path) -> Result<(), KernelError> {
        let name = format!("{}-{}", self.name, self.key);
        let folder = kernels.join(&name);
        create_dir(&folder)?;
        let image = folder.join("linux");
        fs::copy(&self.path, &image).map_err(io_error("cannot write", &image))?;
        let mut kernel = self.clone();
        kernel.path = installed.join(name).join("linux");
        let record = serde_json::to_string_pretty(&kernel).expect("a kernel's record is plain data");
        write(&folder.join("kernel.json"), record.as_bytes())?;

        let parts = KernelName::parse(&self.name).parts();
        let Some(set) = embedded::patches_for(&self.release) else {
            return Ok(());
        };
        for (path, contents) in embedded::files(set, parts) {
            // The disk model is in the archive of raidlab's source.
            if path.as_os_str() != "model" {
                write(&added.join(path), contents)?;
            }
        }
        Ok(())
    }
}

fn write(path: &Path, contents: &[u8]) -> Result<(), KernelError> {
    create_dir(path.parent().unwrap_or(path))?;
    fs::write(path, contents).map_err(io_error("cannot write", path))
}
