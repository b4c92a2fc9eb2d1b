//! Sorts and evaluates all samples of a run.

use crate::compare::{Effect, InBlock, PooledVariance, faster};
use crate::group_sequential::{alpha_of_differences, alpha_per_look};
use crate::ranking::{Ranking, rank_among};
use crate::summary::Summary;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use study::metric::{Better, MEBIBYTE, Metric};
use study::plan::{Cell, Plan};
use study::workload::IoSpec;
use study::{CellId, Measurement};

/// Results of a run.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Results {
    /// In the plan's order, as are all lists below.
    pub workloads: Vec<WorkloadResults>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadResults {
    pub name: String,
    /// Metrics with a direction.
    pub tests: Vec<TestResults>,
    /// Counts for explanation: neither more nor less is better.
    pub counts: Vec<TestResults>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TestResults {
    pub name: String,
    /// The main metric first: it is ranked, and shown if there is room for only one.
    pub measures: Vec<Measure>,
}

impl TestResults {
    pub fn headline(&self) -> &Measure {
        &self.measures[0]
    }

    /// Whether there are only CPU time and disk counters, as for a complete Bonnie++ run.
    fn is_only_cost(&self) -> bool {
        let metrics: Vec<Metric> = self.measures.iter().map(|measure| measure.metric).collect();
        headline(&metrics).is_none() && metrics.iter().any(is_cost)
    }
}

/// CPU time is the cost of a result, not a result.
const fn is_cost(metric: &Metric) -> bool {
    matches!(metric, Metric::CpuUser | Metric::CpuSystem)
}

/// One metric of a test over all stacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    pub metric: Metric,
    pub rows: Vec<Row>,
    /// Refers to indices in `rows`.
    pub ranking: Ranking,
}

impl Measure {
    /// The stacks shown to be faster than all others with a figure: the first tier, if there is a second one.
    pub fn leaders(&self) -> &[usize] {
        match self.ranking.tiers.as_slice() {
            [first, _, ..] => first,
            _ => &[],
        }
    }

    /// Number of ranked stacks.
    pub fn placed(&self) -> usize {
        self.ranking.tiers.iter().map(Vec::len).sum()
    }

    /// Tier of a stack, 1 for the best. `None` if it is not ranked.
    pub fn tier(&self, place: usize) -> Option<usize> {
        let tier = self.ranking.tiers.iter().position(|tier| tier.contains(&place))?;
        Some(tier + 1)
    }

    /// Each ranked stack relative to the first of the ranking, oriented so that larger is better: 0.8 is 20 % less
    /// throughput, or correspondingly more time. `None` for the first one, and for stacks that are not ranked.
    pub fn effects(&self) -> Vec<Option<Effect>> {
        let mut effects = vec![None; self.rows.len()];
        let Some(&best) = self.ranking.tiers.first().and_then(|tier| tier.first()) else {
            return effects;
        };
        let values = |place: usize| -> Vec<InBlock> { self.rows[place].in_blocks() };
        let placed: Vec<usize> = self.ranking.tiers.iter().flatten().copied().collect();
        let of_placed: Vec<Vec<InBlock>> = placed.iter().map(|&place| values(place)).collect();
        let pool = PooledVariance::of(&of_placed);
        for (&place, own) in placed.iter().zip(&of_placed).filter(|(place, _)| **place != best) {
            let effect = Effect::of(own, &values(best), pool.as_ref());
            effects[place] = effect.map(|effect| faster(effect, self.metric.better()));
        }
        effects
    }

    /// Stacks with values, but too few to be ranked.
    pub fn not_placed(&self) -> impl Iterator<Item = &Row> {
        let is_placed = |place: &usize| self.ranking.tiers.iter().flatten().any(|placed| placed == place);
        self.rows
            .iter()
            .enumerate()
            .filter(move |(place, row)| !row.values.is_empty() && !is_placed(place))
            .map(|(_, row)| row)
    }
}

/// Figures of one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The stack's label in the plan.
    pub stack: String,
    /// The stack's cell with this workload; absent if the plan has none.
    pub cell: Option<CellId>,
    /// Each value is of another drawn disk ([`study::stack::MachineSpec::draws_models`]).
    pub is_drawn: bool,
    /// The valid values, by trial.
    pub values: Vec<Measurement>,
    /// `None` if there are none.
    pub summary: Option<Summary>,
    /// Measurements that are excluded because a guard failed.
    pub excluded: Vec<Measurement>,
}

impl Row {
    fn in_blocks(&self) -> Vec<InBlock> {
        let values = self.values.iter().map(InBlock::by_round);
        values.map(|one| one.drawn(self.is_drawn)).collect()
    }
}

/// Evaluates all measurements of a run. Each measure has a row for every stack of the plan, in its order, which is
/// empty if nothing was measured. Tests and metrics are in the order in which they were measured.
pub fn judge(plan: &Plan, measurements: &[Measurement]) -> Results {
    judge_part(plan, measurements, 0)
}

