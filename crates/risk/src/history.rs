//! One history of a group of disks, with weights instead of rare events.
//!
//! When a disk is missing, the next failure before the end of a rebuild is rare. Both continuations, with and without
//! it, are followed, each with its exact probability (splitting; Glasserman and others, "Multilevel splitting for
//! estimating rare event probabilities", Operations Research 47(4), 1999). The failure that loses the group is not
//! drawn at all: its probability given the history is added up (conditional Monte Carlo). When all continuations
//! have a whole group again, one of them goes on, drawn by its weight, with the weight of all (resampling). None of
//! this changes a mean.

use crate::model::GroupModel;
use crate::random::Random;

/// A history ends when what is left of its weight is this part of what it has added up.
const NEGLIGIBLE: f64 = 1e-9;

#[derive(Clone, Copy, Debug)]
struct Disk {
    /// When it was new.
    born: f64,
    /// What its hazard is multiplied by.
    multiplier: f64,
    /// When all of its sectors were last known to be readable.
    readable_at: f64,
    rebuild: Option<Rebuild>,
}

/// The disk is missing until the end.
#[derive(Clone, Copy, Debug)]
struct Rebuild {
    begin: f64,
    end: f64,
}

impl Rebuild {
    fn share_done(&self, at: f64) -> f64 {
        ((at - self.begin) / (self.end - self.begin)).clamp(0.0, 1.0)
    }
}

/// Probabilities given a history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    /// More disks missing than may be.
    pub group: f64,
    /// Those of the first loss of any kind, by its cause.
    pub first_by_disk: f64,
    pub first_by_sector: f64,
}

#[derive(Clone, Debug)]
struct State {
    now: f64,
    disks: Vec<Disk>,
    missing: u32,
    /// Probability that it came so far with the group not lost, and with nothing lost.
    kept: f64,
    whole: f64,
}

impl State {
    fn weigh(&mut self, probability: f64) {
        self.kept *= probability;
        self.whole *= probability;
    }
}

pub struct Histories<'a> {
    pub disk: &'a GroupModel,
    pub disks: u32,
    pub parity: u32,
    pub hours: f64,
    pub random: Random,
    losses: Losses,
    /// Continuations whose group is whole again, or whose time is over.
    ends: Vec<State>,
}

impl<'a> Histories<'a> {
    pub const fn new(disk: &'a GroupModel, disks: u32, parity: u32, hours: f64, random: Random) -> Self {
        Self {
            disk,
            disks,
            parity,
            hours,
            random,
            losses: Losses {
                group: 0.0,
                first_by_disk: 0.0,
                first_by_sector: 0.0,
            },
            ends: Vec::new(),
        }
    }

    /// The next history, of disks whose hazards are multiplied.
    pub fn draw(&mut self, multiplier: f64) -> Losses {
        self.losses = Losses::default();
        let disk = Disk {
            born: 0.0,
            multiplier,
            readable_at: 0.0,
            rebuild: None,
        };
        let mut state = State {
            now: 0.0,
            disks: vec![disk; self.disks as usize],
            missing: 0,
            kept: 1.0,
            whole: 1.0,
        };
        // Without a failure nothing is lost: all histories have one, with its probability as their weight.
        let hazard = self.hazard(&state, self.hours);
        state.weigh(-(-hazard).exp_m1());
        let mut at = self.instant_of_failure(&state, self.hours, hazard);
        loop {
            self.fail(&mut state, at);
            self.degraded(state, 1);
            state = self.one_of_the_ends();
            if state.now >= self.hours || state.kept <= NEGLIGIBLE * self.losses.group {
                return self.losses;
            }
            let hazard = self.hazard(&state, self.hours);
            if self.random.uniform() >= -(-hazard).exp_m1() {
                return self.losses;
            }
            at = self.instant_of_failure(&state, self.hours, hazard);
        }
    }

