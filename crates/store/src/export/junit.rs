//! A run as JUnit XML, for CI servers: its trials, its guards and the claims of its study as test cases.

use super::Keys;
use crate::record::{RunSummary, TrialRecord, TrialStatus};
use crate::{Result, Store};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::time::Duration;
use study::Recorded;
use study::event::Guard;
use study::plan::Plan;

/// A claim's verdict as a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimCase {
    pub name: String,
    pub outcome: ClaimOutcome,
    /// The effect in words.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    Passed,
    Failed,
    /// Undecided or untestable.
    Skipped,
}

pub(super) fn xml(store: &Store, run: &RunSummary, claims: &[ClaimCase]) -> Result<String> {
    let plan = store.plan(run.id)?;
    let keys = Keys::of(&plan);
    let mark = super::machine_mark(run.machine);
    let mut report = Report::new(format!("{} ({mark})", run.title));
    report.add_test_suite(trials(&plan, &store.trials(run.id)?));
    report.add_test_suite(guards(&keys, &store.guards(run.id)?));
    report.add_test_suite(of_claims(claims));
    let xml = report.to_string().expect("writing to memory does not fail");
    // XML has no characters for them.
    Ok(xml.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

/// The duration of a trial is the time on its own machine.
fn trials(plan: &Plan, rows: &[TrialRecord]) -> TestSuite {
    let cells = plan.cells_by_id();
    let mut suite = TestSuite::new("trials");
    for row in rows {
        let status = match (row.status, &row.failure) {
            (TrialStatus::Done, _) => TestCaseStatus::success(),
            (TrialStatus::Failed, failure) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                if let Some(failure) = failure {
                    status.set_type(&failure.step).set_message(&failure.message);
                }
                status
            }
            (other, _) => skipped(other.name()),
        };
        let cell = cells.get(&row.key.cell);
        let name = cell.map_or("", |cell| &cell.workload.name);
        let mut case = TestCase::new(format!("{name}, trial {}", row.key.index), status);
        if let Some(cell) = cell {
            case.set_classname(&cell.stack_label);
        }
        case.set_time(Duration::from_nanos(row.machine_ns.unwrap_or(0)));
        suite.add_test_case(case);
    }
    suite
}

/// One case for each guard of each test of a cell. It fails if the guard failed, and names the trials.
fn guards(keys: &Keys<'_>, rows: &[Recorded<Guard>]) -> TestSuite {
    let mut cases: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for row in rows {
        let guard = &row.entry;
        let test = guard.test.as_deref().unwrap_or("all tests");
        let doubts = cases.entry((keys.of_trial(row.trial), test, &guard.name)).or_default();
        if !guard.passed {
            doubts.push(format!("trial {}: {}", row.trial.index, guard.detail));
        }
    }
    let mut suite = TestSuite::new("guards");
    for ((cell, test, guard), doubts) in cases {
        let mut status = TestCaseStatus::success();
        if !doubts.is_empty() {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(guard).set_message(doubts.join("\n"));
        }
        let mut case = TestCase::new(format!("{test}: {guard}"), status);
        case.set_classname(cell);
        suite.add_test_case(case);
    }
    suite
}

fn of_claims(claims: &[ClaimCase]) -> TestSuite {
    let mut suite = TestSuite::new("claims");
    for claim in claims {
        let status = match claim.outcome {
            ClaimOutcome::Passed => TestCaseStatus::success(),
            ClaimOutcome::Skipped => skipped(&claim.detail),
            ClaimOutcome::Failed => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type("refuted").set_message(&claim.detail);
                status
            }
        };
        let mut case = TestCase::new(&claim.name, status);
        case.set_classname("claims");
        suite.add_test_case(case);
    }
    suite
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(why);
    status
}
