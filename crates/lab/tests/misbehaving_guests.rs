//! Misbehaving guests: programs that replace the kernel and do what no guest should. Whatever they do, the run
//! continues in time, stores a bounded amount, and nothing outside the trial's folder changes.

use lab::guest::{self, Config, DiskContents, EndedGuest, Heartbeat, Init, StartError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trial::{Limits, ProcessEnd};

/// The output of a guest.
struct Heard {
    ended: EndedGuest,
    lines: usize,
    longest: usize,
    ticks: usize,
    took: Duration,
}

/// Longer than anything takes here on a busy machine: a test that awaits a limit sets it.
fn limits() -> Limits {
    Limits {
        stall: Duration::from_secs(120),
        wall: Duration::from_secs(120),
        output_bytes: 64 << 20,
    }
}

/// Runs a shell script as if it were the lab's kernel.
fn run(script: &str, limits: Limits) -> Heard {
    let folder = tempfile::tempdir().expect("a folder");
    run_in(folder.path(), script, limits)
}

fn run_in(folder: &Path, script: &str, limits: Limits) -> Heard {
    try_run_in(folder, script, limits, None).expect("it starts")
}

fn try_run_in(
    folder: &Path,
    script: &str,
    limits: Limits,
    contents: Option<&DiskContents>,
) -> Result<Heard, StartError> {
    let kernel = folder.join("kernel");
    fs::write(&kernel, format!("#!/bin/bash\n{script}\n")).expect("a script");
    fs::set_permissions(&kernel, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let trial = folder.join("trial");
    fs::create_dir_all(&trial).expect("a folder");
    let config = Config {
        kernel: &kernel,
        init: &Init::from_file(Path::new("/bin/true")).expect("it can be opened"),
        root: None,
        ram_bytes: 64 << 20,
        seed: 1,
        disks: b"disks",
        job: b"{}",
        memory_budget_bytes: 64 << 20,
        contents,
        power_cut: None,
        states: None,
        spare: &guest::SpareMemory::default(),
        folder: &trial,
        trace: None,
        processor: None,
        kernel_arguments: &[],
        limits,
    };
    let (mut lines, mut longest, mut ticks) = (0, 0, 0);
    let start = Instant::now();
    let mut line = |line: &[u8]| {
        lines += 1;
        longest = longest.max(line.len());
    };
    let ended = guest::run(&config, &AtomicBool::new(false), &mut line, &mut |_: Heartbeat| {
        ticks += 1
    });
    Ok(Heard {
        ended: ended?,
        lines,
        longest,
        ticks,
        took: start.elapsed(),
    })
}

#[test]
fn one_that_never_stops_talking_is_ended() {
    let heard = run("exec yes '{\"step\":1}' >&102", limits());
    assert_eq!(heard.ended.end, ProcessEnd::OutputLimit);
    assert!(heard.lines > 1000 && heard.lines < 16 << 20, "{}", heard.lines);
}

#[test]
fn one_line_without_end_is_cut() {
    let heard = run(
        "yes | tr -d '\\n' | head -c 40000000 >&102; echo >&102; echo end >&102",
        limits(),
    );
    assert_eq!((heard.ended.end, heard.lines), (ProcessEnd::Exited, 2));
    assert_eq!(heard.longest, 16 << 20);
}

#[test]
fn garbage_on_both_pipes_is_borne() {
    let heard = run(
        "head -c 4000000 /dev/urandom >&102; head -c 4000000 /dev/urandom; exit 3",
        limits(),
    );
    assert_eq!(heard.ended.end, ProcessEnd::Died("exit status: 3".to_owned()));
    assert!(heard.ended.console.len() < 1 << 20);
    assert!(heard.lines > 100);
}

#[test]
fn closed_pipes_do_not_make_the_run_spin() {
    let heard = run("exec 102>&- 1>&- 2>&-; sleep 1", limits());
    assert_eq!((heard.ended.end, heard.lines), (ProcessEnd::Exited, 0));
    assert!(heard.took >= Duration::from_secs(1));
    assert!(heard.ticks < 100, "{} ticks in {:?}", heard.ticks, heard.took);
    // The time of this thread, had it spun, would be most of that second.
    let spent = thread_time();
    assert!(spent < heard.took / 2, "{spent:?}");
}

/// Processor time of this thread.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[test]
fn one_that_does_nothing_is_given_up() {
    let limits = Limits {
        stall: Duration::from_secs(2),
        ..limits()
    };
    let heard = run("exec sleep 1000", limits);
    assert_eq!(heard.ended.end, ProcessEnd::Stalled);
}

#[test]
fn a_false_heartbeat_does_not_keep_a_guest_alive() {
    // Virtual time advances, but nothing happens.
    let script = "while :; do printf '%s' \"$RANDOM$RANDOM\" | dd of=/proc/self/fd/105 conv=notrunc status=none; sleep 0.05; done";
    let limits = Limits {
        wall: Duration::from_secs(4),
        ..limits()
    };
    let heard = run(script, limits);
    assert_eq!(heard.ended.end, ProcessEnd::TimedOut);
    assert!(heard.ended.heartbeat.virtual_ns > 0, "it did lie");
}

#[test]
fn the_files_in_memory_keep_their_size() {
    // A heartbeat cut to nothing would be a deadly signal for whoever reads it.
    let heard = run(
        "truncate -s 0 /proc/self/fd/105 && echo cut >&102; truncate -s 1T /proc/self/fd/103 && echo grown >&102; sleep 0.5",
        limits(),
    );
    assert_eq!((heard.ended.end, heard.lines), (ProcessEnd::Exited, 0));
}

/// A guest passes the disks' contents on only if it exits: a killed guest has changed them in an unknown way.
#[test]
fn contents_of_a_guest_that_was_killed_are_not_used_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let contents = DiskContents::new(64 << 20, folder.path()).expect("contents");
    let limits = Limits {
        stall: Duration::from_secs(4),
        ..limits()
    };
    let run = |script: &str| try_run_in(folder.path(), script, limits, Some(&contents));
    let heard = run("echo first >&103; echo places >&109").expect("it starts");
    assert_eq!(heard.ended.end, ProcessEnd::Exited);
    let heard = run("head -n 1 /proc/self/fd/103 >&102; truncate -s 0 /proc/self/fd/109; exec sleep 1000");
    let heard = heard.expect("it starts");
    assert_eq!((heard.ended.end, heard.lines), (ProcessEnd::Stalled, 1));
    let refused = run("echo too late >&102").err().expect("a refusal");
    assert_eq!(
        refused.to_string(),
        "the contents of the disks are unknown: the previous guest was killed"
    );
}

#[test]
fn nothing_outside_its_folder_can_be_written() {
    if !guest::can_confine() {
        requirements::skip("this kernel has no Landlock");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let outside = folder.path().join("outside");
    fs::write(&outside, "as it was").expect("a file");
    let script = format!(
        "exec 2>/dev/null\n\
         echo bad > {0} && echo wrote >&102\n\
         rm -f {0} && echo removed >&102\n\
         mv {0} trial/it && echo moved >&102\n\
         echo bad > {1}/new && echo bade >&102\n\
         ln -s {1} here; echo bad > here/new && echo linked >&102\n\
         mkdir {1}/folder && echo folder >&102\n\
         echo mine > mine && cat mine >&102",
        outside.display(),
        folder.path().display()
    );
    let heard = run_in(folder.path(), &script, limits());
    assert_eq!(heard.ended.end, ProcessEnd::Exited);
    assert_eq!(heard.lines, 1, "only what is its own");
    assert_eq!(fs::read_to_string(&outside).expect("still there"), "as it was");
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["kernel", "outside", "trial"]);
}
