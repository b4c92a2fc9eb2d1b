//! Tests that are shown and decide nothing: short ones, and those of caches.

use super::{SHORT_S, ShortTest, Test};
use crate::input::Input;
use crate::words::named;

impl Test<'_> {
    /// Its shortest and longest duration if most stacks end it in less than [`SHORT_S`]; `None` also if one is not known.
    fn short_s(&self, own: &[bool]) -> Option<(f64, f64)> {
        let own_scores = self.scores.iter().zip(own).filter(|(_, own)| **own);
        let with_figure = own_scores.map(|(score, _)| score).filter(|score| score.ratio.is_some());
        let mut all: Vec<f64> = with_figure
            .map(|score| score.seconds.map(|(own, _)| own))
            .collect::<Option<_>>()?;
        all.sort_by(f64::total_cmp);
        let median = *all.get(all.len() / 2)?;
        (median < SHORT_S).then(|| (all[0], all[all.len() - 1]))
    }
}

fn has_weight(input: &Input, test: &Test<'_>) -> bool {
    input.plan.weights.iter().any(|(name, _)| name == test.base)
}

/// Tests that measured memory or caches do not count, unless the study gives their workload a weight. Returns their names.
pub(super) fn leave_caches_out(input: &Input, tests: &mut [Test<'_>]) -> Vec<String> {
    let mut names = Vec::new();
    for test in tests {
        let key = (test.workload.name.clone(), test.name.to_owned());
        if input.of_caches.contains(&key) && !has_weight(input, test) {
            test.counts = false;
            test.is_of_caches = true;
            names.push(named(&test.workload.name, test.name));
        }
    }
    names
}

/// Short tests do not count, unless the study gives their workload a weight or all that can count are short.
pub(super) fn leave_short_out(input: &Input, tests: &mut [Test<'_>], own: &[bool]) -> Vec<ShortTest> {
    let durations: Vec<Option<(f64, f64)>> = tests.iter().map(|test| test.short_s(own)).collect();
    let counted = tests
        .iter()
        .zip(&durations)
        .filter(|(test, _)| test.counts && input.plan.weight(test.base) > 0);
    if counted.map(|(_, duration)| duration).all(Option::is_some) {
        return Vec::new();
    }
    let mut short = Vec::new();
    for (test, duration) in tests.iter_mut().zip(durations) {
        if test.is_of_caches {
            continue;
        }
        let Some((shortest_s, longest_s)) = duration.filter(|_| !has_weight(input, test)) else {
            continue;
        };
        test.counts = false;
        short.push(ShortTest {
            name: named(&test.workload.name, test.name),
            shortest_s,
            longest_s,
        });
    }
    short
}
