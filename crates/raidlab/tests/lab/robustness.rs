//! A guest that misbehaves, hangs or is killed ends its trial with a message, and leaves nothing behind.

use crate::guest::{Guest, script, trials};
use crate::laboratory::{Laboratory, succeeded};
use lab::job::GuestJob;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use trial::{Limits, ProcessEnd};

#[test]
fn a_guest_that_panics_is_quoted() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let seen = Guest {
        init: Some(script(&folder, "echo these are its last words\nexit 3")),
        ..guest
    }
    .run();
    assert!(matches!(seen.ended.end, ProcessEnd::Died(_)), "{:?}", seen.ended.end);
    for words in [
        "these are its last words",
        "Attempted to kill init! exitcode=0x00000300",
    ] {
        assert!(seen.ended.console.contains(words), "{}", seen.ended.console);
    }
}

#[test]
fn a_guest_whose_time_stands_still_is_given_up() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let init = script(&folder, "echo about to spin\nwhile :; do :; done");
    let limits = Limits {
        stall: Duration::from_secs(4),
        ..guest.limits
    };
    let seen = Guest {
        init: Some(init),
        limits,
        ..guest
    }
    .run();
    assert_eq!(seen.ended.end, ProcessEnd::Stalled);
    assert!(seen.ended.console.contains("about to spin"), "{}", seen.ended.console);
}

/// Virtual time advances, but nothing happens.
#[test]
fn a_guest_that_sleeps_for_ever_is_given_up() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let init = script(&folder, "while :; do sleep 1; done");
    let limits = Limits {
        wall: Duration::from_secs(4),
        ..guest.limits
    };
    let seen = Guest {
        init: Some(init),
        limits,
        ..guest
    }
    .run();
    assert_eq!(seen.ended.end, ProcessEnd::TimedOut);
    assert!(seen.ended.heartbeat.virtual_ns > 0);
}

#[test]
fn nonsense_from_a_guest_does_no_harm() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let init = script(
        &folder,
        "exec 3>/dev/raidlab\nhead -c 40000000 /dev/zero >&3\necho >&3\nhead -c 100000 /dev/urandom >&3\n\
         echo >&3\necho end >&3\nhead -c 3000000 /dev/urandom\nexit 0",
    );
    let seen = Guest {
        init: Some(init),
        ..guest
    }
    .run();
    assert!(matches!(seen.ended.end, ProcessEnd::Died(_)), "{:?}", seen.ended.end);
    assert_eq!(
        seen.lines.first().map(Vec::len),
        Some(16 << 20),
        "an endless line is cut"
    );
    assert_eq!(seen.words().last().map(String::as_str), Some("end"));
    assert!(seen.ended.console.len() < 1 << 20, "of the console, its end is kept");
}

#[test]
fn a_guest_that_never_stops_talking_is_stopped() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let init = script(
        &folder,
        "yes '{\"event\":\"step\",\"name\":\"on and on\",\"at_ns\":0}' >/dev/raidlab",
    );
    let seen = Guest {
        init: Some(init),
        ..guest
    }
    .run();
    assert_eq!(seen.ended.end, ProcessEnd::OutputLimit);
}

#[test]
fn nothing_of_the_host_can_be_written_by_a_guest() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let victim = Victim::new();
    let place = victim.path().display();
    let init = script(
        &folder,
        &format!(
            "try() {{ \"$@\" 2>/dev/null && echo \"done: $*\" >/dev/raidlab; }}\n\
             attack() {{\n\
             try sh -c \"echo gone >$1/file\"\ntry sh -c \"echo gone >>$1/file\"\ntry rm $1/file\n\
             try mv $1/file $1/other\ntry truncate -s 0 $1/file\ntry chmod 777 $1/file\ntry touch $1/new\n\
             try mkdir $1/folder\ntry ln -s x $1/link\ntry ln $1/file $1/hard\ntry mkfifo $1/fifo\n\
             try touch -d 2001-01-01 $1/file\ntry chown 1:1 $1/file\n}}\n\
             attack {place}\nmount -o remount,rw / && echo 'done: remount' >/dev/raidlab\nattack {place}\n\
             mount -t hostfs -o {place} none /mnt && attack /mnt\n\
             mount -o remount,rw /mnt && attack /mnt\n\
             test -r {place}/file && echo tried >/dev/raidlab\nexit 0"
        ),
    );
    let seen = Guest {
        init: Some(init),
        ..guest
    }
    .run();
    assert_eq!(
        seen.words(),
        ["tried"],
        "what a guest could do; its console: {}",
        seen.ended.console
    );
    victim.must_be_unharmed();
}

