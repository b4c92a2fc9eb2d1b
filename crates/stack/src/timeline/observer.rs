//! The state of an array as its manager reports it, and the samples that follow from it.

use super::calls::Calls;
use super::events::Events;
use super::redundancy::{Doing, MemberErrors, Redundancy, Status};
use super::trimming::{self, Trim};
use crate::machine::disk_check::DiskCheck;
use crate::machine::error::Cause;
use std::sync::Arc;
use std::time::{Duration, Instant};
use study::act::FSTRIM;
use study::event::{Event, Guard, Sample};
use study::metric::{MEBIBYTE, Metric};
use study::phase::{Phase, Phases};
use study::wording::{bytes, nanoseconds, number};
use tools::Tools;

/// As disks are sold.
const TERABYTE: f64 = 1e12;

/// A part of a rebuild.
struct DoneUnderLoad {
    share: f64,
    took: Duration,
    member_bytes: u64,
}

impl DoneUnderLoad {
    /// `the first 31.0 % of the 4 GiB of a member took 2.00 min under load: 10.58 MiB/s, or 25.0 h for each TB of a disk`.
    fn words(&self) -> String {
        let seconds = self.took.as_secs_f64();
        let bytes_s = self.share * self.member_bytes as f64 / seconds;
        let hours = TERABYTE / bytes_s / 3600.0;
        let long = match hours {
            0.0..48.0 => format!("{} h", number(hours, 1)),
            _ => format!("{} days", number(hours / 24.0, 1)),
        };
        format!(
            "the first {} % of the {} of a member took {} under load: {} MiB/s, or {long} for each TB of a disk",
            number(100.0 * self.share, 1),
            bytes(self.member_bytes),
            nanoseconds(self.took.as_nanos() as u64),
            number(bytes_s / MEBIBYTE, 2),
        )
    }
}

/// Watches one array from the start of the acts.
pub(super) struct Observer {
    pub(super) manager: Box<dyn Redundancy>,
    tools: Arc<Tools>,
    check: Box<dyn DiskCheck + Send>,
    phases: Arc<Phases>,
    trial_began: Instant,
    /// Last seen status.
    status: Status,
    phase: Phase,
    phase_began: Instant,
    /// Number of missing members when the current phase began.
    phase_missing: u64,
    /// It was incomplete at some time.
    was_changed: bool,
    /// A disk was made slow.
    is_limping: bool,
    /// A disk does not respond until then.
    hangs_until: Option<Instant>,
    /// Contents were changed on purpose: a check that finds this is a result, not a defect.
    is_corrupted: bool,
    /// An fstrim under way.
    trim: Option<Trim>,
    /// Mismatches of each check and repair so far.
    mismatches: Vec<u64>,
    was_repaired: bool,
    failed_at: Option<Instant>,
    /// The act that triggers the next rebuild, and whether a whole member is rebuilt.
    asked: Option<(Instant, bool)>,
    rebuilds: u32,
    /// The part of a rebuild that was done when the work ended.
    done_under_load: Option<DoneUnderLoad>,
    /// An act has requested a check or repair.
    is_check_asked: bool,
    /// An act was done after the work's end.
    is_late: bool,
    /// Phases so far.
    entered: Vec<Phase>,
    /// Read errors of members before it.
    errors_before: Option<MemberErrors>,
    events: Events,
}

