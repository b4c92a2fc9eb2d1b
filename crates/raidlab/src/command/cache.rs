//! `raidlab cache`: list, drop.

use super::{print, print_json};
use crate::cli::{CacheCommand, CacheDropArguments, Format};
use crate::error::ExpectedError;
use crate::progress::say;
use lab::cached::{self, Cached};
use lab::kernel::{BuildProgress, Cache, Kind};
use prepare::kernels;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::SystemTime;
use study_file::describe_size;

const DAY_S: u64 = 24 * 60 * 60;

pub fn cache(command: &CacheCommand) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    let all = entries(&cache)?;
    match command {
        CacheCommand::List { format: Format::Text } => print(&text(&cache, &all))?,
        CacheCommand::List { format: Format::Json } => print_json(&as_json(&cache, &all))?,
        CacheCommand::Drop(arguments) => drop_some(&cache, &all, arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn entries(cache: &Cache) -> Result<Vec<Cached>, ExpectedError> {
    let (run, _) = kernels::in_use(cache);
    let images: Vec<_> = run.into_iter().map(|kernel| kernel.path).collect();
    Ok(cached::list(cache, &prepare::version()?, &images))
}

fn drop_some(cache: &Cache, all: &[Cached], arguments: &CacheDropArguments) -> Result<(), ExpectedError> {
    for name in &arguments.names {
        if all.iter().all(|one| one.name != *name) {
            return Err(ExpectedError::NotCached { name: name.clone() });
        }
    }
    let is_meant = |one: &&Cached| {
        arguments.all || (arguments.unused && !one.is_needed) || arguments.names.contains(&one.name)
    };
    let mut bytes = 0;
    for one in all.iter().filter(is_meant) {
        let mut wait = |step| {
            if let BuildProgress::Waiting { pid } = step {
                let who = pid.map_or_else(String::new, |pid| format!(", process {pid}"));
                say(&format!(
                    "raidlab: another raidlab builds a kernel{who}; `{}` waits for it",
                    one.name
                ));
            }
        };
        match cached::drop_one(cache, one, &mut wait).map_err(prepare::Error::from)? {
            true => bytes += one.bytes,
            false => say(&format!("raidlab: `{}` is left: a raidlab is running it", one.name)),
        }
    }
    print(&format!("{} dropped\n", describe_size(bytes)))
}

fn text(cache: &Cache, all: &[Cached]) -> String {
    let size = |all: &mut dyn Iterator<Item = &Cached>| describe_size(all.map(|one| one.bytes).sum());
    let mut text = format!("{} in {}\n", size(&mut all.iter()), cache.folder().display());
    let width = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in all {
        let need = match (one.kind, one.is_needed) {
            (_, true) | (Kind::Build, false) => "",
            (_, false) => ", of another version",
        };
        text += &format!(
            "  {:width$} {:>10}  {}{need}{}\n",
            one.name,
            describe_size(one.bytes),
            one.what,
            age(one)
        );
    }
    match size(&mut all.iter().filter(|one| !one.is_needed)).as_str() {
        "0 B" => text,
        unused => text + &format!("`raidlab cache drop --unused` frees {unused}\n"),
    }
}

/// How long ago it was used.
fn age(one: &Cached) -> String {
    let elapsed = one.used.and_then(|used| SystemTime::now().duration_since(used).ok());
    match elapsed.map(|elapsed| elapsed.as_secs() / DAY_S) {
        None | Some(0) => String::new(),
        Some(1) => ", a day old".to_owned(),
        Some(days) => format!(", {days} days old"),
    }
}

fn as_json(cache: &Cache, all: &[Cached]) -> Value {
    let one = |one: &Cached| {
        let used = one
            .used
            .and_then(|used| used.duration_since(SystemTime::UNIX_EPOCH).ok());
        json!({
            "name": one.name,
            "what": one.what,
            "bytes": one.bytes,
            "used_unix_s": used.map(|used| used.as_secs()),
            "needed": one.is_needed,
        })
    };
    json!({ "folder": cache.folder(), "entries": all.iter().map(one).collect::<Value>() })
}
