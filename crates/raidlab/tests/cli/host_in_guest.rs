//! Trials on "this machine", where that is a guest of the lab: it has md, and disks that fail when told.

use crate::desk::PROGRAM;
use crate::lab;
use ::lab::guest::{Config, Init, LIMITS};
use ::lab::job::{GuestJob, Program};
use ::lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use disksim::catalogue;
use disksim::description::Description;
use disksim::faults::{SectorRange, Slow};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::event::Event;
use trial::{Limits, ProcessEnd};

/// Disks of one model.
fn disks(count: u64) -> Description {
    let model = catalogue::find("wd-500gb-2007").expect("it is in the catalogue");
    Description {
        links: Vec::new(),
        disks: (1..=count).map(|seed| model.description(seed)).collect(),
    }
}

/// What a script printed in a guest with these disks, `$R` being raidlab; each of its commands must succeed. None, and
/// says so, where there is no kernel for guests.
fn script(disks: &Description, study: &str, lines: &str) -> Option<String> {
    let (_desk, _turn) = lab::desk()?;
    let found = Cache::of_user().find(&KernelName::parse(DEFAULT_VERSION));
    let kernel = found
        .expect("it can be looked for")
        .expect("a desk comes with a kernel");
    let text = format!(
        "export RAIDLAB_STATE=/tmp/state R={PROGRAM}; exec 2>&1; cd /tmp\ncat > study.toml <<'END'\n{study}\nEND\n{lines}"
    );
    let job = GuestJob::Program(Program {
        path: PathBuf::from("/bin/bash"),
        arguments: vec!["-e".to_owned(), "-c".to_owned(), text],
    });
    let (disks, job) = (
        postcard::to_allocvec(disks).expect("plain data"),
        serde_json::to_vec(&job).expect("plain data"),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config {
        kernel: &kernel.path,
        init: &Init::in_own_memory(Path::new(PROGRAM)).expect("it is loaded"),
        ram_bytes: 512 << 20,
        seed: 1,
        disks: &disks,
        job: &job,
        memory_budget_bytes: 256 << 20,
        folder: folder.path(),
        trace: None,
        processor: None,
        kernel_arguments: &[],
        limits: Limits {
            wall: Duration::from_secs(240),
            ..LIMITS
        },
    };
    let mut last = None;
    let mut line = |line: &[u8]| last = serde_json::from_slice::<Event>(line).ok();
    let ended = ::lab::guest::run(&config, &AtomicBool::new(false), &mut line, &mut |_| ()).expect("it starts");
    let console = ended.console;
    assert_eq!(ended.end, ProcessEnd::Exited, "{console}");
    assert!(matches!(last, Some(Event::Done { .. })), "{last:?}\n{console}");
    Some(console)
}

const RAID5: &str = r#"
[disks]
count = 3
[[stack]]
array = { level = 5, size = "32M", bitmap = "none" }
fs = { type = ["ext4", "xfs"] }
[[workload]]
name = "w"
tree = { files = 20, size = "16K", tests = ["write"] }
[precision]
trials = 1
"#;

#[test]
fn lab_host_arrays_come_and_go_beside_those_of_the_machine() {
    let study = RAID5.replace("32M", "400M");
    let Some(said) = script(
        &disks(5),
        &study,
        r#"
mdadm --create /dev/md7 --run --quiet --level=1 --raid-devices=2 --size=32M --assume-clean --homehost='<none>' /dev/vdd /dev/vde
mke2fs -q /dev/md7; before=$(sha256sum < /dev/md7)
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
for member in vdd vde; do
    code=0; $R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/$member --destroy $member || code=$?; test $code = 2
done
$run &
until grep -q md100 /proc/mdstat; do sleep 0.5; done; sleep 2
kill -9 $!; wait $! || true; sleep 1
grep -q md100 /proc/mdstat && echo THE ARRAY IS LEFT
$R doctor | grep 'a killed run left something to undo' && echo DOCTOR SAW
$R clean
grep md100 /proc/mdstat && exit 1
$run
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; done
test -z "$(ls /tmp/state | grep -v lock)"; grep -q /tmp/state /proc/mounts && exit 1
grep md7 /proc/mdstat; test "$before" = "$(sha256sum < /dev/md7)" && echo BYSTANDER IS WELL
"#,
    ) else {
        return;
    };
    for words in [
        "vdd is a member of the md array md7",
        "THE ARRAY IS LEFT",
        "DOCTOR SAW",
        "undone: stop /dev/md100",
        "2 trials done, 0 failed",
        "BYSTANDER IS WELL",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

const READS: &str = r#"
[disks]
count = 1
[[stack]]
array = { level = "single" }
fs = { type = "raw" }
[[workload]]
name = "bad"
io = { rw = "read", bs = "1M", size = "16M", direct = true }
[[workload]]
name = "good"
io = { rw = "read", bs = "1M", size = "16M", offset = "1G", direct = true }
[precision]
trials = 1
"#;

#[test]
fn lab_host_a_disk_that_fails_ends_its_trial_and_the_run_goes_on() {
    let mut disks = disks(1);
    disks.disks[0].faults.unreadable = vec![SectorRange {
        sector: 20_000,
        sectors: 8,
    }];
    let lines = "code=0; $R run study.toml --on host --devices /dev/vda || code=$?; test $code = 1";
    let Some(said) = script(&disks, READS, lines) else {
        return;
    };
    assert!(said.contains("1 trials done, 1 failed"), "{said}");
    assert!(said.contains("a disk failed: the kernel says"), "{said}");
    assert!(said.contains("dev vda, sector"), "{said}");
}

#[test]
fn lab_host_a_disk_that_hangs_is_told_and_left() {
    let mut disks = disks(1);
    disks.disks[0].faults.slow = Some(Slow {
        // Once it has been looked at, and is waited for to be quiet.
        from_ns: 33_000_000_000,
        access_ns: 59_000_000_000,
    });
    let lines = r#"
sleep 30
code=0; $R run study.toml --on host --devices /dev/vda --trial-limit 10s || code=$?; test $code = 1
"#;
    let Some(said) = script(&disks, READS, lines) else {
        return;
    };
    assert!(said.contains("cannot be ended: it waits in the kernel"), "{said}");
    assert!(said.contains("state D"), "{said}");
    assert!(said.contains("`raidlab clean` undoes"), "{said}");
}
