//! A power-cut trial in the lab: many guests, one result.

use super::{Seen, TrialReport};
use lab::power_cut::{Error, Exploration};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use store::Ending;
use study::FindingKind;
use study::event::{Event, Failure, Sample};
use study::metric::Metric;
use study::workload::POWER_CUT_TESTS;

/// Whether a state counts for a test's metric.
fn counts_for(metric: Metric, found: &BTreeSet<FindingKind>) -> bool {
    let kind = match metric {
        Metric::AcknowledgedLost => FindingKind::Lost,
        Metric::WrongData => FindingKind::Wrong,
        Metric::NotMountable => FindingKind::NotMountable,
        Metric::CheckerComplaints => FindingKind::Checker,
        Metric::StaleParity => FindingKind::Parity,
        _ => return true,
    };
    found.contains(&kind)
}

pub(super) fn run(exploration: &Exploration<'_>, stop: &AtomicBool, see: &mut dyn FnMut(Seen)) -> TrialReport {
    let began = Instant::now();
    let mut counts = [0_u64; POWER_CUT_TESTS.len()];
    // In virtual time, so that the same trial has the same events.
    let mut last_ns = 0;
    let see = std::cell::RefCell::new(see);
    let tell = |event: Event| (see.borrow_mut())(Seen::Event(event));
    let explored = exploration.all(stop, &mut |event| tell(event), &mut |judged| {
        let found = judged.verdict.kinds();
        for (count, (_, metric)) in counts.iter_mut().zip(POWER_CUT_TESTS) {
            *count += u64::from(counts_for(metric, &found));
        }
        last_ns = last_ns.max(judged.at_ns);
        for (number, finding) in judged.findings().into_iter().enumerate() {
            tell(Event::Finding {
                state: counts[0],
                number,
                finding,
            });
        }
    });
    let ending = match explored {
        Ok(_) => {
            for ((test, metric), count) in POWER_CUT_TESTS.into_iter().zip(counts) {
                tell(Event::Sample(Sample {
                    test: test.into(),
                    metric,
                    value: count as f64,
                }));
            }
            tell(Event::Done { at_ns: last_ns });
            Ending::Done
        }
        Err(Error::Stopped) => Ending::Interrupted,
        Err(error) => Ending::Failed(Failure {
            step: "power cut".to_owned(),
            message: error.to_string(),
        }),
    };
    TrialReport {
        ending,
        wall: began.elapsed(),
        halt: None,
    }
}
