//! Events of acts.

use study::event::Event;

/// Events in order, until they are passed to the trial's recorder.
#[derive(Default)]
pub(super) struct Events(pub(super) Vec<Event>);

impl Events {
    pub(super) fn add(&mut self, event: Event) {
        self.0.push(event);
    }
}
