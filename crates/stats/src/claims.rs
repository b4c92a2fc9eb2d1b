//! Evaluates a study's claims against its measurements.
//!
//! A claim must hold for every pair of cells it refers to ([`study::claim::Contest`]), in every test. It is
//! *supported* if it is shown to hold for each of them, *refuted* if it is shown not to hold for one, *undecided*
//! if neither, and *untestable* if something was not measured, if the compared stacks also differ in a setting that
//! decides results and that the claim does not name ([`crate::confounders`]), or if the study says that it cannot
//! test the claim. Each pair has one-sided tests against the claim's own margin; to support a claim all of them
//! must succeed (an intersection-union test, which needs no correction: Berger, *Technometrics* 24, 1982), to
//! refute it one of c at 1/c of the error. Over the testable claims of a study Holm's procedure keeps the error at
//! 5 %. "Equal" is shown by two one-sided tests within the claim's margin, never by the absence of a difference.
//!
//! The *deciding interval* of a pair shows the same decision as an interval: see [`deciding`].

mod deciding;
mod stopping;

pub use deciding::{Claimed, Deciding};
pub use stopping::trials_to_decide;

use crate::compare::{Effect, InBlock, PooledVariance, faster, holm};
use crate::confounders::not_claimed;
use crate::group_sequential::{ALPHA, alpha_of_differences};
use crate::interval::Interval;
use crate::judge::{distinct, headline};
use std::cell::RefCell;
use std::collections::HashMap;
use study::claim::Comparison;
use study::metric::{Better, Metric};
use study::plan::{Cell, Claim, Plan, Side, TEST};
use study::{CellId, Measurement};

/// Verdict on a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim {
    pub verdict: Verdict,
    /// The deciding pair of cells: the one that fits the claim least among those that refute a refuted claim, those
    /// that leave an undecided one open, or all. Absent if nothing was measured.
    pub effect: Option<ClaimEffect>,
    /// Number of compared pairs, and of those for which the claim seems to hold.
    pub compared: usize,
    pub seems_to_hold: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Supported,
    Refuted,
    Undecided {
        /// Estimated number of further trials of each cell until a decision, if the current estimates are true;
        /// absent if no feasible number is sufficient.
        further_trials: Option<u32>,
    },
    Untestable {
        reason: String,
    },
}

impl Verdict {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Refuted => "refuted",
            Self::Undecided { .. } => "undecided",
            Self::Untestable { .. } => "untestable",
        }
    }
}

/// Ratio of the first cell to the second.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimEffect {
    /// Keys of the cells, with the test.
    pub first: String,
    pub second: String,
    /// Oriented so that larger is better: 1.2 is 20 % more throughput, or correspondingly less time.
    pub ratio: f64,
    /// 95 % interval for this pair alone; absent with too few trials.
    pub interval: Option<Interval>,
    /// Absent with too few trials, and if the claim is untestable.
    pub deciding: Option<Deciding>,
    pub claimed: Claimed,
    /// Number of compared trials of each cell.
    pub trials: usize,
}

/// Evaluates the claims of a plan, in order.
pub fn judge_claims(plan: &Plan, measurements: &[Measurement]) -> Vec<JudgedClaim> {
    let (judged, level) = judged(plan, measurements);
    let whole = |(judged, verdict): (Judged, Verdict)| JudgedClaim {
        verdict,
        compared: judged.pairs.len(),
        seems_to_hold: judged.pairs.iter().filter(|pair| pair.seems_to_hold).count(),
        effect: judged.shown(level),
    };
    judged.into_iter().map(whole).collect()
}

