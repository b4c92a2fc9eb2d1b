//! The outcome of a trial, which follows from its output, wherever it runs.

use store::Ending;
use study::event::{Event, Failure};
use trial::ProcessEnd;

/// Reads a trial's lines, and records what determines its outcome.
#[derive(Default)]
pub struct OutcomeReader {
    is_done: bool,
    failure: Option<Failure>,
    last_step: Option<String>,
    nonsense: Option<String>,
}

impl OutcomeReader {
    /// One line of the trial; `event` gets the parsed event.
    pub fn line(&mut self, line: &[u8], event: &mut dyn FnMut(Event)) {
        match serde_json::from_slice::<Event>(line) {
            Ok(said) => {
                match &said {
                    Event::Done { .. } => self.is_done = true,
                    Event::Failed(failure) => self.failure = Some(failure.clone()),
                    Event::Step { name, .. } => self.last_step = Some(name.clone()),
                    _ => {}
                }
                event(said);
            }
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                self.nonsense
                    .get_or_insert(format!("the trial printed an invalid event ({error}): {start}"));
            }
        }
    }

    /// The outcome of the trial, given how its process ended. It is done only if it reported so and its process
    /// exited. `first_step` is the step before the first reported one; `message` describes the end of a process
    /// whose trial reported no failure.
    pub fn ending(self, end: &ProcessEnd, first_step: &str, message: impl Fn(&ProcessEnd) -> String) -> Ending {
        let (failure, nonsense) = (self.failure, self.nonsense);
        let message = match (end, failure, nonsense) {
            (ProcessEnd::Stopped, ..) => return Ending::Interrupted,
            // The trial itself saw at most an I/O error.
            (ProcessEnd::NoSpace, ..) => message(end),
            (ProcessEnd::DiskFailed(_), Some(failure), _) => format!("{}; {}", message(end), failure.message),
            (ProcessEnd::DiskFailed(_), None, _) => message(end),
            (_, Some(failure), _) => return Ending::Failed(failure),
            (_, None, Some(nonsense)) => nonsense,
            (ProcessEnd::Exited, None, None) if self.is_done => return Ending::Done,
            _ => message(end),
        };
        let step = self.last_step.unwrap_or_else(|| first_step.to_owned());
        Ending::Failed(Failure { step, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: &[u8] = b"{\"event\":\"done\",\"at_ns\":1}";
    const MKFS: &[u8] = b"{\"event\":\"step\",\"name\":\"mkfs\",\"at_ns\":1}";
    const FAILED: &[u8] = b"{\"event\":\"failed\",\"step\":\"mkfs\",\"message\":\"I/O error\"}";

    /// The outcome of a trial with these lines, as text, and the number of events.
    fn ending(lines: &[&[u8]], end: &ProcessEnd) -> (String, usize) {
        let (mut outcome, mut events) = (OutcomeReader::default(), 0);
        for line in lines {
            outcome.line(line, &mut |_| events += 1);
        }
        let words = match outcome.ending(end, "boot", |end| format!("{end:?}")) {
            Ending::Failed(failure) => format!("{}: {}", failure.step, failure.message),
            Ending::Done => "done".to_owned(),
            Ending::Interrupted => "interrupted".to_owned(),
        };
        (words, events)
    }

    #[test]
    fn only_who_says_so_and_exits_is_done() {
        assert_eq!(ending(&[MKFS, DONE], &ProcessEnd::Exited), ("done".to_owned(), 2));
        assert_eq!(ending(&[MKFS], &ProcessEnd::Exited).0, "mkfs: Exited");
        assert_eq!(ending(&[DONE], &ProcessEnd::Stalled).0, "boot: Stalled");
        assert_eq!(ending(&[DONE], &ProcessEnd::Stopped).0, "interrupted");
        assert_eq!(ending(&[MKFS, FAILED, DONE], &ProcessEnd::Exited).0, "mkfs: I/O error");
    }

    #[test]
    fn what_the_trial_cannot_know_explains_its_end() {
        assert_eq!(ending(&[DONE], &ProcessEnd::NoSpace).0, "boot: NoSpace");
        let failed = ProcessEnd::DiskFailed("sda".to_owned());
        assert_eq!(
            ending(&[MKFS, FAILED], &failed).0,
            "mkfs: DiskFailed(\"sda\"); I/O error"
        );
    }

    #[test]
    fn nonsense_is_no_event_and_fails_the_trial() {
        let deep = b"[".repeat(1 << 20);
        let lines = [&b"\xff\xfe\0"[..], b"{}", b"{\"event\":\"sample\"}", &deep, b"", DONE];
        let (words, events) = ending(&lines, &ProcessEnd::Exited);
        assert_eq!(events, 1);
        assert!(words.len() < 1000 && words.contains("invalid event"), "{words}");
    }
}
