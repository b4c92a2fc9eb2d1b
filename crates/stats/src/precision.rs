//! When a cell needs no further trial.
//!
//! A rule that checks after every trial and stops when the interval is narrow by chance stops too early: its
//! intervals contain the true value less often than stated. There are two remedies. The rule checks only at
//! *planned looks*, each with half as many trials again as the last; and the error of 5 % is divided evenly among
//! them, so that, by Bonferroni's inequality, all intervals at all looks hold together at 95 %, including the one
//! at which the rule stops. This is the simplest spending function of Lan and DeMets, *Biometrika* 70 (1983); it
//! needs no assumption on the dependence between looks. Reported intervals use the same share, because the stopping
//! rule selected them.

use crate::group_sequential::{alpha_per_look, looks};
use crate::judge::{distinct, headline};
use crate::summary::Summary;
use study::Measurement;
use study::plan::Precision;

/// What to do with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run further trials, up to this total; then decide again.
    RunUpTo(u32),
    /// Every test is as precise as required and every claim is decided, or a fixed number of trials is reached.
    Done,
    /// The maximum number of trials is reached without the required precision.
    NotPrecise,
}

/// Decides for a cell after `trials` of its trials; `measurements` are those of the cell. Only the main metric of
/// each test counts: tail latencies would never be precise enough.
pub fn decide(precision: &Precision, trials: u32, measurements: &[Measurement]) -> Decision {
    let looks = looks(precision);
    if let Some(&next) = looks.iter().find(|&&look| look > trials) {
        let at_a_look = looks.contains(&trials);
        return if at_a_look && is_precise(precision, measurements) {
            Decision::Done
        } else {
            Decision::RunUpTo(next)
        };
    }
    if precision.relative.is_none() || is_precise(precision, measurements) {
        Decision::Done
    } else {
        Decision::NotPrecise
    }
}

fn is_precise(precision: &Precision, measurements: &[Measurement]) -> bool {
    let Some(relative) = precision.relative else {
        return false;
    };
    let alpha = alpha_per_look(precision);
    let tests = distinct(measurements.iter().map(|one| one.entry.test.as_str()));
    !tests.is_empty()
        && tests.into_iter().all(|test| {
            let of_test = || measurements.iter().filter(|one| one.entry.test == test);
            let metrics = distinct(of_test().map(|one| one.entry.metric));
            let Some(metric) = headline(&metrics) else { return true };
            let values: Vec<f64> = of_test()
                .filter(|one| one.entry.metric == metric && one.counts())
                .map(|one| one.entry.value)
                .collect();
            Summary::of(&values, alpha)
                .and_then(|summary| summary.relative_half_width())
                .is_some_and(|half_width| half_width <= relative)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::{measurement, plan};

    const ASKED: Precision = Precision {
        relative: Some(0.02),
        claims: false,
        min_trials: 3,
        max_trials: 12,
    };

    fn cell(values: &[f64]) -> Vec<Measurement> {
        let plan = plan(&["xfs"]);
        values
            .iter()
            .zip(0..)
            .map(|(&value, index)| measurement(&plan, "xfs", "read", index, value))
            .collect()
    }

    #[test]
    fn looks_are_few_and_planned() {
        assert_eq!(looks(&ASKED), [3, 5, 8, 12]);
        assert_eq!(alpha_per_look(&ASKED), 0.0125);
        assert_eq!(looks(&Precision::fixed(3)), [3]);
        assert_eq!(
            looks(&Precision {
                relative: Some(0.1),
                claims: false,
                min_trials: 9,
                max_trials: 4
            }),
            [4]
        );
    }

    #[test]
    fn steady_cells_stop_early_and_only_at_a_look() {
        let steady = cell(&[100.0, 100.01, 100.02, 100.0]);
        assert_eq!(decide(&ASKED, 3, &steady[..3]), Decision::Done);
        assert_eq!(decide(&ASKED, 2, &steady[..2]), Decision::RunUpTo(3));
        assert_eq!(decide(&ASKED, 4, &steady), Decision::RunUpTo(5));
    }

    #[test]
    fn unsteady_cells_go_on_to_the_end() {
        let unsteady = cell(&[
            100.0, 150.0, 80.0, 100.0, 130.0, 90.0, 70.0, 100.0, 120.0, 60.0, 99.0, 100.0,
        ]);
        assert_eq!(decide(&ASKED, 3, &unsteady[..3]), Decision::RunUpTo(5));
        assert_eq!(decide(&ASKED, 12, &unsteady), Decision::NotPrecise);
    }

    #[test]
    fn a_fixed_number_of_trials_is_done_when_they_are() {
        let fixed = Precision::fixed(3);
        assert_eq!(decide(&fixed, 1, &cell(&[1.0])), Decision::RunUpTo(3));
        assert_eq!(decide(&fixed, 3, &cell(&[1.0, 50.0, 9.0])), Decision::Done);
    }

    #[test]
    fn samples_with_failed_guards_do_not_make_a_cell_precise() {
        let mut steady = cell(&[100.0, 100.0, 100.0]);
        steady[0].failed_guards.push("cold-cache".to_owned());
        assert_eq!(decide(&ASKED, 3, &steady), Decision::RunUpTo(5));
    }
}