/// The claims with their verdicts, and the level at which they were decided.
fn judged(plan: &Plan, measurements: &[Measurement]) -> (Vec<(Judged, Verdict)>, f64) {
    let mut by_cell: HashMap<CellId, Vec<&Measurement>> = HashMap::new();
    for one in measurements {
        by_cell.entry(one.trial.cell).or_default().push(one);
    }
    let pools = RefCell::default();
    let not_claimed = not_claimed(plan, measurements);
    let judged: Vec<Judged> = plan
        .claims
        .iter()
        .zip(not_claimed)
        .map(|(claim, setting)| {
            let court = Court {
                plan,
                by_cell: &by_cell,
                pools: &pools,
                claim,
            };
            let mut judged = court.judge();
            if let (None, Some(setting)) = (&judged.reason, setting) {
                judged.reason = Some(format!(
                    "the compared stacks also differ in {}, which the claim does not name",
                    setting.words()
                ));
            }
            judged
        })
        .collect();
    let testable: Vec<usize> = (0..judged.len()).filter(|&at| judged[at].reason.is_none()).collect();
    // For both directions: twice the smaller one.
    let both = |judged: &Judged| (2.0 * judged.p_support.min(judged.p_refute)).min(1.0);
    let probabilities: Vec<f64> = testable.iter().map(|&at| both(&judged[at])).collect();
    let adjusted = holm(&probabilities);
    let alpha = alpha_of_differences(&plan.precision);
    let level = deciding::level(&adjusted, alpha);
    let mut verdicts: Vec<Verdict> = judged
        .iter()
        .map(|judged| Verdict::Untestable {
            reason: judged.reason.clone().unwrap_or_default(),
        })
        .collect();
    for (&at, probability) in testable.iter().zip(adjusted) {
        verdicts[at] = match probability <= alpha {
            true if judged[at].p_support < judged[at].p_refute => Verdict::Supported,
            true => Verdict::Refuted,
            false => Verdict::Undecided {
                further_trials: judged[at].further_trials(level),
            },
        };
    }
    (judged.into_iter().zip(verdicts).collect(), level)
}

/// A claim before the correction over all claims.
struct Judged {
    reason: Option<String>,
    pairs: Vec<JudgedPair>,
    p_support: f64,
    p_refute: f64,
}

struct JudgedPair {
    cells: [CellId; 2],
    effect: ClaimEffect,
    /// The effect with its error; absent with too few trials.
    sure: Option<Effect>,
    /// Distance of the estimate from the bound, in logarithms; positive if it favours the claim.
    margin: f64,
    seems_to_hold: bool,
    /// The nearest bound.
    bound: f64,
    p_support: f64,
    p_refute: f64,
}

impl Judged {
    fn untestable(reason: String) -> Self {
        Self {
            reason: Some(reason),
            pairs: Vec::new(),
            p_support: 1.0,
            p_refute: 1.0,
        }
    }
}

/// Pooled variances by workload, test and metric: a claim on many stacks uses the same ones repeatedly.
type Pools<'a> = HashMap<(&'a str, &'a str, Metric), Option<PooledVariance>>;

struct Court<'a> {
    plan: &'a Plan,
    by_cell: &'a HashMap<CellId, Vec<&'a Measurement>>,
    pools: &'a RefCell<Pools<'a>>,
    claim: &'a Claim,
}

/// A side of a comparison, with its values.
struct Contender<'a> {
    cell: &'a Cell,
    test: &'a str,
    metric: Metric,
    values: Vec<InBlock>,
}

