//! Trials on "this machine", which is a lab guest here: it has md, and disks that fail on request.

use crate::guest_host::{Machine, disks, must_say};
use ::lab::kernel::Cache;
use disksim::faults::{SectorRange, Slow};

/// Another kernel, with device mapper and more filesystems.
const MORE: &str = "6.12+more";

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
fn lab_host_arrays_come_and_go_next_to_those_of_the_machine() {
    let study = RAID5.replace("32M", "400M");
    let machine = Machine {
        disks: disks(5),
        ..Machine::default()
    };
    let Some(said) = machine.script(
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
    must_say(
        &said,
        &[
            "vdd is a member of the md array md7",
            "THE ARRAY IS LEFT",
            "DOCTOR SAW",
            "undone: stop /dev/md100",
            "2 trials done, 0 failed",
            "BYSTANDER IS WELL",
        ],
    );
}

/// The machine's own dm-integrity device stays, even after a killed run had devices open.
#[test]
#[ignore = "test-all"]
fn lab_host_dm_integrity_comes_and_goes_next_to_that_of_the_machine() {
    // An array of 32 MiB is too small for xfs.
    let study = RAID5.replace("bitmap", "integrity = \"crc32c\", bitmap");
    let machine = Machine {
        kernel: MORE,
        disks: disks(4),
        ram_bytes: 1 << 30,
        ..Machine::default()
    };
    let Some(said) = machine.script(
        &study,
        r#"
integritysetup format --batch-mode --no-wipe /dev/vdd; integritysetup open /dev/vdd mine-integrity-0
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
$run &
until dmsetup ls | grep -q 'raidlab.*-integrity-2'; do sleep 0.1; done
kill -9 $!; wait $! || true; sleep 1
dmsetup ls | grep -q 'raidlab.*-integrity-0' && echo IT IS LEFT OPEN
$R clean
dmsetup ls | grep raidlab && exit 1
$run
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; done
test -z "$(ls /tmp/state | grep -v lock)"; dmsetup ls | grep raidlab && exit 1
dmsetup deps -o devname mine-integrity-0 | grep vdd && echo BYSTANDER IS WELL
"#,
    ) else {
        return;
    };
    must_say(
        &said,
        &[
            "IT IS LEFT OPEN",
            "undone: close raidlab",
            "1 trials done, 0 failed",
            "BYSTANDER IS WELL",
        ],
    );
}

/// The machine's own LUKS volume stays, even after a killed run had volumes open, below and on its array.
#[test]
#[ignore = "test-all"]
fn lab_host_encrypted_stacks_come_and_go_next_to_that_of_the_machine() {
    let study = RAID5
        .replace("32M", "400M")
        .replace("fs =", "luks = { on = [\"members\", \"array\"] }\nfs =")
        .replace("[\"ext4\", \"xfs\"]", "\"ext4\"");
    let machine = Machine {
        kernel: MORE,
        disks: disks(4),
        ram_bytes: 1 << 30,
        ..Machine::default()
    };
    let Some(said) = machine.script(
        &study,
        r#"
luks="--batch-mode --key-file=- --pbkdf pbkdf2 --pbkdf-force-iterations 1000"
printf x | cryptsetup luksFormat $luks /dev/vdd; printf x | cryptsetup open --key-file=- /dev/vdd mine-luks
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
$run &
until dmsetup ls | grep -q 'raidlab.*-luks-2'; do sleep 0.1; done
kill -9 $!; wait $! || true; sleep 1
dmsetup ls | grep -q 'raidlab.*-luks-0' && echo IT IS LEFT OPEN
$R clean
dmsetup ls | grep raidlab && exit 1
$run
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; done
test -z "$(ls /tmp/state | grep -v lock)"; dmsetup ls | grep raidlab && exit 1
dmsetup deps -o devname mine-luks | grep vdd && echo BYSTANDER IS WELL
"#,
    ) else {
        return;
    };
    must_say(
        &said,
        &[
            "IT IS LEFT OPEN",
            "undone: close raidlab",
            "0 failed, 1 were already in the store",
            "BYSTANDER IS WELL",
        ],
    );
}

/// What is dirty in the cache is written back before the machine gets its disks back.
#[test]
#[ignore = "test-all"]
fn lab_host_caches_come_and_go() {
    let caches = "cache = [{ type = \"dm-cache\", mode = \"writeback\", size = \"64M\" }, { type = \"dm-writecache\", size = \"64M\" }]";
    comes_and_goes(
        caches,
        "dmsetup ls | grep -q 'raidlab.*-data'",
        "undone: remove the volume group vg-raidlab",
    );
    let bcache = "cache = [{ type = \"bcache\", mode = \"writeback\" }, { type = \"bcache\", size = \"512M\" }]";
    comes_and_goes(bcache, "test -e /dev/bcache0", "undone: stop bcache on");
}

#[test]
#[ignore = "test-all"]
fn lab_host_partitions_and_volumes_come_and_go() {
    comes_and_goes(
        "partition = [{ on = \"members\" }, { on = \"array\", start = 63 }]",
        "test -e /sys/block/vdc/vdc1",
        "undone: wipe the partition table off /dev/vdc",
    );
    comes_and_goes(
        "volume = { type = \"thin\" }\nsnapshots = 2\nluks = { on = [\"array\", \"volume\"] }",
        "dmsetup ls | grep -q 'raidlab.*-volume-data'",
        "undone: remove the volume group vg-raidlab",
    );
}

/// A run with these layers is killed once one is up, cleaned, and repeated; nothing of it is left.
fn comes_and_goes(layers: &str, is_up: &str, undone: &str) {
    let study = RAID5
        .replace("count = 3\n", "count = 3\n[disks.cache]\n")
        .replace("32M", "400M")
        .replace("fs =", &format!("{layers}\nfs ="))
        .replace("[\"ext4\", \"xfs\"]", "\"ext4\"");
    let machine = Machine {
        kernel: MORE,
        disks: disks(4),
        ram_bytes: 1 << 30,
        ..Machine::default()
    };
    let lines = r#"
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc,/dev/vdd"
is_up() { IS_UP; }
$run &
for wait in $(seq 600); do is_up && break; sleep 0.1; done; sleep 1
kill -9 $!; wait $! || true; sleep 1
is_up && echo IT IS LEFT
$R clean
dmsetup ls | grep raidlab && exit 1
$run --destroy vda,vdb,vdc,vdd
for disk in vda vdb vdc vdd; do test -z "$(wipefs --noheadings /dev/$disk)"; done
test -z "$(ls /tmp/state | grep -v lock)"; dmsetup ls | grep raidlab && exit 1
is_up && exit 1
echo ALL IS GONE
"#;
    let Some(said) = machine.script(&study, &lines.replace("IS_UP", is_up)) else {
        return;
    };
    must_say(&said, &["IT IS LEFT", undone, "0 failed", "ALL IS GONE"]);
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
    let mut machine = Machine {
        disks: disks(1),
        ..Machine::default()
    };
    machine.disks.disks[0].faults.unreadable = vec![SectorRange {
        sector: 20_000,
        sectors: 8,
    }];
    let lines = "code=0; $R run study.toml --on host --devices /dev/vda || code=$?; test $code = 1";
    let Some(said) = machine.script(READS, lines) else {
        return;
    };
    assert!(said.contains("1 trials done, 1 failed"), "{said}");
    assert!(said.contains("a disk failed: the kernel says"), "{said}");
    assert!(said.contains("dev vda, sector"), "{said}");
}

#[test]
fn lab_host_a_disk_that_hangs_is_told_and_left() {
    let mut machine = Machine {
        disks: disks(1),
        ..Machine::default()
    };
    machine.disks.disks[0].faults.slow = Some(Slow {
        // After the disk has been read completely, which takes 15 s, and its trial has started.
        from_ns: 50_000_000_000,
        access_ns: 59_000_000_000,
    });
    let lines = r#"
sleep 30
code=0; $R run study.toml --on host --devices /dev/vda --trial-limit 10s || code=$?; test $code = 1
"#;
    let Some(said) = machine.script(READS, lines) else {
        return;
    };
    assert!(said.contains(": it waits in the kernel, probably"), "{said}");
    assert!(said.contains("state D"), "{said}");
    assert!(said.contains("run `raidlab clean`, then the same command"), "{said}");
}

/// Two trials on loop devices, and two on disks of the machine; one of these is killed and cleaned up. The files
/// behind the loop devices are on a disk: on tmpfs they respond in no virtual time, in which the bcachefs program
/// waits for itself forever.
const POOLS: &str = r#"
mkdir files; mke2fs -q -t ext4 /dev/vdd; mount /dev/vdd files
$R run study.toml --on host --loop 3x256M --loop-folder files --store loop.db
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
$run &
until grep -q /tmp/state /proc/mounts; do sleep 0.1; done
kill -9 $!; wait $! || true; sleep 1
grep -q /tmp/state /proc/mounts && echo IT IS LEFT MOUNTED
$R clean
$run
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; test ! -e /dev/${disk}1; done
test -z "$(ls /tmp/state | grep -v lock)"; grep -q /tmp/state /proc/mounts && exit 1
losetup --list --noheadings; test -z "$(losetup --list --noheadings)"; test "$(ls files)" = lost+found
echo NOTHING IS LEFT
"#;

const NAMELY: [&str; 3] = ["2 trials done, 0 failed", "IT IS LEFT MOUNTED", "NOTHING IS LEFT"];

/// The study of a filesystem that makes its own array.
fn pools(filesystem: &str) -> String {
    let study = RAID5.replace(
        "array = { level = 5, size = \"32M\", bitmap = \"none\" }",
        "array = { level = \"none\" }",
    );
    study.replace("fs = { type = [\"ext4\", \"xfs\"] }", filesystem)
}

#[test]
#[ignore = "test-all"]
fn lab_host_pools_of_zfs_on_loop_devices_and_disks() {
    let study = pools("fs = { type = \"zfs\", pool = [\"mirror\", \"raidz1\"] }");
    let machine = Machine {
        kernel: "6.12+zfs",
        disks: disks(4),
        ram_bytes: 1 << 30,
        ..Machine::default()
    };
    let Some(said) = machine.script(&study, POOLS) else {
        return;
    };
    assert!(NAMELY.iter().all(|words| said.contains(words)), "{said}");
}

#[test]
#[ignore = "test-all"]
fn lab_host_bcachefs_on_loop_devices_and_disks() {
    let study = pools("fs = { type = \"bcachefs\", replicas = [1, 2] }");
    let programs = match ::lab::programs::fetched_bcachefs(&Cache::of_user(), &mut |_| ()) {
        Ok(programs) => programs,
        Err(error) => return requirements::skip(error),
    };
    let machine = Machine {
        kernel: MORE,
        programs: Some(&programs),
        disks: disks(4),
        ram_bytes: 1 << 30,
        ..Machine::default()
    };
    let Some(said) = machine.script(&study, POOLS) else {
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

/// Filesystems and external journals, with what their owner makes there later: of the same kind, labelled `MINE` if
/// possible. For some kinds mkfs accepts no UUID from us; jfs, nilfs2 and bcachefs are identified by the one that
/// it chose.
const MADE_SINCE: &[(&str, &str, &str, &str)] = &[
    ("vfat", "type = \"vfat\"", "vda", "mkfs.vfat -n MINE"),
    ("exfat", "type = \"exfat\"", "vda", "mkfs.exfat -L MINE"),
    ("ntfs3", "type = \"ntfs3\"", "vda", "mkfs.ntfs -Q -q -F -L MINE"),
    ("f2fs", "type = \"f2fs\"", "vda", "mkfs.f2fs -q -f -l MINE"),
    ("nilfs2", "type = \"nilfs2\"", "vda", "mkfs.nilfs2 -q -f -L MINE"),
    ("jfs", "type = \"jfs\"", "vda", "mkfs.jfs -q -L MINE"),
    ("ext4", "type = \"ext4\"", "vda", "mke2fs -q -F -t ext4 -L MINE"),
    (
        "journal",
        "type = \"ext4\", journal_on = \"journal\"",
        "vdb",
        "mke2fs -q -F -O journal_dev -L MINE",
    ),
];

/// A run is killed, and clean finds a filesystem that the owner has made there since: it stays, and is reported.
#[test]
fn lab_host_clean_leaves_a_filesystem_that_its_owner_has_made_since() {
    clean_leaves(|name| name == "vfat");
}

/// Each takes half a minute.
#[test]
#[ignore = "test-all"]
fn lab_host_clean_leaves_whatever_its_owner_has_made_since() {
    clean_leaves(|name| name != "vfat");
}

fn clean_leaves(is_tried: impl Fn(&str) -> bool) {
    let mut lines = "clean_leaves() {
    sed \"s/FS/$2/\" study.toml > $1.toml
    $R run $1.toml --on host --store $1.db --devices /dev/vda,/dev/vdb --destroy vda,vdb &
    until [[ $(</proc/mounts) == */tmp/state* ]]; do kill -0 $! || exit 1; sleep 0.1; done
    kill -9 $!; wait $! || true
    for try in $(seq 60); do sleep 1; ! umount /tmp/state/raidlab-*/ || break; done
    [[ $(</proc/mounts) != */tmp/state* ]]
    $4 /dev/$3 > made 2>&1 || { cat made; exit 1; }
    $R clean | tee said
    grep -E \"^left: .*/dev/$3\" said || grep 'ext4 off /dev/vda' said
    label=$(blkid --probe --output value --match-tag LABEL /dev/$3)
    echo \"$1 since: $label\"
    for disk in vda vdb; do wipefs --all --quiet /dev/$disk; done
}
"
    .to_owned();
    for (name, of, disk, make) in MADE_SINCE.iter().filter(|(name, ..)| is_tried(name)) {
        lines += &format!("clean_leaves {name} '{of}' {disk} '{make}'\n");
    }
    let machine = Machine {
        kernel: MORE,
        disks: disks(2),
        ..Machine::default()
    };
    let study = VFAT
        .replace("type = \"vfat\"", "FS")
        .replace("files = 200", "files = 2000")
        .replace("count = 1", "count = 1\n[disks.journal]\ncount = 1");
    let Some(said) = machine.script(&study, &lines) else {
        return;
    };
    for (name, ..) in MADE_SINCE.iter().filter(|(name, ..)| is_tried(name)) {
        assert!(said.contains(&format!("{name} since: MINE")), "{name}: {said}");
    }
}

/// The machine's own volumes: in a volume group, in a partition that is a member of an array.
#[test]
#[ignore = "test-all"]
fn lab_host_volumes_and_members_of_the_machine_stay() {
    let lines = r#"
mkdir lvm; export LVM_SYSTEM_DIR=/tmp/lvm
echo 'devices { types=["raidlab",16] use_devicesfile=0 } activation { udev_sync=0 udev_rules=0 monitoring=0 } global { use_lvmpolld=0 }' > lvm/lvm.conf
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
    let machine = Machine {
        kernel: MORE,
        disks: disks(2),
        ..Machine::default()
    };
    let Some(said) = machine.script(VFAT, lines) else {
        return;
    };
    assert!(said.contains("HOME IS WELL"), "{said}");
}
