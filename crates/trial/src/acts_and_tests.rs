//! What acts mean for the tests of a workload.

use std::time::Instant;
use study::phase::{Phase, Phases};
use study::wording::number;
use study::workload::Work;

/// Shorter phases say nothing of a test.
const SHORTEST_S: f64 = 0.005;

/// Those of the work's tests that were to include every act. Of tests one after the other only the last: the others are
/// right for the phases of the array in which they ran.
pub(crate) fn of_all_acts<'a>(work: &Work, tests: &'a [String]) -> &'a [String] {
    match work {
        Work::Tree(_) | Work::Server(_) | Work::Iozone(_) => &tests[tests.len().saturating_sub(1)..],
        _ => tests,
    }
}

/// Whether each test has a guard that names the phases in which it ran, because its figures are not divided by phase.
pub(crate) const fn reports_phases(work: &Work) -> bool {
    matches!(
        work,
        Work::Tree(_) | Work::Server(_) | Work::Bonnie(_) | Work::Iozone(_)
    )
}

/// `healthy (5.00 s), rebuilding (1.25 s)`: the phases of the array between two instants, with their times.
pub(crate) fn phases_between(phases: &Phases, from: Instant, until: Instant) -> String {
    let lasting = |shortest_s: f64| -> Vec<String> {
        let lasted = |phase: Phase| (phase, phases.lasted(phase, from, until).as_secs_f64());
        let all = Phase::ALL.into_iter().map(lasted);
        let long = all.filter(|(_, seconds)| *seconds > 0.0 && *seconds >= shortest_s);
        long.map(|(phase, seconds)| format!("{} ({} s)", phase.name(), number(seconds, 2)))
            .collect()
    };
    let all = lasting(SHORTEST_S);
    // All count in a test that is as short.
    match all.is_empty() {
        true => lasting(0.0).join(", "),
        false => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use study::workload::{IoPattern, IoSpec, SizeSpec, TreeSpec, TreeTest};

    #[test]
    fn a_late_act_takes_only_from_the_test_that_was_to_include_it() {
        let tree = TreeSpec {
            files: 10,
            size: SizeSpec {
                min_bytes: 4096,
                median_bytes: 4096,
                max_bytes: 4096,
            },
            directories: 1,
            tests: vec![TreeTest::Write, TreeTest::Read],
            from: None,
            from_warm: false,
            to: None,
        };
        let names = |work: &Work| -> Vec<String> { work.tests().into_iter().map(str::to_owned).collect() };
        let tree = Work::Tree(tree);
        assert_eq!(of_all_acts(&tree, &names(&tree)), ["read"]);
        assert!(reports_phases(&tree));
        let io = Work::Io(IoSpec {
            pattern: IoPattern::RandRw,
            ..IoSpec::default()
        });
        assert_eq!(of_all_acts(&io, &names(&io)), ["randrw", "read", "write"]);
        assert!(!reports_phases(&io));
    }

    #[test]
    fn phases_of_a_test_have_their_times() {
        let phases = Phases::begin();
        let now = Instant::now();
        let at = |seconds: u64| now + Duration::from_secs(seconds);
        phases.enter(Phase::Degraded, at(10));
        phases.enter(Phase::Rebuilding, at(15));
        assert_eq!(
            phases_between(&phases, at(9), at(17)),
            "healthy (1.00 s), degraded (5.00 s), rebuilding (2.00 s)"
        );
        assert_eq!(phases_between(&phases, at(16), at(17)), "rebuilding (1.00 s)");
        let short = at(16) + Duration::from_millis(1);
        assert_eq!(phases_between(&phases, at(16), short), "rebuilding (0.00 s)");
    }
}
