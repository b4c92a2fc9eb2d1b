//! After a power cut: restarts the stack and checks what survived.

use crate::{MemoryLedger, NoDiskCheck, TrialSetting};
use serde::{Deserialize, Serialize};
use stack::{Access, Cause, Context, Recovered, Restart, System};
use std::collections::BTreeSet;
use std::time::Instant;
use study::FindingKind;
use study::event::{Event, Failure};
use study::plan::Trial;
use study::workload::Work;
use tools::Tools;
use workload::power_cut::{FOLDER, History, observe};
pub use workload::power_cut::{Log, Loss, Operations, Violation, ViolationKind};

/// The parameters of a cut.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cut {
    pub log: Log,
    /// Selects the member that is removed.
    pub seed: u64,
}

/// Result of the check after a power cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateVerdict {
    /// Why the array did not start, or the filesystem was not mounted.
    pub not_mountable: Option<String>,
    pub violations: Vec<Violation>,
    pub checker_complaint: Option<String>,
    /// Sectors whose copies or parity disagree.
    pub stale_sectors: u64,
    /// How the guest that should check this state died. If it had checked other states before, those may be the
    /// cause; then another guest checks it again.
    #[serde(default)]
    pub guest_died: Option<String>,
}

impl StateVerdict {
    pub fn has(&self, kind: ViolationKind) -> bool {
        self.violations.iter().any(|violation| violation.kind == kind)
    }

    /// Kinds of all that is wrong.
    pub fn kinds(&self) -> BTreeSet<FindingKind> {
        self.findings().into_iter().map(|(kind, _)| kind).collect()
    }

    /// What is wrong, in the order in which it is reported.
    pub fn findings(&self) -> Vec<(FindingKind, String)> {
        let of = |kind: FindingKind, detail: &Option<String>| detail.clone().map(|detail| (kind, detail));
        let violations = self.violations.iter().map(|violation| {
            let kind = match violation.kind {
                ViolationKind::Lost => FindingKind::Lost,
                ViolationKind::Wrong => FindingKind::Wrong,
            };
            (kind, violation.detail.clone())
        });
        let stale =
            (self.stale_sectors > 0).then(|| format!("{} sectors disagree after the resync", self.stale_sectors));
        of(FindingKind::NotMountable, &self.not_mountable)
            .into_iter()
            .chain(of(FindingKind::Checker, &self.checker_complaint))
            .chain(of(FindingKind::Parity, &stale))
            .chain(violations)
            .chain(of(FindingKind::GuestDied, &self.guest_died))
            .collect()
    }
}

/// A verdict, and the state of the machine afterwards.
#[derive(Debug)]
pub struct Judgement {
    pub verdict: StateVerdict,
    /// Nothing of the stack is left: no mounted filesystem, no array.
    pub is_clean: bool,
}

/// Restarts the stack of a power-cut trial, checks it, and stops it.
///
/// # Errors
/// If it cannot be checked. A stack that does not start is a verdict.
pub fn judge(
    trial: &Trial,
    setting: &TrialSetting,
    cut: Cut,
    sink: &mut dyn FnMut(Event),
) -> Result<Judgement, Failure> {
    let failed = |message: String| Failure {
        step: "judge a power cut".to_owned(),
        message,
    };
    let Work::PowerCut(spec) = &trial.cell.workload.work else {
        return Err(failed("the trial has no power cuts".to_owned()));
    };
    let tools = stack::tools_of_recovery(&trial.cell.stack);
    let mut tools = Tools::find(&tools).map_err(|missing| failed(missing.to_string()))?;
    let mut sink = sink;
    let mut context = Context {
        access: Access {
            executor: &mut System::new(&mut tools),
            recorder: &mut sink,
            check: &mut NoDiskCheck,
        },
        ledger: &mut MemoryLedger::default(),
        began: Instant::now(),
        setting: setting.of_stack(),
    };
    let member = (cut.seed >> 8) as usize;
    let operations = Operations::draw(trial.seed, spec);
    let mut judge = Judge {
        history: History::new(&operations, cut.log),
        verdict: StateVerdict::default(),
    };
    let restart = Restart {
        missing: spec.missing_member.then_some(member),
        amid_acts: !trial.cell.acts.is_empty(),
    };
    match stack::recover(&trial.cell.stack, &setting.disks, restart, &mut context) {
        Ok(recovered) => {
            let judged = judge.all(&recovered, restart, member, &mut context);
            judged.map_err(|cause| failed(cause.to_string()))?;
        }
        Err(cause) => judge.verdict.not_mountable = Some(cause.to_string()),
    }
    Ok(Judgement {
        verdict: judge.verdict,
        is_clean: stack::put_away(&trial.cell.stack, &setting.disks, &mut context).is_ok(),
    })
}

struct Judge {
    history: History,
    verdict: StateVerdict,
}

impl Judge {
    fn all(
        &mut self,
        stack: &Recovered,
        restart: Restart,
        member: usize,
        context: &mut Context<'_>,
    ) -> Result<(), Cause> {
        if !self.read("", stack, context)? {
            return Ok(());
        }
        self.verdict.checker_complaint = stack.complaint(context)?;
        if restart.missing.is_some() {
            return Ok(());
        }
        // With a failed member there is no redundancy to check.
        if restart.amid_acts && !stack.is_whole(context)? {
            return Ok(());
        }
        self.verdict.stale_sectors = stack.stale_sectors(context)?.unwrap_or(0);
        // The data on the other members must be the same.
        if stack.fail_member(member, context)? {
            self.read("without one member, ", stack, context)?;
        }
        Ok(())
    }

    /// Mounts, checks all files, and unmounts. False if it cannot be mounted.
    fn read(&mut self, when: &str, stack: &Recovered, context: &mut Context<'_>) -> Result<bool, Cause> {
        let folder = match stack.mount(context) {
            Ok(folder) => folder,
            Err(cause) => {
                self.verdict.not_mountable = Some(format!("{when}{cause}"));
                return Ok(false);
            }
        };
        let violations = self.history.judge(&observe(&folder.join(FOLDER)));
        self.verdict
            .violations
            .extend(violations.into_iter().map(|violation| Violation {
                detail: format!("{when}{}", violation.detail),
                ..violation
            }));
        stack.unmount(context)?;
        Ok(true)
    }
}
