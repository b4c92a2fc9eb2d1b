//! Buses, channels and adapters that several disks share.

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A shared link that serves one transfer at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkDescription {
    /// Transfer time of a sector.
    pub sector_ps: u64,
    /// Additional time of each transfer: arbitration, selection.
    pub transfer_ns: u64,
    /// Only one command at a time on all its disks, from issue to completion (IDE: no overlap of master and slave).
    pub one_command: bool,
}

/// SCSI-2 (X3.131): arbitration delay, bus clear delay and two bus settle delays, once per transfer.
const SCSI_ARBITRATION_NS: u64 = 2_400 + 800 + 2 * 400;

impl LinkDescription {
    /// A bus of `mb_s` · 10⁶ bytes a second without additional costs, such as PCI or a host bus adapter.
    pub const fn bus(mb_s: u32) -> Self {
        // A sector is 512 bytes. Avoids a division by zero.
        let mb_s = if mb_s == 0 { 1 } else { mb_s };
        LinkDescription {
            sector_ps: 512_000_000 / mb_s as u64,
            transfer_ns: 0,
            one_command: false,
        }
    }

    /// A parallel SCSI bus: an arbitration precedes each transfer.
    pub const fn scsi(mb_s: u32) -> Self {
        LinkDescription {
            transfer_ns: SCSI_ARBITRATION_NS,
            ..Self::bus(mb_s)
        }
    }

    /// An IDE channel: only one of its disks has a command at a time.
    pub const fn ide(mb_s: u32) -> Self {
        LinkDescription {
            one_command: true,
            ..Self::bus(mb_s)
        }
    }
}

/// State of the links.
pub struct Links {
    links: Vec<Link>,
}

struct Link {
    description: LinkDescription,
    free_ns: u64,
}

impl Links {
    pub fn new(descriptions: &[LinkDescription]) -> Self {
        Links {
            links: descriptions
                .iter()
                .map(|d| Link {
                    description: d.clone(),
                    free_ns: 0,
                })
                .collect(),
        }
    }

    /// Reserves every link of a path for a transfer that wants to start now; returns the time of its last sector.
    pub fn transfer(&mut self, path: &[u32], want_ns: u64, sectors: u32) -> u64 {
        let mut start_ns = want_ns;
        for &index in path {
            if let Some(link) = self.links.get(index as usize) {
                start_ns = start_ns.max(link.free_ns);
            }
        }
        let mut end_ns = start_ns;
        for &index in path {
            if let Some(link) = self.links.get_mut(index as usize) {
                let takes_ns = link.description.transfer_ns + span_ns(sectors, link.description.sector_ps);
                link.free_ns = start_ns + takes_ns;
                end_ns = end_ns.max(link.free_ns);
            }
        }
        end_ns
    }

    pub fn one_command(&self, index: u32) -> bool {
        self.links
            .get(index as usize)
            .is_some_and(|l| l.description.one_command)
    }
}

/// Transfer time of `sectors` sectors.
pub fn span_ns(sectors: u32, sector_ps: u64) -> u64 {
    u64::from(sectors) * sector_ps / 1000
}
