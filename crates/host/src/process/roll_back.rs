//! Rolls back the open acts of a ledger.
//!
//! *Invariant*: as with [`stack::Undo`], an undo first checks that the object is still the one that was made, and does
//! nothing if it is gone; so a later process can repeat it. Devices that do not belong to the run are never touched,
//! whatever the ledger says.

use crate::device::disk::Disk;
use crate::device::sysfs;
use crate::ledger::ledger_file::boot_id;
use crate::ledger::ledger_file::{ClaimedDisk, Contents, DiskLedger, Header, Open};
use crate::ledger::run_devices::RunDevices;
use crate::ledger::undo::HostUndo;
use crate::process::cgroup;
use crate::process::loop_devices;
use crate::process::trial_ledger::carrier;
use crate::safety::signature;
use crate::safety::write_checks::UndoCheck;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tools::{Recorder, Tool, Tools};

/// The outcome of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Undone,
    /// Not made by the run, so it is left; the reason.
    Left(String),
}

/// Undoes the open acts, last one first; `report` is called with each act and its outcome.
pub(crate) fn roll_back(
    ledger: &mut DiskLedger,
    contents: Contents,
    report: &mut dyn FnMut(String, Result<Outcome, String>),
) -> io::Result<()> {
    let present: Vec<Tool> = Tool::all()
        .into_iter()
        .filter(|&tool| Tools::find(&[tool]).is_ok())
        .collect();
    let mut tools = Tools::find(&present).map_err(io::Error::other)?;
    // Running processes still use the objects to be removed.
    for open in &contents.open {
        if let HostUndo::Cgroup { path } = &open.undo {
            cgroup::end_all(path);
        }
    }
    let disks = Known::of(contents.header.as_ref(), &contents.open);
    for open in contents.open.into_iter().rev() {
        let words = open.undo.to_string();
        let outcome = disks.as_they_are_now(open.undo).and_then(|act| match act {
            Now::Act(act) => match disks.is_another(&act, open.identity.as_deref(), &tools)? {
                Some(why) => Ok(Outcome::Left(why)),
                None => undo(&act, &disks.devices, &mut tools, &mut |_| ()),
            },
            Now::Gone => Ok(Outcome::Undone),
            Now::NotOurs(why) => Ok(Outcome::Left(why)),
        });
        if outcome.is_ok() {
            // On a full disk it stays in the ledger, and the next rollback finds it undone.
            let _ = ledger.undone(open.entry);
        }
        report(words, outcome);
    }
    Ok(())
}

/// Rolls back an act, or as much of it as was done.
fn undo(
    act: &HostUndo,
    devices: &RunDevices,
    tools: &mut Tools,
    recorder: &mut dyn Recorder,
) -> Result<Outcome, String> {
    match act {
        HostUndo::Stack(act) => {
            let mut access = stack::Access {
                executor: &mut stack::System::new(tools),
                recorder,
                check: &mut UndoCheck { devices },
            };
            return match stack::undo(act, &mut access).map_err(|cause| cause.to_string())? {
                stack::Undoing::Undone => Ok(Outcome::Undone),
                stack::Undoing::Left(why) => Ok(Outcome::Left(why)),
            };
        }
        HostUndo::Loop { file } => loop_devices::detach(file, tools, recorder)?,
        HostUndo::File { path, made } => {
            if !loop_devices::remove(path, *made)? {
                let words = format!("{} was replaced by another file and is not removed", path.display());
                return Ok(Outcome::Left(words));
            }
        }
        HostUndo::Folder { path } => return remove_folder(path),
        HostUndo::Cgroup { path } => cgroup::remove(path)?,
    }
    Ok(Outcome::Undone)
}

fn remove_folder(path: &Path) -> Result<Outcome, String> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(Outcome::Left(format!(
            "{} contains files that the run did not create and is not removed",
            path.display()
        ))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(Outcome::Undone),
    }
}

