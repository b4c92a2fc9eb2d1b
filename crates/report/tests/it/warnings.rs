//! Warnings about comparisons are shown next to the comparison, on the page and in the terminal.

use crate::first_look;
use report::{Input, TableOptions, TrialState, html, table};
use study::stack::MachineKind;
use study::{Load, Recorded};

fn text(input: &Input) -> String {
    table(input, TableOptions::plain(10_000))
}

fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let begin = text.find(from).expect(from);
    let end = text[begin..].find(to).map_or(text.len(), |end| begin + end);
    &text[begin..end]
}

/// The first look with a stack without barriers.
fn without_barriers() -> Input {
    let mut input = first_look::input();
    let label = input.plan.cells[0].stack_label.clone();
    for cell in input.plan.cells.iter_mut().filter(|cell| cell.stack_label == label) {
        cell.stack_mut().mount_options.push("nobarrier".to_owned());
        cell.axes.push(("mount".to_owned(), "nobarrier".to_owned()));
    }
    input
}

#[test]
fn unlike_stacks_are_named_at_the_ranking() {
    assert!(!text(&first_look::input()).contains("comparable"));
    assert!(!html(&first_look::input()).contains("Warning (`comparable`)"));
    let input = without_barriers();
    let said = text(&input);
    let of_workload = part(&said, "\nsmall files", "\nmedium files");
    assert!(
        of_workload.contains("Warning (`comparable`): stacks also differ in barriers"),
        "{of_workload}"
    );
    let key = &input.plan.cells[0].key;
    assert!(
        of_workload.contains(&format!("`{key}` has barriers off")),
        "{of_workload}"
    );
    assert!(
        of_workload.contains("mount both with them or both without"),
        "{of_workload}"
    );
    let page = html(&input);
    assert!(
        part(&page, "id=\"work0\"", "id=\"work1\"")
            .contains("Warning (`comparable`): stacks also differ in barriers")
    );
}

#[test]
fn unlike_stacks_are_named_at_the_claim() {
    let mut input = without_barriers();
    input.plan.claims[0].filter.clear();
    input.plan.claims[0].that = "all equal".to_owned();
    let warnings = input.warnings();
    assert_eq!(warnings.of_claim(0).len(), 1, "{warnings:?}");
    let page = html(&input);
    assert!(part(&page, "id=\"claims\"", "</section>").contains(" pairs): "));
    assert!(part(&page, "id=\"claims\"", "</section>").contains("Warning (`comparable`)"));
}

/// The first look as if from a host whose speed halved from round to round.
fn drifting() -> Input {
    let mut input = first_look::input();
    input.run.machine = MachineKind::Host;
    for cell in &mut input.plan.cells {
        cell.machine_mut().kind = MachineKind::Host;
    }
    input.trials.retain(|trial| trial.state == TrialState::Done);
    input.trials.sort_by_key(|trial| trial.key.index);
    for (place, trial) in input.trials.iter_mut().enumerate() {
        trial.started = Some(place as u64);
    }
    for sample in &mut input.samples {
        sample.entry.value *= 0.5_f64.powi(sample.trial.index as i32);
    }
    input
}

#[test]
fn a_drift_is_said_above_the_verdict() {
    let mut input = drifting();
    let said = text(&input);
    let line = said
        .lines()
        .find(|line| line.contains("Warning (`drift`)"))
        .expect("a warning");
    assert!(line.contains("became") && line.contains("slower"), "{line}");
    assert!(said.find("Warning (`drift`)") < said.find("small files  ("));
    assert!(part(&html(&input), "<h1>", "<p class=\"verdict\">").contains("Warning (`drift`)"));
    for trial in &mut input.trials {
        trial.started = None;
    }
    assert!(
        !text(&input).contains("Warning (`drift`)"),
        "all trials are reused from other runs"
    );
}

#[test]
fn the_lab_has_neither_drift_nor_order() {
    let mut input = drifting();
    input.run.machine = MachineKind::Lab;
    assert!(!text(&input).contains("Warning (`drift`)"));
    assert!(!text(&input).contains("Warning (`order`)"));
}

