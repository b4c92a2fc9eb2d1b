//! A stack without copies or parity: nothing can fail or be rebuilt, but its filesystem can be trimmed.

use super::calls::Calls;
use super::redundancy::{Redundancy, Status, pause, refused};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use std::time::Duration;
use study::act::Act;

pub(super) struct NoRedundancy;

impl Redundancy for NoRedundancy {
    fn name(&self) -> &'static str {
        "a stack without redundancy"
    }

    fn status(&mut self, _: &mut Calls<'_>) -> Result<Status, Cause> {
        Ok(Status::default())
    }

    fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        pause(at_most, false);
        Ok(())
    }

    fn finds_failures(&self) -> bool {
        false
    }

    fn act(&mut self, act: &Act, _: Option<&BlockDevice>, _: &mut Calls<'_>) -> Result<(), Cause> {
        Err(refused(act, self.name()))
    }

    fn disagreeing(&self) -> Result<u64, Cause> {
        Ok(0)
    }
}
