//! Which of the tests of one name and group a job belongs to: the first that ran while the job did.

use super::fio::Job;
use std::collections::{BTreeMap, HashMap};

/// From a start to an end, in milliseconds since the epoch.
pub(super) type Time = (u64, u64);

/// The tests of one name and group, by their numbers. That jobs of a group ran together is assumed, unless fio says
/// when they did, or they have different delays.
#[derive(Default)]
pub(super) struct Together {
    tests: usize,
    /// The times at which all jobs of a test ran, if they are known.
    times: HashMap<usize, Time>,
    /// The ends of these times, and their tests, by their starts. None overlaps another: a test begins with a job that
    /// ran with no earlier one.
    by_start: BTreeMap<u64, (u64, usize)>,
    /// The starts of all jobs, sorted.
    starts: Vec<u64>,
    /// The tests of `by_start`, at the place of their start in `starts`.
    first: FirstOfRange,
    /// The first test of a delay, and the first of those without times.
    of_delay: HashMap<Option<String>, usize>,
    untimed_of_delay: HashMap<Option<String>, usize>,
}

impl Together {
    pub(super) fn new(mut starts: Vec<u64>) -> Self {
        starts.sort_unstable();
        starts.dedup();
        Self {
            first: FirstOfRange::new(starts.len()),
            starts,
            ..Self::default()
        }
    }

    /// The number of tests.
    pub(super) const fn len(&self) -> usize {
        self.tests
    }

    /// The first test all of whose jobs ran with this one.
    pub(super) fn find(&self, job: &Job) -> Option<usize> {
        let delay = delay(job);
        let Some(time) = job.time() else {
            return self.of_delay.get(&delay).copied();
        };
        let untimed = self.untimed_of_delay.get(&delay).copied();
        self.overlapping(time).into_iter().chain(untimed).min()
    }

    fn overlapping(&self, (start, end): Time) -> Option<usize> {
        if start >= end {
            return None;
        }
        let before = self.by_start.range(..start).next_back();
        let before = before
            .filter(|(_, (until, _))| *until > start)
            .map(|(_, (_, test))| *test);
        let within = self.first.of(self.place(start), self.place(end));
        before.into_iter().chain(within).min()
    }

    /// Adds a job to a test that [`Self::find`] found.
    pub(super) fn add(&mut self, test: usize, job: &Job) {
        let (Some(ours), Some(theirs)) = (self.times.get(&test).copied(), job.time()) else {
            return;
        };
        if self.by_start.remove(&ours.0).is_some() {
            self.first.set(self.place(ours.0), None);
        }
        self.set(test, (ours.0.max(theirs.0), ours.1.min(theirs.1)));
    }

    /// Begins a test with a job.
    pub(super) fn begin(&mut self, test: usize, job: &Job) {
        self.tests += 1;
        match job.time() {
            Some(time) => self.set(test, time),
            None => drop(self.untimed_of_delay.entry(delay(job)).or_insert(test)),
        }
        self.of_delay.entry(delay(job)).or_insert(test);
    }

    fn set(&mut self, test: usize, time: Time) {
        self.times.insert(test, time);
        if time.0 < time.1 {
            self.by_start.insert(time.0, (time.1, test));
            self.first.set(self.place(time.0), Some(test));
        }
    }

    fn place(&self, start: u64) -> usize {
        self.starts.partition_point(|known| *known < start)
    }
}

fn delay(job: &Job) -> Option<String> {
    job.option("startdelay").map(str::to_owned)
}

/// Numbers at places, of which the least of a range of places is found in logarithmic time: a binary tree, whose leaves
/// are the places, and each other node has the least of its two.
#[derive(Default)]
struct FirstOfRange {
    places: usize,
    nodes: Vec<Option<usize>>,
}

impl FirstOfRange {
    fn new(places: usize) -> Self {
        Self {
            places,
            nodes: vec![None; 2 * places],
        }
    }

    fn set(&mut self, place: usize, number: Option<usize>) {
        let mut at = place + self.places;
        self.nodes[at] = number;
        while at > 1 {
            at /= 2;
            let both = [self.nodes[2 * at], self.nodes[2 * at + 1]];
            self.nodes[at] = both.into_iter().flatten().min();
        }
    }

    fn of(&self, from: usize, to: usize) -> Option<usize> {
        let (mut from, mut to) = (from + self.places, to + self.places);
        let mut least = None;
        let mut take = |node: Option<usize>| least = least.into_iter().chain(node).min();
        while from < to {
            if from % 2 == 1 {
                take(self.nodes[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                take(self.nodes[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::super::fio::{Direction, Figures};
    use super::*;
    use proptest::prelude::*;

    /// Jobs and tests, one with each other.
    fn slowly(jobs: &[Job]) -> Vec<usize> {
        let mut tests: Vec<(Option<Time>, Option<String>)> = Vec::new();
        let mut found = Vec::new();
        for job in jobs {
            let ran_with = |(ours, their_delay): &(Option<Time>, Option<String>)| match (*ours, job.time()) {
                (Some(ours), Some(theirs)) => ours.0.max(theirs.0) < ours.1.min(theirs.1),
                _ => *their_delay == delay(job),
            };
            let test = tests.iter().position(ran_with);
            match test.map(|test| (&mut tests[test].0, job.time())) {
                Some((Some(ours), Some(theirs))) => *ours = (ours.0.max(theirs.0), ours.1.min(theirs.1)),
                Some(_) => {}
                None => tests.push((job.time(), delay(job))),
            }
            found.push(test.unwrap_or(tests.len() - 1));
        }
        found
    }

    fn job((start, milliseconds, delay): (Option<u64>, u32, Option<u8>)) -> Job {
        let figures = Figures {
            milliseconds: f64::from(milliseconds),
            ..Figures::default()
        };
        let delay = delay.map(|delay| ("startdelay".to_owned(), delay.to_string()));
        Job {
            started_ms: start,
            directions: [(Direction::Read, figures)].into(),
            options: delay.into_iter().collect(),
            ..Job::default()
        }
    }

    proptest! {
        #[test]
        fn jobs_belong_to_the_test_that_a_search_of_all_finds(
            jobs in prop::collection::vec(
                (prop::option::weighted(0.9, 0_u64..60), 0_u32..12, prop::option::of(0_u8..2)),
                0..60,
            )
        ) {
            let jobs: Vec<Job> = jobs.into_iter().map(job).collect();
            let starts = jobs.iter().filter_map(|job| job.started_ms).collect();
            let mut together = Together::new(starts);
            let mut found = Vec::new();
            for job in &jobs {
                let test = together.find(job).inspect(|test| together.add(*test, job));
                found.push(test.unwrap_or_else(|| {
                    together.begin(together.len(), job);
                    together.len() - 1
                }));
            }
            prop_assert_eq!(found, slowly(&jobs));
        }
    }
}
