//! Errors that prevent the exploration of a power cut.

/// Bad input, something that the machine lacks, or a guest that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    #[error("--cell {cell}: its workload has no power cuts; `raidlab plan` lists the cells")]
    NoPowerCuts { cell: u64 },
    #[error(transparent)]
    PowerCut(#[from] lab::power_cut::Error),
}
