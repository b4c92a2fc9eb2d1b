//! `raidlab cpu`: the processor catalogue, and a model of this machine's processor.

use super::output::Output;
use super::own_models::OwnModels;
use super::run::own_init;
use super::{kernel, print, text};
use crate::cli::{CpuCommand, Format};
use crate::expected::ExpectedError;
use crate::progress::note;
use lab::guest::{Config, EndedGuest, LIMITS};
use lab::job::GuestJob;
use lab::kernel::{Cache, DEFAULT_VERSION, Flavour, KernelName};
use lab::processor::measure::{self, BLOCKS, Timed};
use lab::processor::operation::Operation;
use lab::processor::{self, Note, Processor, Unit};
use lab::trial_folder::TrialFolder;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use study::event::Event;
use trial::ProcessEnd;

/// A model has some tens of lines.
const FILE_BYTES_MAX: u64 = 1 << 20;

pub fn cpu(command: &CpuCommand) -> Result<ExitCode, ExpectedError> {
    match command {
        CpuCommand::List { format } => {
            let own = OwnModels::of_user();
            print(&list(*format, &own))?;
            if own.report_unusable() {
                return Ok(ExitCode::from(2));
            }
        }
        CpuCommand::Show { model, format } => print(&show(&model_of(model)?, *format))?,
        CpuCommand::Measure { name, output } => measure_here(name, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The built-in models, then the user's own.
fn list(format: Format, own: &OwnModels<Processor>) -> String {
    let built_in = processor::list().into_iter().map(|processor| (processor, false));
    let listed = built_in.chain(own.usable.iter().map(|own| (own.model.clone(), true)));
    match format {
        Format::Text => {
            let line = |(p, is_own): (Processor, bool)| {
                let own = if is_own { "; your own" } else { "" };
                format!(
                    "{:<18} {:>3} cores  {:>4.1} GHz  {}{own}\n",
                    p.name, p.cores, p.ghz, p.title
                )
            };
            listed.map(line).collect()
        }
        Format::Json => {
            let entry = |(p, is_own): (Processor, bool)| {
                serde_json::json!({
                    "name": p.name, "title": p.title, "cores": p.cores, "ghz": p.ghz, "own": is_own,
                })
            };
            format!("{}\n", listed.map(entry).collect::<serde_json::Value>())
        }
    }
}

fn model_of(name: &str) -> Result<Processor, ExpectedError> {
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "toml") {
        return match OwnModels::of_user().find(name)? {
            Some(own) => Ok(own),
            None => Ok(processor::find(name)?),
        };
    }
    let text = text::read(path, FILE_BYTES_MAX).map_err(|source| ExpectedError::File {
        path: path.to_owned(),
        source,
        advice: "",
    })?;
    Ok(processor::parse(name, &text)?)
}

fn show(processor: &Processor, format: Format) -> String {
    let notes = || std::iter::once(&processor.cache).chain(&processor.figures);
    let unit = |note: &Note| match note.unit {
        Unit::Nanoseconds => "ns",
        Unit::MegabytesPerSecond => "MB/s",
        Unit::Kibibytes => "KiB",
    };
    match format {
        Format::Text => {
            let mut text = format!(
                "{}: {}\n{} cores, {:.1} GHz, simulated\n\n",
                processor.name, processor.title, processor.cores, processor.ghz
            );
            for note in notes() {
                let _ = writeln!(
                    text,
                    "{:<12} {:>9} {:<5} {:<11} {}",
                    note.name,
                    figure(note.value),
                    unit(note),
                    note.sure.to_string(),
                    note.source
                );
            }
            text
        }
        Format::Json => {
            let entry = |note: &Note| {
                serde_json::json!({
                    "name": note.name, "value": note.value, "unit": unit(note),
                    "sure": note.sure, "source": note.source,
                })
            };
            let whole = serde_json::json!({
                "name": processor.name, "title": processor.title, "cores": processor.cores,
                "ghz": processor.ghz, "simulated": true,
                "figures": notes().map(entry).collect::<Vec<_>>(),
            });
            format!("{whole}\n")
        }
    }
}

/// Three digits.
fn figure(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn measure_here(name: &str, output: &Path) -> Result<(), ExpectedError> {
    let place = Output::check(output, None)?;
    place.write(&Measured::now()?.model(name)?)
}

/// What was measured of this machine's processor.
pub struct Measured {
    /// How many basic blocks each operation is.
    blocks: Vec<(Operation, f64)>,
    timed: Timed,
}

impl Measured {
    /// Counts in a guest, and times on this machine.
    pub fn now() -> Result<Measured, ExpectedError> {
        note("raidlab: counting the basic blocks of the operations in a guest");
        let blocks = count_blocks()?;
        let timed = time(&blocks)?;
        Ok(Measured { blocks, timed })
    }

    /// Times again: a machine is not as fast now as it was minutes ago. The model is half way between.
    pub fn again(&mut self) -> Result<(), ExpectedError> {
        self.timed = self.timed.half_way_to(&time(&self.blocks)?);
        Ok(())
    }

    /// A model of this machine's processor, as the text of a file.
    pub fn model(&self, name: &str) -> Result<String, ExpectedError> {
        let cores = lab::guest::processors().len() as u32;
        let (title, ghz) = title_and_ghz(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
        measure::model(name, &title, cores, ghz, &self.timed, &self.blocks).map_err(ExpectedError::NoProcessorModel)
    }
}

fn time(blocks: &[(Operation, f64)]) -> Result<Timed, ExpectedError> {
    note("raidlab: timing the operations on this machine");
    let folder = tempfile_in_memory().map_err(ExpectedError::Machine)?;
    let timed = measure::time(folder.path()).map_err(ExpectedError::Machine)?;
    for (operation, ns) in &timed.operations {
        let counted = blocks.iter().find(|(other, _)| other == operation);
        let counted = counted.map_or(f64::NAN, |(_, blocks)| *blocks);
        note(&format!(
            "raidlab: {}: {ns:.0} ns, {counted:.0} basic blocks",
            operation.name()
        ));
    }
    Ok(timed)
}

/// A folder on a tmpfs, where there is one.
fn tempfile_in_memory() -> std::io::Result<TrialFolder> {
    let shared = Path::new("/dev/shm");
    let place = if shared.is_dir() {
        shared.to_owned()
    } else {
        std::env::temp_dir()
    };
    TrialFolder::new(&place)
}

/// What /proc/cpuinfo calls the processor, and its clock.
fn title_and_ghz(cpuinfo: &str) -> (String, f64) {
    let value = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let mhz = value("cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
    let title = value("model name").unwrap_or_else(|| "processor of this machine".to_owned());
    (title, (mhz.unwrap_or(1000.0) / 100.0).round() / 10.0)
}

/// A guest without disks, whose kernel charges processor time.
pub struct ChargedGuest<'a> {
    pub ram_bytes: u64,
    pub job: GuestJob,
    /// Kernel argument with the costs.
    pub costs: String,
    pub interrupted: &'a AtomicBool,
}

impl ChargedGuest<'_> {
    pub fn run(&self, line: &mut dyn FnMut(&[u8])) -> Result<EndedGuest, ExpectedError> {
        let cache = Cache::of_user();
        let kernel = KernelName {
            source: DEFAULT_VERSION.to_owned(),
            flavour: Flavour::Base,
            processor: true,
        };
        let kernel = kernel::ready(&cache, &kernel)?;
        let folder = TrialFolder::new(cache.folder()).map_err(ExpectedError::Machine)?;
        let no_disks = disksim::description::Description {
            links: Vec::new(),
            disks: Vec::new(),
        };
        let config = Config {
            kernel: &kernel.path,
            init: &own_init()?,
            ram_bytes: self.ram_bytes,
            seed: 1,
            disks: &postcard::to_allocvec(&no_disks).expect("a description is plain data"),
            job: &lab::job::encode(&self.job, &[]),
            memory_budget_bytes: 1 << 20,
            contents: None,
            power_cut: None,
            states: None,
            folder: folder.path(),
            trace: None,
            processor: lab::guest::processors().last().copied(),
            kernel_arguments: std::slice::from_ref(&self.costs),
            limits: LIMITS,
        };
        Ok(lab::guest::run(&config, self.interrupted, line, &mut |_| {})?)
    }
}

/// How many basic blocks each operation is, as a guest counts them.
fn count_blocks() -> Result<Vec<(Operation, f64)>, ExpectedError> {
    let (mut blocks, mut done) = (Vec::new(), false);
    let guest = ChargedGuest {
        ram_bytes: 512 << 20,
        job: GuestJob::Operations,
        costs: processor::list().swap_remove(0).argument(1),
        interrupted: &AtomicBool::new(false),
    };
    let ended = guest.run(&mut |line| match serde_json::from_slice(line) {
        Ok(Event::Provenance { key, value }) => {
            let named = |operation: &Operation| key.strip_prefix(BLOCKS) == Some(operation.name());
            let operation = Operation::ALL.into_iter().find(named);
            blocks.extend(operation.zip(value.parse::<f64>().ok()));
        }
        Ok(Event::Done { .. }) => done = true,
        _ => {}
    })?;
    match done && ended.end == ProcessEnd::Exited {
        true => Ok(blocks),
        false => Err(ExpectedError::NoProcessorModel(format!(
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

    #[test]
    fn every_processor_can_be_shown() {
        for processor in processor::list() {
            let text = show(&processor, Format::Text);
            assert!(
                text.contains("simulated") && text.contains("raid6") | text.contains("pq"),
                "{text}"
            );
            assert!(list(Format::Text, &OwnModels::none()).contains(&processor.name));
        }
    }
}