/// The same if the plan has only some of `all_stacks` stacks: see [`crate::ranking::rank_among`].
pub fn judge_part(plan: &Plan, measurements: &[Measurement], all_stacks: usize) -> Results {
    let alpha = Alpha {
        of_intervals: alpha_per_look(&plan.precision),
        of_differences: alpha_of_differences(&plan.precision),
        all_stacks,
    };
    let mut by_workload = by_workload(plan, measurements);
    let workloads = plan.workload_names().into_iter().filter_map(|name| {
        let stacks = stacks(plan, name);
        let of_workload = by_workload.remove(name).unwrap_or_default();
        let tests = by_test(&of_workload);
        let cells = plan.cells.iter().filter(|cell| cell.workload.name == name);
        let lead = Lead::of(cells, &of_workload);
        let (tests, counts): (Vec<_>, Vec<_>) = tests
            .iter()
            .map(|(test, of_test)| judge_test(&stacks, of_test, test, alpha, lead))
            .filter(|test| !test.is_only_cost())
            .partition(|test| test.headline().metric.better() != Better::Neither);
        (!of_workload.is_empty()).then(|| WorkloadResults {
            name: name.to_owned(),
            tests,
            counts,
        })
    });
    Results {
        workloads: workloads.collect(),
    }
}

/// The measurements of each workload, in their order.
fn by_workload<'a>(plan: &'a Plan, measurements: &'a [Measurement]) -> HashMap<&'a str, Vec<&'a Measurement>> {
    let cells = plan.cells_by_id();
    let mut by_workload: HashMap<&str, Vec<&Measurement>> = HashMap::new();
    for one in measurements {
        if let Some(cell) = cells.get(&one.trial.cell) {
            by_workload.entry(&cell.workload.name).or_default().push(one);
        }
    }
    by_workload
}

/// The measurements of each test, in order of appearance.
fn by_test<'a>(of_workload: &[&'a Measurement]) -> Vec<(&'a str, Vec<&'a Measurement>)> {
    let mut tests: Vec<(&str, Vec<&Measurement>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for &one in of_workload {
        let test = one.entry.test.as_str();
        let place = *places.entry(test).or_insert(tests.len());
        if place == tests.len() {
            tests.push((test, Vec::new()));
        }
        tests[place].1.push(one);
    }
    tests
}

/// Allowed errors.
#[derive(Clone, Copy)]
struct Alpha {
    /// Number of stacks that were measured; 0 means those of the plan.
    all_stacks: usize,
    of_intervals: f64,
    of_differences: f64,
}

/// A stack, and its cell with the given workload.
struct Stack<'a> {
    label: &'a str,
    cell: Option<CellId>,
    /// Imported results, of unknown origin: shown next to raidlab's own, but not ranked.
    is_imported: bool,
    is_drawn: bool,
}

fn stacks<'a>(plan: &'a Plan, workload: &str) -> Vec<Stack<'a>> {
    let mut of_workload: HashMap<&str, &Cell> = HashMap::new();
    for cell in plan.cells.iter().filter(|cell| cell.workload.name == workload) {
        of_workload.entry(&cell.stack_label).or_insert(cell);
    }
    let of_label = |label: &'a str| {
        let cell = of_workload.get(label).copied();
        Stack {
            label,
            cell: cell.map(|cell| cell.id),
            is_imported: cell.is_some_and(|cell| cell.is_imported()),
            is_drawn: cell.is_some_and(|cell| cell.machine.draws_models),
        }
    };
    plan.stack_labels().into_iter().map(of_label).collect()
}

/// Fewer than 100 requests have no p99.
fn has_p99_everywhere(of_test: &[&Measurement]) -> bool {
    let trials = |metric| of_test.iter().filter(|one| one.entry.metric == metric).count();
    trials(Metric::LatencyP99) >= trials(Metric::LatencyP50)
}