/// The present state of an act.
#[derive(Debug, PartialEq, Eq)]
enum Now {
    Act(HostUndo),
    /// The object did not survive a reboot.
    Gone,
    /// It names something that does not belong to the run; the reason why it is left.
    NotOurs(String),
}

/// Attributes in /sys that studies set.
const ATTRIBUTES: &[&str] = &[
    "scheduler",
    "read_ahead_kb",
    "nr_requests",
    "queue_depth",
    "cache_type",
    "write_cache",
    "stripe_cache_size",
    "group_thread_cnt",
    "rmw_level",
    "skip_copy",
    "sync_speed_min",
    "sync_speed_max",
];

/// Current nodes of the disks of a ledger: after a reboot a node can be another disk.
struct Known {
    devices: RunDevices,
    /// A claimed disk and its current node, if present.
    disks: Vec<(ClaimedDisk, Option<PathBuf>)>,
    /// An array's node when it was created, and after it was assembled again.
    arrays: Vec<(PathBuf, PathBuf)>,
}

/// The node of the array that runs under this UUID (`md/uuid`, since Linux 5.10), if it is another one.
fn assembled_elsewhere(open: &Open) -> Option<(PathBuf, PathBuf)> {
    let HostUndo::Stack(stack::Undo::Array { node, uuid, .. }) = &open.undo else {
        return None;
    };
    let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    let is_it =
        |device: &&PathBuf| sysfs::text(&device.join("md/uuid")).is_some_and(|text| digits(&text) == digits(uuid));
    let device = sysfs::entries(Path::new("/sys/block"))
        .iter()
        .find(is_it)
        .map(|device| sysfs::name(device))?;
    let now = Path::new("/dev").join(device);
    (now != *node).then(|| (node.clone(), now))
}

impl Known {
    fn of(header: Option<&Header>, open: &[Open]) -> Known {
        let claims = header.map(|header| header.claims.clone()).unwrap_or_default();
        let same_boot = header.is_some_and(|header| header.boot_id == boot_id());
        let present: Vec<Disk> = sysfs::entries(Path::new("/sys/class/block"))
            .iter()
            .filter_map(|device| Disk::at(&Path::new("/dev").join(sysfs::name(device))).ok())
            .collect();
        let place = |claim: ClaimedDisk| {
            let is_it = |disk: &&Disk| claim.identity.is_of_hardware(disk, same_boot);
            let node = present.iter().find(is_it).map(|disk| disk.node.clone());
            (claim, node)
        };
        let files = open.iter().filter_map(|open| match &open.undo {
            HostUndo::Loop { file } => Some(file.clone()),
            _ => None,
        });
        Known {
            devices: RunDevices {
                claims: claims.clone(),
                same_boot,
                files: files.collect(),
            },
            disks: claims.into_iter().map(place).collect(),
            arrays: open.iter().filter_map(assembled_elsewhere).collect(),
        }
    }

    /// The act with the current nodes of its disks.
    fn as_they_are_now(&self, act: HostUndo) -> Result<Now, String> {
        let HostUndo::Stack(of_stack) = &act else {
            return Ok(Now::Act(act));
        };
        let is_attribute = matches!(of_stack, stack::Undo::Attribute { .. });
        let is_folder = matches!(of_stack, stack::Undo::Folder { .. });
        if !self.devices.same_boot && (is_attribute || (self.disks.is_empty() && !is_folder)) {
            return Ok(Now::Gone);
        }
        if let stack::Undo::Attribute { path, value } = of_stack {
            return Ok(match self.may_set(path, value) {
                Ok(true) => Now::Act(act),
                Ok(false) => Now::Gone,
                Err(why) => Now::NotOurs(why),
            });
        }
        let mut value = serde_json::to_value(&act).map_err(|error| error.to_string())?;
        self.rename(&mut value)?;
        // An array is identified by its UUID, whatever its number.
        let devices = match &act {
            HostUndo::Stack(stack::Undo::Array { .. }) => &value["stack"]["members"],
            _ => &value,
        };
        if let Some(other) = self.foreign(devices) {
            return Ok(Now::NotOurs(format!(
                "{other} is not a device of the run and is not changed"
            )));
        }
        serde_json::from_value(value)
            .map(Now::Act)
            .map_err(|error| error.to_string())
    }

