//! Reasons to doubt comparisons between cells, in words: stacks that differ in settings that decide results, drift,
//! and effects of the order of trials.

use crate::input::{Input, TrialInfo};
use crate::words::figure::number;
use stats::{ComparedBy, Drift, Held, OrderEffect, RunPosition, Setting, Unlike};
use study::plan::Plan;
use study::stack::MachineKind;
use study::{Load, Measurement, OTHER_DISKS_MIB_PER_S_MAX, OTHERS_PROCESSOR_PERCENT_MAX, Recorded, TrialKey};

/// Warnings of a run as sentences, grouped by their subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// The whole run: drift, and effects of the order on all cells.
    pub run: Vec<String>,
    /// By the index of the claim or table in the plan.
    claims: Vec<(usize, String)>,
    tables: Vec<(usize, String)>,
    /// By the name of the workload.
    rankings: Vec<(String, String)>,
}

impl Warnings {
    /// Warnings from the plan and samples of a run. `order`: its trials as a host started them one after the other; empty in the lab,
    /// where no trial knows of another. `loads` of its trials: on hosts only.
    pub fn of(plan: &Plan, samples: &[Measurement], order: &[TrialKey], loads: &[Recorded<Load>]) -> Self {
        let mut warnings = Self::default();
        warnings.run.extend(loaded_words(plan, loads));
        warnings.run.extend(other_disks_words(plan, loads));
        for unlike in stats::unlike(plan, samples) {
            let words = unlike_words(&unlike);
            match unlike.by {
                ComparedBy::Claim(at) => warnings.claims.push((at, words)),
                ComparedBy::Table(at) => warnings.tables.push((at, words)),
                ComparedBy::Ranking(workload) => warnings.rankings.push((workload, words)),
            }
        }
        warnings.run.extend(stats::drift(plan, samples, order).map(drift_words));
        for effect in stats::order_effects(plan, samples, order) {
            let words = order_words(&effect);
            let of_cell = match &effect.place {
                RunPosition::Later(key) => plan.cells.iter().find(|cell| cell.key == *key),
                RunPosition::First | RunPosition::After(_) => None,
            };
            match of_cell {
                Some(cell) => warnings.rankings.push((cell.workload.name.clone(), words)),
                None => warnings.run.push(words),
            }
        }
        warnings
    }

    pub(crate) fn of_input(input: &Input) -> Self {
        let is_host = input.run.machine == MachineKind::Host;
        let order = order_of(input.trials.iter().filter(|_| is_host).cloned());
        Self::of(&input.plan, &input.samples, &order, &input.facts.loads)
    }

    /// Warnings about a claim, by its index in the plan.
    pub fn of_claim(&self, claim: usize) -> Vec<String> {
        let of_claim = self.claims.iter().filter(|(at, _)| *at == claim);
        of_claim.map(|(_, words)| words.clone()).collect()
    }

    /// Warnings about a table, by its index in the plan.
    pub fn of_table(&self, table: usize) -> Vec<String> {
        let of_table = self.tables.iter().filter(|(at, _)| *at == table);
        of_table.map(|(_, words)| words.clone()).collect()
    }

    /// Warnings about the ranking of a workload.
    pub fn of_ranking(&self, workload: &str) -> Vec<String> {
        let of_workload = self.rankings.iter().filter(|(name, _)| name == workload);
        of_workload.map(|(_, words)| words.clone()).collect()
    }
}

/// Trials in the order in which they were started, without those reused from another run.
pub fn order_of(trials: impl Iterator<Item = TrialInfo>) -> Vec<TrialKey> {
    let mut started: Vec<(u64, TrialKey)> = trials.filter_map(|trial| Some((trial.started?, trial.key))).collect();
    started.sort_unstable_by_key(|(place, _)| *place);
    started.into_iter().map(|(_, key)| key).collect()
}

impl Input {
    /// Reasons to doubt comparisons of this run.
    pub fn warnings(&self) -> Warnings {
        Warnings::of_input(self)
    }
}

fn unlike_words(unlike: &Unlike) -> String {
    let what = unlike.setting.words();
    let help = match unlike.setting {
        Setting::WriteCache => "give both the same `write_cache`",
        Setting::Barriers => "mount both with them or both without",
        Setting::Journal => "give both the same `journal`, or `data=` in `mount`",
        Setting::Caches => "let both read from the disks (no `pre_read`, no reading again), or both from memory",
    };
    let has = |(key, held): &(String, Held)| format!("`{key}` has {}", held_words(unlike.setting, *held));
    let of_pairs = match (unlike.pairs, unlike.compared) {
        (_, 1) => String::new(),
        (pairs, compared) => format!(" ({pairs} of {compared} pairs)"),
    };
    format!(
        "Warning (`comparable`): stacks also differ in {what}{of_pairs}: {}, {}. The difference may be due to that alone: \
         {help}, or add a stack that differs from one of them in nothing else.",
        has(&unlike.first),
        has(&unlike.second)
    )
}

