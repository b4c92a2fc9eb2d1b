//! The page: its contents, section by section, filled into the template.

mod comparison;
mod curves;
mod custom_table;
mod disks;
mod distribution;
mod failures;
mod recommended;
mod results;
mod scoreboard;
mod setup;

pub use comparison::comparison_html;
pub use curves::{Curve, Plot, plots};
pub use distribution::{Distribution, distributions};

use crate::input::Input;
use crate::scoreboard::{Scoreboard, verdict};
use crate::words;
use crate::words::claims::{self, ClaimWords};
use crate::words::figure::{RateUnit, count, nanoseconds, time};
use crate::words::imported_against_own::{self, Pair};
use crate::words::power_cut::{self, PowerCuts};
use crate::words::warnings::Warnings;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde::Serialize;

const TEMPLATE: &str = include_str!("../assets/report.html.jinja");
pub(crate) const STYLE: &str = include_str!("../assets/report.css");

/// The whole report as one HTML document.
pub fn html(input: &Input) -> String {
    let results = input.results();
    let warnings = input.warnings();
    let claims = claims::claims(input, &warnings);
    let ranked = power_cut::others(&results);
    let board = input.scoreboard(&results, &warnings);
    let mut page = Page {
        style: STYLE,
        contents: Vec::new(),
        head: Head::new(input, &results, &warnings, &board),
        board: scoreboard::board(&board),
        imported: Some(imported_against_own::pairs(input, &results, RateUnit::MiB))
            .filter(|pairs| pairs.len() > 1)
            .unwrap_or_default(),
        tables: custom_table::tables(input, &results, &warnings),
        power_cuts: power_cut::power_cuts(input, &results),
        groups: results::groups(input, &ranked, &warnings),
        recommended: recommended::recommended(input, &board),
        setup: setup::setup(input),
        claim_summary: claims::summary(&claims),
        how_claims_are_decided: claims::how_decided(&claims),
        claims,
        failures: failures::failures(input),
        repeat: Repeat::new(input),
        notes: if ranked.workloads.is_empty() {
            Vec::new()
        } else {
            results::notes(input, &ranked)
        },
    };
    page.contents = contents(&page);
    rendered(TEMPLATE, &page)
}

/// Fills a page into its template; all text in it is escaped.
pub(crate) fn rendered(template: &str, page: &impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // A misspelt name is an error instead of a gap in the page.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let template = environment
        .template_from_str(template)
        .expect("the template is part of this crate and is tested");
    let page = template
        .render(Serde(page))
        .expect("the template uses what the page has, which is tested");
    // A slash need not be escaped in text and in quoted attributes, and "MiB/s" occurs thousands of times on a
    // page. If a study contains this reference itself, it begins with `&amp;`.
    page.replace("&#x2f;", "/")
}

#[derive(Serialize)]
struct Page {
    style: &'static str,
    /// Anchors of the sections, with their headings.
    contents: Vec<(String, String)>,
    head: Head,
    board: scoreboard::Board,
    /// Imported figures with a counterpart, if the verdict does not have the only one.
    imported: Vec<Pair>,
    tables: Vec<custom_table::Table>,
    power_cuts: Vec<PowerCuts>,
    groups: Vec<results::Group>,
    recommended: Vec<recommended::Recommended>,
    setup: setup::Setup,
    claim_summary: String,
    how_claims_are_decided: &'static str,
    claims: Vec<ClaimWords>,
    failures: failures::Failures,
    repeat: Repeat,
    notes: Vec<String>,
}

