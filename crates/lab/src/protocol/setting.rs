//! The setting of a stack in a guest.

use std::path::PathBuf;
use trial::{DiskKind, Disks, Teardown, TrialSetting};

/// The guest's own folder, on a tmpfs.
pub const FOLDER: &str = "/tmp/raidlab";

/// PATH of scripts and shells in a guest.
pub(crate) const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// The setting with these disks.
pub fn setting_on(disks: Disks) -> TrialSetting {
    TrialSetting {
        disks,
        folder: PathBuf::from(FOLDER),
        name: "raidlab".to_owned(),
        zeroed: true,
        created: false,
        disk_kind: DiskKind::Simulated,
        teardown: Teardown::None,
    }
}

/// Device nodes of `count` disks with the driver's names: vda … vdz, vdaa, …
pub fn devices(count: u32) -> Vec<PathBuf> {
    (0..count).map(device).collect()
}

pub(crate) fn device(disk: u32) -> PathBuf {
    let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
    match disk {
        0..26 => format!("/dev/vd{}", letter(disk)).into(),
        _ => format!("/dev/vd{}{}", letter(disk / 26 - 1), letter(disk)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn disks_have_the_names_of_the_driver() {
        assert_eq!(device(0), Path::new("/dev/vda"));
        assert_eq!(device(25), Path::new("/dev/vdz"));
        assert_eq!(device(26), Path::new("/dev/vdaa"));
        assert_eq!(device(53), Path::new("/dev/vdbb"));
    }
}