/// As if the first of ten trials of each cell had been slower by this factor on a host.
fn slow_at_first(times: f64) -> Input {
    let mut input = drifting();
    let first: Vec<_> = input
        .trials
        .iter()
        .filter(|trial| trial.key.index == 0)
        .cloned()
        .collect();
    let samples: Vec<_> = input
        .samples
        .iter()
        .filter(|one| one.trial.index == 0)
        .cloned()
        .collect();
    (input.trials, input.samples) = (Vec::new(), Vec::new());
    for index in 0..10_u32 {
        for (place, trial) in first.iter().enumerate() {
            let mut trial = trial.clone();
            trial.key.index = index;
            trial.started = Some(u64::from(index) * first.len() as u64 + place as u64);
            input.trials.push(trial);
        }
        for (place, sample) in samples.iter().enumerate() {
            let mut sample = sample.clone();
            sample.trial.index = index;
            // Noise of one percent without a trend.
            let noise = f64::from((index * 7 + place as u32 * 3) % 10) / 1000.0;
            let slower = if index == 0 { times } else { 1.0 };
            let is_rate = sample.entry.metric.better() == study::metric::Better::Higher;
            sample.entry.value *= (1.0 + noise) * if is_rate { 1.0 / slower } else { slower };
            input.samples.push(sample);
        }
    }
    input
}

#[test]
fn slow_first_trials_are_said_above_the_verdict() {
    let input = slow_at_first(1.5);
    let said = text(&input);
    let line = said
        .lines()
        .find(|line| line.contains("Warning (`order`)"))
        .expect("a warning");
    assert!(
        line.contains("the first trial of each cell is 33") && line.contains("slower than the others"),
        "{line}"
    );
    assert!(
        line.contains("let the machine warm up with an unmeasured run"),
        "{line}"
    );
    assert!(said.find("Warning (`order`)") < said.find("small files  ("));
    assert!(part(&html(&input), "<h1>", "<p class=\"verdict\">").contains("Warning (`order`)"));
    assert!(!text(&slow_at_first(1.0)).contains("Warning (`order`)"));
}

#[test]
fn busy_disks_next_to_those_under_test_are_said_above_the_verdict() {
    let moved = |rates: &[f64]| {
        text(&loaded(rates, |rate| Load {
            other_disks_mib_per_s: Some(rate),
            ..Load::default()
        }))
    };
    assert!(!moved(&[9.99, 0.0]).contains("Warning (`loaded`)"));
    let said = moved(&[0.1, 83.2]);
    assert!(
        said.contains(
            "disks that are not under test moved more than 10 MiB/s during 1 of 2 trials, at the most 83 MiB/s"
        ),
        "{said}"
    );
}

/// The first look, as if a host had measured it with these loads.
fn loaded(values: &[f64], load: impl Fn(f64) -> Load) -> Input {
    let mut input = first_look::input();
    input.run.machine = MachineKind::Host;
    let trials = input.trials.iter().map(|trial| trial.key);
    let rows = trials.zip(values).map(|(trial, value)| Recorded {
        trial,
        entry: load(*value),
    });
    input.facts.loads = rows.collect();
    input
}

/// While other programs used this share of its processors.
fn others(percent: f64) -> Load {
    Load {
        others_processor_percent: percent,
        ..Load::default()
    }
}

#[test]
fn a_loaded_machine_is_said_above_the_verdict() {
    assert!(!text(&loaded(&[9.9, 0.0, 10.0], others)).contains("Warning (`loaded`)"));
    let input = loaded(&[9.9, 47.4, 10.1, 0.0], others);
    let said = text(&input);
    let key = &input
        .plan
        .cells
        .iter()
        .find(|cell| cell.id == input.trials[1].key.cell)
        .expect("a cell")
        .key;
    let words = format!(
        "during 2 of 4 trials, at the most 47 % (`{key}`, trial {})",
        input.trials[1].key.index + 1
    );
    assert!(said.contains(&words), "{said}");
    assert!(said.find("Warning (`loaded`)") < said.find("small files  ("));
    assert!(part(&html(&input), "<h1>", "<p class=\"verdict\">").contains("Warning (`loaded`)"));
}
