//! `raidlab cpu`: the processor catalogue, and a model of this machine's processor.

use super::print_as;
use crate::cli::{CpuCommand, Format};
use crate::error::ExpectedError;
use crate::progress::KernelBar;
use files::{Output, read_file};
use lab::processor::{self, CostUnit, Note, Processor};
use lab_bench::MeasuredProcessor;
use prepare::own_models::OwnModels;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// A model has a few dozen lines.
const FILE_BYTES_MAX: u64 = 1 << 20;

pub fn cpu(command: &CpuCommand) -> Result<ExitCode, ExpectedError> {
    match command {
        CpuCommand::List { format } => {
            let own = OwnModels::of_user();
            print_as(*format, &list(*format, &own))?;
            if own.report_unusable() {
                return Ok(ExitCode::from(2));
            }
        }
        CpuCommand::Show { model, format } => print_as(*format, &show(&model_of(model)?, *format))?,
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
    let text = read_file::read(path, FILE_BYTES_MAX).map_err(|error| error.of(path, ""))?;
    Ok(processor::parse(name, &text)?)
}

fn show(processor: &Processor, format: Format) -> String {
    let notes = || std::iter::once(&processor.cache).chain(&processor.figures);
    let unit = |note: &Note| match note.unit {
        CostUnit::Nanoseconds => "ns",
        CostUnit::MegabytesPerSecond => "MB/s",
        CostUnit::Kibibytes => "KiB",
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

/// Three significant digits.
fn figure(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn measure_here(name: &str, output: &Path) -> Result<(), ExpectedError> {
    let place = Output::check(output, None)?;
    Ok(place.write(&MeasuredProcessor::now(KernelBar::show_build)?.model(name)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
