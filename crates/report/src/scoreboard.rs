//! All stacks against the best of each test: what the first screen of a report shows, and what a recommendation follows
//! from. Computed once; the page, the terminal and the exported figures show the same.

mod by_axis;
mod choice;
mod decisive;
mod guesses;
mod leader;
mod not_counted;
pub(crate) mod sentences;
pub(crate) mod stack_facts;
pub(crate) mod trade_off;
mod unranked;
pub(crate) mod verdict;

pub use choice::{Advice, Choice};
pub use stack_facts::Layout;
pub use verdict::verdict;

use crate::input::Input;
use crate::words::power_cut::{self, PowerCuts};
use crate::words::warnings::Warnings;
use crate::words::{self, named};
use stats::{Interval, Measure, Results, TestResults, WorkloadResults, times_better};
use study::metric::{Better, Metric};
use study::plan::Cell;
use study::stack::{MachineKind, SilentCorruption};
use study::workload::Work;

/// More tests become one column for each workload.
const COLUMNS_MAX: usize = 8;

/// Simulated stacks whose smallest ratios differ by less count as equal, however little their trials scatter: models meet
/// figures of disks that they were not fitted to within 6 to 20 %, and stacks on the same disks share a part of that error.
pub(crate) const SIMULATED_RESOLUTION: f64 = 0.9;

/// The largest ratio below 1 that is a difference.
fn resolution(input: &Input) -> f64 {
    match input.is_simulated() {
        true => SIMULATED_RESOLUTION,
        false => 1.0,
    }
}

/// A test that takes less time with most stacks decides nothing: a tenth of a second more is not what a stack is chosen by.
pub(crate) const SHORT_S: f64 = 1.0;

/// Two intervals at this confidence that do not overlap differ at about 95 % (Goldstein and Healy, *Journal of the
/// Royal Statistical Society A* 158, 1995).
const ALPHA_OF_OVERLAP: f64 = 0.166;

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scoreboard {
    pub columns: Vec<Column>,
    /// The smallest largest loss first; stacks without a figure in some column last. In the study's order if there are
    /// too few trials.
    pub rows: Vec<ScoreRow>,
    /// Tests that do not count, because they are shorter than [`SHORT_S`] with most stacks while others are not.
    pub short: Vec<ShortTest>,
    /// Names of tests that do not count, because they measured memory or caches.
    pub of_caches: Vec<String>,
    pub advice: Advice,
    /// The test without which another stack would be recommended, in a sentence; empty if there is none.
    decisive: String,
    /// What each axis changes, all else equal, in sentences; and what the kernel changes.
    pub by_axis: Vec<String>,
    pub by_kernel: Vec<String>,
    /// Tests in which it depends on what is not known of the disks which stack is better, in sentences.
    pub guesses: Vec<String>,
    /// Stacks with a processor that no machine has are left out.
    leaves_unreal_out: bool,
}

/// A test, with the time that the quickest and the slowest stack take for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortTest {
    pub name: String,
    pub shortest_s: f64,
    pub longest_s: f64,
}

/// A test; or all tests of a workload, if there are many, but for its rebuilds.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub workload: String,
    /// Empty if it stands for several tests.
    pub test: String,
    /// There are reasons to doubt its comparisons.
    pub is_doubtful: bool,
    /// How often a loss counts ([`study::plan::Plan::weights`]); 0 if all its tests are short.
    pub weight: u32,
    /// Its tests are in [`Scoreboard::short`].
    pub is_short: bool,
    /// Its tests are in [`Scoreboard::of_caches`].
    pub is_of_caches: bool,
}

impl Column {
    /// A ratio as it counts: a loss counts as often as the weight says.
    fn weighted(&self, ratio: f64) -> f64 {
        ratio.powi(self.weight.cast_signed())
    }

