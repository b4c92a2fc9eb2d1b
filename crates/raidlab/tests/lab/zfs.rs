//! OpenZFS in the lab. No kernel is built for a test: if it does not exist, the test is skipped.

use crate::guest::{Guest, disks};
use crate::laboratory::{Laboratory, kernel_named};
use lab::carried;
use lab::job::{self, GuestJob, ProgramJob};
use lab::kernel::KernelName;
use std::path::PathBuf;
use study::event::Event;
use trial::ProcessEnd;

/// A pool is created, written, exported, imported again, read, scrubbed and destroyed.
const SCRIPT: &str = r#"
PATH=$PATH:/srv/raidlab/sbin
export LD_LIBRARY_PATH=/srv/raidlab/lib
parts= where=
for disk in a b c d e f; do
    printf 'label: gpt\n,,0FC63DAF-8483-4772-8E79-3D69D8477DE4\n' | sfdisk --quiet /dev/vd$disk
    parts="$parts /dev/vd${disk}1" where="$where -d /dev/vd${disk}1"
done
mkdir /tmp/pool
zpool create -f -o cachefile=none -O mountpoint=/tmp/pool -O atime=off tank raidz2 $parts
dd if=/dev/urandom of=/tmp/pool/file bs=1M count=48 conv=fsync status=none
before=$(sha256sum < /tmp/pool/file)
zpool export tank
! test -e /tmp/pool/file
zpool import $where -o cachefile=none tank
test "$before" = "$(sha256sum < /tmp/pool/file)"
zpool scrub -w tank
zpool status tank | grep -q 'repaired 0B in .* with 0 errors'
zpool destroy tank
! zpool list tank
echo "pool: $before"; cat /proc/uptime
"#;

/// Its file, and what it carries.
fn kernel_with_zfs() -> Option<(PathBuf, Vec<carried::CarriedFile>)> {
    let kernel = kernel_named(&KernelName::parse("6.12+zfs"))?;
    let carried = kernel.carried().expect("the cache can be read");
    Some((kernel.path.clone(), carried))
}

#[test]
#[ignore = "test-all"]
fn a_pool_comes_and_goes_the_same_way_twice() {
    let Some((kernel, carried)) = kernel_with_zfs() else {
        return;
    };
    let job = GuestJob::Program(ProgramJob {
        path: "/bin/bash".into(),
        arguments: ["-ex", "-c", SCRIPT].map(str::to_owned).into(),
    });
    let run = || {
        let mut guest = Guest::new().expect("where there is this kernel there is the other");
        guest.kernel = kernel.clone();
        guest.disks = disks("wd-500gb-2007", 6);
        guest.ram_bytes = 512 << 20;
        guest.job = job::encode(&job, &carried);
        let seen = guest.run();
        assert_eq!(seen.ended.end, ProcessEnd::Exited, "{}", seen.ended.console);
        let events = seen.events();
        assert!(
            matches!(events.last(), Some(Event::Done { .. })),
            "{}",
            seen.ended.console
        );
        assert!(seen.ended.console.contains("pool: "), "{}", seen.ended.console);
        println!("{:?} wall, {:?}", seen.ended.wall, events.last());
        (events, seen.ended.console)
    };
    let (first, second) = (run(), run());
    let digests = |events: &[Event]| {
        let is_digest = |event: &&Event| matches!(event, Event::DiskCounters(disk) if disk.contents.is_some());
        events.iter().filter(is_digest).count()
    };
    assert_eq!(digests(&first.0), 6, "each disk has a digest");
    assert_eq!(first, second);
}

/// A pool keeps data that fsync acknowledged, even without one member, but not with `sync=disabled`.
#[test]
#[ignore = "test-all"]
fn a_pool_keeps_what_was_acknowledged_in_power_cuts() {
    if kernel_with_zfs().is_none() {
        return;
    }
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(
        "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 3\n[[stack]]\n\
         fs = { type = \"zfs\", pool = \"raidz1\", sync = [\"standard\", \"disabled\"] }\n[[workload]]\nname = \"cuts\"\n\
         power_cut = { operations = 40, points = 6, missing_member = [false, true] }\n[precision]\ntrials = 1\n",
    );
    let results = laboratory.run_with(&["--store", "zfs.db"]);
    for missing in ["false", "true"] {
        let of = |sync: &str, (test, metric): (&str, &str)| {
            let cell = format!("zfs sync {sync} | cuts missing_member={missing}");
            results.sample_of(&cell, test, metric)
        };
        let (lost, wrong) = (("lost", "acknowledged_lost"), ("wrong data", "wrong_data"));
        let others = [("not mountable", "not_mountable"), ("checker", "checker_complaints")];
        for figure in [lost, wrong].into_iter().chain(others) {
            assert_eq!(of("standard", figure), 0.0, "missing member: {missing}, {figure:?}");
        }
        assert!(of("disabled", lost) > 0.0, "missing member: {missing}");
        assert_eq!(of("disabled", wrong), 0.0, "missing member: {missing}");
    }
}

/// Snapshots of ZFS are folders in `.zfs/snapshot`; while they exist, what is overwritten is kept.
#[test]
fn a_pool_takes_snapshots() {
    if kernel_with_zfs().is_none() {
        return;
    }
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "3G"
        [disks]
        model = "wd-500gb-2007"
        count = 2
        [[stack]]
        fs = { type = "zfs", pool = "mirror", recordsize = "16K", compression = "off" }
        snapshots = 4
        [[workload]]
        name = "w"
        io = { rw = "write", bs = "16K", size = "64M", overwrite = true }
        [precision]
        trials = 1
        "#,
    );
    let (passed, detail) = results.guard("w", "snapshots", None);
    assert!(passed, "{detail}");
    assert_eq!(detail, "4 of 4 snapshots are in .zfs/snapshot");
}

/// What ARC cannot hold comes from the cache device.
#[test]
#[ignore = "test-all"]
fn a_cache_device_serves_what_memory_does_not_hold() {
    if kernel_with_zfs().is_none() {
        return;
    }
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "2G"
        [disks]
        model = "wd-wd40efrx"
        count = 2
        [disks.cache]
        model = "samsung-870-evo-500gb"
        [[stack]]
        fs = { type = "zfs", pool = "mirror", recordsize = "16K", compression = "off", l2arc = [false, true] }
        [[workload]]
        name = "w"
        io = { rw = "randread", bs = "16K", size = "2G", iodepth = 8, ramp_time = "120s", runtime = "5s" }
        [precision]
        trials = 1
        "#,
    );
    let of = |stack: &str| results.sample_of(&format!("{stack} | w"), "randread", "iops");
    let (without, with) = (of("compression off"), of("compression off L2ARC"));
    println!("{without:.0} reads a second without L2ARC, {with:.0} with it");
    assert!(with > 1.5 * without, "{without} and {with}");
}