    /// From a failure until no disk is missing. `most` is the largest number of disks missing at once so far: only
    /// beyond it are both continuations followed, so that their number is limited.
    fn degraded(&mut self, mut state: State, most: u32) {
        loop {
            let rebuilds = state.disks.iter().enumerate();
            let ends = rebuilds.filter_map(|(disk, d)| Some((disk, d.rebuild?.end)));
            let Some((disk, end)) = ends.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                self.ends.push(state);
                return;
            };
            let until = end.min(self.hours);
            let hazard = self.hazard(&state, until);
            let failure = -(-hazard).exp_m1();
            if state.missing >= self.parity {
                self.losses.group += state.kept * failure;
                self.losses.first_by_disk += state.whole * failure;
                state.weigh((-hazard).exp());
            } else if state.missing == most {
                let mut other = state.clone();
                other.weigh(failure);
                if other.kept > 0.0 {
                    let at = self.instant_of_failure(&other, until, hazard);
                    self.fail(&mut other, at);
                    self.degraded(other, most + 1);
                }
                state.weigh((-hazard).exp());
            } else if self.random.uniform() < failure {
                let at = self.instant_of_failure(&state, until, hazard);
                self.fail(&mut state, at);
                continue;
            }
            state.now = until;
            if until < end {
                self.ends.push(state);
                return;
            }
            restore(&mut state, disk);
        }
    }

    /// A continuation, drawn by its weight.
    fn one_of_the_ends(&mut self) -> State {
        let kept: f64 = self.ends.iter().map(|end| end.kept).sum();
        let mut left = self.random.uniform() * kept;
        let mut chosen = 0;
        for (number, end) in self.ends.iter().enumerate() {
            if end.kept > 0.0 {
                chosen = number;
                left -= end.kept;
                if left < 0.0 {
                    break;
                }
            }
        }
        let mut state = self.ends.swap_remove(chosen);
        self.ends.clear();
        if state.kept > 0.0 {
            state.whole *= kept / state.kept;
            state.kept = kept;
        }
        state
    }

    /// The disks' summed hazard from now.
    fn hazard(&self, state: &State, until: f64) -> f64 {
        let lifetime = &self.disk.lifetime;
        let of = |disk: &Disk| {
            let ages = (state.now - disk.born, until - disk.born);
            disk.multiplier * (lifetime.cumulative_hazard(ages.1) - lifetime.cumulative_hazard(ages.0))
        };
        let present = state.disks.iter().filter(|disk| disk.rebuild.is_none());
        present.map(of).sum::<f64>().max(0.0)
    }

    /// When the first failure occurs, given that one occurs from now to `until`; `whole` is the hazard of that time.
    fn instant_of_failure(&mut self, state: &State, until: f64, whole: f64) -> f64 {
        let wanted = -((-whole).exp_m1() * self.random.uniform()).ln_1p();
        let (mut low, mut high) = (state.now, until);
        if self.disk.lifetime.is_constant_rate() {
            return low + (high - low) * (wanted / whole).min(1.0);
        }
        // The hazard's sum grows with time: false position, the Illinois variant (Dowell and Jarratt, BIT 11, 1971).
        let (mut at_low, mut at_high) = (-wanted, whole - wanted);
        let mut last_side = 0;
        for _ in 0..60 {
            let at = low + (high - low) * (-at_low / (at_high - at_low)).clamp(0.0, 1.0);
            let excess = self.hazard(state, at) - wanted;
            if excess.abs() <= 1e-9 * wanted {
                return at;
            }
            if excess < 0.0 {
                (low, at_low) = (at, excess);
                if last_side == -1 {
                    at_high /= 2.0;
                }
                last_side = -1;
            } else {
                (high, at_high) = (at, excess);
                if last_side == 1 {
                    at_low /= 2.0;
                }
                last_side = 1;
            }
        }
        f64::midpoint(low, high)
    }

    /// One of the disks present fails, drawn by its hazard at that instant.
    fn fail(&mut self, state: &mut State, at: f64) {
        state.now = at;
        let present = state
            .disks
            .iter()
            .enumerate()
            .filter(|(_, disk)| disk.rebuild.is_none());
        let hazard = |disk: &Disk| disk.multiplier * self.disk.lifetime.hazard(at - disk.born);
        let mut left = self.random.uniform() * present.clone().map(|(_, disk)| hazard(disk)).sum::<f64>();
        let mut failed = 0;
        for (number, disk) in present {
            failed = number;
            left -= hazard(disk);
            if left < 0.0 {
                break;
            }
        }
        let begin = at + self.disk.delay;
        let end = begin + self.disk.rebuild.draw(&mut self.random);
        state.disks[failed].rebuild = Some(Rebuild { begin, end });
        state.missing += 1;
        if state.missing == self.parity {
            self.read_without_redundancy(state);
        }
    }

    /// From now on each sector that cannot be read is lost, where no missing disk has been rebuilt yet.
    fn read_without_redundancy(&mut self, state: &mut State) {
        let present = state.disks.iter().filter(|disk| disk.rebuild.is_none());
        let errors: f64 = present
            .map(|disk| self.disk.latent.expected(state.now - disk.readable_at))
            .sum();
        let rebuilds = state.disks.iter().filter_map(|disk| disk.rebuild);
        let done = rebuilds
            .map(|rebuild| rebuild.share_done(state.now))
            .fold(0.0, f64::max);
        let share = if self.disk.is_progress_safe { 1.0 - done } else { 1.0 };
        let lost = -(-errors * share).exp_m1();
        self.losses.first_by_sector += state.whole * lost;
        state.whole *= 1.0 - lost;
    }
}

/// The disk is replaced by a new one of average hazard. Its rebuild has read all of the others.
fn restore(state: &mut State, disk: usize) {
    state.disks[disk] = Disk {
        born: state.now,
        multiplier: 1.0,
        readable_at: state.now,
        rebuild: None,
    };
    state.missing -= 1;
    for other in &mut state.disks {
        other.readable_at = state.now;
    }
}
