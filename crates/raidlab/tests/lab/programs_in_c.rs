//! Programs in C in a guest, of which the first runs in the process of the kernel, and others have processes of their own
//! (kernel/patches/6.12/0009-floating-point-state-stays.patch, 0018-programs-in-the-kernels-process.patch).

use crate::guest::{Guest, guests_see};
use lab::job::{self, GuestJob, ProgramJob};
use std::path::Path;
use std::process::Command;
use trial::ProcessEnd;

/// Compiles a program of this folder, and runs a script in which `PROGRAM` is its path. None if the test has to be skipped.
fn printed(source: &str, options: &[&str], script: &str) -> Option<Vec<String>> {
    let guest = Guest::new()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if !guests_see(folder) {
        return None;
    }
    let program = folder.join(format!("{source}{}", options.concat()));
    let compiled = Command::new("cc")
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .args(options)
        .arg(format!("{}/tests/lab/{source}.c", env!("CARGO_MANIFEST_DIR")))
        .status()
        .expect("the compiler that built the lab's kernel");
    assert!(compiled.success());
    let script = script.replace("PROGRAM", &program.to_string_lossy());
    let job = GuestJob::Program(ProgramJob {
        path: "/bin/bash".into(),
        arguments: vec!["-c".to_owned(), format!("({script}) >/dev/raidlab")],
    });
    let seen = Guest {
        job: job::encode(&job, &[]),
        ..guest
    }
    .run();
    assert_eq!(
        seen.ended.end,
        ProcessEnd::Exited,
        "its console: {}",
        seen.ended.console
    );
    // Events of the guest itself are JSON.
    Some(seen.words().into_iter().filter(|word| !word.starts_with('{')).collect())
}

/// Through system calls, signals, forks, and other tasks in the same address space; executed by a shell, which has forked or
/// has not.
#[test]
fn tasks_keep_their_vector_registers() {
    for script in ["exec PROGRAM", "PROGRAM; PROGRAM | cat"] {
        let Some(words) = printed("floating_point", &[], script) else {
            return;
        };
        assert!(
            !words.is_empty() && words.iter().all(|word| word == "wrong: 0"),
            "{words:?}"
        );
    }
}

/// Those of the kernel and of the init in the process that the program starts in, by mappings or by its own file.
#[test]
fn a_program_has_whatever_addresses_it_asks_for() {
    for options in [&[][..], &["-static", "-no-pie"]] {
        let Some(words) = printed("addresses", options, "PROGRAM; exec PROGRAM") else {
            return;
        };
        assert_eq!(words, ["wrong: 0", "wrong: 0"], "{options:?}");
    }
}