    /// Whether an attribute is one that a study sets, of a device of the run; false if it is gone.
    fn may_set(&self, path: &Path, value: &str) -> Result<bool, String> {
        let shown = path.display();
        let name = sysfs::name(path);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-' || c == '_';
        if !ATTRIBUTES.contains(&name.as_str()) || value.len() > 64 || !value.chars().all(is_word) {
            return Err(format!(
                "{shown} is not an attribute that studies set and is not changed"
            ));
        }
        let Ok(attribute) = path.canonicalize() else {
            return Ok(false);
        };
        // For a disk behind a controller, the attribute may be the controller's.
        let device = attribute
            .ancestors()
            .find(|folder| folder.join("dev").exists() && folder.join("size").exists());
        let behind = attribute
            .ancestors()
            .map(|folder| folder.join("block"))
            .find(|folder| folder.is_dir());
        let mut of = device
            .map(Path::to_owned)
            .into_iter()
            .chain(behind.map(|folder| sysfs::entries(&folder)).into_iter().flatten());
        match attribute.starts_with("/sys/devices") && of.any(|folder| self.devices.own_folder(&folder)) {
            true => Ok(true),
            false => Err(format!(
                "{shown} does not belong to a device of the run and is not changed"
            )),
        }
    }

    /// Why the contents of a device may have been made by others since; none if they are those of the run, or gone. Not
    /// checked for files of the run.
    fn is_another(&self, act: &HostUndo, identity: Option<&str>, tools: &Tools) -> Result<Option<String>, String> {
        let HostUndo::Stack(act) = act else { return Ok(None) };
        let Some(device) = carrier(act).filter(|device| device.exists() && !self.devices.is_on_own_files(device))
        else {
            return Ok(None);
        };
        let now = signature::identity(device, tools)?;
        let shown = device.display();
        Ok(match identity {
            _ if now.is_empty() => None,
            Some(identity) if identity == now => None,
            Some(_) => Some(format!(
                "the contents of {shown} were not created by the run and are not changed"
            )),
            None => Some(format!(
                "cannot determine whether the run created the contents of {shown}: they are not changed"
            )),
        })
    }

    /// A device in an act that does not belong to the run.
    fn foreign(&self, value: &serde_json::Value) -> Option<String> {
        match value {
            serde_json::Value::String(text) if text.starts_with("/dev/") => {
                (!self.devices.own(Path::new(text))).then(|| text.clone())
            }
            serde_json::Value::Array(all) => all.iter().find_map(|value| self.foreign(value)),
            serde_json::Value::Object(all) => all.values().find_map(|value| self.foreign(value)),
            _ => None,
        }
    }

