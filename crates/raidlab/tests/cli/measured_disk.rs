//! `raidlab disk measure` on the disks of a guest: the results match their parameters, and unmeasurable devices are
//! rejected.

use crate::guest_host::Machine;
use disksim::catalogue::{self, Model};
use disksim::description::{Description, Device, DiskDescription};
use disksim::faults::SectorRange;
use disksim::show::{Show, show};
use std::time::Duration;

fn machine(disks: Vec<DiskDescription>) -> Machine<'static> {
    Machine {
        disks: Description {
            links: Vec::new(),
            disks,
        },
        wall: Duration::from_secs(900),
        ..Machine::default()
    }
}

fn model(name: &str) -> Model {
    catalogue::find(name).expect("in the catalogue")
}

/// Ratio less 1, in percent.
fn off(out: f64, original: f64) -> f64 {
    (out / original - 1.0) * 100.0
}

#[test]
fn lab_host_a_measured_disk_gives_its_parameters_back() {
    let original = model("samsung-f1-1tb");
    let machine = machine(vec![original.description(7)]);
    // The first command is ended in its second step; the second one continues.
    let lines = "$R disk measure /dev/vda -o disk.toml & sleep 240; kill $!; wait $! || true\n\
        test ! -e disk.toml; cut -c 1-200 disk.measured.json; mke2fs -q -t ext4 /dev/vda 1G\n\
        $R disk measure /dev/vda -o disk.toml --destroy vda --html disk.html\n\
        $R disk show disk.toml >/dev/null; test ! -e disk.measured.json; grep -c '<path' disk.html\n\
        echo MODEL; cat disk.toml; echo END\n\
        code=0; $R disk measure /dev/vda -o disk.toml || code=$?; test $code = 2";
    let Some(said) = machine.script("", lines) else {
        return;
    };
    println!("{said}");
    assert!(
        said.contains("`disk.toml` is a TOML file"),
        "it is not overwritten: {said}"
    );
    assert!(said.contains("continuing with what is in disk.measured.json"), "{said}");
    assert_eq!(said.matches(": rotation,").count(), 1, "no step is done twice: {said}");
    let (_, text) = said.split_once("MODEL").expect("the model is printed");
    let (text, _) = text.split_once("\nEND").expect("as a whole");
    let made = Model::parse("disk.toml", &text.replace('\r', "")).expect("a sound model");
    compare_writes(&made, &original);
    compare(&show(&original).expect("sound"), &show(&made).expect("sound"));
}

/// Compares the results of writes.
fn compare_writes(made: &Model, original: &Model) {
    let (Device::Mechanical(a), Device::Mechanical(b)) = (&original.device, &made.device) else {
        panic!("both have platters")
    };
    let (a, b) = (a.write_cache, b.write_cache);
    println!("{a:?}\n{b:?}");
    assert_eq!(a.enabled, b.enabled);
    assert!(off(b.extents_max.into(), a.extents_max.into()).abs() < 10.0, "{b:?}");
    assert!(off(b.sectors_max.into(), a.sectors_max.into()).abs() < 15.0, "{b:?}");
}

/// The goals of the closed loop.
fn compare(original: &Show, made: &Show) {
    let (a, b) = (original.platters.as_ref(), made.platters.as_ref());
    let (a, b) = (a.expect("platters"), b.expect("platters"));
    println!("rpm {} {}", a.rpm, b.rpm);
    assert!(off(b.rpm, a.rpm).abs() < 0.1, "rpm {}", b.rpm);
    for (a, b) in original.streaming.iter().zip(&made.streaming) {
        println!("at {:.2}: {:.2} {:.2} MB/s", a.place, a.read_mb_s, b.read_mb_s);
        assert!(off(b.read_mb_s, a.read_mb_s).abs() < 1.0, "{a:?} {b:?}");
    }
    let (first, measured) = (original.random_reads[0], made.random_reads[0]);
    for (a, b) in original.random_reads.iter().zip(&made.random_reads) {
        println!("depth {}: {:.2} {:.2} reads/s", a.depth, a.reads_per_s, b.reads_per_s);
        let gains = (a.reads_per_s / first.reads_per_s, b.reads_per_s / measured.reads_per_s);
        assert!(off(gains.1, gains.0).abs() < 5.0, "{a:?} {b:?}");
    }
    assert!(
        off(measured.latency_ms, first.latency_ms).abs() < 2.0,
        "{first:?} {measured:?}"
    );
}

