//! The remaining time of a run, from completed trials.

use std::time::{Duration, Instant};

/// Counts down between the ends of trials: it never increases while one runs.
#[derive(Clone, Copy, Debug)]
pub struct TimeLeft {
    began: Instant,
    /// Time and remaining time at the end of the last trial.
    last: Option<(Instant, Duration)>,
    done: u32,
}

impl TimeLeft {
    pub const fn begin(now: Instant) -> TimeLeft {
        TimeLeft {
            began: now,
            last: None,
            done: 0,
        }
    }

    /// A trial of this session has ended, and `left` trials remain.
    pub fn trial_ended(&mut self, now: Instant, left: u64) {
        self.done += 1;
        self.expect(now, left);
    }

    /// The number of remaining trials has changed.
    pub fn expect(&mut self, now: Instant, left: u64) {
        if self.done > 0 {
            let per_trial = (now - self.began) / self.done;
            self.last = Some((now, per_trial * u32::try_from(left).unwrap_or(u32::MAX)));
        }
    }

    /// `3 min 5 s left`
    pub fn words(&self, now: Instant) -> String {
        match self.last {
            None => "time left: not known yet".to_owned(),
            Some((at, left)) if now - at < left || left.is_zero() => {
                format!("{} left", report::clock(left.saturating_sub(now - at)))
            }
            // The running trials take longer than earlier ones.
            Some(_) => "time left: longer than expected".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_12_16_time_left_never_rises_during_a_trial() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut left = TimeLeft::begin(began);
        assert_eq!(left.words(at(9)), "time left: not known yet");
        left.trial_ended(at(10), 3);
        let words: Vec<String> = [10, 15, 39, 40, 400].map(|now| left.words(at(now))).into();
        assert_eq!(
            words,
            [
                "30 s left",
                "25 s left",
                "1.0 s left",
                "time left: longer than expected",
                "time left: longer than expected"
            ]
        );
        left.trial_ended(at(400), 2);
        assert_eq!(left.words(at(400)), "6 min 40 s left");
        left.trial_ended(at(401), 0);
        assert_eq!(left.words(at(402)), "0.0 s left");
    }
}