fn judge_test(stacks: &[Stack<'_>], of_test: &[&Measurement], test: &str, alpha: Alpha, lead: Lead) -> TestResults {
    let mut metrics = distinct(of_test.iter().map(|one| one.entry.metric));
    let first = lead.metric(&metrics, of_test);
    // A stable sort: the others keep their order.
    metrics.sort_by_key(|&metric| Some(metric) != first);
    TestResults {
        name: test.to_owned(),
        measures: metrics
            .into_iter()
            .map(|metric| judge_measure(stacks, of_test, metric, alpha))
            .collect(),
    }
}

fn judge_measure(stacks: &[Stack<'_>], of_test: &[&Measurement], metric: Metric, alpha: Alpha) -> Measure {
    let mut by_cell: HashMap<CellId, Vec<&Measurement>> = HashMap::new();
    for one in of_test.iter().copied().filter(|one| one.entry.metric == metric) {
        by_cell.entry(one.trial.cell).or_default().push(one);
    }
    let rows: Vec<Row> = stacks
        .iter()
        .map(|stack| {
            let of_stack = stack.cell.and_then(|cell| by_cell.remove(&cell)).unwrap_or_default();
            let (counted, excluded): (Vec<&Measurement>, Vec<&Measurement>) =
                of_stack.into_iter().partition(|one| one.counts());
            let values: Vec<f64> = counted.iter().map(|one| one.entry.value).collect();
            Row {
                stack: stack.label.to_owned(),
                cell: stack.cell,
                values: counted.into_iter().cloned().collect(),
                is_drawn: stack.is_drawn,
                summary: match stack.is_drawn {
                    true => Summary::of_drawn(&values, alpha.of_intervals),
                    false => Summary::of(&values, alpha.of_intervals),
                },
                excluded: excluded.into_iter().cloned().collect(),
            }
        })
        .collect();
    let is_mixed = stacks.iter().any(|stack| stack.is_imported) && stacks.iter().any(|stack| !stack.is_imported);
    let values: Vec<Vec<InBlock>> = rows
        .iter()
        .zip(stacks)
        .map(|(row, stack)| {
            if is_mixed && stack.is_imported {
                Vec::new()
            } else {
                row.in_blocks()
            }
        })
        .collect();
    Measure {
        metric,
        ranking: rank_among(&values, metric.better(), alpha.of_differences, alpha.all_stacks),
        rows,
    }
}

/// Which metric tables show first of a workload's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// [`headline`].
    Main,
    /// The study sets the rate: the latency, because throughput is that rate wherever the stack keeps up.
    Latency,
    /// The same where some test has too few requests for a p99.
    Median,
    /// Small random requests: how many a second, which is how disks and arrays are compared.
    Iops,
    /// Imported: what a program ran one after the other may be streams and small requests, so each test has its own.
    Imported,
}

/// Requests up to this size are counted, larger ones are added up.
const COUNTED_MAX_BYTES: u64 = 16 << 10;

impl Lead {
    /// The lead of one workload, from its cells and their measurements.
    pub(crate) fn of<'a>(cells: impl IntoIterator<Item = &'a Cell>, measurements: &[&Measurement]) -> Self {
        let mut lead = Self::Main;
        let mut all_are_imported = true;
        for cell in cells {
            all_are_imported &= cell.is_imported();
            let jobs = cell.workload.work.spec().jobs();
            let all = |is_so: fn(&IoSpec) -> bool| !jobs.is_empty() && jobs.iter().all(|job| is_so(&job.io));
            if all(|io| io.limit_iops().is_some()) {
                let mut tests = by_test(measurements).into_iter();
                return match tests.all(|(_, of_test)| has_p99_everywhere(&of_test)) {
                    true => Self::Latency,
                    false => Self::Median,
                };
            }
            if all(|io| io.pattern.is_random() && io.block_bytes <= COUNTED_MAX_BYTES) {
                lead = Self::Iops;
            }
        }
        match all_are_imported {
            true => Self::Imported,
            false => lead,
        }
    }

    /// The metric that leads among those of a test.
    pub(crate) fn metric(self, metrics: &[Metric], of_test: &[&Measurement]) -> Option<Metric> {
        let preferred: &[Metric] = match self {
            Self::Main => &[],
            Self::Latency => &[Metric::LatencyP99, Metric::LatencyP50],
            Self::Median => &[Metric::LatencyP50],
            Self::Iops => &[Metric::Iops],
            Self::Imported if has_small_requests(of_test) => &[Metric::Iops],
            Self::Imported => &[],
        };
        let preferred = preferred.iter().copied().find(|metric| metrics.contains(metric));
        preferred.or_else(|| headline(metrics))
    }
}

/// Whether a test has few bytes a request, which is all that is known of imported work. False without requests.
fn has_small_requests(of_test: &[&Measurement]) -> bool {
    let median = |metric| {
        let values = of_test.iter().filter(|one| one.entry.metric == metric);
        let values: Vec<f64> = values.map(|one| one.entry.value).collect();
        Summary::of(&values, 0.05).map(|summary| summary.median)
    };
    let (Some(mebibytes_s), Some(iops)) = (median(Metric::Throughput), median(Metric::Iops)) else {
        return false;
    };
    // fio rounds both figures.
    mebibytes_s * MEBIBYTE <= iops * COUNTED_MAX_BYTES as f64 * 1.02
}

/// The main metric of a test: a known one, or the first with a direction; `None` if there are only counts and CPU
/// time.
pub fn headline(of_test: &[Metric]) -> Option<Metric> {
    let known = Metric::HEADLINES.into_iter().find(|metric| of_test.contains(metric));
    let any = || {
        of_test
            .iter()
            .copied()
            .find(|metric| metric.better() != Better::Neither && !is_cost(metric))
    };
    known.or_else(any)
}

/// Without duplicates, in order of appearance.
pub(crate) fn distinct<T: Copy + Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    items.filter(|item| known.insert(*item)).collect()
}

#[cfg(test)]
pub(crate) mod tests;
