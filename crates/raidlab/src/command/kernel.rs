//! `raidlab kernel`: build, list.

use super::{print, print_json};
use crate::cli::{Format, KernelCommand};
use crate::error::ExpectedError;
use crate::progress::KernelBar;
use lab::kernel::{Cache, DEFAULT_VERSION, Kernel, KernelName};
use prepare::kernels;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

pub fn kernel(command: &KernelCommand) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    match command {
        KernelCommand::List { format: Format::Text } => print(&list(&cache))?,
        KernelCommand::List { format: Format::Json } => print_json(&as_json(&cache))?,
        KernelCommand::Build { what, name } => {
            let what = what.as_deref().unwrap_or(DEFAULT_VERSION);
            if what.contains('/') && !Path::new(what).is_dir() {
                return Err(ExpectedError::NoKernelTree { path: what.to_owned() });
            }
            let kernel = if Path::new(what).is_dir() {
                kernels::build_tree(&cache, Path::new(what), name.as_deref(), KernelBar::show_build)?
            } else if let Some(name) = name {
                return Err(ExpectedError::NameOfVersion {
                    name: name.clone(),
                    version: what.to_owned(),
                });
            } else {
                kernels::ready(&cache, &KernelName::parse(what), KernelBar::show_build)?
            };
            print(&line(&kernel))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(cache: &Cache) -> String {
    let (kernels, others) = kernels::in_use(cache);
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

/// Existing kernels, and those of Debian's versions that are not built.
fn as_json(cache: &Cache) -> Value {
    let (kernels, others) = kernels::in_use(cache);
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

/// An existing kernel.
pub fn kernel_json(kernel: &Kernel) -> Value {
    json!({ "kernel": kernel.name, "release": kernel.release, "source": kernel.source })
}

/// A line about kernels that are no longer used.
pub fn others_words(cache: &Cache, others: usize) -> String {
    match others {
        0 => String::new(),
        _ => format!(
            "{others} in {} belong to other versions of raidlab or of Debian's source: `raidlab cache drop --unused` deletes them\n",
            cache.folder().join("kernels").display()
        ),
    }
}

fn line(kernel: &Kernel) -> String {
    format!("{:<12} {:<24} {}\n", kernel.name, kernel.release, kernel.source)
}
