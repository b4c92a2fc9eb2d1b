//! Trials on "this machine", where that is a guest of the lab: it has md, and disks that fail when told.

use crate::desk::PROGRAM;
use crate::lab;
use ::lab::carried::Programs;
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
    script_on(DEFAULT_VERSION, None, disks, study, lines)
}

/// The same, with a kernel of this name and programs that this machine need not have.
fn script_on(
    kernel: &str,
    programs: Option<&Programs>,
    disks: &Description,
    study: &str,
    lines: &str,
) -> Option<String> {
    if std::env::var_os("RAIDLAB_SAFETY").is_none() {
        println!("skipped: RAIDLAB_SAFETY is not set: `make safety` does it");
        return None;
    }
    let (_desk, _turn) = lab::desk()?;
    let found = Cache::of_user().find(&KernelName::parse(kernel));
    // Of what another kernel carries the packages may not be there either.
    let Ok(Ok(kernel)) = found else {
        println!("skipped: there is no kernel {kernel}: `raidlab kernel build {kernel}`");
        return None;
    };
    let text = format!(
        "export RAIDLAB_STATE=/tmp/state R={PROGRAM}; exec 2>&1; cd /tmp\ncat > study.toml <<'END'\n{study}\nEND\n{lines}"
    );
    let job = GuestJob::Program(Program {
        path: PathBuf::from("/bin/bash"),
        arguments: vec!["-e".to_owned(), "-c".to_owned(), text],
    });
    let (disks, job) = (
        postcard::to_allocvec(disks).expect("plain data"),
        ::lab::job::encoded(&job, &kernel, programs).expect("its files are there"),
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
        kernel_arguments: &kernel.arguments(),
        limits: Limits {
            wall: Duration::from_secs(600),
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
        // Once it has been looked through, which takes such a disk 15 s, and its trial has begun.
        from_ns: 50_000_000_000,
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

/// Two trials on loop devices, and two on disks of the machine; one of these killed and cleaned up after.
const POOLS: &str = r#"
$R run study.toml --on host --loop 3x256M --store loop.db
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
$run &
until grep -q /tmp/state /proc/mounts; do sleep 0.5; done; sleep 1
kill -9 $!; wait $! || true; sleep 1
grep -q /tmp/state /proc/mounts && echo IT IS LEFT MOUNTED
$R clean
$run
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; test ! -e /dev/${disk}1; done
test -z "$(ls /tmp/state | grep -v lock)"; grep -q /tmp/state /proc/mounts && exit 1
losetup --list --noheadings; test -z "$(losetup --list --noheadings)"
echo NOTHING IS LEFT
"#;

const NAMELY: [&str; 3] = ["2 trials done, 0 failed", "IT IS LEFT MOUNTED", "NOTHING IS LEFT"];

fn pools(filesystem: &str) -> String {
    let study = RAID5.replace(
        "array = { level = 5, size = \"32M\", bitmap = \"none\" }",
        "array = { level = \"none\" }",
    );
    study.replace("fs = { type = [\"ext4\", \"xfs\"] }", filesystem)
}

#[test]
fn lab_host_pools_of_zfs_on_loop_devices_and_disks() {
    let study = pools("fs = { type = \"zfs\", pool = [\"mirror\", \"raidz1\"] }");
    let Some(said) = script_on("6.12+zfs", None, &disks(3), &study, POOLS) else {
        return;
    };
    assert!(NAMELY.iter().all(|words| said.contains(words)), "{said}");
}

#[test]
fn lab_host_bcachefs_on_loop_devices_and_disks() {
    let programs = match ::lab::programs::fetched_bcachefs(&Cache::of_user(), &mut |_| ()) {
        Ok(programs) => programs,
        Err(error) => return println!("skipped: {error}"),
    };
    let study = pools("fs = { type = \"bcachefs\", replicas = [1, 2] }");
    let Some(said) = script_on("6.12+more", Some(&programs), &disks(3), &study, POOLS) else {
        return;
    };
    assert!(NAMELY.iter().all(|words| said.contains(words)), "{said}");
}

const VFAT: &str = r#"
[disks]
count = 1
[[stack]]
array = { level = "single" }
fs = { type = "vfat" }
[[workload]]
name = "w"
tree = { files = 200, size = "16K", tests = ["write"] }
[precision]
trials = 1
"#;

/// A filesystem whose mkfs takes no UUID from us: of the same kind, and made by the disk's owner since.
#[test]
fn lab_host_clean_leaves_a_filesystem_that_its_owner_has_made_since() {
    let lines = r#"
$R run study.toml --on host --devices /dev/vda --destroy vda &
until grep -q /tmp/state /proc/mounts; do sleep 0.2; done; sleep 1
kill -9 $!; wait $! || true; sleep 1
umount /tmp/state/raidlab-*
mkfs.vfat -n MINE /dev/vda > /dev/null
$R clean
echo "LABEL $(blkid --probe --output value --match-tag LABEL /dev/vda)"
"#;
    let Some(said) = script_on("6.12+more", None, &disks(1), VFAT, lines) else {
        return;
    };
    assert!(said.contains("LABEL MINE"), "{said}");
    assert!(
        said.contains("left: what is on /dev/vda is not what the run made"),
        "{said}"
    );
}

/// The machine's own volumes: in a volume group, in a partition that is a member of an array.
#[test]
fn lab_host_volumes_and_members_of_the_machine_stay() {
    let lines = r#"
refused() { code=0; $R run study.toml --on host "$@" > said 2>&1 || code=$?; cat said; test $code = 2; }
lvm pvcreate -qq /dev/vda; lvm vgcreate -qq machine /dev/vda; lvm lvcreate -qq --yes --name home --size 64M machine
mke2fs -q /dev/machine/home; before=$(sha256sum < /dev/machine/home)
refused --devices /dev/vda --destroy vda; grep 'member of the LVM volume machine-home' said
lvm vgchange -qq --activate n machine
refused --devices /dev/vda --destroy vda; grep 'member of an LVM volume group' said
lvm vgchange -qq --activate y machine
for metadata in 0.90 1.0 1.1 1.2; do
    mdadm --create /dev/md7 --run --quiet --level=1 --raid-devices=2 --size=32M --assume-clean --metadata=$metadata --homehost='<none>' /dev/vdb missing
    refused --devices /dev/vdb --destroy vdb; grep 'member of the md array md7' said
    mdadm --stop --quiet /dev/md7
    refused --devices /dev/vdb --destroy vdb; grep 'member of an md array' said
    mdadm --zero-superblock /dev/vdb
done
test "$before" = "$(sha256sum < /dev/machine/home)" && echo HOME IS WELL
"#;
    let Some(said) = script_on("6.12+more", None, &disks(2), VFAT, lines) else {
        return;
    };
    assert!(said.contains("HOME IS WELL"), "{said}");
}
