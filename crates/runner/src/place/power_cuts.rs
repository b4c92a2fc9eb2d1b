//! A trial of power cuts in the lab: many guests, one result.

use super::{Seen, TrialReport};
use lab::power_cut::{Error, Exploration, Judged};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use store::Ending;
use study::event::{Event, Failure, Sample};
use study::metric::Metric;
use study::workload::POWER_CUT_TEST;
use trial::power_cut::{Verdict, ViolationKind};

/// The columns of the table of verdicts, and when a state counts for them.
const COLUMNS: [(Metric, fn(&Verdict) -> bool); 6] = [
    (Metric::StatesTried, |_| true),
    (Metric::AcknowledgedLost, |verdict| verdict.has(ViolationKind::Lost)),
    (Metric::WrongData, |verdict| verdict.has(ViolationKind::Wrong)),
    (Metric::NotMountable, |verdict| verdict.not_mountable.is_some()),
    (Metric::CheckerComplaints, |verdict| verdict.checker_complaint.is_some()),
    (Metric::StaleParity, |verdict| verdict.stale_sectors > 0),
];

pub(super) fn run(exploration: &Exploration<'_>, stop: &AtomicBool, see: &mut dyn FnMut(Seen)) -> TrialReport {
    let began = Instant::now();
    let mut counts = [0_u64; COLUMNS.len()];
    let see = std::cell::RefCell::new(see);
    let tell = |event: Event| (see.borrow_mut())(Seen::Event(event));
    let explored = exploration.all(stop, &mut |event| tell(event), &mut |judged| {
        for (count, (_, counts_for)) in counts.iter_mut().zip(COLUMNS) {
            *count += u64::from(counts_for(&judged.verdict));
        }
        for (number, words) in findings(judged).into_iter().enumerate() {
            tell(Event::Provenance {
                key: format!("power-cut.finding.{}.{number}", counts[0]),
                value: words,
            });
        }
    });
    let ending = match explored {
        Ok(_) => {
            for ((metric, _), count) in COLUMNS.into_iter().zip(counts) {
                tell(Event::Sample(Sample {
                    test: POWER_CUT_TEST.to_owned(),
                    metric,
                    value: count as f64,
                }));
            }
            tell(Event::Done {
                at_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            });
            Ending::Done
        }
        Err(Error::Stopped) => Ending::Interrupted,
        Err(error) => Ending::Failed(Failure {
            step: POWER_CUT_TEST.to_owned(),
            message: error.to_string(),
        }),
    };
    TrialReport {
        ending,
        wall: began.elapsed(),
        halt: None,
    }
}

/// Each with the instant and the seed that repeat it.
fn findings(judged: &Judged) -> Vec<String> {
    let verdict = &judged.verdict;
    let violations = verdict.violations.iter().map(|violation| {
        let kind = match violation.kind {
            ViolationKind::Lost => "acknowledged, but lost",
            ViolationKind::Wrong => "wrong data",
        };
        format!("{kind}: {}", violation.detail)
    });
    let others = [
        verdict
            .not_mountable
            .as_ref()
            .map(|why| format!("not mountable: {why}")),
        verdict
            .checker_complaint
            .as_ref()
            .map(|what| format!("checker: {what}")),
        (verdict.stale_sectors > 0).then(|| format!("{} sectors disagree after the resync", verdict.stale_sectors)),
    ];
    let at = format!("cut at {} ns, seed {}", judged.at_ns, judged.seed);
    let all = others.into_iter().flatten().chain(violations);
    all.map(|words| format!("{at}: {words}")).collect()
}
