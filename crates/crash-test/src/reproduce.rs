//! Repeats one state of a study's power cuts, by a run that ends in the cut.

use crate::guests::{Guests, NEVER};
use crate::{Error, LostSectors, Numbers};
use lab::disks::Models;
use lab::guest::PowerCut;
use lab::kernel::Cache;
use lab::power_cut::{self, Exploration, JudgedState, Lost, LostWrites};
use prepare::kernels::ShowBuild;
use prepare::load_study;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use study::plan::{Cell, Plan, Trial};
use study::workload::{PowerCutSpec, Work};
use trial::power_cut::Operations;

/// Operations before the cut that are listed.
const LISTED: usize = 12;

/// The state that the user asks for.
#[derive(Clone, Debug)]
pub struct StateChoice {
    /// The study's file, for the command that shows the state again.
    pub study: PathBuf,
    /// Counted from 1, as the trial.
    pub cell: u64,
    pub seed: u64,
    pub trial: u64,
    /// The instant of the cut and the seed of what the caches lose.
    pub cut: PowerCut,
    /// Operations to skip.
    pub left_out: Option<Numbers>,
    /// The only sectors that are lost, unless there are none here.
    pub lose: Vec<LostSectors>,
}

impl StateChoice {
    /// The trial with its work.
    pub(crate) fn trial(&self, plan: &Plan) -> Result<(Trial, PowerCutSpec), Error> {
        let cell = load_study::cell(plan, self.cell)?;
        let Work::PowerCut(spec) = &cell.workload.work else {
            return Err(Error::NoPowerCuts { cell: self.cell });
        };
        let mut trial = Trial {
            cell: cell.clone(),
            index: 0,
            seed: study::trial_seed(self.seed, self.trial as u32 - 1),
        };
        let total = Operations::draw(trial.seed, spec).all.len() as u32;
        let beyond = |number: &u32| *number >= total;
        let left_out = self.left_out.iter().flat_map(|numbers| &numbers.0);
        if let Some(number) = left_out.copied().find(beyond) {
            let last = total.saturating_sub(1);
            return Err(Error::NoSuchOperation { number, last });
        }
        self.check_lost(plan, &trial)?;
        let spec = match &self.left_out {
            Some(numbers) => without(&mut trial, spec, &numbers.0),
            None => spec.clone(),
        };
        Ok((trial, spec))
    }

    /// Sectors that no disk has cannot be lost: without them the verdict would be on another state than the one asked
    /// for.
    fn check_lost(&self, plan: &Plan, trial: &Trial) -> Result<(), Error> {
        if self.lose.is_empty() {
            return Ok(());
        }
        let (machine, stack) = (&trial.cell.machine, &trial.cell.stack);
        let disks = lab::disks::description(machine, stack, trial.seed, &Models::of(plan));
        let disks = disks.map_err(prepare::Error::from)?.disks;
        for &lost in &self.lose {
            let Some(disk) = lost.disk.checked_sub(1).and_then(|index| disks.get(index)) else {
                let disks = disks.len();
                return Err(Error::NoSuchDisk { lost, disks });
            };
            let end = lost.sector.checked_add(lost.count);
            if end.is_none_or(|end| end > disk.sectors) {
                let sectors = disk.sectors;
                return Err(Error::NoSuchSectors { lost, sectors });
            }
        }
        Ok(())
    }
}

/// The state in words.
pub fn state(choice: &StateChoice, plan: &Plan, cache: &Cache, show: ShowBuild) -> Result<String, Error> {
    let (trial, spec) = choice.trial(plan)?;
    let guests = Guests::new(cache, show)?;
    let judged = guests.explore((plan, &trial), spec.clone(), None, |exploration| {
        match choice.lose.is_empty() {
            true => exploration.state(choice.cut, &AtomicBool::new(false)),
            false => with_lost(exploration, choice.cut, &choice.lose),
        }
    })?;
    let operations = Operations::draw(trial.seed, &spec);
    Ok(text(&trial.cell, &operations, &judged, LISTED))
}