/// Title, verdict, and an overview of the run.
#[derive(Serialize)]
struct Head {
    title: String,
    description: String,
    is_simulated: bool,
    /// Imported results are shown with the run.
    has_imported: bool,
    machine: &'static str,
    /// The cost of CPU time in the lab.
    processor: String,
    /// Reasons to doubt the whole run.
    doubts: Vec<String>,
    verdict: String,
    /// How far each disk model can be trusted, and what comparisons of new filesystems leave out.
    models: Vec<String>,
    /// The machine and its trials in a line.
    run: String,
    /// Number of samples that are not counted; empty if all are.
    doubtful: String,
    facts: Vec<(&'static str, String)>,
    /// Empty if the run is complete.
    incomplete: String,
    /// Possibly unintended measurements of the study.
    warnings: Vec<String>,
}

impl Head {
    fn new(input: &Input, results: &stats::Results, warnings: &Warnings, board: &Scoreboard) -> Self {
        let (done, failed) = input.done_and_failed();
        let trials = match failed {
            0 => format!("{} done", count(done, "trial")),
            failed => format!("{} done, {failed} failed", count(done, "trial")),
        };
        let mut facts = vec![
            ("Disks", setup::disk_words(input)),
            ("Kernel", setup::kernel_words(input)),
            ("Stacks", input.plan.stack_labels().len().to_string()),
            ("Trials", trials.clone()),
            ("Seed", input.run.seed.to_string()),
            ("Run", time(input.run.started_at_unix_s)),
        ];
        facts.extend(words::device_time::note(input).map(|note| ("Device time", note)));
        facts.extend(words::aa_control::note(input).map(|note| ("A/A control", note)));
        let machine_ns: u64 = input.trials.iter().filter_map(|trial| trial.machine_ns).sum();
        let wall_ns: u64 = input.trials.iter().filter_map(|trial| trial.wall_ns).sum();
        if input.is_simulated() && machine_ns > 0 {
            facts.push((
                "Time",
                format!(
                    "{} virtual, {} of real time for all trials together",
                    nanoseconds(machine_ns),
                    nanoseconds(wall_ns)
                ),
            ));
        }
        Self {
            title: input.plan.title.clone(),
            description: input.plan.description.clone(),
            is_simulated: input.is_simulated(),
            has_imported: input.has_imported(),
            machine: words::machine(input.run.machine, &input.plan),
            processor: words::processor(&input.plan),
            doubts: words::aa_control::warning(input)
                .into_iter()
                .chain(warnings.run.clone())
                .collect(),
            verdict: verdict(input, results, board),
            models: input
                .of_safety
                .iter()
                .map(|sentence| format!("Warning: {sentence}."))
                .chain(words::models(input))
                .chain(words::explanations(input, results))
                .collect(),
            run: format!(
                "{}, kernel {}, {trials}",
                setup::disk_words(input),
                setup::kernel_words(input)
            ),
            doubtful: words::guards::excluded(input),
            facts,
            incomplete: incomplete(input),
            warnings: [input.advice.clone(), words::limits(input)].concat(),
        }
    }
}

/// If there are more sections, they are not listed individually.
const LISTED_MAX: usize = 12;

fn contents(page: &Page) -> Vec<(String, String)> {
    let mut contents: Vec<(String, String)> = Vec::new();
    let mut add = |anchor: &str, words: &str| contents.push((anchor.to_owned(), words.to_owned()));
    if !page.claims.is_empty() {
        add("claims", "Claims");
    }
    if !page.tables.is_empty() {
        add("tables", "The study's tables");
    }
    for (place, cuts) in page.power_cuts.iter().take(LISTED_MAX).enumerate() {
        add(&format!("cuts{place}"), &cuts.workload);
    }
    for (place, group) in page.groups.iter().take(LISTED_MAX).enumerate() {
        add(&format!("work{place}"), group.title());
    }
    if page.groups.len() > LISTED_MAX {
        add(&format!("work{LISTED_MAX}"), "further workloads");
    }
    if !page.recommended.is_empty() {
        add("recommended", "Commands");
    }
    add("setup", "Tested stacks and machines");
    add("failures", "Failures and guards");
    add("repeat", "How to reproduce it");
    contents
}

/// What is not shown.
fn incomplete(input: &Input) -> String {
    let mut words = Vec::new();
    let part = input.part_words();
    if !part.is_empty() {
        words.push(part);
    }
    if !input.run.only.is_empty() {
        words.push(format!(
            "Only a part of the study was run: {}.",
            words::axes(&input.run.only)
        ));
    }
    words.join(" ")
}

/// How to repeat the run.
#[derive(Serialize)]
struct Repeat {
    command: String,
    study: String,
    facts: Vec<(&'static str, String)>,
    is_simulated: bool,
}

impl Repeat {
    fn new(input: &Input) -> Self {
        let run = &input.run;
        Self {
            command: run.command.clone(),
            study: input.plan.source.clone(),
            facts: vec![
                ("Seed", run.seed.to_string()),
                ("raidlab", run.raidlab_version.clone()),
                ("Study SHA-256", run.study_sha256.clone()),
                ("Digest of all samples", run.digest_sha256.clone()),
            ],
            is_simulated: input.is_simulated(),
        }
    }
}
