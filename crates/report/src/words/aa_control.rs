//! The A/A control in words.

use crate::input::Input;
use study::stack::MachineKind;

/// The warning at the top if replicates differ; `None` if they do not, or if there are none.
pub(crate) fn warning(input: &Input) -> Option<String> {
    let pairs = stats::control(&input.plan, &input.samples);
    let differ: Vec<&stats::ControlPair> = pairs.iter().filter(|pair| pair.differs).collect();
    let worst = differ
        .iter()
        .max_by(|one, other| one.ratio.ln().abs().total_cmp(&other.ratio.ln().abs()))?;
    Some(format!(
        "The A/A control differs: {} and {}, which are the same, in {}: {:.2} times ({:.2} to {:.2}); {} of {} comparisons \
         of replicates. This run cannot show smaller differences between stacks.",
        worst.first,
        worst.second,
        worst.test,
        worst.ratio,
        worst.interval.low,
        worst.interval.high,
        differ.len(),
        pairs.len()
    ))
}

/// The result of the control if it found nothing, or the note that a run on a host has none.
pub(crate) fn note(input: &Input) -> Option<String> {
    let pairs = stats::control(&input.plan, &input.samples);
    if pairs.is_empty() {
        let is_missing =
            input.run.machine == MachineKind::Host && input.plan.cells.iter().all(|cell| cell.replicate == 0);
        return is_missing
            .then(|| "none: whether this machine gives the same figures twice was not tested".to_owned());
    }
    let is_clean = pairs.iter().all(|pair| !pair.differs);
    is_clean.then(|| format!("no difference in {} comparisons of replicates", pairs.len()))
}
