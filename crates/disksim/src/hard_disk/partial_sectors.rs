//! Partial writes of physical sectors, on drives that emulate smaller sectors (512e).

use super::{Drive, Surroundings};
use crate::buffer::Hit;
use crate::extents::Extent;
use crate::positioning::Taking;

impl Drive {
    /// Rounds a length down to the end of a physical sector, so that a write that is done in parts does not split
    /// one.
    pub(super) fn whole(&self, lbn: u64, sectors: u32) -> u32 {
        let over = ((lbn + u64::from(sectors)) % self.physical_sectors) as u32;
        if over < sectors { sectors - over } else { sectors }
    }

    /// The media is written in whole physical sectors: those that a write covers only in part are read first, unless
    /// they are in the buffer. The write itself then waits until they pass again. Returns when the arm may leave for
    /// it.
    pub(super) fn read_partial(&mut self, leave_ns: u64, extent: &Extent, around: &mut Surroundings) -> u64 {
        let physical = self.physical_sectors;
        let (start, end) = (extent.lbn, extent.end());
        let first = (!start.is_multiple_of(physical)).then_some(start - start % physical);
        let last = (!end.is_multiple_of(physical)).then_some(end - end % physical);
        // A sector past the end of the disk need not be preserved.
        let last = last.filter(|&lbn| Some(lbn) != first && end < self.sectors);
        let mut leave_ns = leave_ns;
        for lbn in [first, last].into_iter().flatten() {
            if self.buffer.find(lbn, physical as u32).1 == Hit::Whole {
                continue;
            }
            let until = (lbn + physical).min(self.sectors);
            let run = self
                .mechanics
                .run(self.place, leave_ns, lbn, until, false, Taking::IN_ORDER);
            let read_ns = run.time_of(until);
            Self::count_access(around, leave_ns, &run, read_ns);
            (self.place, self.free_ns, self.last_lbn) = (run.place, read_ns, until);
            leave_ns = read_ns;
        }
        leave_ns
    }
}
