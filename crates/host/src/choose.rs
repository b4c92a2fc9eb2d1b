//! Which of the disks that the user named may be overwritten.

use crate::disk::Disk;
use crate::obstacle::{Obstacle, obstacles};
use std::fmt;
use std::path::PathBuf;
use tools::Tools;

/// What the user named, and what the study needs.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    pub devices: &'a [PathBuf],
    /// Serial numbers of disks whose signatures may be destroyed.
    pub destroy: &'a [String],
    pub count: usize,
    pub bytes_each: u64,
}

/// A disk that may be overwritten, and what is lost by that.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub disk: Disk,
    /// Signatures that the user gave up by the disk's serial number.
    pub given_up: Vec<Obstacle>,
}

/// Why not, all reasons at once. Nothing was touched.
#[derive(Debug, thiserror::Error)]
pub struct Refused {
    pub reasons: Vec<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "these disks are not overwritten; nothing was touched:")?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

/// Lets disks through that are whole, free, empty, large enough and each named once; looks only.
pub fn choose(wanted: &Wanted<'_>, tools: &Tools) -> Result<Vec<Chosen>, Refused> {
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
        if let Some(same) = chosen.iter().find(|other| other.disk.is_same_disk(&disk)) {
            let (one, two) = (same.disk.given.display(), path.display());
            reasons.push(format!("{one} and {two} are the same disk: {disk}"));
        }
        match judge(&disk, wanted, tools) {
            Ok(given_up) => chosen.push(Chosen { disk, given_up }),
            Err(mut against) => {
                reasons.append(&mut against);
                chosen.push(Chosen {
                    disk,
                    given_up: Vec::new(),
                });
            }
        }
    }
    reasons.extend(unknown_serials(wanted, &chosen));
    if wanted.devices.len() < wanted.count {
        reasons.push(format!(
            "the study wants {}, and --devices names {}",
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

/// The signatures that are given up, or the reasons against.
fn judge(disk: &Disk, wanted: &Wanted<'_>, tools: &Tools) -> Result<Vec<Obstacle>, Vec<String>> {
    let mut found = obstacles(disk, tools);
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
    if against.is_empty() {
        return Ok(given_up);
    }
    let only_signatures = against.iter().all(Obstacle::can_be_lifted);
    let mut words: Vec<String> = against.iter().map(|obstacle| format!("{disk}: {obstacle}")).collect();
    if only_signatures && let Some(last) = words.last_mut() {
        let handle = disk.handle();
        last.push_str(&format!("; `--destroy {handle}` gives up what is on it"));
    }
    Err(words)
}

/// A serial number that is none of the disks' is a slip of the hand, or meant for another disk.
fn unknown_serials(wanted: &Wanted<'_>, chosen: &[Chosen]) -> Vec<String> {
    let known: Vec<&str> = chosen.iter().map(|chosen| chosen.disk.handle()).collect();
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
