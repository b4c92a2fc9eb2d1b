//! `raidlab kernel`: build, list.

use super::print;
use crate::cli::{Format, KernelCommand};
use crate::expected::ExpectedError;
use crate::progress::{KernelBar, note};
use lab::kernel::{Cache, DEFAULT_VERSION, Kernel, KernelError, KernelName, Recipe, Source};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

pub fn kernel(command: &KernelCommand) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    match command {
        KernelCommand::List { format: Format::Text } => print(&list(&cache))?,
        KernelCommand::List { format: Format::Json } => print(&format!("{:#}\n", as_json(&cache)))?,
        KernelCommand::Build { what, name } => {
            let what = what.as_deref().unwrap_or(DEFAULT_VERSION);
            if what.contains('/') && !Path::new(what).is_dir() {
                return Err(ExpectedError::NoKernelTree { path: what.to_owned() });
            }
            let kernel = if Path::new(what).is_dir() {
                build_tree(&cache, Path::new(what), name.as_deref())?
            } else if let Some(name) = name {
                return Err(ExpectedError::NameOfVersion {
                    name: name.clone(),
                    version: what.to_owned(),
                });
            } else {
                ready(&cache, &KernelName::parse(what))?
            };
            print(&line(&kernel))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The kernel of that name; built now if it was not.
pub fn ready(cache: &Cache, name: &KernelName) -> Result<Kernel, KernelError> {
    match cache.find(name) {
        Ok(Ok(kernel)) => Ok(kernel),
        Ok(Err(recipe)) => build(cache, &recipe),
        Err(KernelError::NotFetched { package, .. }) => {
            fetch(cache, name, &package)?;
            ready(cache, name)
        }
        Err(error) => Err(error),
    }
}

/// What [`ready`] has to get from Debian's mirror is one package at a time, and each is there afterwards.
fn fetch(cache: &Cache, name: &KernelName, package: &str) -> Result<(), KernelError> {
    note(&format!(
        "raidlab: kernel {name}: downloading {package} from Debian's mirror into {}",
        cache.folder().display()
    ));
    cache.fetch(package, &mut |_| {})
}

/// A developer's tree, in the flavour that its name says.
fn build_tree(cache: &Cache, path: &Path, name: Option<&str>) -> Result<Kernel, KernelError> {
    let name = name.map(KernelName::parse);
    let source = Source::tree(path, name.as_ref().map(|name| name.source.as_str()))?;
    let parts = name.map(|name| name.parts()).unwrap_or_default();
    let recipe = match cache.recipe(source.clone(), parts) {
        Err(KernelError::NotFetched { kernel, package }) => {
            fetch(cache, &kernel, &package)?;
            cache.recipe(source, parts)?
        }
        recipe => recipe?,
    };
    build(cache, &recipe)
}

fn build(cache: &Cache, recipe: &Recipe) -> Result<Kernel, KernelError> {
    let bar = KernelBar::new(&recipe.name().to_string());
    let kernel = cache.build(recipe, &mut |progress| bar.show(progress));
    bar.end();
    kernel
}

fn list(cache: &Cache) -> String {
    let (kernels, others) = in_use(cache);
    let mut text: String = kernels.iter().map(line).collect();
    if kernels.is_empty() {
        text.push_str("no kernel is built yet: the first `raidlab run` builds it, or `raidlab kernel build`\n");
    }
    for name in Cache::versions() {
        if kernels.iter().all(|kernel| kernel.name != name.to_string()) {
            text.push_str(&format!(
                "{name:<12} not built: {}\n",
                lab::kernel::purpose(name.flavour)
            ));
        }
    }
    text + &others_words(cache, others)
}

/// The kernels that are built, and those of Debian's versions that are not.
fn as_json(cache: &Cache) -> Value {
    let (kernels, others) = in_use(cache);
    let missing = Cache::versions()
        .into_iter()
        .filter(|name| kernels.iter().all(|kernel| kernel.name != name.to_string()))
        .map(|name| json!({ "kernel": name.to_string(), "purpose": lab::kernel::purpose(name.flavour) }));
    json!({
        "built": kernels.iter().map(kernel_json).collect::<Value>(),
        "not_built": missing.collect::<Value>(),
        "of_other_versions": others,
    })
}

/// A kernel that is built.
pub fn kernel_json(kernel: &Kernel) -> Value {
    json!({ "kernel": kernel.name, "release": kernel.release, "source": kernel.source })
}

/// The kernels that this raidlab would run, and how many others there are: each version of raidlab has its own.
pub fn in_use(cache: &Cache) -> (Vec<Kernel>, usize) {
    let all = cache.list();
    let names: BTreeSet<&str> = all.iter().map(|kernel| kernel.name.as_str()).collect();
    let kernels: Vec<Kernel> = names
        .into_iter()
        .filter_map(|name| cache.find(&KernelName::parse(name)).ok()?.ok())
        .collect();
    let in_cache = |kernels: &[Kernel]| {
        let is_there = |kernel: &&Kernel| kernel.path.starts_with(cache.folder());
        kernels.iter().filter(is_there).count()
    };
    let others = in_cache(&all) - in_cache(&kernels);
    (kernels, others)
}

/// A line about kernels that only take room.
pub fn others_words(cache: &Cache, others: usize) -> String {
    match others {
        0 => String::new(),
        _ => format!(
            "{others} in {} are of other versions of raidlab or of Debian's source, and may be deleted\n",
            cache.folder().join("kernels").display()
        ),
    }
}

fn line(kernel: &Kernel) -> String {
    format!("{:<12} {:<24} {}\n", kernel.name, kernel.release, kernel.source)
}