impl Observer {
    pub(super) fn new(
        manager: Box<dyn Redundancy>,
        tools: Arc<Tools>,
        check: Box<dyn DiskCheck + Send>,
        phases: Arc<Phases>,
        trial_began: Instant,
    ) -> Self {
        Self {
            manager,
            tools,
            check,
            phases,
            trial_began,
            status: Status::default(),
            phase: Phase::Healthy,
            phase_began: Instant::now(),
            phase_missing: 0,
            was_changed: false,
            is_limping: false,
            hangs_until: None,
            is_corrupted: false,
            trim: None,
            mismatches: Vec::new(),
            was_repaired: false,
            failed_at: None,
            asked: None,
            rebuilds: 0,
            done_under_load: None,
            is_check_asked: false,
            is_late: false,
            entered: vec![Phase::Healthy],
            errors_before: None,
            events: Events::default(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.status.doing == Doing::Nothing && self.trim.is_none()
    }

    pub(super) const fn is_trimming(&self) -> bool {
        self.trim.is_some()
    }

    /// Starts an fstrim, after the one before it.
    pub(super) fn trim(&mut self, ground: &trimming::Ground) -> Result<(), Cause> {
        self.end_trim(false)?;
        let (_, mut calls) = self.manager();
        self.trim = Some(ground.begin(&mut calls)?);
        Ok(())
    }

    /// Waits for an fstrim, if there is one, and reports it.
    fn end_trim(&mut self, work_ended: bool) -> Result<(), Cause> {
        let Some(trim) = self.trim.take() else { return Ok(()) };
        let (_, mut calls) = self.manager();
        let trimmed = trim.end(&mut calls)?;
        self.sample(FSTRIM, Metric::Duration, trimmed.took.as_secs_f64());
        self.sample(FSTRIM, Metric::Trimmed, trimmed.bytes as f64 / MEBIBYTE);
        self.sample(FSTRIM, Metric::Discarded, trimmed.discarded_bytes as f64 / MEBIBYTE);
        let (passed, detail) = trimmed.words();
        self.guard("trim", Some(FSTRIM), passed, detail);
        let detail = match work_ended {
            false => "the filesystem was trimmed while the workload ran",
            true => {
                "the filesystem was trimmed until after the workload, so its time is not that under load; use an earlier \
                 time or a longer workload"
            }
        };
        self.guard(Guard::ACT, Some(FSTRIM), !work_ended, detail.to_owned());
        Ok(())
    }

    pub(super) const fn missing(&self) -> u64 {
        self.status.missing
    }

    /// The manager, and its access to programs.
    pub(super) fn manager(&mut self) -> (&mut dyn Redundancy, Calls<'_>) {
        let calls = Calls {
            tools: &self.tools,
            events: &mut self.events,
            check: self.check.as_mut(),
        };
        (self.manager.as_mut(), calls)
    }

    /// A member failed on purpose.
    pub(super) fn failed(&mut self, at: Instant) {
        self.failed_at.get_or_insert(at);
        self.asked.get_or_insert((at, true));
    }

    /// A rebuild was requested: of a whole member, or of the regions marked in a bitmap.
    pub(super) fn asked_for_rebuild(&mut self, at: Instant, whole: bool) {
        self.asked = Some((at, whole));
    }

    /// A check or repair is requested.
    pub(super) fn asked_for_check(&mut self) -> Result<(), Cause> {
        self.is_check_asked = true;
        let (manager, mut calls) = self.manager();
        self.errors_before = manager.errors(&mut calls)?;
        Ok(())
    }

    pub(super) const fn too_late(&mut self) {
        self.is_late = true;
    }

    pub(super) const fn limps(&mut self) {
        self.is_limping = true;
    }

    pub(super) const fn limps_until(&mut self, until: Instant) {
        self.hangs_until = Some(until);
    }

    pub(super) const fn corrupted(&mut self) {
        self.is_corrupted = true;
    }

    /// Mismatches of each check and repair so far: sectors, and errors of members.
    pub(super) fn mismatches(&self) -> &[u64] {
        &self.mismatches
    }

    /// Whether the array was repaired after an act `corrupt`.
    pub(super) const fn was_repaired(&self) -> bool {
        self.was_repaired
    }

    pub(super) fn event(&mut self, event: Event) {
        self.events.add(event);
    }

    pub(super) fn step(&mut self, name: String) {
        let at_ns = u64::try_from(self.trial_began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.event(Event::Step { name, at_ns });
    }

    /// Sleeps until the array's state may have changed, or the time is over.
    pub(super) fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        self.manager.wait(trimming::at_most(at_most, self.trim.as_ref()))
    }

    /// Reads the array's state, and enters the corresponding phase.
    pub(super) fn look(&mut self, work_ended: bool) -> Result<(), Cause> {
        if self.trim.as_ref().is_some_and(Trim::has_ended) {
            self.end_trim(work_ended)?;
        }
        let (manager, mut calls) = self.manager();
        let status = manager.status(&mut calls)?;
        let now = Instant::now();
        let was = std::mem::replace(&mut self.status, status);
        let next = self.phase_of();
        if next != self.phase {
            self.leave(was.doing, now, work_ended)?;
            self.phases.enter(next, now);
            if self.is_late && !self.entered.contains(&next) {
                let detail =
                    "the array entered this phase after the workload, because of an act that came too late";
                self.guard(Guard::ACT, Some(next.name()), false, detail.to_owned());
            }
            self.entered.push(next);
            self.step(format!("array {}", next.name()));
            (self.phase, self.phase_began, self.phase_missing) = (next, now, self.missing());
        }
        self.phase_missing = self.phase_missing.max(self.missing());
        Ok(())
    }

    fn phase_of(&mut self) -> Phase {
        let phase = match self.status.doing {
            Doing::Rebuilds => Phase::Rebuilding,
            Doing::Reshapes => Phase::Reshaping,
            _ if self.missing() > 0 => Phase::Degraded,
            Doing::Checks | Doing::Repairs => Phase::Checking,
            _ if self.is_limping || self.hangs_until.is_some_and(|until| Instant::now() < until) => Phase::Limping,
            _ if self.is_trimming() => Phase::Trimming,
            _ if self.was_changed => Phase::Rebuilt,
            _ => Phase::Healthy,
        };
        self.was_changed |= matches!(phase, Phase::Rebuilding | Phase::Reshaping | Phase::Degraded);
        phase
    }

    /// Ends the current phase, in which the manager was doing this; the status is already that of the next phase.
    fn leave(&mut self, was_doing: Doing, now: Instant, work_ended: bool) -> Result<(), Cause> {
        let fewer_missing = self.missing() < self.phase_missing;
        match self.phase {
            // With `replace`, no member was missing.
            Phase::Rebuilding if fewer_missing || self.phase_missing == 0 => {
                self.rebuilt(self.phase_began, now, work_ended)
            }
            // Too short to be seen.
            Phase::Degraded if fewer_missing => {
                let began = self.asked.map_or(self.phase_began, |(at, _)| at);
                self.rebuilt(began, now, work_ended)
            }
            Phase::Checking if self.missing() == 0 && self.is_check_asked => {
                self.checked(was_doing, now, work_ended)
            }
            Phase::Reshaping => {
                self.sample("reshape", Metric::Duration, (now - self.phase_began).as_secs_f64());
                if self.is_late {
                    self.under_load("reshape", "reshaped", work_ended);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn rebuilt(&mut self, began: Instant, now: Instant, work_ended: bool) -> Result<(), Cause> {
        self.rebuilds += 1;
        let test = match self.rebuilds {
            1 => "rebuild".to_owned(),
            number => format!("rebuild {number}"),
        };
        let (asked_at, whole) = self.asked.take().unwrap_or((began, true));
        self.sample(&test, Metric::TimeToRebuild, (now - asked_at).as_secs_f64());
        if whole {
            let mebibytes = self.manager.rebuilt_bytes()? as f64 / f64::from(1 << 20);
            self.sample(&test, Metric::RebuildRate, mebibytes / (now - began).as_secs_f64());
        }
        if self.missing() == 0
            && let Some(failed_at) = self.failed_at.take()
        {
            self.sample(&test, Metric::TimeExposed, (now - failed_at).as_secs_f64());
        }
        self.under_load(&test, "rebuilt", work_ended);
        Ok(())
    }

    /// The work has ended. A rebuild that goes on has had its load until now.
    pub(super) fn work_ended(&mut self) -> Result<(), Cause> {
        // One that only copies what has changed has no rate.
        let is_whole = self.asked.is_none_or(|(_, whole)| whole);
        if self.phase == Phase::Rebuilding
            && is_whole
            && let Some(share) = self.manager.share_done()?.filter(|share| *share > 0.0)
        {
            self.done_under_load = Some(DoneUnderLoad {
                share,
                took: self.phase_began.elapsed(),
                member_bytes: self.manager.rebuilt_bytes()?,
            });
        }
        Ok(())
    }

    /// Whether the work went on while the manager did something.
    fn under_load(&mut self, test: &str, did: &str, work_ended: bool) {
        let name = self.manager.name();
        let detail = match (work_ended, self.done_under_load.take()) {
            (false, _) => format!("{name} {did} while the workload ran"),
            (true, None) => format!(
                "{name} {did} until after the workload, so its times are not those under load; use a longer `runtime`"
            ),
            (true, Some(done)) => format!(
                "{name} {did} until after the workload, so its times are not those under load: {}; use a longer `runtime`",
                done.words()
            ),
        };
        self.guard(Guard::ACT, Some(test), !work_ended, detail);
    }

    fn checked(&mut self, did: Doing, now: Instant, work_ended: bool) -> Result<(), Cause> {
        self.is_check_asked = false;
        let action = did.word();
        if self.is_late {
            self.under_load(action, "read through all members", work_ended);
        }
        self.sample(action, Metric::Duration, (now - self.phase_began).as_secs_f64());
        let sectors = self.manager.disagreeing()?;
        self.sample(action, Metric::Mismatches, sectors as f64);
        let errors = self.errors_of_check(action)?;
        self.mismatches.push(sectors + errors);
        if let Some(said) = self.manager.take_abortion() {
            let detail = format!("{} did not finish: {said}", self.manager.name());
            self.guard("scrub", Some(action), false, detail);
        }
        let repairs = did == Doing::Repairs || self.manager.checks_repair();
        self.was_repaired |= repairs && self.is_corrupted;
        if !self.is_corrupted {
            let detail = match errors {
                0 => format!("{sectors} sectors disagree"),
                _ => format!("{sectors} sectors disagree, {errors} reads failed because of a checksum"),
            };
            self.guard("array-clean", Some(action), sectors + errors == 0, detail);
        }
        Ok(())
    }

    /// Read errors of members with checksums in this check or repair, which md does not count as mismatches.
    fn errors_of_check(&mut self, action: &str) -> Result<u64, Cause> {
        let (manager, mut calls) = self.manager();
        let now = manager.errors(&mut calls)?;
        let (Some(before), Some(now)) = (self.errors_before.take(), now) else {
            return Ok(0);
        };
        let checksums = now.checksums.saturating_sub(before.checksums);
        let corrected = now.corrected.saturating_sub(before.corrected);
        self.sample(action, Metric::ChecksumErrors, checksums as f64);
        self.sample(action, Metric::CorrectedReads, corrected as f64);
        Ok(checksums)
    }

    /// No act is left, and the array is idle.
    pub(super) fn end(&mut self) {
        let now = Instant::now();
        for phase in Phase::ALL {
            let lasted = self.phases.lasted(phase, self.trial_began, now);
            if !lasted.is_zero() {
                self.sample(phase.name(), Metric::PhaseDuration, lasted.as_secs_f64());
            }
        }
    }

    pub(super) fn into_events(self) -> Vec<Event> {
        self.events.0
    }

    pub(super) fn sample(&mut self, test: &str, metric: Metric, value: f64) {
        self.event(Event::Sample(Sample {
            test: test.into(),
            metric,
            value,
        }));
    }

    pub(super) fn guard(&mut self, name: &str, test: Option<&str>, passed: bool, detail: String) {
        self.event(Event::Guard(Guard {
            name: name.to_owned(),
            test: test.map(Into::into),
            passed,
            detail,
        }));
    }
}
