//! Errors that prevent the exploration of a power cut.

use crate::LostSectors;

/// Bad input, something that the machine lacks, or a guest that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    #[error("--cell {cell}: its workload has no power cuts; `raidlab plan` lists the cells")]
    NoPowerCuts { cell: u64 },
    #[error("--leave-out {number}: the operations of this cell are 0 to {last}")]
    NoSuchOperation { number: u32, last: u32 },
    #[error("--lose {lost}: the disks of this cell are 1 to {disks}")]
    NoSuchDisk { lost: LostSectors, disks: usize },
    #[error("--lose {lost}: the sectors of disk {} are 0 to {}", lost.disk, sectors.saturating_sub(1))]
    NoSuchSectors { lost: LostSectors, sectors: u64 },
    #[error(transparent)]
    PowerCut(#[from] lab::power_cut::Error),
}
