//! Guests that run at the same time share this machine's memory: each waits until what it may use is free.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a waiting guest checks whether it was stopped.
const TICK: Duration = Duration::from_millis(100);

/// The memory for all guests of a run.
#[derive(Debug)]
pub struct Admission {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    free_bytes: u64,
    running: usize,
    /// In the order in which they came, so that a large guest is not overtaken for ever.
    waiting: VecDeque<u64>,
    next: u64,
}

/// A guest's part, free again when this is dropped.
#[derive(Debug)]
pub struct Admitted<'a> {
    admission: &'a Admission,
    bytes: u64,
}

impl Admission {
    pub fn new(free_bytes: u64) -> Self {
        Self {
            state: Mutex::new(State {
                free_bytes,
                running: 0,
                waiting: VecDeque::new(),
                next: 0,
            }),
            freed: Condvar::new(),
        }
    }

    /// Waits until so much is free, or no other guest runs; none if stopped meanwhile.
    pub fn enter(&self, bytes: u64, stop: &AtomicBool) -> Option<Admitted<'_>> {
        let mut state = self.state();
        let ticket = state.next;
        state.next += 1;
        state.waiting.push_back(ticket);
        loop {
            let is_first = state.waiting.front() == Some(&ticket);
            if is_first && (state.running == 0 || bytes <= state.free_bytes) {
                break;
            }
            if stop.load(Ordering::Relaxed) {
                state.waiting.retain(|other| *other != ticket);
                return None;
            }
            let waited = self.freed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        // One that is alone may need more than there is: it goes to swap, or fails by itself.
        let bytes = bytes.min(state.free_bytes);
        state.waiting.pop_front();
        state.running += 1;
        state.free_bytes -= bytes;
        self.freed.notify_all();
        Some(Admitted { admission: self, bytes })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        state.running -= 1;
        state.free_bytes += self.bytes;
        self.admission.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static STOPPED: AtomicBool = AtomicBool::new(true);

    #[test]
    fn guests_that_do_not_fit_together_do_not_run_together() {
        let admission = Admission::new(1000);
        let first = admission.enter(600, &STOPPED).expect("there is room");
        let second = admission.enter(400, &STOPPED).expect("there is room");
        assert!(admission.enter(1, &STOPPED).is_none());
        drop(first);
        let third = admission.enter(600, &STOPPED).expect("there is room again");
        drop((second, third));
        let large = admission.enter(5000, &STOPPED).expect("it is alone");
        assert!(admission.enter(1, &STOPPED).is_none());
        drop(large);
        assert_eq!(admission.state().free_bytes, 1000);
    }

    #[test]
    fn a_large_guest_is_not_overtaken() {
        let (admission, order, running) = (Admission::new(1000), Mutex::new(Vec::new()), AtomicBool::new(false));
        let held = admission.enter(900, &running).expect("there is room");
        let wait = |bytes: u64| {
            drop(admission.enter(bytes, &running).expect("not stopped"));
            order.lock().expect("sound").push(bytes);
        };
        std::thread::scope(|scope| {
            scope.spawn(|| wait(1000));
            while admission.state().waiting.is_empty() {
                std::thread::yield_now();
            }
            scope.spawn(|| wait(100));
            while admission.state().waiting.len() < 2 {
                std::thread::yield_now();
            }
            assert!(order.lock().expect("sound").is_empty(), "100 would fit");
            drop(held);
        });
        assert_eq!(admission.state().free_bytes, 1000);
    }
}
