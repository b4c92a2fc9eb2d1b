//! Which of the disks that the user named may be overwritten.

use crate::device::blank_check::Fingerprint;
use crate::device::disk::Disk;
use crate::device::identity::Identity;
use crate::ledger::leftovers;
use crate::safety::judgement::{self, Circumstances, Judgement};
use crate::safety::obstacle::Obstacle;
use std::fmt;
use std::path::PathBuf;
use tools::Tools;

/// The disks that the user named, and the study's requirements.
#[derive(Clone, Debug)]
pub struct WantedDisks<'a> {
    pub devices: &'a [PathBuf],
    /// Serial numbers of disks whose signatures may be destroyed.
    pub destroy: &'a [String],
    pub count: usize,
    pub bytes_each: u64,
}

/// A disk that may be overwritten, and what will be lost.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub disk: Disk,
    /// Its contents that the user released by the disk's serial number.
    pub given_up: Vec<Obstacle>,
    /// Its identity when it was judged.
    pub(crate) identity: Identity,
    pub(crate) fingerprint: Fingerprint,
}

/// All reasons against it. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub struct Refused {
    pub reasons: Vec<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refusing to overwrite these disks; nothing was touched:")?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

/// Accepts disks that are not in use, blank or released, large enough and named only once. Only reads.
pub fn choose(wanted: &WantedDisks<'_>, tools: &Tools) -> Result<Vec<Chosen>, Refused> {
    let mut named: Vec<Disk> = Vec::new();
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut reasons = Vec::new();
    for path in wanted.devices {
        let disk = match Disk::at(path) {
            Ok(disk) => disk,
            Err(error) => {
                reasons.push(error.to_string());
                continue;
            }
        };
        if let Some(same) = named.iter().find(|other| other.is_same_disk(&disk)) {
            let (one, two) = (same.given.display(), path.display());
            reasons.push(format!("{one} and {two} are the same disk: {disk}"));
        }
        named.push(disk);
    }
    // Reading a large disk takes seconds, so all disks are read in parallel.
    let judged: Vec<Result<Chosen, Vec<String>>> = std::thread::scope(|scope| {
        let looks: Vec<_> = named
            .iter()
            .map(|disk| scope.spawn(|| judge(disk, wanted, tools)))
            .collect();
        let joined = looks.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|judged| judged.unwrap_or_else(|_| Err(vec!["a disk could not be checked".to_owned()])))
            .collect()
    });
    for judged in judged {
        match judged {
            Ok(one) => chosen.push(one),
            Err(mut against) => reasons.append(&mut against),
        }
    }
    reasons.extend(unknown_serials(wanted, &named));
    if wanted.devices.len() < wanted.count {
        reasons.push(format!(
            "the study needs {}, but --devices names {}",
            disks(wanted.count),
            disks(wanted.devices.len())
        ));
    }
    if reasons.is_empty() {
        Ok(chosen)
    } else {
        Err(Refused { reasons })
    }
}

fn disks(count: usize) -> String {
    match count {
        1 => "1 disk".to_owned(),
        _ => format!("{count} disks"),
    }
}

/// The contents that will be lost, or the reasons against it.
fn judge(disk: &Disk, wanted: &WantedDisks<'_>, tools: &Tools) -> Result<Chosen, Vec<String>> {
    let identity = Identity::of(disk);
    let Judgement {
        obstacles: mut found,
        fingerprint,
    } = look(disk, tools);
    if disk.size_bytes < wanted.bytes_each {
        found.push(Obstacle::TooSmall {
            has_bytes: disk.size_bytes,
            needs_bytes: wanted.bytes_each,
        });
    }
    let may_destroy = wanted.destroy.iter().any(|serial| serial == disk.handle());
    let (given_up, against): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|obstacle| may_destroy && obstacle.can_be_lifted());
    if let Some(fingerprint) = fingerprint.filter(|_| against.is_empty()) {
        return Ok(Chosen {
            disk: disk.clone(),
            given_up,
            identity,
            fingerprint,
        });
    }
    let only_contents = against.iter().all(Obstacle::can_be_lifted);
    let mut words: Vec<String> = against.iter().map(|obstacle| format!("{disk}: {obstacle}")).collect();
    if only_contents && let Some(last) = words.last_mut() {
        let handle = disk.handle();
        last.push_str(&format!("; `--destroy {handle}` allows it to be overwritten"));
    }
    Err(words)
}

/// A disk with only the data of the last run counts as blank.
fn look(disk: &Disk, tools: &Tools) -> Judgement {
    let mut circumstances = Circumstances {
        tools,
        ours: &[std::process::id()],
        is_claimed: false,
        left: None,
    };
    let left = leftovers::on(disk);
    if let Some(left) = &left {
        circumstances.left = Some(left);
        let judgement = judgement::judge(disk, &circumstances);
        if judgement.obstacles.is_empty() {
            return judgement;
        }
    }
    circumstances.left = None;
    judgement::judge(disk, &circumstances)
}

/// A serial number of no named disk is a typing error or means another disk.
fn unknown_serials(wanted: &WantedDisks<'_>, named: &[Disk]) -> Vec<String> {
    let known: Vec<&str> = named.iter().map(Disk::handle).collect();
    wanted
        .destroy
        .iter()
        .filter(|serial| !known.contains(&serial.as_str()))
        .map(|serial| {
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            format!("--destroy {serial}: no disk of --devices has this serial number; theirs are: {known}")
        })
        .collect()
}
