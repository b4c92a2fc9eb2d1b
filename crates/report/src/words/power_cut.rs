//! Power cuts as a table of verdicts: the number of cuts, and after how many of them something was missing. Not a
//! speed, and not ranked.

use crate::input::Input;
use crate::words::figure::number;
use serde::Serialize;
use stats::{Results, WorkloadResults};
use study::metric::Metric;
use study::workload::POWER_CUT_TESTS;

/// What power cuts show of a stack: the worst that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutVerdict {
    LosesData,
    WrongData,
    NotMountable,
    Damaged,
    StaleParity,
    NothingLost,
}

impl CutVerdict {
    /// The worst first.
    const ALL: [Self; 6] = [
        Self::LosesData,
        Self::WrongData,
        Self::NotMountable,
        Self::Damaged,
        Self::StaleParity,
        Self::NothingLost,
    ];

    /// `count`: states with this metric.
    fn of(count: impl Fn(Metric) -> f64) -> Self {
        let is_so = |verdict: &Self| verdict.metric().is_none_or(|metric| count(metric) > 0.0);
        Self::ALL.into_iter().find(is_so).unwrap_or(Self::NothingLost)
    }

    const fn metric(self) -> Option<Metric> {
        match self {
            Self::LosesData => Some(Metric::AcknowledgedLost),
            Self::WrongData => Some(Metric::WrongData),
            Self::NotMountable => Some(Metric::NotMountable),
            Self::Damaged => Some(Metric::CheckerComplaints),
            Self::StaleParity => Some(Metric::StaleParity),
            Self::NothingLost => None,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::LosesData => "loses data",
            Self::WrongData => "returns wrong data",
            Self::NotMountable => "cannot always be mounted",
            Self::Damaged => "filesystem damaged",
            Self::StaleParity => "copies or parity differ",
            Self::NothingLost => "nothing lost",
        }
    }

    /// `Of 17 stacks 9 …`.
    const fn words_of_several(self) -> &'static str {
        match self {
            Self::LosesData => "lost data",
            Self::WrongData => "returned wrong data",
            Self::NotMountable => "could not always be mounted",
            Self::Damaged => "had a damaged filesystem",
            Self::StaleParity => "had copies or parity that differ",
            Self::NothingLost => "lost nothing in any power cut",
        }
    }
}

/// One workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PowerCuts {
    pub workload: String,
    pub summary: String,
    /// Headings of the counts: `lost`, `wrong data`, …
    pub headings: Vec<String>,
    pub rows: Vec<CutRow>,
    pub findings: Vec<Finding>,
}

/// One stack, all its trials together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CutRow {
    pub stack: String,
    /// `None`: no cut was tried.
    #[serde(skip)]
    pub outcome: Option<CutVerdict>,
    pub verdict: String,
    /// Statistical limit if nothing was lost in this many cuts; empty if something was lost.
    pub limit: String,
    pub is_bad: bool,
    pub is_missing: bool,
    pub states: String,
    /// Number of states for each heading.
    pub counts: Vec<Count>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    pub figure: String,
    pub is_bad: bool,
}

/// The findings after one cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub stack: String,
    pub words: String,
}

/// Whether a workload is one of power cuts.
pub(crate) fn is_power_cut(workload: &WorkloadResults) -> bool {
    let mut tests = workload.tests.iter().chain(&workload.counts);
    tests.any(|test| test.headline().metric == Metric::StatesTried)
}

/// All power cuts of a run, in the plan's order.
pub(crate) fn power_cuts(input: &Input, results: &Results) -> Vec<PowerCuts> {
    let workloads = results.workloads.iter().filter(|workload| is_power_cut(workload));
    workloads.map(|workload| of_workload(input, workload)).collect()
}

/// The results without power cuts: those that can be ranked.
pub(crate) fn others(results: &Results) -> Results {
    let workloads = results.workloads.iter().filter(|workload| !is_power_cut(workload));
    Results {
        workloads: workloads.cloned().collect(),
    }
}

fn of_workload(input: &Input, workload: &WorkloadResults) -> PowerCuts {
    let rows: Vec<CutRow> = input
        .plan
        .stack_labels()
        .into_iter()
        .enumerate()
        .filter(|(_, stack)| input.has_cell(workload, stack))
        .map(|(place, stack)| row(input, workload, place, stack))
        .collect();
    let tests = POWER_CUT_TESTS.iter().skip(1);
    PowerCuts {
        workload: workload.name.clone(),
        summary: summary(&[rows.as_slice()]),
        headings: tests.map(|(test, _)| (*test).to_owned()).collect(),
        findings: findings(input, &workload.name),
        rows,
    }
}

/// Sum over the valid trials; `None` if there are none.
fn sum(workload: &WorkloadResults, metric: Metric, place: usize) -> Option<f64> {
    let mut tests = workload.tests.iter().chain(&workload.counts);
    let measure = tests.find_map(|test| test.measures.iter().find(|measure| measure.metric == metric))?;
    let row = &measure.rows[place];
    (!row.values.is_empty()).then(|| row.values.iter().map(|one| one.entry.value).sum())
}