/// The state, with its last operations.
pub(crate) fn text(cell: &Cell, operations: &Operations, judged: &JudgedState, listed: usize) -> String {
    let log = judged.log;
    let mut lines = vec![
        format!("{} (simulated)", cell.stack_label),
        format!(
            "{} of {} operations had begun, {} had returned",
            log.begun,
            operations.all.len(),
            log.returned
        ),
    ];
    let first = log.begun.saturating_sub(listed);
    for (number, operation) in operations.all.iter().enumerate().take(log.begun).skip(first) {
        let open = if number < log.returned { "" } else { ", under way" };
        lines.push(format!("  {number}: {operation}{open}"));
    }
    let findings = judged.findings();
    match findings.is_empty() {
        true => lines.push("everything acknowledged is there, and nothing else".to_owned()),
        false => lines.extend(findings.iter().map(ToString::to_string)),
    }
    lines.join("\n") + "\n"
}

/// Makes a trial skip these operations.
pub(crate) fn without(trial: &mut Trial, spec: &PowerCutSpec, left_out: &[u32]) -> PowerCutSpec {
    let spec = PowerCutSpec {
        left_out: left_out.to_vec(),
        ..spec.clone()
    };
    trial.cell.workload.work = Work::PowerCut(spec.clone());
    spec
}

/// The state in which only these sectors of the cut's lost writes are lost.
fn with_lost(
    exploration: &Exploration<'_>,
    cut: PowerCut,
    lose: &[LostSectors],
) -> Result<JudgedState, power_cut::Error> {
    let writes = LostWrites::of(exploration, cut, &NEVER)?;
    let each = lose
        .iter()
        .flat_map(|lost| Lost::sectors(lost.disk - 1, lost.sector, lost.count));
    let set: Vec<Lost> = each.filter(|lost| writes.has(*lost)).collect();
    let verdict = writes.judge(&[set], &NEVER)?.into_iter().next().unwrap_or_default();
    Ok(JudgedState {
        at_ns: cut.at_ns,
        seed: cut.seed,
        log: writes.log(),
        verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = "ram = \"64M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 2\n[[stack]]\narray = { level = 1, size = \"64M\" }\n\
        [[workload]]\nname = \"w\"\npower_cut = { operations = 20, points = 2 }\n[precision]\ntrials = 1\n";

    /// The verdict on `disk 99` of two was that everything is there.
    #[test]
    fn what_a_cell_does_not_have_is_not_lost_or_left_out_silently() {
        let plan = study_file::read(STUDY, "s", &study_file::Known::default()).expect("sound");
        let asked = |left_out: Option<&str>, lose: &str| {
            let choice = StateChoice {
                study: PathBuf::from("s.toml"),
                cell: 1,
                seed: 1,
                trial: 1,
                cut: PowerCut { at_ns: 1, seed: 1 },
                left_out: left_out.map(|text| text.parse().expect("numbers")),
                lose: vec![lose.parse().expect("sectors")],
            };
            choice.trial(&plan).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(asked(None, "nothing"), Ok(()));
        assert_eq!(asked(Some("3,7-9"), "2:8+1"), Ok(()));
        let words = |left_out, lose| asked(left_out, lose).expect_err(lose);
        assert_eq!(
            words(None, "99:1+1"),
            "--lose 99:1+1: the disks of this cell are 1 to 2"
        );
        for lose in ["2:18446744073709551615+1", "2:18446744073709551000+9"] {
            let error = words(None, lose);
            assert!(
                error.starts_with(&format!("--lose {lose}: the sectors of disk 2 are 0 to ")),
                "{error}"
            );
        }
        let error = words(Some("3,9999"), "nothing");
        assert!(
            error.starts_with("--leave-out 9999: the operations of this cell are 0 to "),
            "{error}"
        );
        let last = error.rsplit(' ').next().expect("the last number");
        assert_eq!(asked(Some(last), "nothing"), Ok(()), "it is the last one");
    }
}
