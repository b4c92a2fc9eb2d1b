//! Processor models: the time of code in a guest, and the kernel arguments that set it.
//!
//! A model is a file of `data/cpus/`: the time of a system call, a page fault, a basic block of kernel code, and
//! the rates at which bytes are copied, summed and compressed, each with its source. Missing figures are derived
//! from the reference model in proportion to the time of a basic block. `kernel/cpu` charges the time.

mod cost;
mod file;
pub mod measure;
pub mod operation;
mod rate;
pub mod uncertainty;

pub use cost::{Cost, CostUnit};
pub use file::Sure;

use file::{Figure, ModelFile};
use std::collections::BTreeMap;
use study::plan::Plan;
use study::stack::{MachineSpec, OwnModel, ProcessorSpec};

/// The built-in model files.
const FILES: &[&str] = &[
    include_str!("../../../data/cpus/epyc-9004-vm.toml"),
    include_str!("../../../data/cpus/athlon-64-3700.toml"),
    include_str!("../../../data/cpus/atom-c3558.toml"),
    include_str!("../../../data/cpus/celeron-j4125.toml"),
    include_str!("../../../data/cpus/celeron-n5105.toml"),
    include_str!("../../../data/cpus/core-i5-8500.toml"),
    include_str!("../../../data/cpus/epyc-7302.toml"),
    include_str!("../../../data/cpus/epyc-7601.toml"),
    include_str!("../../../data/cpus/n100.toml"),
    include_str!("../../../data/cpus/pentium-2-400.toml"),
    include_str!("../../../data/cpus/pentium-3-1000.toml"),
    include_str!("../../../data/cpus/pentium-4-1600.toml"),
    include_str!("../../../data/cpus/rk3588.toml"),
    include_str!("../../../data/cpus/ryzen-5600.toml"),
    include_str!("../../../data/cpus/ryzen-7700.toml"),
    include_str!("../../../data/cpus/xeon-3200.toml"),
    include_str!("../../../data/cpus/xeon-amx-vm.toml"),
    include_str!("../../../data/cpus/xeon-e-2388g.toml"),
    include_str!("../../../data/cpus/xeon-e5-2650v4.toml"),
    include_str!("../../../data/cpus/xeon-e5520.toml"),
    include_str!("../../../data/cpus/xeon-gold-6248.toml"),
    include_str!("../../../data/cpus/xeon-gold-6430.toml"),
];

/// The model from which missing figures of others are derived; the first of [`FILES`].
const REFERENCE: usize = 0;

/// A task that may sleep pays as soon as it owes this much, in nanoseconds. Smaller values cost wall time, larger
/// ones let tasks run ahead of one another. At the end of a system call the whole debt is paid.
const GRAIN_NS: u64 = 5_000;

/// A processor model with all figures.
#[derive(Clone, Debug)]
pub struct Processor {
    pub name: String,
    pub title: String,
    /// Number of cores in all sockets of the machine.
    pub cores: u32,
    pub ghz: f64,
    /// Every figure, in the order of [`Cost::ALL`].
    pub figures: Vec<Note>,
    /// Size of the last cache before memory.
    pub cache: Note,
}

/// A figure with its source, for display.
#[derive(Clone, Debug)]
pub struct Note {
    pub name: &'static str,
    pub value: f64,
    pub unit: CostUnit,
    pub sure: Sure,
    pub source: String,
}

/// Errors of processor models.
#[derive(Debug, thiserror::Error)]
pub enum ProcessorError {
    #[error("unknown processor `{name}`; `raidlab cpu list` shows all processors")]
    Unknown { name: String },
    #[error("{file}: {message}")]
    File { file: String, message: String },
}

/// All models, by name; the reference model comes first.
pub fn list() -> Vec<Processor> {
    let reference = built_in(FILES[REFERENCE], None);
    let mut all = vec![reference.clone()];
    all.extend(FILES[1..].iter().map(|text| built_in(text, Some(&reference))));
    all
}

/// A model of the catalogue.
///
/// # Errors
/// If there is no model of this name.
pub fn find(name: &str) -> Result<Processor, ProcessorError> {
    let unknown = || ProcessorError::Unknown { name: name.to_owned() };
    list()
        .into_iter()
        .find(|processor| processor.name == name)
        .ok_or_else(unknown)
}

/// Parses the text of a model file.
///
/// # Errors
/// If the text is not a valid model; with the line and the reason.
pub fn parse(file: &str, text: &str) -> Result<Processor, ProcessorError> {
    let reference = built_in(FILES[REFERENCE], None);
    read(file, text, Some(&reference))
}

/// The processor models of a plan: the catalogue, and the texts of the plan's own by SHA-256.
#[derive(Clone, Debug, Default)]
pub struct Processors {
    own: BTreeMap<String, OwnModel>,
}

impl Processors {
    pub fn of(plan: &Plan) -> Self {
        let by_hash = |own: &OwnModel| (own.sha256.clone(), own.clone());
        Self {
            own: plan.processors.iter().map(by_hash).collect(),
        }
    }

