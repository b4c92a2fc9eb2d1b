//! The sources in an SSD's model file: what was measured, and in which state of the drive.

use super::{ASSUMED, MEASURED, Params, Tuned};
use crate::{Ssd, SsdWrites};

pub(super) const SLC: &str = "full_gb: data that a stream of writes takes until its rate drops, on the drive as \
    found; program_us: by flushes, if they wait for it, else assumed; empty_gb: assumed equal to full_gb; \
    refill_mb_s: assumed, or the rate that frees all of it within a minute";
const ONLY_READ: &str = "not measured: the disk was only read";

/// Measured results; `None` for a candidate.
pub(super) struct Source<'a> {
    found: Option<&'a Ssd>,
}

impl<'a> Source<'a> {
    pub(super) fn of(found: &'a Ssd) -> Self {
        Source { found: Some(found) }
    }

    pub(super) fn none() -> Self {
        Source { found: None }
    }

    fn writes(&self) -> Option<&SsdWrites> {
        self.found.and_then(|found| found.writes.as_ref())
    }

    pub(super) fn chips(&self, params: &Params) -> String {
        let mut how = "read_us, third_page_read_us and the number of dies: best fit to random reads by depth, \
                       as a whole; channel_mb_s and program_units: by the size of reads"
            .to_owned();
        if let Some(writes) = self.writes() {
            how += "; suspend_us: reads mixed with writes; move_programs: random writes";
            how += match (params.tuned, writes.is_protected(), writes.slc.is_some()) {
                (_, _, true) => "; program_us: the rates before and after the SLC cache is full",
                (Some(Tuned::Program), ..) => "; program_us: random writes, with spare_percent assumed",
                (_, true, _) => {
                    "; program_us: assumed, as writes reach the limit of the controller or the interface"
                }
                (_, false, _) => "; program_us: a flush after one write",
            };
        } else {
            how += "; all write parameters are assumed, as the disk was only read";
        }
        how + "; the rest assumed"
    }

    pub(super) fn spare(&self, params: &Params) -> (&'static str, &'static str) {
        match (params.tuned, self.writes()) {
            (_, None) => (ASSUMED, ONLY_READ),
            (Some(Tuned::Spare), _) => (MEASURED, "best fit to random writes: how much garbage collection moves"),
            (Some(Tuned::Program), _) => (ASSUMED, "assumed: program_us follows from it and the rate of writes"),
            (None, _) => (ASSUMED, "not measurable: writes are not limited by the flash"),
        }
    }

    /// The state in which the drive was measured.
    pub(super) fn aged(&self) -> String {
        let Some((filled, writes)) = self
            .found
            .and_then(|found| found.filled.as_ref().zip(found.writes.as_ref()))
        else {
            return "assumed: drives in use are in steady state; the drive was measured as found, and reads do not \
                show its state"
                .to_owned();
        };
        format!("measured {}", state(filled.part, writes))
    }

    pub(super) fn buffer(&self) -> (&'static str, &'static str) {
        match self.writes() {
            None => (ASSUMED, ONLY_READ),
            Some(writes) if writes.buffer.is_some() => {
                (MEASURED, "data written before the rate dropped to that of the flash")
            }
            Some(_) => (
                ASSUMED,
                "not measured directly: the best fit of several sizes to random writes",
            ),
        }
    }

    pub(super) fn protected(&self) -> (&'static str, &'static str) {
        match self.writes() {
            None => (
                ASSUMED,
                "not measured: the disk was only read; false is the safe assumption",
            ),
            Some(_) => (MEASURED, "whether a flush takes longer after a write than without one"),
        }
    }

    pub(super) fn interface(&self) -> (&'static str, &'static str) {
        match self.writes() {
            None => (
                ASSUMED,
                "read_mb_s: measured by a stream; write_mb_s: not measured, assumed equal",
            ),
            Some(_) => (
                MEASURED,
                "a stream of reads; writes of several sizes into the buffer of an idle drive",
            ),
        }
    }

    pub(super) fn overheads(&self) -> (&'static str, &'static str) {
        match self.writes() {
            None => (
                ASSUMED,
                "read_us, command_us: best fit to random reads by depth; host overhead is included; the \
                 rest not measured",
            ),
            Some(_) => (
                MEASURED,
                "read_us, command_us: best fit to random reads by depth; write_us, write_command_us: writes \
                 into the buffer of an idle drive; flush_us: a flush with nothing to write; host overhead is included",
            ),
        }
    }

    pub(super) fn queue(&self) -> String {
        let duplex = match self.writes() {
            Some(_) => {
                "half_duplex: up to 600 MB/s measured by a stream of reads during writes, else false as on PCIe"
            }
            None => "half_duplex: assumed by the rate of the interface",
        };
        format!("{duplex}; the rest assumed: up to 600 MB/s as SATA, else as NVMe")
    }
}

/// The state in words, for messages and the sources of figures.
pub(super) fn state(part: f64, writes: &SsdWrites) -> String {
    let steady = if writes.steady.is_steady {
        "steady by the rules of SNIA PTS"
    } else {
        "not steady by the rules of SNIA PTS"
    };
    format!(
        "after {:.1} % of the drive was written in order and {:.0} s at random: {steady}",
        part * 100.0,
        writes.steady.seconds
    )
}
