//! Finds the shortest workload and the fewest lost writes that still show the finding of a power cut.

use crate::finding::words;
use crate::guests::{Guests, NEVER};
use crate::reproduce::{text, without};
use crate::{Error, LostSectors, Numbers, StateChoice};
use lab::guest::PowerCut;
use lab::kernel::Cache;
use lab::power_cut::{self, JudgedState, Lost, LostWrites, smaller};
use prepare::kernels::ShowBuild;
use study::FindingKind;
use study::plan::{Plan, Trial};
use study::workload::PowerCutSpec;
use trial::power_cut::{Operations, StateVerdict};

/// One processor for all of a guest's processes: between two, each system call costs several times as much.
fn processor() -> Option<usize> {
    lab::guest::processors().first().copied()
}

/// Maximum number of explorations: each takes as long as a trial of the study.
const TRIES_MAX: u32 = 60;

/// State of the search.
struct Shrinking<'a> {
    guests: Guests<'a>,
    plan: &'a Plan,
    trial: Trial,
    spec: PowerCutSpec,
    kind: FindingKind,
    tried: u32,
}

/// Reduces the operations and the lost writes of a state as long as its finding remains; returns the result in words.
pub fn shrink(choice: &StateChoice, plan: &Plan, cache: &Cache, show: ShowBuild) -> Result<String, Error> {
    let (trial, spec) = choice.trial(plan)?;
    let guests = Guests::new(cache, show)?;
    let judged = guests.explore((plan, &trial), spec.clone(), processor(), |exploration| {
        exploration.state(choice.cut, &NEVER)
    })?;
    let Some(kind) = judged.verdict.kinds().into_iter().next() else {
        return Ok("nothing is wrong with this state: there is nothing to shrink\n".to_owned());
    };
    log::info!("{}", words(kind));
    let mut shrinking = Shrinking {
        guests,
        plan,
        trial,
        spec,
        kind,
        tried: 0,
    };
    let judged = shrinking.operations(judged)?;
    shrinking.writes(choice, &judged)
}

impl Shrinking<'_> {
    /// Removes operations, and each time looks for an instant and a seed that show the finding.
    fn operations(&mut self, mut judged: JudgedState) -> Result<JudgedState, Error> {
        let all = Operations::draw(self.trial.seed, &self.whole());
        let total = all.all.len() as u32;
        // Operations that start after the cut are irrelevant.
        let begun: Vec<u32> = (0..total)
            .filter(|number| !self.spec.left_out.contains(number))
            .take(judged.log.begun)
            .collect();
        let mut best = self.spec.left_out.clone();
        let kept = smaller(begun, &mut |candidates: &[Vec<u32>]| {
            for (index, kept) in candidates.iter().enumerate() {
                let left_out: Vec<u32> = (0..total).filter(|number| !kept.contains(number)).collect();
                if let Some(found) = self.explore(&left_out)? {
                    (judged, best) = (found, left_out);
                    return Ok::<_, Error>(Some(index));
                }
            }
            Ok(None)
        })?;
        log::info!("{} operations remain", kept.len());
        let spec = self.spec.clone();
        self.spec = without(&mut self.trial, &spec, &best);
        Ok(judged)
    }

    fn whole(&self) -> PowerCutSpec {
        PowerCutSpec {
            left_out: Vec::new(),
            ..self.spec.clone()
        }
    }

    /// The first state with the finding, among all states without these operations.
    fn explore(&mut self, left_out: &[u32]) -> Result<Option<JudgedState>, Error> {
        let mut trial = self.trial.clone();
        let spec = without(&mut trial, &self.spec, left_out);
        let operations = Operations::draw(trial.seed, &spec);
        if operations.all.len() == operations.prepared || self.tried == TRIES_MAX {
            return Ok(None);
        }
        self.tried += 1;
        log::info!("try {}: {} operations", self.tried, operations.all.len());
        let kind = self.kind;
        self.guests
            .explore((self.plan, &trial), spec, processor(), |exploration| {
                let mut first: Option<JudgedState> = None;
                exploration.all(&NEVER, &mut |_| {}, &mut |judged| {
                    if first.is_none() && judged.verdict.kinds().contains(&kind) {
                        first = Some(judged.clone());
                    }
                })?;
                Ok::<_, power_cut::Error>(first)
            })
    }

    /// Restores lost writes, and reports the remaining ones.
    fn writes(&self, choice: &StateChoice, judged: &JudgedState) -> Result<String, Error> {
        let cut = PowerCut {
            at_ns: judged.at_ns,
            seed: judged.seed,
        };
        let kind = self.kind;
        let operations = Operations::draw(self.trial.seed, &self.spec);
        self.guests.explore(
            (self.plan, &self.trial),
            self.spec.clone(),
            processor(),
            |exploration| {
                let writes = LostWrites::of(exploration, cut, &NEVER)?;
                let shows = |verdict: &StateVerdict| verdict.kinds().contains(&kind);
                let fewest = writes.fewest(&shows, &NEVER)?;
                let (lost, total) = (fewest.unwrap_or_else(|| writes.all().to_vec()), writes.all().len());
                let verdict = writes.judge(std::slice::from_ref(&lost), &NEVER)?;
                let smallest = JudgedState {
                    verdict: verdict.into_iter().next().unwrap_or_default(),
                    ..judged.clone()
                };
                let mut all = text(&self.trial.cell, &operations, &smallest, operations.all.len());
                all.push_str(&match lost.is_empty() {
                    true => format!("lost from the caches: nothing ({total} blocks before)\n"),
                    false => format!(
                        "lost from the caches: parts of {} blocks ({total} before)\n",
                        lost.len()
                    ),
                });
                for line in writes.describe(&lost)? {
                    all.push_str(&format!("  {line}\n"));
                }
                all.push_str(&self.command(choice, cut, &lost));
                Ok::<_, power_cut::Error>(all)
            },
        )
    }

    /// The command that reproduces this.
    fn command(&self, choice: &StateChoice, cut: PowerCut, lost: &[Lost]) -> String {
        let mut words = format!(
            "again: raidlab power-cut {} --cell {} --seed {} --trial {} --at {} --cut-seed {}",
            choice.study.display(),
            choice.cell,
            choice.seed,
            choice.trial,
            cut.at_ns,
            cut.seed
        );
        if !self.spec.left_out.is_empty() {
            words.push_str(&format!(" --leave-out {}", Numbers(self.spec.left_out.clone())));
        }
        let runs = lost.iter().flat_map(|lost| {
            let named = |(sector, count)| LostSectors {
                disk: lost.disk + 1,
                sector,
                count,
            };
            lost.runs().into_iter().map(named)
        });
        let mut runs: Vec<String> = runs.map(|run| run.to_string()).collect();
        if runs.is_empty() {
            runs.push(LostSectors::NOTHING.to_string());
        }
        format!("{words} --lose {}\n", runs.join(","))
    }
}