fn row(input: &Input, workload: &WorkloadResults, place: usize, stack: &str) -> CutRow {
    let Some(states) = sum(workload, Metric::StatesTried, place).filter(|states| *states > 0.0) else {
        let mut tests = workload.tests.iter().chain(&workload.counts);
        let why = tests
            .next()
            .map_or("–", |test| input.without_figure(&test.headline().rows[place]));
        return CutRow {
            stack: stack.to_owned(),
            outcome: None,
            verdict: match why {
                "–" => "not tried".to_owned(),
                why => why.to_owned(),
            },
            limit: String::new(),
            is_bad: false,
            is_missing: true,
            states: "–".to_owned(),
            counts: Vec::new(),
        };
    };
    let of = |metric: Metric| sum(workload, metric, place).unwrap_or(0.0);
    let outcome = CutVerdict::of(of);
    let is_bad = outcome != CutVerdict::NothingLost;
    CutRow {
        stack: stack.to_owned(),
        outcome: Some(outcome),
        verdict: outcome.words().to_owned(),
        limit: if is_bad { String::new() } else { limit(states) },
        is_bad,
        is_missing: false,
        states: number(states, 0),
        counts: POWER_CUT_TESTS
            .iter()
            .skip(1)
            .map(|(_, metric)| Count {
                figure: number(of(*metric), 0),
                is_bad: of(*metric) > 0.0,
            })
            .collect(),
    }
}

/// The largest probability of a loss with which none of `states` cuts shows one in one of twenty cases: 1 −
/// 0.05^(1/n), the one-sided limit of Clopper and Pearson.
fn limit(states: f64) -> String {
    let share = 1.0 - 0.05_f64.powf(1.0 / states);
    let percent = share * 100.0;
    // One digit after the point, or up to the first one that is not zero.
    let places = match percent {
        _ if percent >= 10.0 => 0,
        _ if percent >= 0.1 => 1,
        _ => -percent.log10().floor() as usize,
    };
    format!("under {} % of cuts", number(percent, places))
}

/// `Of 17 stacks 9 lost nothing in any power cut, 4 lost data, 4 could not always be mounted.`
pub(crate) fn summary(workloads: &[&[CutRow]]) -> String {
    let mut stacks: Vec<(&str, Vec<&CutRow>)> = Vec::new();
    for row in workloads
        .iter()
        .flat_map(|rows| rows.iter())
        .filter(|row| !row.is_missing)
    {
        match stacks.iter_mut().find(|(stack, _)| *stack == row.stack) {
            Some((_, rows)) => rows.push(row),
            None => stacks.push((&row.stack, vec![row])),
        }
    }
    if stacks.is_empty() {
        return "No power cut has been judged yet.".to_owned();
    }
    let worst = |rows: &[&CutRow]| {
        let has = |verdict: &CutVerdict| rows.iter().any(|row| row.outcome == Some(*verdict));
        CutVerdict::ALL.into_iter().find(has)
    };
    let of_stacks: Vec<CutVerdict> = stacks.iter().filter_map(|(_, rows)| worst(rows)).collect();
    let counts = CutVerdict::ALL.into_iter().rev().map(|verdict| {
        let count = of_stacks.iter().filter(|of_stack| **of_stack == verdict).count();
        (verdict, count)
    });
    let words: Vec<String> = counts
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", verdict.words_of_several()))
        .collect();
    match stacks.len() {
        1 => format!("Of 1 stack {}.", words.join(", ")),
        all => format!("Of {all} stacks {}.", words.join(", ")),
    }
}

fn findings(input: &Input, workload: &str) -> Vec<Finding> {
    let cells = input.plan.cells_by_id();
    input
        .facts
        .findings
        .iter()
        .filter_map(|row| {
            let cell = cells.get(&row.trial.cell)?;
            (cell.workload.name == workload).then(|| Finding {
                stack: cell.stack_label.clone(),
                words: row.entry.to_string(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::CutVerdict::{LosesData, NothingLost};
    use super::*;

    #[test]
    fn no_loss_in_few_cuts_shows_little() {
        assert_eq!(limit(6.0), "under 39 % of cuts");
        assert_eq!(limit(59.0), "under 5.0 % of cuts");
        assert_eq!(limit(300.0), "under 1.0 % of cuts");
        assert_eq!(limit(8000.0), "under 0.04 % of cuts");
    }

    #[test]
    fn a_stack_counts_with_its_worst_verdict() {
        let row = |stack: &str, verdict: CutVerdict| CutRow {
            stack: stack.to_owned(),
            outcome: Some(verdict),
            verdict: verdict.words().to_owned(),
            limit: String::new(),
            is_bad: verdict != NothingLost,
            is_missing: false,
            states: "6".to_owned(),
            counts: Vec::new(),
        };
        let whole = [row("ext4", NothingLost), row("xfs", NothingLost)];
        let missing = [row("ext4", LosesData), row("xfs", NothingLost)];
        assert_eq!(summary(&[&whole]), "Of 2 stacks 2 lost nothing in any power cut.");
        assert_eq!(
            summary(&[&whole, &missing]),
            "Of 2 stacks 1 lost nothing in any power cut, 1 lost data."
        );
        assert_eq!(summary(&[&[]]), "No power cut has been judged yet.");
    }
}
