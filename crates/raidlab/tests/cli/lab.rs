//! The lab's kernel for tests, and runs in the lab.

use crate::desk::{Desk, PROGRAM, SMALL};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One test at a time has guests: some look at the clock.
static GUESTS: Mutex<()> = Mutex::new(());

/// A desk whose cache has the kernels of the user's, and is otherwise its own. Says so if there can be none.
pub fn desk() -> Option<(Desk, MutexGuard<'static, ()>)> {
    let turn = GUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    Some((desk_amid_a_turn()?, turn))
}

fn desk_amid_a_turn() -> Option<Desk> {
    static KERNELS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match KERNELS.get_or_init(kernels) {
        Ok(kernels) => {
            let desk = Desk::new();
            symlink(kernels, desk.cache().join("kernels")).expect("our own folder");
            desk.write("small.toml", SMALL);
            Some(desk)
        }
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

/// The folder of kernels in the user's cache, the one that is needed built.
fn kernels() -> Result<PathBuf, String> {
    let built = Command::new(PROGRAM)
        .args(["kernel", "build"])
        .output()
        .expect("raidlab is run");
    let words = String::from_utf8_lossy(&built.stderr);
    match built.status.code() {
        Some(0) => Ok(lab::kernel::Cache::of_user().folder().join("kernels")),
        // What it says before the last line is progress.
        Some(3) => Err(words.lines().last().unwrap_or("no reason given").to_owned()),
        _ => panic!("the kernel cannot be built: {words}"),
    }
}

/// What `small.toml` measures when nothing comes between.
pub fn undisturbed() -> &'static Value {
    static EXPORT: OnceLock<Value> = OnceLock::new();
    EXPORT.get_or_init(|| {
        let desk = desk_amid_a_turn().expect("asked for after a desk was there");
        let ran = desk.run(&["run", "small.toml"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        export(&desk)
    })
}

pub fn export(desk: &Desk) -> Value {
    let ran = desk.run(&["export"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("an export is JSON")
}

/// Every trial is there once, and every figure is the same as if nothing had come between.
pub fn assert_undisturbed(desk: &Desk) {
    let (export, undisturbed) = (export(desk), undisturbed());
    for part in ["trials", "samples", "latencies", "guards"] {
        assert_eq!(export[part], undisturbed[part], "{part}");
    }
    assert_eq!(export["run"]["digest_sha256"], undisturbed["run"]["digest_sha256"]);
    assert_eq!(export["run"]["finished"], true);
    let trials = export["trials"].as_array().expect("a list");
    assert_eq!(trials.len(), 6);
    assert!(
        export["samples"]
            .as_array()
            .is_some_and(|samples| samples.len() >= 6 * 2)
    );
}
