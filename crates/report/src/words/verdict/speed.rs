//! Describes a run in words: what the tiers show, and what they do not show.

use stats::{Closeness, Measure, Results, TRIALS_MIN};
use std::collections::BTreeMap;
use study::metric::Better;

/// Maximum number of undecided tests that are named individually.
const NAMED_MAX: usize = 4;

/// A test with its names and its main metric.
struct Ranked<'a> {
    name: String,
    measure: &'a Measure,
}

/// A few sentences: which stack is fastest in how many tests, and where no difference is shown.
pub fn speed_verdict(results: &Results) -> String {
    sentences(results).join(" ")
}

/// The same sentence by sentence, the most important first.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let all = headlines(results);
    let tests: Vec<&Ranked<'_>> = all.iter().filter(|test| test.measure.placed() > 1).collect();
    if all.is_empty() {
        return vec!["Nothing has been measured yet.".to_owned()];
    }
    if tests.is_empty() {
        let has_two = |test: &Ranked<'_>| test.measure.rows.iter().filter(|row| row.summary.is_some()).count() > 1;
        return vec![match all.iter().any(has_two) {
            true => format!(
                "Too few trials to rank anything: at least {TRIALS_MIN} of each stack are needed to show a difference."
            ),
            false => "There are no two stacks to compare in any test.".to_owned(),
        }];
    }
    let mut sentences = vec![fastest(&tests)];
    sentences.extend(ties(&tests, "Equal", |leaders| match leaders {
        Closeness::EqualWithin(share) => Some(format!(" within {}: take any", percent(share))),
        Closeness::Alone | Closeness::MayDiffer(_) => None,
    }));
    sentences.extend(ties(&tests, "No difference shown", |leaders| match leaders {
        Closeness::MayDiffer(share) => Some(format!(", they may differ by {}", percent(share))),
        Closeness::Alone | Closeness::EqualWithin(_) => None,
    }));
    sentences.extend(not_placed(&all));
    sentences
}

fn headlines(results: &Results) -> Vec<Ranked<'_>> {
    let of_workload = results.workloads.iter().flat_map(|workload| {
        workload.tests.iter().map(move |test| Ranked {
            name: format!("{} {}", workload.name, test.name),
            measure: test.headline(),
        })
    });
    of_workload
        .filter(|test| test.measure.metric.better() != Better::Neither)
        .collect()
}