/// Whatever the guest's kernel does: here it is a script.
#[test]
fn a_kernel_gone_mad_is_confined_to_its_folder() {
    let Some(guest) = Guest::new() else { return };
    if !lab::guest::can_confine() {
        requirements::skip("this machine's kernel has no Landlock");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let victim = Victim::new();
    let place = victim.path().display();
    let kernel = script(
        &folder,
        &format!(
            "for file in {place}/file {place}/new /dev/shm/raidlab-was-here; do\n\
             (echo gone >$file) 2>/dev/null && echo \"wrote $file\" >&102\ndone\n\
             rm -f {place}/file && echo removed >&102\n\
             echo mine >own && cat own >&102\n\
             (trap '' TERM HUP INT; sleep 1000) &\nsleep 0.1\nexit 0"
        ),
    );
    let seen = Guest { kernel, ..guest }.run();
    let _ = fs::remove_file("/dev/shm/raidlab-was-here");
    assert_eq!(
        seen.words(),
        ["mine"],
        "what a kernel could do; its console: {}",
        seen.ended.console
    );
    victim.must_be_unharmed();
}

/// A folder that a guest attacks.
struct Victim {
    folder: tempfile::TempDir,
    dated: SystemTime,
}

impl Victim {
    fn new() -> Victim {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "contents").expect("a file");
        let dated = modified(&file);
        Victim { folder, dated }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn must_be_unharmed(&self) {
        let entries: Vec<_> = fs::read_dir(self.path()).expect("it is there").flatten().collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
        let file = self.path().join("file");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "contents");
        assert_eq!(modified(&file), self.dated, "its date was changed");
    }
}

fn modified(file: &Path) -> SystemTime {
    let metadata = file.metadata().expect("it is there");
    metadata.modified().expect("has a date")
}

/// The init needs more memory than the guest has.
#[test]
fn a_guest_without_memory_says_so() {
    let mut trial = trials(
        "ram = \"1G\"\n[disks]\nmodel = \"wd-500gb-2007\"\n[[stack]]\nfs = { type = \"raw\" }\n\
         [[workload]]\nname = \"huge\"\nio = { rw = \"read\", bs = \"512M\", size = \"512M\", direct = true }\n",
    )
    .remove(0);
    // A study that asks for this is refused.
    trial.cell.machine_mut().ram_bytes = 64 << 20;
    let job = GuestJob::Trial(Box::new(trial.clone()));
    let Some(guest) = Guest::for_job(&job, &trial) else {
        return;
    };
    let seen = guest.run();
    assert!(matches!(seen.ended.end, ProcessEnd::Died(_)), "{:?}", seen.ended.end);
    let console = &seen.ended.console;
    assert!(
        console.contains("memory allocation of") || console.contains("Out of memory"),
        "{console}"
    );
}

/// A parent that ignores SIGCHLD made the kernel discard how programs ended: the cached kernel was built again, in vain.
#[test]
fn issue_39_a_parent_that_ignores_its_children_changes_nothing() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(
        "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\n[[workload]]\nname = \"w\"\n\
         io = { rw = \"write\", size = \"1M\" }\n[precision]\ntrials = 1\n",
    );
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' CHLD; exec \"$0\" run study.toml"]);
    command
        .arg(env!("CARGO_BIN_EXE_raidlab"))
        .current_dir(laboratory.folder());
    succeeded(&mut command);
}
