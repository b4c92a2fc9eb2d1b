//! Compiles the disk model for the lab's kernel (`kernel/model`) into one object file, which is embedded in the
//! binary and passed to the kernel's build.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Functions that the driver calls; all other symbols are made local.
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
    "rl_restore",
    "rl_save",
    "rl_expect_power_cut",
    "rl_keep_state",
    "rl_delay",
    "rl_hang",
    "rl_ignore_flushes",
    "rl_power_cut",
];

/// The kernel is linked at a fixed address, and its signal handlers run on the interrupted stack.
const FLAGS: &[&str] = &["-Crelocation-model=static", "-Cno-redzone=yes", "-Cembed-bitcode=yes"];

/// Named, so that the flags below apply only to the model and not to the macros of its build.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Modules of `disksim` that are not compiled for the kernel: `name.rs`, and the folder `name`.
const HOST_ONLY: &[&str] = &[
    "catalogue",
    "comparison",
    "disksim_import",
    "load_generator",
    "replay",
    "show",
    "tests",
];

fn main() {
    let crate_folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = fs::canonicalize(Path::new(&crate_folder).join("../..")).expect("the crate lies in the workspace");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    for watched in ["kernel", "crates/disksim/src", "crates/disksim/Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    fs::write(out.join("model.sources"), sources(&root)).expect("OUT_DIR can be written");
    let wrapper = out.join("rustc");
    write_wrapper(&wrapper);
    compile(&root, &out.join("model"), &wrapper);
    link(
        &out.join("model").join(TARGET).join("release/libmodel.a"),
        &out.join("model.o"),
    );
}

/// All sources of the object as one text: it identifies the kernels that contain the object. The object itself is
/// not suitable, because it contains paths of the machine that compiled it.
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
    text.extend(FLAGS.concat().bytes());
    text
}

/// All files below a folder, except modules that are [`HOST_ONLY`].
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("a source folder can be read").path();
        if path
            .file_stem()
            .is_some_and(|module| HOST_ONLY.iter().any(|name| module == *name))
        {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Remaps paths of this machine, which occur in panic messages, so that the object is the same from any folder.
fn remapped(root: &Path) -> Vec<String> {
    let sysroot = Command::new(env::var("RUSTC").expect("cargo sets it"))
        .args(["--print", "sysroot"])
        .output();
    let sysroot = sysroot.expect("rustc says where it is").stdout;
    let library = Path::new(String::from_utf8_lossy(&sysroot).trim()).join("lib/rustlib/src/rust");
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home
        .or_else(|| Some(env::home_dir()?.join(".cargo")))
        .unwrap_or_default();
    [(root, "raidlab"), (&home, "cargo"), (&library, "rust")]
        .map(|(from, to)| format!("--remap-path-prefix={}=/{to}", from.display()))
        .into()
}

/// A compiler that ignores cargo's `-C metadata`, which is a hash of the crate's folder: it is part of function
/// names, and these determine the order of functions.
fn write_wrapper(path: &Path) {
    let script = "#!/bin/sh\nrustc=$1\nshift\nfor argument do\n    shift\n\
        \x20   case $argument in metadata=*) argument=metadata=raidlab ;; esac\n\
        \x20   set -- \"$@\" \"$argument\"\ndone\nexec \"$rustc\" \"$@\"\n";
    fs::write(path, script).expect("OUT_DIR can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("OUT_DIR can be written");
}

fn compile(root: &Path, target: &Path, wrapper: &Path) {
    let source = root.join("kernel/model");
    let mut cargo = Command::new(env::var("CARGO").expect("cargo sets it"));
    // The flags of the workspace's own build do not apply to the kernel.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PROFILE_") || name.starts_with("CARGO_ENCODED_") || name == "RUSTFLAGS" {
            cargo.env_remove(&*name);
        }
    }
    let flags: Vec<String> = FLAGS.iter().map(ToString::to_string).chain(remapped(root)).collect();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    cargo
        .env("RUSTC_WRAPPER", wrapper)
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
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