    fn find(&self, spec: &ProcessorSpec) -> Result<Processor, ProcessorError> {
        let Some(sha256) = &spec.model_sha256 else {
            return find(&spec.model);
        };
        match self.own.get(sha256) {
            Some(own) => parse(&own.name, &own.text),
            None => Err(ProcessorError::Unknown {
                name: spec.model.clone(),
            }),
        }
    }

    /// Kernel command line arguments for a machine's processor in trials with a seed; none if it is infinitely fast.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn arguments(&self, machine: &MachineSpec, seed: u64) -> Result<Vec<String>, ProcessorError> {
        let Some(spec) = &machine.processor else {
            return Ok(Vec::new());
        };
        let model = self.find(spec)?;
        let model = match machine.draws_models {
            true => model.drawn(seed).0,
            false => model,
        };
        Ok(vec![model.argument(spec.cores)])
    }

    /// What was drawn for trials with a seed: `n100.cpu.memory` and its factor. Empty if nothing is drawn.
    pub fn drawn(&self, machine: &MachineSpec, seed: u64) -> BTreeMap<String, f64> {
        let spec = machine.processor.as_ref().filter(|_| machine.draws_models);
        let Some((spec, model)) = spec.and_then(|spec| Some((spec, self.find(spec).ok()?))) else {
            return BTreeMap::new();
        };
        let (_, factors) = model.drawn(seed);
        let named = factors
            .into_iter()
            .map(|(kind, factor)| (format!("{}.{kind}", spec.model), factor));
        named.collect()
    }
}

fn built_in(text: &str, reference: Option<&Processor>) -> Processor {
    read("data/cpus", text, reference).expect("the built-in models are valid, which a test checks")
}

fn read(file: &str, text: &str, reference: Option<&Processor>) -> Result<Processor, ProcessorError> {
    let failed = |message: String| ProcessorError::File {
        file: file.to_owned(),
        message,
    };
    let model: ModelFile = toml::from_str(text).map_err(|error| failed(error.to_string()))?;
    model.check().map_err(failed)?;
    let block = model.figure(Cost::Block);
    let slower = match (block, reference) {
        (Some(block), Some(reference)) => block.is / reference.value(Cost::Block),
        (Some(_), None) => 1.0,
        (None, _) => {
            return Err(failed(
                "`time_ns.block` is missing: it is required, because costs that are not given are derived from it"
                    .to_owned(),
            ));
        }
    };
    let derive = Derive { reference, slower };
    let given = |name, unit, given: Option<&Figure>, like: Option<&Note>| {
        derive
            .note(name, unit, given, like)
            .ok_or_else(|| failed(format!("`{name}` is missing")))
    };
    let cache = given(
        "cache",
        CostUnit::Kibibytes,
        model.cache_kib.as_ref(),
        reference.map(|r| &r.cache),
    )?;
    let figures = Cost::ALL.iter().map(|&cost| {
        let like = reference.map(|reference| &reference.figures[cost as usize]);
        given(cost.name(), cost.unit(), model.figure(cost), like)
    });
    let mut figures = figures.collect::<Result<Vec<_>, _>>()?;
    if model.figure(Cost::Memory).is_some() {
        for cost in [Cost::MemoryRead, Cost::MemoryWrite] {
            if model.figure(cost).is_none() {
                figures[cost as usize] =
                    half_way(cost, &figures[Cost::Memory as usize], &figures[Cost::Copy as usize]);
            }
        }
    }
    Ok(Processor {
        figures,
        cache,
        name: model.name,
        title: model.title,
        cores: model.cores.is as u32,
        ghz: model.ghz.is,
    })
}

/// Derives missing figures from the reference model's.
struct Derive<'a> {
    reference: Option<&'a Processor>,
    /// Time of a block, relative to the reference model.
    slower: f64,
}

impl Derive<'_> {
    fn note(
        &self,
        name: &'static str,
        unit: CostUnit,
        given: Option<&Figure>,
        like: Option<&Note>,
    ) -> Option<Note> {
        let reference = self.reference.map_or("", |reference| &reference.name);
        let derived = |like: &Note| Note {
            value: match unit {
                CostUnit::Nanoseconds => like.value * self.slower,
                CostUnit::MegabytesPerSecond => like.value / self.slower,
                CostUnit::Kibibytes => like.value,
            },
            sure: Sure::Derived,
            source: match unit {
                CostUnit::Kibibytes => format!("as {reference}"),
                _ => format!("{} of {reference}, in proportion to `block`", like.value),
            },
            ..like.clone()
        };
        let given = given.map(|figure| Note {
            name,
            value: figure.is,
            unit,
            sure: figure.sure,
            source: figure.source.clone(),
        });
        given.or_else(|| like.map(derived))
    }
}