    /// Why its ratios decide nothing, if they do not.
    pub(crate) const fn not_counted(&self) -> Option<&'static str> {
        if self.is_of_caches {
            return Some("caches");
        }
        match (self.weight, self.is_short) {
            (0, true) => Some("too short"),
            (0, false) => Some("weight 0"),
            _ => None,
        }
    }

    /// The test of a score within the column: `read` of `photos read`. Empty if the column is a test.
    pub(crate) fn test_within<'a>(&self, score: &'a Score) -> &'a str {
        if !self.test.is_empty() {
            return "";
        }
        let own = score.test.strip_prefix(&self.workload).unwrap_or(&score.test);
        own.trim_start()
    }

    /// `photos read`.
    pub fn name(&self) -> String {
        match self.test.is_empty() {
            true => self.workload.clone(),
            false => named(&self.workload, &self.test),
        }
    }
}

/// A stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRow {
    pub stack: String,
    /// In the order of columns.
    pub scores: Vec<Score>,
    /// The column with the largest loss by its weight; `None` if a column that counts has no figure.
    pub worst: Option<usize>,
    /// Each of its ratios that count has an interval.
    is_ranked: bool,
    pub layout: Layout,
    /// What becomes of data that a disk silently changes; `None` of raw devices and nested arrays.
    pub silent_corruption: Option<SilentCorruption>,
    /// [`stack_facts::is_below_raid`].
    is_below_raid: bool,
    /// Durations of its rebuilds, the shortest and the longest: `9.39 to 85.1 h`. Empty without one.
    pub rebuild: String,
    /// What a power cut takes, in words; empty if the study does not know.
    pub power_cut: String,
    /// Something was lost in a power cut.
    pub is_unsafe: bool,
    pub is_imported: bool,
}

impl ScoreRow {
    /// Whether it may be recommended, as far as it is known.
    pub(crate) const fn may_be_built(&self) -> bool {
        !self.is_unsafe && !self.is_imported
    }

    /// The score with its largest loss.
    pub fn worst_score(&self) -> Option<&Score> {
        self.worst.map(|column| &self.scores[column])
    }

    /// The ratio of its largest loss.
    pub fn worst_ratio(&self) -> Option<f64> {
        self.worst_score()?.ratio
    }

    /// Finds its largest loss in the columns that count.
    fn weigh(&mut self, columns: &[Column]) {
        let counted = || (0..columns.len()).filter(|&column| columns[column].weight > 0);
        let ratio = |column: usize| self.scores[column].ratio;
        let weighted = |column: &usize| columns[*column].weighted(ratio(*column).unwrap_or(0.0));
        let worst = counted().min_by(|one, other| weighted(one).total_cmp(&weighted(other)));
        self.worst = worst.filter(|_| counted().all(|column| ratio(column).is_some()));
        self.is_ranked = counted().all(|column| self.scores[column].is_ranked);
    }

    /// Its largest loss as a ratio by the weight of its column.
    pub(crate) fn weighted_ratio(&self, columns: &[Column]) -> Option<f64> {
        Some(columns[self.worst?].weighted(self.worst_ratio()?))
    }
}

/// A stack in a column.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Score {
    /// To the best stack of the test, oriented so that larger is better: 0.8 is 20 % less throughput. That is the first of the
    /// ranking, unless a stack that is not ranked has a better figure. `None` without a figure.
    pub ratio: Option<f64>,
    /// At 95 %; none of the best itself, with too few trials, and where the best is not ranked.
    pub interval: Option<Interval>,
    /// [`ALPHA_OF_OVERLAP`].
    overlap: Option<Interval>,
    /// In the first rank of a test with several: no stack is shown to be faster. `is_first`: also where there is only one rank.
    pub is_best: bool,
    is_first: bool,
    is_ranked: bool,
    /// The test that it is of.
    pub test: String,
    /// The figure, and that of the best: `61 against 103 MiB/s`.
    pub figure: f64,
    pub best: f64,
    /// How long the test took, and with the best stack; `None` if that is not known.
    pub seconds: Option<(f64, f64)>,
    /// It ends after a time that the study gives, whatever is done until then.
    pub is_timed: bool,
    pub metric: Option<Metric>,
    /// Samples of it that a guard excluded.
    pub excluded: usize,
    /// Why there is no ratio.
    pub missing: &'static str,
}