fn held_words(setting: Setting, held: Held) -> String {
    let what = match setting {
        Setting::WriteCache => "write caches",
        Setting::Barriers => "barriers",
        Setting::Journal | Setting::Caches => "",
    };
    match held {
        Held::On => format!("{what} on"),
        Held::Off => format!("{what} off"),
        Held::OfDisks => format!("{what} as the disks come"),
        Held::Mode(mode) => format!("data={}", mode.word()),
        Held::NoMode => "no data in its journal".to_owned(),
        Held::Cold => "cold caches".to_owned(),
        Held::Warm => "warm caches".to_owned(),
    }
}

/// `18 % slower`.
fn change(ratio: f64) -> String {
    let word = if ratio < 1.0 { "slower" } else { "faster" };
    format!("{} % {word}", number(100.0 * (ratio - 1.0).abs(), 1))
}

fn probability(probability: f64) -> String {
    if probability < 0.0001 {
        "p < 0.0001".to_owned()
    } else {
        format!("p = {probability:.4}")
    }
}

/// Trials on a host whose load exceeds `limit`: the largest load, its trial, and `2 of 4 trials`.
fn above(
    loads: &[Recorded<Load>],
    load: impl Fn(&Load) -> Option<f64>,
    limit: f64,
) -> Option<(f64, TrialKey, String)> {
    let of_trial = |row: &Recorded<Load>| Some((load(&row.entry)?, row.trial));
    let loads: Vec<(f64, TrialKey)> = loads.iter().filter_map(of_trial).collect();
    let loaded = loads.iter().filter(|(load, _)| *load > limit);
    let (most, trial) = loaded.clone().max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    Some((*most, *trial, format!("{} of {} trials", loaded.count(), loads.len())))
}

/// Trials on a host during which other programs used its CPUs.
fn loaded_words(plan: &Plan, loads: &[Recorded<Load>]) -> Option<String> {
    let (most, trial, count) = above(
        loads,
        |load| Some(load.others_processor_percent),
        OTHERS_PROCESSOR_PERCENT_MAX,
    )?;
    let cell = plan.cells.iter().find(|cell| cell.id == trial.cell)?;
    Some(format!(
        "Warning (`loaded`): other programs used more than {OTHERS_PROCESSOR_PERCENT_MAX:.0} % of this machine's processors \
         during {count}, at the most {most:.0} % (`{}`, trial {}): stop them, and run it again.",
        cell.key,
        trial.index + 1
    ))
}

/// Trials on a host during which other programs used its other disks.
fn other_disks_words(plan: &Plan, loads: &[Recorded<Load>]) -> Option<String> {
    let (most, trial, count) = above(loads, |load| load.other_disks_mib_per_s, OTHER_DISKS_MIB_PER_S_MAX)?;
    let cell = plan.cells.iter().find(|cell| cell.id == trial.cell)?;
    Some(format!(
        "Warning (`loaded`): disks that are not under test moved more than {OTHER_DISKS_MIB_PER_S_MAX:.0} MiB/s during \
         {count}, at the most {most:.0} MiB/s (`{}`, trial {}), perhaps through the same controller: stop the programs \
         that use them, and run it again.",
        cell.key,
        trial.index + 1
    ))
}

fn drift_words(drift: Drift) -> String {
    format!(
        "Warning (`drift`): this machine drifts: from the first to the last trial of the run it became {} in all {} cells \
         together ({} trials, Mann and Kendall's test, {}). Interleaved rounds remove most of it from comparisons, \
         but not from the figures: check for heat, other load and filling disks, and run it again.",
        change(drift.ratio),
        drift.cells,
        drift.trials,
        probability(drift.probability)
    )
}

fn order_words(effect: &OrderEffect) -> String {
    let (what, help) = match &effect.place {
        RunPosition::First => (
            "the first trial of each cell is".to_owned(),
            "let the machine warm up with an unmeasured run",
        ),
        RunPosition::Later(cell) => (
            format!("`{cell}` changes during the run: its last trial is"),
            "check what its trials leave behind, and run it again",
        ),
        RunPosition::After(cell) => (
            format!("trials directly after one of `{cell}` are"),
            "check what that cell leaves behind: heat, full write caches, discards in progress",
        ),
    };
    let against = match effect.place {
        RunPosition::Later(_) => "than its first",
        RunPosition::First | RunPosition::After(_) => "than the others",
    };
    format!(
        "Warning (`order`): {what} {} {against} ({} trials, {} after Holm's correction): {help}.",
        change(effect.ratio),
        effect.trials,
        probability(effect.probability)
    )
}
