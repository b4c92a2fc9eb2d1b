//! Compiles the disk model for the lab's kernel (`kernel/model`) into one object file, which the binary carries and
//! hands to the kernel's build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the driver calls; all else is kept out of the kernel's name space.
const EXPORTS: &[&str] = &[
    "rl_open",
    "rl_disk_info",
    "rl_submit",
    "rl_next_event",
    "rl_advance",
    "rl_write",
    "rl_read",
    "rl_discard",
    "rl_counters",
    "rl_digest",
];

/// Named, so that the flags below go to the model alone and not to the macros that its build runs.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    for watched in ["kernel", "crates/disksim/src", "crates/disksim/Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    compile(&root.join("kernel/model"), &out.join("model"));
    link(&out.join("model").join(TARGET).join("release/libmodel.a"), &out.join("model.o"));
}

fn compile(source: &Path, target: &Path) {
    let mut cargo = Command::new(env::var("CARGO").expect("cargo sets it"));
    // The flags of the workspace's own build are not for the kernel.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PROFILE_") || name.starts_with("CARGO_ENCODED_") || name == "RUSTFLAGS" {
            cargo.env_remove(&*name);
        }
    }
    // The kernel is linked at a fixed place, and its signal handlers run on the stack that was interrupted.
    cargo.env("RUSTFLAGS", "-C relocation-model=static -C no-redzone=yes -C embed-bitcode=yes");
    cargo.args(["build", "--release", "--locked", "--manifest-path"]).arg(source.join("Cargo.toml"));
    cargo.args(["--target", TARGET]).arg("--target-dir").arg(target);
    run(&mut cargo);
}

fn link(archive: &Path, object: &Path) {
    let mut ld = Command::new("ld");
    ld.args(["-r", "--gc-sections", "-o"]).arg(object);
    for name in EXPORTS {
        ld.args(["-u", name]);
    }
    run(ld.arg(archive));
    let mut objcopy = Command::new("objcopy");
    objcopy.arg("--strip-debug");
    for name in EXPORTS {
        objcopy.arg(format!("--keep-global-symbol={name}"));
    }
    run(objcopy.arg(object));
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?} ended with {status}"),
        Err(error) => panic!("{command:?} cannot be run: {error}"),
    }
}
