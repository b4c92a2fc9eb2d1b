//! Devices of device mapper, by name.

use crate::machine::access::Access;
use crate::machine::error::Cause;
use std::path::{Path, PathBuf};
use tools::{Invocation, Tool};

pub(crate) fn node_of(name: &str) -> PathBuf {
    Path::new("/dev/mapper").join(name)
}

/// Its table, without keys.
pub(crate) fn table(name: &str) -> Invocation {
    Invocation::new(Tool::Dmsetup).args(["table", name])
}

/// Whether the device with this name is on this device alone.
pub(crate) fn is_only_on(name: &str, kernel_name: &str, access: &mut Access<'_>) -> Result<bool, Cause> {
    let deps = Invocation::new(Tool::Dmsetup).args(["deps", "-o", "blkdevname", name]);
    Ok(names_only(&access.ask(&deps)?.stdout, kernel_name))
}

/// `1 dependencies  : (vda)`
fn names_only(deps: &str, kernel_name: &str) -> bool {
    let devices = deps
        .split('(')
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap_or_default());
    let devices: Vec<&str> = devices.collect();
    devices == [kernel_name]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_ours_if_it_is_on_our_disk_alone() {
        assert!(names_only("1 dependencies\t: (vda)\n", "vda"));
        assert!(!names_only("1 dependencies\t: (vdb)\n", "vda"));
        assert!(!names_only("2 dependencies\t: (vda) (vdb)\n", "vda"));
        assert!(!names_only("0 dependencies\t:\n", "vda"));
    }
}