/// A copy from memory to a cache or back: half of the additional time of a copy from memory to memory, compared
/// with a copy in the caches.
fn half_way(cost: Cost, memory: &Note, copy: &Note) -> Note {
    Note {
        name: cost.name(),
        value: 2.0 / (1.0 / memory.value + 1.0 / copy.value),
        unit: CostUnit::MegabytesPerSecond,
        sure: Sure::Derived,
        source: "half way from `copy` to `memory`".to_owned(),
    }
}

impl Processor {
    pub fn value(&self, cost: Cost) -> f64 {
        self.figures[cost as usize].value
    }

    /// Picoseconds per event, byte, or basic block of zstd. Copies from or to memory are charged as copies in the
    /// caches, too.
    fn picoseconds(&self, cost: Cost) -> u64 {
        let value = self.value(cost);
        let ps = match (cost, cost.unit()) {
            (_, CostUnit::Nanoseconds) => value * 1e3,
            (Cost::Memory | Cost::MemoryRead | Cost::MemoryWrite, _) => {
                (1e6 / value - 1e6 / self.value(Cost::Copy)).max(0.0)
            }
            _ => 1e6 / value / cost.blocks_per_byte(),
        };
        ps.round() as u64
    }

    /// `raidlab_cpu=cores:8,cache:32768,grain:5000000,call:95000,…` (`kernel/cpu/setup.c`).
    pub fn argument(&self, cores: u32) -> String {
        let costs = Cost::ALL
            .iter()
            .map(|&cost| format!(",{}:{}", cost.name(), self.picoseconds(cost)));
        format!(
            "raidlab_cpu=cores:{cores},cache:{:.0},grain:{}{}",
            self.cache.value,
            GRAIN_NS * 1000,
            costs.collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_models_are_sound_and_have_names_of_their_own() {
        let all = list();
        let mut names: Vec<&str> = all.iter().map(|processor| processor.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FILES.len());
        for processor in &all {
            for note in &processor.figures {
                assert!(note.value > 0.0, "{} {}", processor.name, note.name);
                assert!(!note.source.is_empty(), "{} {}", processor.name, note.name);
            }
        }
    }

    #[test]
    fn what_is_left_out_follows_the_time_of_a_block() {
        let reference = &list()[REFERENCE];
        let block = reference.value(Cost::Block) * 4.0;
        let text = format!(
            "name = \"a\"\ntitle = \"a\"\n\
             cores = {{ is = 2, sure = \"datasheet\", source = \"s\" }}\n\
             ghz = {{ is = 1.0, sure = \"datasheet\", source = \"s\" }}\n\
             [time_ns]\nblock = {{ is = {block}, sure = \"unverified\", source = \"s\" }}\n\
             [rate_mb_s]\nxor = {{ is = 500.0, sure = \"measured\", source = \"s\" }}\n"
        );
        let made = parse("a.toml", &text).expect("it is a model");
        assert_eq!(made.value(Cost::Xor), 500.0);
        assert!((made.value(Cost::Call) - 4.0 * reference.value(Cost::Call)).abs() < 1e-9);
        assert!((made.value(Cost::Crc32) - reference.value(Cost::Crc32) / 4.0).abs() < 1e-9);
        assert_eq!(made.figures[Cost::Call as usize].sure, Sure::Derived);
        let argument = made.argument(2);
        assert!(argument.starts_with("raidlab_cpu=cores:2,cache:"), "{argument}");
        assert!(
            argument.contains(",xor:2000,"),
            "1e6 / 500 picoseconds a byte: {argument}"
        );
        assert!(argument.len() < 2000, "the kernel takes 4096 bytes in all");
    }

    /// TOML has nan and inf.
    #[test]
    fn a_figure_that_no_processor_has_is_refused() {
        let model = |ghz: &str, block: &str| {
            let text = format!(
                "name = \"a\"\ntitle = \"a\"\n\
                 cores = {{ is = 2, sure = \"datasheet\", source = \"s\" }}\n\
                 ghz = {{ is = {ghz}, sure = \"datasheet\", source = \"s\" }}\n\
                 [time_ns]\nblock = {{ is = {block}, sure = \"unverified\", source = \"s\" }}\n"
            );
            parse("a.toml", &text)
        };
        model("2.5", "1.8").expect("a model");
        for wrong in ["nan", "inf", "-inf", "-1.0", "0.0", "1e-308", "1e308"] {
            model(wrong, "1.8").expect_err(wrong);
            model("2.5", wrong).expect_err(wrong);
        }
    }

    #[test]
    fn a_wrong_figure_is_named() {
        let text = "name = \"a\"\ntitle = \"a\"\n\
             cores = { is = 2, sure = \"datasheet\", source = \"s\" }\n\
             ghz = { is = 1.0, sure = \"datasheet\", source = \"s\" }\n\
             [time_ns]\nblok = { is = 1.0, sure = \"unverified\", source = \"s\" }\n";
        let error = parse("a.toml", text).expect_err("`blok` is nothing").to_string();
        assert!(error.contains("blok") && error.contains("block"), "{error}");
    }
}