impl Scoreboard {
    pub(crate) fn new(input: &Input, results: &Results, warnings: &Warnings) -> Self {
        let real = unranked::without_unreal(input);
        let results = real.as_ref().unwrap_or(results);
        let cuts = power_cut::power_cuts(input, results);
        let ranked = power_cut::others(results);
        let own = own_stacks(input);
        let mut tests = tests(input, &ranked, &own);
        if tests.is_empty() {
            return Self::default();
        }
        let of_caches = not_counted::leave_caches_out(input, &mut tests);
        let short = not_counted::leave_short_out(input, &mut tests, &own);
        let groups = groups(&tests);
        let columns = groups.iter().map(|(name, group)| column(input, name, group, warnings));
        let columns: Vec<Column> = columns.collect();
        let labels = input.plan.stack_labels().into_iter().enumerate();
        let is_measured =
            |place: usize| own[place] && tests.iter().any(|test| test.measure.rows[place].cell.is_some());
        let row = |(place, stack): (usize, &str)| {
            let scores = groups.iter().map(|(_, group)| smallest(input, group, place));
            let mut row = row(input, &cuts, stack, scores.collect());
            row.rebuild = stack_facts::rebuild(results, place);
            row
        };
        let as_in_study: Vec<ScoreRow> = labels.filter(|(place, _)| is_measured(*place)).map(row).collect();
        let mut rows = decisive::ranked(&columns, as_in_study);
        let advice = match tests.iter().all(|test| test.is_of_caches) {
            true => Advice::OnlyCaches,
            false => Advice::of(&columns, &rows, resolution(input)),
        };
        if advice == Advice::TooFewTrials {
            // The first row would be taken for the best.
            let labels = input.plan.stack_labels();
            rows.sort_by_key(|row| labels.iter().position(|label| *label == row.stack));
        }
        let axes = by_axis::by_axis(input, &tests);
        Self {
            decisive: decisive::sentence(&columns, &rows, &advice, resolution(input), |column| {
                words::reads_new_files(input, &column.workload, &column.test)
            }),
            columns,
            rows,
            short,
            of_caches,
            advice,
            by_axis: axes.others,
            by_kernel: axes.kernels,
            guesses: guesses::guesses(input, &tests),
            leaves_unreal_out: real.is_some(),
        }
    }
}

impl Input {
    /// All stacks against the best of each test.
    pub fn scoreboard(&self, results: &Results, warnings: &Warnings) -> Scoreboard {
        Scoreboard::new(self, results, warnings)
    }
}

/// A test of which at least two stacks have a figure.
struct Test<'a> {
    workload: &'a WorkloadResults,
    /// The workload without the values of its own axes.
    base: &'a str,
    name: &'a str,
    measure: &'a Measure,
    scores: Vec<Score>,
    counts: bool,
    is_of_caches: bool,
}

/// Whether each stack counts: imported results that are shown with a run were measured on other disks, and no machine has an
/// infinite processor.
fn own_stacks(input: &Input) -> Vec<bool> {
    let names_processor = stack_facts::names_processor(input);
    let is_own = |stack: &&str| {
        let mut cells = input.plan.cells.iter().filter(|cell| cell.stack_label == **stack);
        input.run.machine == MachineKind::Foreign
            || cells.any(|cell| !cell.is_imported() && !stack_facts::is_unreal(cell, names_processor))
    };
    input.plan.stack_labels().iter().map(is_own).collect()
}

fn tests<'a>(input: &'a Input, results: &'a Results, own: &[bool]) -> Vec<Test<'a>> {
    let mut tests = Vec::new();
    for workload in &results.workloads {
        let cell = input.plan.cells.iter().find(|cell| cell.workload.name == workload.name);
        let Some(cell) = cell else { continue };
        for test in &workload.tests {
            let measure = test.headline();
            let rows = measure.rows.iter().zip(own);
            let figures = rows.filter(|(row, own)| **own && row.summary.is_some()).count();
            if figures > 1 && !is_part(cell, &test.name) && measure.metric.better() != Better::Neither {
                tests.push(Test {
                    workload,
                    base: cell.workload_entry(),
                    name: &test.name,
                    measure,
                    scores: scores(input, test, is_timed(cell, &test.name), own),
                    counts: true,
                    is_of_caches: false,
                });
            }
        }
    }
    tests
}

