//! What is simulated.

use crate::latent::Latent;
use crate::layout::RedundantLayout;
use crate::lifetime::Weibull;

/// Disks that were made and bought together: in this share of the arrays, all first disks fail this number of times as
/// often as those of the other arrays. The mean over all disks stays that of the given distribution, which is also that
/// of replacements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    pub share: f64,
    pub factor: f64,
}

impl Batch {
    /// What the hazards of the other arrays and of these are multiplied by.
    pub(crate) fn multipliers(self) -> (f64, f64) {
        let mean = 1.0 - self.share + self.share * self.factor;
        (1.0 / mean, self.factor / mean)
    }
}

/// What differs between a disk and another in time, not in kind.
#[derive(Clone, Debug)]
pub struct GroupModel {
    /// Time from the start of a disk until it fails.
    pub lifetime: Weibull,
    /// Time from a failure until the replacement's rebuild begins (0: a spare is there).
    pub delay: f64,
    /// Time of a rebuild. Several missing disks are rebuilt at the same time.
    pub rebuild: Weibull,
    pub latent: Latent,
    /// Whether what is already rebuilt no longer depends on unreadable sectors. In the models of the literature all of
    /// the disk does until the rebuild ends.
    pub is_progress_safe: bool,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub layout: RedundantLayout,
    pub disk: GroupModel,
    pub batch: Option<Batch>,
    /// Length of a history.
    pub hours: f64,
}