    fn rename(&self, value: &mut serde_json::Value) -> Result<(), String> {
        match value {
            serde_json::Value::String(text) => {
                if let Some((_, now)) = self.arrays.iter().find(|(node, _)| node == Path::new(text)) {
                    *text = now.display().to_string();
                    return Ok(());
                }
                let Some((claim, now)) = self
                    .disks
                    .iter()
                    .find(|(claim, _)| claim.identity.node == Path::new(text))
                else {
                    return Ok(());
                };
                let now = now.as_ref().ok_or_else(|| {
                    let serial = claim.identity.serial.as_deref().unwrap_or("none");
                    let node = claim.identity.node.display();
                    format!("the disk that was {node} (serial {serial}) is missing")
                })?;
                *text = now.display().to_string();
                Ok(())
            }
            serde_json::Value::Array(all) => all.iter_mut().try_for_each(|value| self.rename(value)),
            serde_json::Value::Object(all) => all.values_mut().try_for_each(|value| self.rename(value)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::device_number::DeviceNumber;
    use crate::device::identity::Identity;

    fn claim(node: &str) -> ClaimedDisk {
        let number = DeviceNumber { major: 8, minor: 16 };
        ClaimedDisk {
            identity: Identity {
                node: node.into(),
                serial: Some("S1".to_owned()),
                wwid: None,
                size_bytes: 1,
                number,
                sequence: None,
                foundation: Vec::new(),
            },
            numbers: vec![number],
        }
    }

    fn known(same_boot: bool, disks: Vec<(ClaimedDisk, Option<PathBuf>)>) -> Known {
        Known {
            devices: RunDevices {
                same_boot,
                ..RunDevices::default()
            },
            disks,
            arrays: Vec::new(),
        }
    }

    fn array(members: &[&str]) -> HostUndo {
        HostUndo::Stack(stack::Undo::Array {
            node: "/dev/md100".into(),
            uuid: "u".into(),
            members: members.iter().map(PathBuf::from).collect(),
        })
    }

    #[test]
    fn disks_are_followed_to_their_new_names() {
        let known = known(
            false,
            vec![(claim("/dev/sdy"), Some("/dev/sdz".into())), (claim("/dev/sdx"), None)],
        );
        let renamed = known.as_they_are_now(array(&["/dev/sdy"])).expect("it is there");
        assert_eq!(renamed, Now::Act(array(&["/dev/sdz"])));
        let error = known
            .as_they_are_now(array(&["/dev/sdy", "/dev/sdx"]))
            .expect_err("one is gone");
        assert_eq!(error, "the disk that was /dev/sdx (serial S1) is missing");
    }

    /// /dev/loop3 may belong to others after a reboot.
    #[test]
    fn what_was_on_loop_devices_did_not_outlive_a_restart() {
        let act = |same_boot| known(same_boot, Vec::new()).as_they_are_now(array(&["/dev/gone"]));
        assert_eq!(act(false), Ok(Now::Gone));
        assert_eq!(act(true), Ok(Now::Act(array(&["/dev/gone"]))));
        let folder = HostUndo::Folder { path: "/x".into() };
        let now = known(false, Vec::new()).as_they_are_now(folder.clone());
        assert_eq!(now, Ok(Now::Act(folder)));
    }

    #[test]
    fn an_attribute_is_one_that_studies_set_and_expires_with_the_boot() {
        let set = |same_boot, path: &str, value: &str| {
            let act = HostUndo::Stack(stack::Undo::Attribute {
                path: path.into(),
                value: value.to_owned(),
            });
            known(same_boot, vec![(claim("/dev/sdy"), None)]).as_they_are_now(act)
        };
        for (path, value) in [
            ("/etc/cron.d/x", "* * * * * root id"),
            ("/etc/scheduler", "x"),
            ("/sys/power/state", "mem"),
            ("/proc/self/comm", "x"),
            ("/sys/kernel/mm/lru_gen/../../../../proc/self/comm", "x"),
        ] {
            let now = set(true, path, value);
            assert!(matches!(now, Ok(Now::NotOurs(_) | Now::Gone)), "{path}: {now:?}");
            assert_eq!(set(false, path, value), Ok(Now::Gone));
        }
    }

    #[test]
    fn a_device_that_is_there_and_not_of_the_run_is_left() {
        let null = HostUndo::Stack(stack::Undo::Signatures {
            device: "/dev/null".into(),
            types: "ext4".to_owned(),
        });
        let now = known(true, vec![(claim("/dev/sdy"), None)]).as_they_are_now(null);
        assert!(matches!(now, Ok(Now::NotOurs(_))), "{now:?}");
    }

    #[test]
    fn another_file_under_the_name_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("disk0");
        fs::write(&path, "mine").expect("written");
        let mut tools = Tools::find(&[]).expect("nothing is wanted");
        let made = Some(crate::ledger::undo::Inode { device: 0, number: 0 });
        for made in [made, None] {
            let act = HostUndo::File {
                path: path.clone(),
                made,
            };
            let outcome = undo(&act, &RunDevices::default(), &mut tools, &mut |_| ());
            assert!(matches!(outcome, Ok(Outcome::Left(_))), "{outcome:?}");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), "mine");
        }
    }
}
