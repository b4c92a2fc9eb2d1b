//! Kernels of the lab: those that are ready, and building those that are not.

use lab::kernel::{BuildProgress, Cache, Kernel, KernelError, KernelName, Recipe, Source};
use std::collections::BTreeSet;
use std::path::Path;

/// Called with the name of a kernel that is about to be built; what it returns is called with the progress of the build,
/// and dropped at its end.
pub type ShowBuild = fn(&str) -> Box<dyn Fn(BuildProgress)>;

/// The kernel with this name; built now if necessary.
pub fn ready(cache: &Cache, name: &KernelName, show: ShowBuild) -> Result<Kernel, KernelError> {
    match cache.find(name) {
        Ok(Ok(kernel)) => Ok(kernel),
        Ok(Err(recipe)) => build(cache, &recipe, show),
        Err(KernelError::NotFetched { package, .. }) => {
            fetch(cache, name, &package)?;
            ready(cache, name, show)
        }
        Err(error) => Err(error),
    }
}

/// [`ready`] fetches one package at a time from Debian's mirror, and each one exists afterwards.
fn fetch(cache: &Cache, name: &KernelName, package: &str) -> Result<(), KernelError> {
    log::info!(
        "kernel {name}: downloading {package} from Debian's mirror into {}",
        cache.folder().display()
    );
    cache.fetch(package, &mut |_| {})
}

/// A developer's tree, in the flavour of its name.
pub fn build_tree(cache: &Cache, path: &Path, name: Option<&str>, show: ShowBuild) -> Result<Kernel, KernelError> {
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
    build(cache, &recipe, show)
}

fn build(cache: &Cache, recipe: &Recipe, show: ShowBuild) -> Result<Kernel, KernelError> {
    let name = recipe.name().to_string();
    if let Some(folder) = cache.damaged(recipe) {
        log::warn!(
            "kernel {name}: the files in {} are not those that were built; they are replaced",
            folder.display()
        );
    }
    let progress = show(&name);
    cache.build(recipe, &mut |step| progress(step))
}

/// The kernels that this raidlab would run, and the number of others: each version of raidlab has its own.
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