impl<'a> Court<'a> {
    fn judge(&self) -> Judged {
        let comparison = match self.claim.comparison() {
            Ok(comparison) => comparison,
            Err(error) => return Judged::untestable(error.to_string()),
        };
        let contests = comparison.contests(&self.claim.filter, &self.plan.cells);
        if contests.is_empty() {
            return Judged::untestable("the cells that it compares are not in this run".to_owned());
        }
        let mut pairs = Vec::new();
        for contest in contests {
            let (first, second) = (&self.plan.cells[contest.better], &self.plan.cells[contest.worse]);
            let tests = self.tests(&comparison, first, second);
            if tests.is_empty() {
                return Judged::untestable(self.why_not(first, second));
            }
            for (of_first, of_second) in tests {
                let contenders = (self.contender(first, of_first), self.contender(second, of_second));
                let (Some(one), Some(other)) = contenders else {
                    return Judged::untestable(self.why_not(first, second));
                };
                match self.pair(&comparison, &one, &other) {
                    Ok(pair) => pairs.push(pair),
                    Err(reason) => return Judged::untestable(reason),
                }
            }
        }
        let most = |of: fn(&JudgedPair) -> f64| pairs.iter().map(of).fold(0.0, f64::max);
        let least = |of: fn(&JudgedPair) -> f64| pairs.iter().map(of).fold(1.0, f64::min);
        Judged {
            reason: self.claim.untestable.clone(),
            p_support: most(|pair| pair.p_support),
            p_refute: (least(|pair| pair.p_refute) * pairs.len() as f64).min(1.0),
            pairs,
        }
    }