/// The directions of a mixed job are parts of its test.
fn is_part(cell: &Cell, test: &str) -> bool {
    match &cell.workload.work {
        Work::Io(spec) => spec.pattern.is_mixed() && (test == "read" || test == "write"),
        Work::FioFile(spec) => spec.section_of(test).is_some_and(|section| section.name != test),
        _ => false,
    }
}

fn is_timed(cell: &Cell, test: &str) -> bool {
    let job = cell.workload.work.job(test);
    job.is_some_and(|job| job.io.runtime_ns.is_some())
}

fn scores(input: &Input, test: &TestResults, is_timed: bool, own: &[bool]) -> Vec<Score> {
    let measure = test.headline();
    let durations = test.measures.iter().find(|measure| measure.metric == Metric::Duration);
    let duration_s = |place: usize| Some(durations?.rows[place].summary.as_ref()?.median);
    let own_rows = || measure.rows.iter().zip(own).filter(|(_, own)| **own);
    let medians = || own_rows().filter_map(|(row, _)| Some(row.summary.as_ref()?.median));
    let is_higher = measure.metric.better() == Better::Higher;
    // While a run is under way, stacks may have too few trials: the others are not ranked without them.
    let has_too_few = |(place, row): (usize, &stats::Row)| {
        own[place] && !row.values.is_empty() && row.excluded.is_empty() && measure.tier(place).is_none()
    };
    let is_early = input.run.finished_at_unix_s.is_none() && measure.rows.iter().enumerate().any(has_too_few);
    let tiers = || measure.ranking.tiers.first().filter(|_| !is_early);
    let first = tiers().and_then(|tier| tier.first()).copied();
    let best_of_all = match is_higher {
        true => medians().max_by(f64::total_cmp),
        false => medians().min_by(f64::total_cmp),
    };
    let best_ranked = first.and_then(|place| Some(measure.rows[place].summary.as_ref()?.median));
    // A stack of which a guard excluded trials may be ahead of all that are ranked: then nothing is relative to the best of these.
    let is_unranked_ahead = measure.rows.iter().enumerate().any(|(place, row)| {
        let median = row.summary.as_ref().map(|summary| summary.median);
        own[place]
            && measure.tier(place).is_none()
            && median.is_some()
            && median == best_of_all
            && median != best_ranked
    });
    let best = best_ranked.filter(|_| !is_unranked_ahead).or(best_of_all);
    let is_best = |row: &stats::Row| row.summary.as_ref().map(|summary| summary.median) == best;
    let first = first.filter(|_| !is_unranked_ahead);
    let fastest = first.or_else(|| measure.rows.iter().position(is_best));
    let effects = measure.effects();
    let of = |(place, row): (usize, &stats::Row)| {
        let mut score = Score {
            test: test.name.clone(),
            seconds: duration_s(place).zip(fastest.and_then(duration_s)),
            is_timed,
            metric: Some(measure.metric),
            excluded: row.excluded.len(),
            is_best: !is_early && measure.leaders().contains(&place),
            is_first: !is_early && measure.tier(place) == Some(1),
            is_ranked: !is_early && measure.tier(place).is_some(),
            ..Score::default()
        };
        let (Some(summary), Some(best)) = (&row.summary, best) else {
            return score;
        };
        (score.figure, score.best) = (summary.median, best);
        let of_medians = times_better(measure.metric.better(), summary.median, best);
        let effect = effects[place].as_ref().filter(|_| !is_early && !is_unranked_ahead);
        score.interval = effect.map(|effect| effect.interval(stats::ALPHA));
        let ratio = effect.map_or(of_medians, |effect| effect.shown_ratio(of_medians));
        // At most 1: two trials may be in another order than their medians.
        score.ratio = Some(ratio.min(1.0)).filter(|ratio| ratio.is_finite());
        score.overlap = effect.map(|effect| effect.interval(ALPHA_OF_OVERLAP));
        score
    };
    measure.rows.iter().enumerate().map(of).collect()
}

