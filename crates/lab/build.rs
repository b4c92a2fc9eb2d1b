//! Compiles the disk model for the lab's kernel (`kernel/model`) into one object file, which the binary carries and
//! hands to the kernel's build.

use std::env;
use std::fs;
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

/// Parts of `disksim` that are compiled for the host alone.
const HOST_ONLY: &[&str] = &["catalogue", "comparison", "disksim_import", "replay", "show", "user"];

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    for watched in ["kernel", "crates/disksim/src", "crates/disksim/Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    fs::write(out.join("model.sources"), sources(&root)).expect("OUT_DIR can be written");
    compile(&root.join("kernel/model"), &out.join("model"));
    link(
        &out.join("model").join(TARGET).join("release/libmodel.a"),
        &out.join("model.o"),
    );
}

/// Everything that the object is made of, as one text: it names the kernels that hold it. The object itself would
/// not do, because paths of the machine that compiled it are in it.
fn sources(root: &Path) -> Vec<u8> {
    let mut files = vec![
        root.join("kernel/model/Cargo.toml"),
        root.join("kernel/model/Cargo.lock"),
    ];
    for folder in ["kernel/model/src", "crates/disksim/src"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut text = Vec::new();
    for file in files {
        text.extend_from_slice(file.strip_prefix(root).unwrap_or(&file).as_os_str().as_encoded_bytes());
        text.extend(fs::read(&file).expect("a source file can be read"));
    }
    let rustc = Command::new(env::var("RUSTC").expect("cargo sets it"))
        .arg("--version")
        .output();
    text.extend(rustc.expect("rustc says its version").stdout);
    text
}

/// All files below a folder, but for what only tests and programs on the host use.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("a source folder can be read").path();
        if path.is_dir() {
            if !HOST_ONLY.iter().any(|name| path.ends_with(name)) {
                collect(&path, files);
            }
        } else {
            files.push(path);
        }
    }
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
    cargo.env(
        "RUSTFLAGS",
        "-C relocation-model=static -C no-redzone=yes -C embed-bitcode=yes",
    );
    cargo
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(source.join("Cargo.toml"));
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
