//! CPU time charged in a guest, as counted by its kernel (`/dev/raidlab-cpu`, `kernel/cpu/charge.c`).

use crate::processor::Cost;
use rustix::ioctl::{self, Opcode, opcode};
use std::fs::File;
use std::io;
use study::ProcessorAccount;
use study::event::{Event, Sample};
use study::metric::Metric;

const FIGURES: usize = 10;
const WORDS: usize = FIGURES + Cost::ALL.len();

const IOC_ACCOUNT: Opcode = opcode::read::<[u64; WORDS]>(b'r', 16);
const IOC_WINDOW: Opcode = opcode::none(b'r', 17);

/// The guest's end of the device.
pub struct Account {
    device: File,
}

/// Totals since the guest's start: those of the account in `kernel/cpu/model.h` that events report.
#[derive(Clone, Copy, Debug)]
pub struct Charged {
    pub cores: u64,
    pub system_ns: u64,
    pub user_ns: u64,
    /// Time of the task that was charged most in the current window.
    pub busiest_ns: u64,
    /// The part of system time that was charged in interrupts and paid by the task that ran next.
    pub moved_ns: u64,
    /// Time that passed for all tasks, because it could not be slept.
    pub for_all_ns: u64,
    /// Time that tasks waited for a core.
    pub waited_ns: u64,
    /// Number of events or bytes, in the order of [`Cost::ALL`].
    pub counts: [u64; Cost::ALL.len()],
}

impl Account {
    /// Opens the device in a guest with a processor model.
    ///
    /// # Errors
    /// If the kernel has none.
    pub fn open() -> io::Result<Account> {
        let device = File::open("/dev/raidlab-cpu")?;
        Ok(Account { device })
    }

    /// Totals until now.
    ///
    /// # Errors
    /// If the driver's version does not match this program.
    pub fn charged(&self) -> io::Result<Charged> {
        // SAFETY: the driver writes an array of this size.
        let words: [u64; WORDS] = unsafe { ioctl::ioctl(&self.device, ioctl::Getter::<IOC_ACCOUNT, _>::new()) }?;
        let mut counts = [0; Cost::ALL.len()];
        counts.copy_from_slice(&words[FIGURES..]);
        Ok(Charged {
            cores: words[0],
            system_ns: words[2],
            user_ns: words[3],
            busiest_ns: words[4],
            moved_ns: words[5],
            for_all_ns: words[6],
            waited_ns: words[7],
            counts,
        })
    }

    /// Starts a new window for the busiest task.
    ///
    /// # Errors
    /// If the driver's version does not match this program.
    pub fn begin_window(&self) -> io::Result<()> {
        // SAFETY: the driver's own ioctl, without an argument.
        unsafe { ioctl::ioctl(&self.device, ioctl::NoArg::<IOC_WINDOW>::new()) }?;
        Ok(())
    }
}

/// Charges are booked ahead by some microseconds: shares of a shorter time could exceed the total.
const SHORTEST_NS: f64 = 10e6;

/// Follows a trial's events and adds CPU figures to each test: from the step that starts it to its first sample.
pub struct Watch<'a> {
    account: &'a Account,
    begun: Option<(Charged, std::time::Instant)>,
}

impl<'a> Watch<'a> {
    pub fn new(account: &'a Account) -> Watch<'a> {
        Watch { account, begun: None }
    }

    /// Events to report before this one.
    ///
    /// # Errors
    /// If the driver's version does not match this program.
    pub fn before(&mut self, event: &Event) -> io::Result<Vec<Event>> {
        match event {
            Event::Step { .. } => {
                self.account.begin_window()?;
                self.begun = Some((self.account.charged()?, std::time::Instant::now()));
                Ok(Vec::new())
            }
            Event::Sample(Sample { test, .. }) => match self.begun.take() {
                Some((before, began)) => {
                    let elapsed_ns = began.elapsed().as_nanos() as f64;
                    match elapsed_ns < SHORTEST_NS {
                        true => Ok(Vec::new()),
                        false => Ok(samples(test, &before, &self.account.charged()?, elapsed_ns)),
                    }
                }
                None => Ok(Vec::new()),
            },
            _ => Ok(Vec::new()),
        }
    }
}

/// Processor samples of a test.
fn samples(test: &str, before: &Charged, after: &Charged, elapsed_ns: f64) -> Vec<Event> {
    let since = |of: fn(&Charged) -> u64| (of(after) - of(before)) as f64;
    let (system_ns, user_ns) = (since(|c| c.system_ns), since(|c| c.user_ns));
    let percent = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    let busy = percent(system_ns + user_ns, elapsed_ns * after.cores as f64);
    let busiest = percent(after.busiest_ns as f64, elapsed_ns);
    [
        (Metric::ProcessorSystem, system_ns / 1e9),
        (Metric::ProcessorUser, user_ns / 1e9),
        (Metric::ProcessorBusy, busy),
        (Metric::ProcessorBusiestTask, busiest),
    ]
    .map(|(metric, value)| {
        Event::Sample(Sample {
            test: test.into(),
            metric,
            value,
        })
    })
    .into()
}

impl Charged {
    /// The model's known errors and its counts, as an event.
    pub fn event(&self) -> Event {
        let counts = Cost::ALL.iter().zip(self.counts).filter(|(_, count)| *count > 0);
        Event::Processor(ProcessorAccount {
            charged_ns: self.system_ns + self.user_ns,
            paid_by_another_ns: self.moved_ns,
            passed_for_all_ns: self.for_all_ns,
            waited_for_core_ns: self.waited_ns,
            counts: counts.map(|(cost, count)| (cost.name().to_owned(), count)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charged(system_ns: u64, busiest_ns: u64) -> Charged {
        Charged {
            cores: 4,
            system_ns,
            user_ns: 0,
            busiest_ns,
            moved_ns: 0,
            for_all_ns: 0,
            waited_ns: 0,
            counts: [0; Cost::ALL.len()],
        }
    }

    fn value(events: &[Event], wanted: Metric) -> f64 {
        events
            .iter()
            .find_map(|event| match event {
                Event::Sample(sample) if sample.metric == wanted => Some(sample.value),
                _ => None,
            })
            .expect("it is said")
    }

    /// On four cores, one task that uses a whole core is the limit.
    #[test]
    fn the_busiest_task_shows_where_the_cores_do_not() {
        let events = samples("write", &charged(0, 0), &charged(1_000, 950), 1_000.0);
        assert_eq!(value(&events, Metric::ProcessorBusy), 25.0);
        assert_eq!(value(&events, Metric::ProcessorBusiestTask), 95.0);
    }
}