/// Tests by column.
fn groups<'a, 'b>(tests: &'b [Test<'a>]) -> Vec<(&'a str, Vec<&'b Test<'a>>)> {
    if tests.len() <= COLUMNS_MAX {
        let alone = |test: &'b Test<'a>| (test.workload.name.as_str(), vec![test]);
        return tests.iter().map(alone).collect();
    }
    let mut groups: Vec<(&str, Vec<&Test<'_>>)> = Vec::new();
    for test in tests {
        // The duration of a rebuild is another question than what programs notice of it.
        let belongs = |group: &[&Test<'_>]| {
            group[0].base == test.base && is_rebuild(group[0].measure.metric) == is_rebuild(test.measure.metric)
        };
        match groups.iter_mut().find(|(_, group)| belongs(group)) {
            Some((_, group)) => group.push(test),
            None => groups.push((test.base, vec![test])),
        }
    }
    groups
}

fn column(input: &Input, name: &str, group: &[&Test<'_>], warnings: &Warnings) -> Column {
    let test = match group {
        [only] => only.name.to_owned(),
        [first, ..] if is_rebuild(first.measure.metric) => "rebuild".to_owned(),
        _ => String::new(),
    };
    let is_short = group.iter().all(|test| !test.counts);
    Column {
        workload: name.to_owned(),
        test,
        is_doubtful: group
            .iter()
            .any(|test| !warnings.of_ranking(&test.workload.name).is_empty()),
        weight: match is_short {
            true => 0,
            false => group.first().map_or(1, |test| input.plan.weight(test.base)),
        },
        is_short,
        is_of_caches: group.iter().all(|test| test.is_of_caches),
    }
}

/// The smallest score of a stack in the tests of a column that count; one without a ratio before all others.
fn smallest(input: &Input, group: &[&Test<'_>], place: usize) -> Score {
    let is_short = group.iter().all(|test| !test.counts);
    let counted = || group.iter().filter(move |test| test.counts || is_short);
    let planned = || counted().filter(|test| test.measure.rows[place].cell.is_some());
    let missing = planned().find(|test| test.scores[place].ratio.is_none());
    let by_ratio = |one: &&&Test<'_>, other: &&&Test<'_>| {
        let ratio = |test: &Test<'_>| test.scores[place].ratio.unwrap_or(0.0);
        ratio(one).total_cmp(&ratio(other))
    };
    let Some(test) = missing.or_else(|| planned().min_by(by_ratio)) else {
        return Score {
            missing: "not in the study",
            ..Score::default()
        };
    };
    let mut score = test.scores[place].clone();
    score.excluded = planned().map(|test| test.scores[place].excluded).sum();
    score.is_ranked = planned().all(|test| test.scores[place].is_ranked);
    score.is_best = planned().all(|test| test.scores[place].is_best);
    score.is_first = planned().all(|test| test.scores[place].is_first);
    if score.ratio.is_none() {
        score.missing = input.without_figure(&test.measure.rows[place]);
    }
    if group.len() > 1 {
        score.test = named(&test.workload.name, test.name);
    }
    score
}

fn row(input: &Input, cuts: &[PowerCuts], stack: &str, scores: Vec<Score>) -> ScoreRow {
    let cell = input.plan.cells.iter().find(|cell| cell.stack_label == stack);
    let of_stack = || cuts.iter().flat_map(|cuts| &cuts.rows).filter(|row| row.stack == stack);
    let shown = of_stack().find(|row| row.is_bad).or_else(|| of_stack().next());
    ScoreRow {
        stack: stack.to_owned(),
        scores,
        worst: None,
        is_ranked: false,
        layout: cell.map(|cell| stack_facts::layout_of(input, cell)).unwrap_or_default(),
        silent_corruption: cell.and_then(stack_facts::silent_corruption),
        is_below_raid: cell.is_some_and(stack_facts::is_below_raid),
        rebuild: String::new(),
        power_cut: shown.map(|row| row.verdict.clone()).unwrap_or_default(),
        is_unsafe: of_stack().any(|row| row.is_bad),
        is_imported: cell.is_some_and(|cell| cell.is_imported()),
    }
}

const fn is_rebuild(metric: Metric) -> bool {
    matches!(metric, Metric::TimeToRebuild | Metric::TimeToRebuildDisk)
}