    /// The tests in which two cells are compared: those named by the claim, or all that both have.
    fn tests(&self, comparison: &Comparison, first: &Cell, second: &Cell) -> Vec<(&'a str, &'a str)> {
        let named = |side: &Side| side.iter().find(|(axis, _)| axis == TEST).map(|(_, test)| test.clone());
        let sides = comparison.sides();
        let of_sides: Vec<Option<String>> = sides.iter().map(|side| named(side)).collect();
        let of_claim = self.claim.test();
        let measured = |cell: &Cell| {
            let of_cell = self.of_cell(cell.id);
            distinct(of_cell.map(|one| one.entry.test.as_str()))
        };
        let (tests_first, tests_second) = (measured(first), measured(second));
        if let [Some(one), Some(other)] = of_sides.as_slice() {
            let find = |tests: &[&'a str], wanted: &str| tests.iter().copied().find(|test| *test == wanted);
            return find(&tests_first, one)
                .zip(find(&tests_second, other))
                .into_iter()
                .collect();
        }
        let known: Vec<String> = self
            .plan
            .cells
            .iter()
            .filter(|cell| cell.id == first.id)
            .flat_map(|cell| {
                cell.workload
                    .work
                    .tests()
                    .into_iter()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        let is_wanted = |test: &&&str| match of_claim {
            Some(wanted) => **test == wanted,
            // Counters of member disks are not tests of the workload.
            None => known.iter().any(|name| name == **test),
        };
        let common = tests_first
            .iter()
            .filter(is_wanted)
            .filter(|test| tests_second.contains(test));
        common.map(|test| (*test, *test)).collect()
    }

    fn of_cell(&self, cell: CellId) -> impl Iterator<Item = &'a Measurement> + use<'a> {
        self.by_cell.get(&cell).into_iter().flatten().copied()
    }

    fn contender(&self, cell: &'a Cell, test: &'a str) -> Option<Contender<'a>> {
        let of_test = || self.of_cell(cell.id).filter(|one| one.entry.test == test);
        let metrics = distinct(of_test().map(|one| one.entry.metric));
        let metric = match self.claim.metric() {
            Some(name) => metrics.into_iter().find(|metric| metric.name() == name)?,
            None => headline(&metrics)?,
        };
        let values: Vec<InBlock> = of_test()
            .filter(|one| one.entry.metric == metric && one.counts())
            .map(|one| InBlock::by_round(one).drawn(cell.machine.draws_models))
            .collect();
        (!values.is_empty()).then_some(Contender {
            cell,
            test,
            metric,
            values,
        })
    }

    /// Reason why two cells cannot be compared.
    fn why_not(&self, first: &Cell, second: &Cell) -> String {
        let without = [first, second].into_iter().find(|cell| {
            let mut counted = self.of_cell(cell.id).filter(|one| one.counts());
            counted.next().is_none()
        });
        let Some(cell) = without else {
            return format!(
                "`{}` and `{}` have no common test that the claim selects",
                first.key, second.key
            );
        };
        match self.of_cell(cell.id).next() {
            Some(one) => format!("a guard failed for `{}`: {}", cell.key, one.failed_guards.join(", ")),
            None => format!("there are no measurements of `{}`", cell.key),
        }
    }

    /// Pooled variance of all stacks with the same workload.
    fn pool(&self, contender: &Contender<'a>) -> Option<PooledVariance> {
        let key = (contender.cell.workload.name.as_str(), contender.test, contender.metric);
        if let Some(known) = self.pools.borrow().get(&key) {
            return *known;
        }
        let pool = self.pool_of(contender);
        self.pools.borrow_mut().insert(key, pool);
        pool
    }

    fn pool_of(&self, contender: &Contender<'_>) -> Option<PooledVariance> {
        let same_work = self
            .plan
            .cells
            .iter()
            .filter(|cell| cell.workload.name == contender.cell.workload.name);
        let values: Vec<Vec<InBlock>> = same_work
            .map(|cell| {
                let of_cell = self.of_cell(cell.id);
                let of_test = of_cell.filter(|one| {
                    one.entry.test == contender.test && one.entry.metric == contender.metric && one.counts()
                });
                of_test.map(InBlock::by_round).filter(|one| one.value > 0.0).collect()
            })
            .collect();
        PooledVariance::of(&values)
    }

    fn pair(
        &self,
        comparison: &Comparison,
        first: &Contender<'a>,
        second: &Contender<'a>,
    ) -> Result<JudgedPair, String> {
        if first.metric.unit() != second.metric.unit() {
            return Err(format!(
                "{} and {} cannot be compared",
                first.metric.unit(),
                second.metric.unit()
            ));
        }
        let centre = |values: &[InBlock]| {
            let logs: Vec<f64> = values.iter().map(|one| one.value.ln()).collect();
            logs.iter().sum::<f64>() / logs.len() as f64
        };
        let pool = PooledVariance::wider(self.pool(first), self.pool(second));
        let better = first.metric.better();
        let sure = Effect::of(&first.values, &second.values, pool.as_ref()).map(|effect| faster(effect, better));
        let log = match &sure {
            Some(effect) => effect.ratio().ln(),
            None if better == Better::Lower => centre(&second.values) - centre(&first.values),
            None => centre(&first.values) - centre(&second.values),
        };
        if !log.is_finite() {
            return Err(format!("`{}` has values that are not positive", first.cell.key));
        }
        let name = |contender: &Contender<'_>| format!("{}, {}", contender.cell.key, contender.test);
        let (bound, margin, p_support, p_refute) = match comparison {
            Comparison::Better { by, .. } | Comparison::Fastest { by, .. } | Comparison::Slowest { by, .. } => {
                let margin = log - by.ln();
                let p = sure.map_or((1.0, 1.0), |effect| (effect.p_above(*by), effect.p_below(*by)));
                (*by, margin, p.0, p.1)
            }
            Comparison::Equal { within, .. } | Comparison::AllEqual { within } => {
                let bound = if log < 0.0 { 1.0 / within } else { *within };
                let outside = |effect: Effect| effect.p_above(*within).min(effect.p_below(1.0 / within));
                // For both outcomes: twice the smaller one.
                let p = sure.map_or((1.0, 1.0), |effect| {
                    (effect.p_equal(*within), (2.0 * outside(effect)).min(1.0))
                });
                (bound, within.ln() - log.abs(), p.0, p.1)
            }
        };
        Ok(JudgedPair {
            cells: [first.cell.id, second.cell.id],
            effect: ClaimEffect {
                first: name(first),
                second: name(second),
                ratio: log.exp(),
                interval: sure.map(|effect| effect.interval(ALPHA)),
                deciding: None,
                claimed: Claimed::by(comparison),
                trials: sure.map_or(first.values.len().min(second.values.len()), |effect| {
                    effect.pairing.trials()
                }),
            },
            sure,
            margin,
            seems_to_hold: margin >= 0.0,
            bound,
            p_support,
            p_refute,
        })
    }
}

#[cfg(test)]
mod tests;
