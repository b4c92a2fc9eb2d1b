//! What makes the samples of a host doubtful, on a guest of the lab as the host: a disk that becomes slower during a run,
//! and a scrub of a pool.

use crate::guest_host::{Machine, disks};
use disksim::faults::Slow;
use tools::CARRIED;

/// Three cells, ten trials of each.
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

/// What `show` says of a run on a disk which takes `added_ms` longer for each access from about the middle of the run on.
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
grep -o 'the pool [^(]*(zpool says `[a-z ]*' scrubbed.json
grep 'zpool says' quiet.json && exit 1
echo BOTH WERE LOOKED AT"
    );
    let Some(said) = machine.script(MIRROR, &lines) else {
        return;
    };
    assert!(
        said.contains("was being read through at the end of the test (zpool says `scrub in progress"),
        "{said}"
    );
    assert!(said.contains("BOTH WERE LOOKED AT"), "{said}");
}
