//! Why a combination is impossible, as rules say it.

/// Page size of x86, in which most filesystems' blocks must fit.
pub(crate) const PAGE_BYTES: u64 = 4 << 10;

/// Why a combination cannot be.
#[derive(Clone, Debug)]
pub(crate) struct Impossible {
    /// The axes that it comes from, the one to change first.
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
