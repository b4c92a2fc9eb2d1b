//! Reasons why a combination is impossible.

/// Page size of x86, the maximum block size of most filesystems.
pub(crate) const PAGE_BYTES: u64 = 4 << 10;

/// Why a combination is impossible.
#[derive(Clone, Debug)]
pub(crate) struct Impossible {
    /// The axes that cause it, starting with the one to change first.
    pub about: Vec<&'static str>,
    pub reason: String,
    pub help: String,
}

pub(crate) fn impossible(about: &[&'static str], reason: String, help: impl Into<String>) -> Option<Impossible> {
    Some(Impossible {
        about: about.to_vec(),
        reason,
        help: help.into(),
    })
}
