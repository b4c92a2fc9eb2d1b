//! Reasons to doubt samples of a host, on a lab guest as the host: a disk that becomes slower during a run, a scrub
//! of a pool, a trim, the initialisation of another filesystem, and load on another disk.

use crate::guest_host::{Machine, disks};
use disksim::catalogue;
use disksim::faults::Slow;
use tools::CARRIED;

/// Three cells with ten trials each.
const READS: &str = r#"
[disks]
count = 1
[[stack]]
array = { level = "single" }
fs = { type = "raw" }
[[workload]]
name = "r"
io = { rw = "randread", bs = "4K", iodepth = [1, 2, 4], size = "100G", direct = true, runtime = "1s", time_based = true }
[precision]
trials = 10
"#;

/// Output of `show` for a run on a disk that takes `added_ms` longer for each access from about the middle of the
/// run on.
fn shown(added_ms: u64) -> Option<String> {
    let mut machine = Machine {
        disks: disks(1),
        ..Machine::default()
    };
    machine.disks.disks[0].faults.slow = Some(Slow {
        from_ns: 160_000_000_000,
        access_ns: added_ms * 1_000_000,
    });
    let lines = "
$R run study.toml --on host --store reads.db --aa-control off --devices /dev/vda
$R show --store reads.db";
    machine.script(READS, lines)
}

#[test]
fn lab_host_a_disk_that_becomes_slower_during_a_run_is_drift() {
    let Some(said) = shown(3) else { return };
    assert!(said.contains("30 trials done, 0 failed"), "{said}");
    assert!(said.contains("Warning (`drift`): this machine drifts"), "{said}");
}

#[test]
#[ignore = "test-all"]
fn lab_host_a_disk_that_stays_as_it_is_does_not_drift() {
    let Some(said) = shown(0) else { return };
    assert!(said.contains("30 trials done, 0 failed"), "{said}");
    for warning in ["`drift`", "`order`"] {
        assert!(!said.contains(warning), "{said}");
    }
}

const MIRROR: &str = r#"
[disks]
count = 2
[[stack]]
array = { level = "none" }
fs = { type = "zfs", pool = "mirror" }
[[workload]]
name = "w"
io = { rw = "write", bs = "1M", size = "512M", end_fsync = true }
[precision]
trials = 1
"#;

#[test]
#[ignore = "test-all"]
fn lab_host_a_scrub_during_a_test_is_named() {
    let machine = Machine {
        kernel: "6.12+zfs",
        disks: disks(2),
        ram_bytes: 1 << 30,
        ..Machine::default()
    };
    let lines = format!(
        "
PATH=$PATH:{CARRIED}/sbin; export LD_LIBRARY_PATH={CARRIED}/lib
run() {{ $R run study.toml --on host --store $1.db --aa-control off --devices /dev/vda,/dev/vdb; }}
run quiet
run scrubbed &
until pool=$(zpool list -Hpo alloc,name | grep '^[2-9]........\\W'); do sleep 0.2; done
zpool scrub ${{pool#*[[:space:]]}}
wait $!
for run in quiet scrubbed; do $R export --store $run.db --format json > $run.json; done
grep -o 'the pool [^(]*(zpool status: `[a-z ]*' scrubbed.json
grep 'zpool status:' quiet.json && exit 1
echo BOTH WERE CHECKED"
    );
    let Some(said) = machine.script(MIRROR, &lines) else {
        return;
    };
    assert!(
        said.contains("was being scrubbed or resilvered at the end of the test (zpool status: `scrub in progress"),
        "{said}"
    );
    assert!(said.contains("BOTH WERE CHECKED"), "{said}");
}

const RANDOM_READS: &str = r#"
[disks]
count = 2
[[stack]]
array = { level = 1, size = "1G" }
fs = { type = "ext4" }
[[workload]]
name = "r"
io = { rw = "randread", bs = "4K", size = "256M", direct = true, runtime = "10s" }
[precision]
trials = 1
"#;

/// Two drives with discard, and another disk.
#[test]
#[ignore = "test-all"]
fn lab_host_what_others_do_during_a_test_is_named() {
    let mut disks = disks(3);
    let flash = catalogue::find("nvme-ssd-1920gb").expect("it is in the catalogue");
    for (index, seed) in [(0, 1), (1, 2)] {
        disks.disks[index] = flash.description(seed);
    }
    let machine = Machine {
        disks,
        ..Machine::default()
    };
    let lines = r#"
SAID='discards reached the member disks\|ext4 was initialising inode tables\|disks that are not under test moved more than 10'
run() {
    $R run study.toml --on host --store $1.db --aa-control off --devices /dev/vda,/dev/vdb
    $R export --store $1.db --format json > $1.json
    $R show --store $1.db > $1.txt
    echo "== $1:" $(grep -ho "$SAID" $1.json $1.txt | sort -u)
}
reads() { while read -r _ _ disk count _; do test $disk != vda || echo $count; done < /proc/diskstats; }
# Until the test reads, on a filesystem that is mounted.
await_reads() {
    until at=$(grep -o '/tmp/state[^ ]*' /proc/mounts); do sleep 0.1; done
    local before=$(reads); until test $(reads) -gt $((before + 20000)); do sleep 0.1; done
}
run quiet
run trimmed & await_reads; fstrim $(grep -o -m 1 '/tmp/state[^ ]*' /proc/mounts); wait $!
dd if=/dev/vdc of=/dev/null bs=1M iflag=direct 2> dd.txt & other=$!
run busy; kill $other; wait $other || true
mke2fs -q -t ext4 -E lazy_itable_init=1 /dev/vdc; mkdir other
run initialised & await_reads; mount /dev/vdc other; sleep 20; umount other; wait $!
"#;
    let Some(said) = machine.script(RANDOM_READS, lines) else {
        return;
    };
    let of = |run: &str| {
        let begin = format!("== {run}:");
        let found = said.lines().find(|line| line.starts_with(&begin));
        found.unwrap_or_else(|| panic!("{run}: {said}"))
    };
    let warnings = [
        "discards reached the member disks",
        "disks that are not under test moved more than 10",
        "ext4 was initialising inode tables",
    ];
    for (run, wanted) in [
        ("quiet", None),
        ("trimmed", Some(0)),
        ("busy", Some(1)),
        ("initialised", Some(2)),
    ] {
        for (at, warning) in warnings.iter().enumerate() {
            let is_said = of(run).contains(warning);
            assert_eq!(is_said, wanted == Some(at), "{run}, {warning}: {said}");
        }
    }
}
