//! How a disk is identified while it is attached and after a reboot.

use crate::device::device_number::DeviceNumber;
use crate::device::disk::Disk;
use crate::device::relations::Relations;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// A disk, identified once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The kernel's name, for messages.
    pub node: PathBuf,
    pub serial: Option<String>,
    pub wwid: Option<String>,
    pub size_bytes: u64,
    pub number: DeviceNumber,
    /// The kernel's `diskseq`: increases with each attached disk, also if a name is reused (Linux 5.15).
    pub sequence: Option<u64>,
    /// The devices below it, if any.
    pub foundation: Vec<String>,
}

/// A property that changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Differs {
    what: &'static str,
    was: String,
    is: String,
}

impl fmt::Display for Differs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its {} changed from {} to {}", self.what, self.was, self.is)
    }
}

impl Identity {
    pub fn of(disk: &Disk) -> Identity {
        Identity {
            node: disk.node.clone(),
            serial: disk.serial.clone(),
            wwid: disk.wwid.clone(),
            size_bytes: disk.size_bytes,
            number: disk.number,
            sequence: disk.sequence,
            foundation: Relations::of(&disk.sysfs).foundation(),
        }
    }

    /// Its argument for `--destroy`.
    pub fn handle(&self) -> String {
        let name = self.node.file_name().unwrap_or_default().to_string_lossy();
        self.serial.clone().unwrap_or_else(|| name.into_owned())
    }

    /// Whether a disk is this one, still attached as it was.
    pub fn check(&self, now: &Identity) -> Result<(), Differs> {
        let of = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let facts = [
            ("serial number", of(&self.serial), of(&now.serial)),
            ("world-wide name", of(&self.wwid), of(&now.wwid)),
            ("size", self.size_bytes.to_string(), now.size_bytes.to_string()),
            ("device number", self.number.to_string(), now.number.to_string()),
            (
                "sequence number",
                format!("{:?}", self.sequence),
                format!("{:?}", now.sequence),
            ),
            ("place", self.foundation.join(", "), now.foundation.join(", ")),
        ];
        match facts.into_iter().find(|(_, was, is)| was != is) {
            Some((what, was, is)) => Err(Differs { what, was, is }),
            None => Ok(()),
        }
    }

    /// Whether a disk is this one, even if it was attached again. One without serial number and world-wide name
    /// cannot be distinguished from another after it was detached.
    pub(crate) fn is_of_hardware(&self, disk: &Disk, same_boot: bool) -> bool {
        let is_named = self.serial.is_some() || self.wwid.is_some();
        let same = match is_named {
            true => self.serial == disk.serial && self.wwid == disk.wwid,
            false => same_boot && self.number == disk.number && self.sequence == disk.sequence,
        };
        same && self.size_bytes == disk.size_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            node: "/dev/sdb".into(),
            serial: Some("S1".to_owned()),
            wwid: None,
            size_bytes: 5,
            number: DeviceNumber { major: 8, minor: 16 },
            sequence: Some(7),
            foundation: Vec::new(),
        }
    }

    #[test]
    fn anything_that_differs_is_another_disk() {
        assert_eq!(identity().check(&identity()), Ok(()));
        type Change = fn(&mut Identity);
        let changes: [(Change, &str); 6] = [
            (|other| other.serial = None, "serial number changed from S1 to none"),
            (
                |other| other.wwid = Some("w".to_owned()),
                "world-wide name changed from none to w",
            ),
            (|other| other.size_bytes = 6, "size changed from 5 to 6"),
            (
                |other| other.number.minor = 17,
                "device number changed from 8:16 to 8:17",
            ),
            (|other| other.sequence = Some(8), "sequence number"),
            (
                |other| other.foundation.push("loop0".to_owned()),
                "place changed from  to loop0",
            ),
        ];
        for (change, words) in changes {
            let mut other = identity();
            change(&mut other);
            let differs = identity().check(&other).expect_err(words).to_string();
            assert!(differs.contains(words), "{differs}");
        }
    }
}
