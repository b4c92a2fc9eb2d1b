//! What a trial said of itself, from wherever it ran.

use study::event::{Event, Failure};

/// Takes in a trial's lines, and remembers what its ending depends on.
#[derive(Default)]
pub struct Heard {
    pub done: bool,
    pub failure: Option<Failure>,
    pub last_step: String,
    pub nonsense: Option<String>,
}

impl Heard {
    pub fn line(&mut self, line: &[u8], event: &mut dyn FnMut(Event)) {
        match serde_json::from_slice::<Event>(line) {
            Ok(heard) => {
                match &heard {
                    Event::Done { .. } => self.done = true,
                    Event::Failed(failure) => self.failure = Some(failure.clone()),
                    Event::Step { name, .. } => name.clone_into(&mut self.last_step),
                    _ => {}
                }
                event(heard);
            }
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                self.nonsense
                    .get_or_insert(format!("the trial said what makes no sense ({error}): {start}"));
            }
        }
    }
}
