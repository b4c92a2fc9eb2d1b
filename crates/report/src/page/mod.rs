//! The page: what it says, section by section, put into the template.

mod results;
mod setup;
mod shaped;
mod trouble;

use crate::claims::{self, ClaimWords};
use crate::figure::{count, nanoseconds, time};
use crate::input::{Input, TrialState};
use crate::words;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde::Serialize;

const TEMPLATE: &str = include_str!("../../assets/report.html.jinja");
const STYLE: &str = include_str!("../../assets/report.css");

/// The whole report as one HTML document.
pub fn html(input: &Input) -> String {
    let results = input.results();
    let claims = claims::claims(input);
    let page = Page {
        style: STYLE,
        head: Head::new(input, &stats::verdict(&results)),
        tables: shaped::tables(input, &results),
        workloads: results::workloads(input, &results),
        setup: setup::setup(input),
        claim_summary: claims::summary(&claims),
        claims,
        trouble: trouble::trouble(input),
        repeat: Repeat::new(input),
        notes: results::notes(input, &results),
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // A misspelt name is an error, and no hole in the page.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let template = environment
        .template_from_str(TEMPLATE)
        .expect("the template is part of this crate and is tested");
    template
        .render(Serde(&page))
        .expect("the template uses what the page has, which is tested")
}

#[derive(Serialize)]
struct Page {
    style: &'static str,
    head: Head,
    tables: Vec<shaped::Table>,
    workloads: Vec<results::Workload>,
    setup: setup::Setup,
    claim_summary: String,
    claims: Vec<ClaimWords>,
    trouble: trouble::Trouble,
    repeat: Repeat,
    notes: Vec<String>,
}

/// Title, verdict, and the run at a glance.
#[derive(Serialize)]
struct Head {
    title: String,
    description: String,
    is_simulated: bool,
    machine: &'static str,
    /// What processor time costs in the lab.
    processor: String,
    verdict: String,
    facts: Vec<(&'static str, String)>,
    /// Empty if the run is whole.
    incomplete: String,
    /// What the study measures that its author may not have meant.
    warnings: Vec<String>,
}

impl Head {
    fn new(input: &Input, verdict: &str) -> Self {
        let done = input
            .trials
            .iter()
            .filter(|trial| trial.state == TrialState::Done)
            .count();
        let failed = input
            .trials
            .iter()
            .filter(|trial| matches!(trial.state, TrialState::Failed(_)))
            .count();
        let trials = match failed {
            0 => format!("{done} done"),
            failed => format!("{done} done, {failed} failed"),
        };
        let mut facts = vec![
            ("Disks", setup::disk_words(input)),
            ("Kernel", setup::kernel_words(input)),
            ("Stacks", input.plan.stack_labels().len().to_string()),
            ("Trials", trials),
            ("Seed", input.run.seed.to_string()),
            ("Run", time(input.run.started_at_unix_s)),
        ];
        let machine_ns: u64 = input.trials.iter().filter_map(|trial| trial.machine_ns).sum();
        let wall_ns: u64 = input.trials.iter().filter_map(|trial| trial.wall_ns).sum();
        if input.is_simulated() && machine_ns > 0 {
            facts.push((
                "Time",
                format!(
                    "{} virtual in {} of real",
                    nanoseconds(machine_ns),
                    nanoseconds(wall_ns)
                ),
            ));
        }
        Self {
            title: input.plan.title.clone(),
            description: input.plan.description.clone(),
            is_simulated: input.is_simulated(),
            machine: words::machine(input.run.machine, &input.plan),
            processor: words::processor(&input.plan),
            verdict: verdict.to_owned(),
            facts,
            incomplete: incomplete(input, done),
            warnings: input.advice.clone(),
        }
    }
}

fn incomplete(input: &Input, done: usize) -> String {
    let mut words = Vec::new();
    if input.run.finished_at_unix_s.is_none() {
        words.push(format!(
            "The run is not finished: these are its first {}.",
            count(done, "trial")
        ));
    }
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

/// What repeats the run.
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