/// 8 GiB of a drive, which is only read.
#[test]
#[ignore = "test-all"]
fn lab_host_a_measured_ssd_gives_its_reads_back() {
    let original = model("samsung-860-pro-512gb");
    let mut disk = original.description(7);
    disk.sectors = 1 << 24;
    let lines = "$R disk measure /dev/vda -o ssd.toml --html ssd.html\n\
        grep -c '<path' ssd.html; echo MODEL; cat ssd.toml; echo END";
    let Some(said) = machine(vec![disk]).script("", lines) else {
        return;
    };
    println!("{said}");
    for words in [
        "as an SSD, since it does not rotate",
        "step 2 of 3: queue",
        "not measured: the disk was only read",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let (_, text) = said.split_once("MODEL").expect("the model is printed");
    let (text, _) = text.split_once("\nEND").expect("as a whole");
    let made = show(&Model::parse("ssd.toml", &text.replace('\r', "")).expect("a sound model")).expect("sound");
    let original = show(&original).expect("sound");
    for (a, b) in original.random_reads.iter().zip(&made.random_reads) {
        println!("depth {}: {:.0} {:.0} reads/s", a.depth, a.reads_per_s, b.reads_per_s);
        assert!(off(b.reads_per_s, a.reads_per_s).abs() < 5.0, "{a:?} {b:?}");
    }
    let (a, b) = (original.streaming[0], made.streaming[0]);
    assert!(off(b.read_mb_s, a.read_mb_s).abs() < 3.0, "{a:?} {b:?}");
}

#[test]
fn lab_host_what_cannot_be_measured_is_refused() {
    let disk = model("wd-500gb-2007");
    let mut small = disk.description(2);
    small.sectors = 1 << 20;
    let mut failing = disk.description(3);
    failing.faults.unreadable = vec![SectorRange {
        sector: disk.sectors / 4,
        sectors: disk.sectors / 2,
    }];
    let machine = machine(vec![disk.description(1), small, failing]);
    let lines = r#"
refused() { code=0; $R disk measure "$2" -o "${3:-new.toml}" ${4:-} ${5:-} || code=$?; test $code = $1; test ! -e new.toml; }
mke2fs -q -t ext4 /dev/vda 1G; mkdir there; mount /dev/vda there; refused 2 /dev/vda; umount there
sleep 100 </dev/vda & refused 2 /dev/vda; kill $!; wait $! || true
refused 2 /tmp; refused 2 study.toml; refused 2 /dev/gone; refused 2 /dev/null
refused 2 /dev/vda new.toml --destroy vdb
refused 2 /dev/vda study.toml; refused 2 /dev/vda model.txt; refused 2 /dev/vda gone/new.toml
refused 1 /dev/vdb; refused 1 /dev/vdc
truncate -s 2G file; losetup /dev/loop0 file; refused 2 /dev/loop0
"#;
    let Some(said) = machine.script("[disks]", lines) else {
        return;
    };
    println!("{said}");
    for words in [
        "vda is mounted on /tmp/there",
        "vda is open in process",
        "--destroy vdb does not name /dev/vda",
        "`/tmp` is not a block device",
        "`study.toml` is not a block device",
        "there is no `/dev/gone`",
        "`/dev/null` is not a block device",
        "-o `model.txt` does not end in .toml",
        "its folder does not exist",
        "`/dev/vdb` is too small to measure: it has 1048576 sectors",
        "`/dev/vdc` cannot be measured: reading 8 sectors from sector",
        "failed: medium error; a disk that cannot be read should be replaced",
        "`/dev/loop0` is a virtual device of the kernel, not a disk",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
