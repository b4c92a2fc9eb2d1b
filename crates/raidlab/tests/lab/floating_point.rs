//! Tasks of a guest keep their floating-point and vector registers: through system calls, signals, forks, and other
//! tasks in the same address space (kernel/patches/6.12/0009-floating-point-state-stays.patch).

use crate::guest::{Guest, guests_see};
use lab::job::{self, GuestJob, ProgramJob};
use std::path::Path;
use std::process::Command;
use trial::ProcessEnd;

#[test]
fn tasks_keep_their_vector_registers() {
    let Some(guest) = Guest::new() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if !guests_see(folder) {
        return;
    }
    let program = folder.join("floating_point");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/floating_point.c");
    let compiled = Command::new("cc")
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .expect("the compiler that built the lab's kernel");
    assert!(compiled.success());
    let script = format!("{} >/dev/raidlab", program.display());
    let job = GuestJob::Program(ProgramJob {
        path: "/bin/bash".into(),
        arguments: vec!["-c".to_owned(), script],
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
    assert_eq!(seen.words()[0], "wrong: 0", "its console: {}", seen.ended.console);
}
