//! A drive with flash chips.

use crate::mechanical::Surroundings;
use crate::request::{Request, Status};
use serde::{Deserialize, Serialize};

/// What a flash drive is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    pub queue_depth: u32,
    pub flush_alone: bool,
}

/// A flash drive in its state at some moment.
pub struct FlashDrive {}

impl FlashDrive {
    pub fn new(_model: &Flash, _sectors: u64, _seed: u64, _path: &[u32]) -> Self {
        FlashDrive {}
    }

    pub fn arrive(&mut self, now_ns: u64, request: &Request, around: &mut Surroundings) {
        around.finishes.push(now_ns + 100_000, request.tag, Status::Ok);
    }

    pub fn next_ns(&self) -> Option<u64> {
        None
    }

    pub fn process(&mut self, _now_ns: u64, _around: &mut Surroundings) {}

    pub fn drop_all(&mut self, _dropped: impl FnMut(u32)) {}

    pub fn volatile(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        core::iter::empty()
    }
}

/// What the model relies on.
pub(crate) fn sound(_model: &Flash, _sectors: u64) -> Result<(), &'static str> {
    Ok(())
}
