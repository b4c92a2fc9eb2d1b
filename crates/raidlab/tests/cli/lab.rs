//! The lab's kernel for tests, and runs in the lab.

use crate::desk::{Desk, SMALL};
use ::lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use requirements::{Slot, one_processor};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A desk whose cache has the user's kernels and nothing else of the user's; and a processor. Without a kernel the test
/// is skipped.
pub fn desk() -> Option<(Desk, Slot)> {
    let slot = one_processor();
    Some((desk_with_kernels()?, slot))
}

fn desk_with_kernels() -> Option<Desk> {
    static KERNELS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let kernels = requirements::met(KERNELS.get_or_init(kernels).as_ref())?;
    let desk = Desk::new();
    symlink(kernels, desk.cache().join("kernels")).expect("our own folder");
    desk.write("small.toml", SMALL);
    Some(desk)
}

/// The folder of kernels in the user's cache, if it has the one that is needed. No test builds one.
fn kernels() -> Result<PathBuf, String> {
    let cache = Cache::of_user();
    let found = cache
        .find(&KernelName::parse(DEFAULT_VERSION))
        .map_err(|error| error.to_string())?;
    found.map_err(|_| format!("no kernel {DEFAULT_VERSION}: `raidlab kernel build`"))?;
    Ok(cache.folder().join("kernels"))
}

/// The results of `small.toml` without interruption.
pub fn undisturbed() -> &'static Value {
    static EXPORT: OnceLock<Value> = OnceLock::new();
    EXPORT.get_or_init(|| {
        let desk = desk_with_kernels().expect("asked for after a desk was there");
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

/// Every trial exists once, and every figure is the same as without interruption.
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
