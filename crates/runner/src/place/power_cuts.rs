//! A power-cut trial in the lab: many guests, one result.

use super::{Seen, TrialReport};
use lab::power_cut::{Error, Exploration};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use store::Ending;
use study::event::{Event, Failure, Sample};
use study::metric::Metric;
use study::workload::POWER_CUT_TESTS;
use trial::power_cut::{Verdict, ViolationKind};

/// Whether a state counts for a test's metric.
fn counts_for(metric: Metric, verdict: &Verdict) -> bool {
    match metric {
        Metric::AcknowledgedLost => verdict.has(ViolationKind::Lost),
        Metric::WrongData => verdict.has(ViolationKind::Wrong),
        Metric::NotMountable => verdict.not_mountable.is_some(),
        Metric::CheckerComplaints => verdict.checker_complaint.is_some(),
        Metric::StaleParity => verdict.stale_sectors > 0,
        _ => true,
    }
}

pub(super) fn run(exploration: &Exploration<'_>, stop: &AtomicBool, see: &mut dyn FnMut(Seen)) -> TrialReport {
    let began = Instant::now();
    let mut counts = [0_u64; POWER_CUT_TESTS.len()];
    // In virtual time, so that the same trial has the same events.
    let mut last_ns = 0;
    let see = std::cell::RefCell::new(see);
    let tell = |event: Event| (see.borrow_mut())(Seen::Event(event));
    let explored = exploration.all(stop, &mut |event| tell(event), &mut |judged| {
        for (count, (_, metric)) in counts.iter_mut().zip(POWER_CUT_TESTS) {
            *count += u64::from(counts_for(metric, &judged.verdict));
        }
        last_ns = last_ns.max(judged.at_ns);
        for (number, words) in judged.findings().into_iter().enumerate() {
            tell(Event::Provenance {
                key: format!("power-cut.finding.{}.{number}", counts[0]),
                value: words,
            });
        }
    });
    let ending = match explored {
        Ok(_) => {
            for ((test, metric), count) in POWER_CUT_TESTS.into_iter().zip(counts) {
                tell(Event::Sample(Sample {
                    test: test.to_owned(),
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