/// `xfs is fastest in 2 of 8 tests (small files read, copy), ext4 in 1 (small files write).`
fn fastest(tests: &[&Ranked<'_>]) -> String {
    let mut wins: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for test in tests {
        if let [alone] = test.measure.leaders() {
            wins.entry(*alone).or_default().push(&test.name);
        }
    }
    let mut wins: Vec<(&str, Vec<&str>)> = wins
        .into_iter()
        .map(|(place, won)| (tests[0].measure.rows[place].stack.as_str(), won))
        .collect();
    // A stable sort: equals keep the study's order.
    wins.sort_by_key(|(_, won)| std::cmp::Reverse(won.len()));
    let of_all = match tests.len() {
        1 => "the only test".to_owned(),
        2 => "both tests".to_owned(),
        count => format!("{count} tests"),
    };
    match wins.as_slice() {
        [] if tests.len() == 1 => "No stack is shown to be the fastest.".to_owned(),
        [] => "No stack is shown to be the fastest in any test.".to_owned(),
        [(stack, _)] if tests.len() == 1 => format!("{stack} is fastest in {of_all}."),
        [(stack, won)] if won.len() == tests.len() => {
            let all = if tests.len() == 2 { "" } else { "all " };
            format!("{stack} is fastest in {all}{of_all}.")
        }
        [(stack, won), others @ ..] => {
            let others: String = others
                .iter()
                .map(|(stack, won)| format!(", {stack} in {} ({})", won.len(), named(won)))
                .collect();
            format!(
                "{stack} is fastest in {} of {} tests ({}){others}.",
                won.len(),
                tests.len(),
                named(won)
            )
        }
    }
}

/// The first names of a list, and the number of the others.
fn named(names: &[&str]) -> String {
    let rest = names.len().saturating_sub(NAMED_MAX);
    let shown = names[..names.len() - rest].join(", ");
    if rest == 0 {
        shown
    } else {
        format!("{shown} and {rest} more")
    }
}

/// Tests in which several stacks lead: `Equal: small files write (ext4 and xfs within 1.2 %).` `how` selects the tests
/// and says what follows the stacks.
fn ties(tests: &[&Ranked<'_>], heading: &str, how: fn(Closeness) -> Option<String>) -> Option<String> {
    let ties: Vec<String> = tests
        .iter()
        .filter_map(|test| {
            let how = how(test.measure.ranking.leaders)?;
            let stacks: Vec<&str> = test.measure.ranking.tiers[0]
                .iter()
                .map(|&place| test.measure.rows[place].stack.as_str())
                .collect();
            let stacks = match stacks.len() == test.measure.placed() {
                true if stacks.len() > 2 => format!("all {}", stacks.len()),
                _ => listed(&stacks),
            };
            Some(format!("{} ({stacks}{how})", test.name))
        })
        .collect();
    if ties.is_empty() {
        return None;
    }
    let rest = match ties.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        rest => format!("; and {rest} more"),
    };
    let named = ties.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
    Some(format!("{heading}: {named}{rest}."))
}

/// `1.2 %`, `35 %`: two digits, rounded up, because it is a limit.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0..0.1 => "0.1 %".to_owned(),
        0.1..10.0 => format!("{:.1} %", (percent * 10.0).ceil() / 10.0),
        10.0..1000.0 => format!("{:.0} %", percent.ceil()),
        _ => "more than ten times".to_owned(),
    }
}

