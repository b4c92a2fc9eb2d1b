//! A model of this machine's processor: basic blocks counted in a guest, operations timed here.

use crate::Error;
use crate::charged_guest::ChargedGuest;
use lab::job::GuestJob;
use lab::processor;
use lab::processor::measure::{self, OperationBlocks, Timed};
use lab::processor::operation::KernelOperation;
use lab::trial_folder::TrialFolder;
use prepare::kernels::ShowBuild;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use study::event::Event;
use trial::ProcessEnd;

/// Measurements of this machine's processor.
pub struct MeasuredProcessor {
    /// Number of basic blocks of each operation.
    blocks: Vec<(KernelOperation, f64)>,
    timed: Timed,
}

impl MeasuredProcessor {
    /// Counts in a guest, and times on this machine.
    pub fn now(show: ShowBuild) -> Result<Self, Error> {
        log::info!("counting the basic blocks of the operations in a guest");
        let blocks = count_blocks(show)?;
        let timed = time(&blocks)?;
        Ok(Self { blocks, timed })
    }

    /// Repeats the timing: a machine's speed changes within minutes. The model is the mean.
    pub fn again(&mut self) -> Result<(), Error> {
        self.timed = self.timed.half_way_to(&time(&self.blocks)?);
        Ok(())
    }

    /// A model of this machine's processor, as the text of a file.
    pub fn model(&self, name: &str) -> Result<String, Error> {
        let cores = lab::guest::processors().len() as u32;
        let (title, ghz) = title_and_ghz(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
        measure::model(name, &title, cores, ghz, &self.timed, &self.blocks).map_err(Error::NoProcessorModel)
    }
}

fn time(blocks: &[(KernelOperation, f64)]) -> Result<Timed, Error> {
    log::info!("timing the operations on this machine");
    let folder = tempfile_in_memory().map_err(prepare::Error::Machine)?;
    let timed = measure::time(folder.path()).map_err(prepare::Error::Machine)?;
    for (operation, ns) in &timed.operations {
        let counted = blocks.iter().find(|(other, _)| other == operation);
        let counted = counted.map_or(f64::NAN, |(_, blocks)| *blocks);
        log::info!("{}: {ns:.0} ns, {counted:.0} basic blocks", operation.name());
    }
    Ok(timed)
}

/// A folder on a tmpfs, if there is one.
fn tempfile_in_memory() -> std::io::Result<TrialFolder> {
    let shared = Path::new("/dev/shm");
    let place = if shared.is_dir() {
        shared.to_owned()
    } else {
        std::env::temp_dir()
    };
    TrialFolder::new(&place)
}

/// The processor's name in /proc/cpuinfo, and its clock.
fn title_and_ghz(cpuinfo: &str) -> (String, f64) {
    let value = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let mhz = value("cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
    let title = value("model name").unwrap_or_else(|| "processor of this machine".to_owned());
    (title, (mhz.unwrap_or(1000.0) / 100.0).round() / 10.0)
}

/// The number of basic blocks of each operation, as counted in a guest.
fn count_blocks(show: ShowBuild) -> Result<Vec<(KernelOperation, f64)>, Error> {
    let (mut blocks, mut done) = (Vec::new(), false);
    let guest = ChargedGuest {
        ram_bytes: 512 << 20,
        job: GuestJob::Operations,
        costs: processor::list().swap_remove(0).argument(1),
        interrupted: &AtomicBool::new(false),
        show,
    };
    let ended = guest.run(&mut |line| match serde_json::from_slice(line) {
        Ok(OperationBlocks {
            operation,
            blocks: count,
        }) => blocks.push((operation, count)),
        Err(_) => done |= matches!(serde_json::from_slice(line), Ok(Event::Done { .. })),
    })?;
    match done && ended.end == ProcessEnd::Exited {
        true => Ok(blocks),
        false => Err(Error::NoProcessorModel(format!(
            "the guest did not count its blocks; its console: {}",
            ended.console
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_named_by_cpuinfo() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2596.122\n";
        assert_eq!(title_and_ghz(cpuinfo), ("AMD EPYC".to_owned(), 2.6));
    }
}
