//! Reads a study, for the commands that need one.

use crate::Error;
use crate::own_models::{self, Catalogued, OwnModels};
use disksim::catalogue::{self, Model};
use files::read_file;
use lab::kernel::Cache;
use lab::processor::Processor;
use std::path::Path;
use study::plan::{Cell, Plan};
use study_file::{Known, KnownModel, KnownProcessor, Only};

/// Reject larger files; real studies are a few KiB.
const BYTES_MAX: u64 = 1 << 20;

/// The plan of a study file, or of the part selected by `only`; its guests must fit into this machine's memory.
pub fn read(path: &Path, only: &[String], cache: &Cache) -> Result<(Plan, Vec<(String, String)>), Error> {
    let memory_bytes = Some(host::ram_bytes()).filter(|bytes| *bytes > 0);
    read_for(path, only, cache, memory_bytes)
}

/// Like [`read`], for a run on the host itself, which starts no guest.
pub fn read_for_host(path: &Path, only: &[String], cache: &Cache) -> Result<(Plan, Vec<(String, String)>), Error> {
    read_for(path, only, cache, None)
}

/// The plan of a study that raidlab wrote itself; it names no files.
pub fn read_own(source: &str, name: &str, cache: &Cache) -> Result<Plan, Error> {
    Ok(study_file::read(source, name, &known(None, cache))?)
}

/// The cell with that number, counted from 1.
pub fn cell(plan: &Plan, number: u64) -> Result<&Cell, Error> {
    let cells = plan.cells.len();
    let cell = usize::try_from(number - 1).ok().and_then(|at| plan.cells.get(at));
    cell.ok_or(Error::NoSuchCell { cell: number, cells })
}

fn read_for(
    path: &Path,
    only: &[String],
    cache: &Cache,
    memory_bytes: Option<u64>,
) -> Result<(Plan, Vec<(String, String)>), Error> {
    let name = path.display().to_string();
    let advice = "; name a study, as in `raidlab run studies/first-look.toml`";
    let source = read_file::read(path, BYTES_MAX).map_err(|error| error.of(path, advice))?;
    let known = Known {
        memory_bytes,
        ..known(path.parent(), cache)
    };
    let mut plan = study_file::read(&source, &name, &known)?;
    if only.is_empty() {
        return Ok((plan, Vec::new()));
    }
    let only = Only::parse(only, &plan)?;
    only.keep_in(&mut plan);
    Ok((plan, only.pairs().to_vec()))
}

/// The names that a study in this folder may use on this machine: the catalogue's disks, the user's own, and
/// kernels that exist or can be built.
fn known(folder: Option<&Path>, cache: &Cache) -> Known {
    let models = catalogue::list().into_iter().map(|entry| KnownModel {
        name: entry.name,
        capacity_bytes: entry.sectors * disksim::request::SECTOR_BYTES,
        media: own_models::media(entry.media),
        own: None,
    });
    let own = OwnModels::<Model>::of_user();
    let own_processors = OwnModels::<Processor>::of_user();
    let mut models: Vec<KnownModel> = models.chain(own.known()).collect();
    // The first one is the default.
    models.sort_by_key(|model| model.name != catalogue::DEFAULT);
    let processors = lab::processor::list().into_iter().map(known_processor);
    Known {
        models,
        unusable_models: own.unusable_names(),
        read_model: Some(read_model),
        kernels: cache.names(),
        processors: processors.chain(own_processors.known()).collect(),
        unusable_processors: own_processors.unusable_names(),
        read_processor: Some(read_processor),
        memory_bytes: None,
        folder: folder.map(Path::to_owned),
    }
}

fn read_model(file: &str, text: &str) -> Result<KnownModel, String> {
    <Model as Catalogued>::parse(file, text).map(|model| model.known(text))
}

fn read_processor(file: &str, text: &str) -> Result<KnownProcessor, String> {
    <Processor as Catalogued>::parse(file, text).map(|processor| processor.known(text))
}

fn known_processor(processor: Processor) -> KnownProcessor {
    KnownProcessor {
        name: processor.name,
        cores: processor.cores,
        own: None,
    }
}