/// `Too few trials to rank: jfs in 1 test, xfs in 2.`
fn not_placed(tests: &[Ranked<'_>]) -> Option<String> {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for row in tests.iter().flat_map(|test| test.measure.not_placed()) {
        match counts.iter_mut().find(|(stack, _)| *stack == row.stack) {
            Some((_, count)) => *count += 1,
            None => counts.push((&row.stack, 1)),
        }
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(stack, count)| format!("{stack} in {count} test{}", if *count == 1 { "" } else { "s" }))
        .collect();
    (!words.is_empty()).then(|| format!("Too few trials to rank: {}.", words.join(", ")))
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::judge;
    use study::event::Sample;
    use study::metric::Metric;
    use study::plan::{Cell, Plan, Precision};
    use study::stack::{MachineKind, MachineSpec, StackSpec};
    use study::workload::{IoSpec, Work, WorkloadSpec};
    use study::{CellId, Measurement, TrialKey};

    fn stacks() -> Plan {
        let mut plan = Plan {
            title: String::new(),
            description: String::new(),
            source: String::new(),
            models: Vec::new(),
            processors: Vec::new(),
            cells: ["xfs", "ext4", "jfs"].map(cell).into(),
            left_out: Vec::new(),
            claims: Vec::new(),
            tables: Vec::new(),
            precision: Precision::fixed(3),
        };
        plan.identify();
        plan
    }

    fn cell(stack: &str) -> Cell {
        Cell {
            key: stack.to_owned(),
            id: CellId::default(),
            stack_label: stack.to_owned(),
            replicate: 0,
            acts: Vec::new(),
            axes: Vec::new(),
            machine: MachineSpec {
                kind: MachineKind::Lab,
                ram_bytes: 1 << 30,
                kernel: "6.12".to_owned(),
                processor: None,
                disks: Vec::new(),
                buses: Vec::new(),
            },
            stack: StackSpec {
                mount_options: vec![stack.to_owned()],
                ..StackSpec::default()
            },
            workload: WorkloadSpec {
                name: "small files".to_owned(),
                work: Work::Io(IoSpec::default()),
            },
        }
    }

    fn measurement(plan: &Plan, stack: &str, test: &str, index: u32, value: f64) -> Measurement {
        let cell = plan.cells.iter().find(|cell| cell.stack_label == stack);
        Measurement {
            trial: TrialKey {
                cell: cell.expect("a stack of the plan").id,
                index,
                seed: 1000 + u64::from(index),
            },
            entry: Sample {
                test: test.into(),
                metric: Metric::Throughput,
                value,
            },
            failed_guards: Vec::new(),
        }
    }

    /// Three trials of each stack around the given values, with half a per cent of independent noise.
    fn test(name: &str, values: &[(&str, f64)]) -> Vec<Measurement> {
        let noise = [[1.005, 0.995, 1.0], [1.0, 1.004, 0.996], [0.996, 1.0, 1.005]];
        let plan = stacks();
        let trials = |place: usize, stack: &str, value: f64| {
            (0..3)
                .map(|index| measurement(&plan, stack, name, index, value * noise[place % 3][index as usize]))
                .collect()
        };
        values
            .iter()
            .enumerate()
            .flat_map(|(place, &(stack, value))| -> Vec<Measurement> { trials(place, stack, value) })
            .collect()
    }

    fn words(measurements: &[Measurement]) -> String {
        speed_verdict(&judge(&stacks(), measurements))
    }

    #[test]
    fn issue_12_17_wins_and_ties_say_of_which_tests() {
        let all = [
            test("read", &[("xfs", 90.0), ("ext4", 70.0), ("jfs", 50.0)]),
            test("copy", &[("xfs", 40.0), ("ext4", 30.0), ("jfs", 20.0)]),
            test("delete", &[("xfs", 4.0), ("ext4", 9.0), ("jfs", 2.0)]),
            test("write", &[("xfs", 80.0), ("ext4", 80.1), ("jfs", 20.0)]),
        ];
        assert_eq!(
            words(&all.concat()),
            "xfs is fastest in 2 of 4 tests (small files read, small files copy), ext4 in 1 (small files delete). \
             Equal: small files write (ext4 and xfs within 1.2 %: take any)."
        );
    }

    #[test]
    fn a_clear_case() {
        let all = [
            test("read", &[("xfs", 90.0), ("ext4", 70.0)]),
            test("copy", &[("xfs", 40.0), ("ext4", 30.0)]),
        ];
        assert_eq!(words(&all.concat()), "xfs is fastest in both tests.");
        assert_eq!(words(&all[0]), "xfs is fastest in the only test.");
    }

    #[test]
    fn nothing_to_tell_apart() {
        let one = test("read", &[("xfs", 80.0), ("ext4", 80.1), ("jfs", 80.0)]);
        assert_eq!(
            words(&one),
            "No stack is shown to be the fastest. Equal: small files read (all 3 within 1.7 %: take any)."
        );
    }

    #[test]
    fn too_little_to_speak_of() {
        assert_eq!(words(&[]), "Nothing has been measured yet.");
        assert_eq!(
            words(&test("read", &[("xfs", 80.0)])),
            "There are no two stacks to compare in any test."
        );
        let once = [
            measurement(&stacks(), "xfs", "read", 0, 1.0),
            measurement(&stacks(), "ext4", "read", 0, 500.0),
        ];
        assert_eq!(
            words(&once),
            "Too few trials to rank anything: at least 3 of each stack are needed to show a difference."
        );
    }

    #[test]
    fn a_stack_that_only_partly_ran_is_not_called_slow() {
        let mut all = test("read", &[("xfs", 90.0), ("ext4", 70.0)]);
        all.push(measurement(&stacks(), "jfs", "read", 0, 5.0));
        assert_eq!(
            words(&all),
            "xfs is fastest in the only test. Too few trials to rank: jfs in 1 test."
        );
    }
}
