//! Flushes: each is complete when everything that arrived before it is on the platters.

use super::{Busy, Drive, PendingFlush, Surroundings};
use crate::request::Status;

impl Drive {
    pub(super) fn flush_arrives(&mut self, now_ns: u64, tag: u32, around: &mut Surroundings) {
        if self.cache.is_empty() && self.stalled.is_empty() {
            around
                .finishes
                .push(now_ns + self.write_overhead(true), tag, Status::Ok);
            return;
        }
        self.flushes.push(PendingFlush { tag, order: self.order });
        if self.busy == Busy::No {
            self.dispatch(now_ns, around);
        }
    }

    pub(super) fn finish_flushes(&mut self, now_ns: u64, around: &mut Surroundings) {
        if self.flushes.is_empty() {
            return;
        }
        let stalled = self.stalled.iter().map(|j| j.order).min();
        let oldest = [self.cache.oldest(), stalled]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(u64::MAX);
        let done_ns = now_ns + self.overheads.write_completion_ns;
        self.flushes.retain(|flush| {
            let pending = oldest <= flush.order;
            if !pending {
                around.finishes.push(done_ns, flush.tag, Status::Ok);
            }
            pending
        });
    }
}
