//! Guards that are observed within a trial: a job that fails each of them, and one that does not.

use crate::guest::{Guest, disks, trials};
use crate::laboratory::{Laboratory, kernel_named, succeeded};
use lab::job::GuestJob;
use lab::kernel::KernelName;
use serde_json::Value;
use study::event::Event;

/// A complete run, whatever its guards report.
fn run(laboratory: &Laboratory, study: &str) -> Value {
    laboratory.study(study);
    succeeded(&mut laboratory.raidlab(&["run", "study.toml"]));
    let exported = succeeded(&mut laboratory.raidlab(&["export", "--format", "json"]));
    serde_json::from_str(&exported).expect("an export is JSON")
}

/// Whether a guard of a workload passed, and its detail; `test` is `None` for guards of the whole trial.
fn guard<'a>(json: &'a Value, name: &str, workload: &str, test: Option<&str>) -> (bool, &'a str) {
    let guards = json["guards"].as_array().expect("guards");
    let ending = format!("| {workload}");
    let is_wanted = |row: &&Value| {
        let cell = row["cell"].as_str().expect("a cell");
        row["guard"] == name && cell.ends_with(&ending) && row["test"].as_str() == test
    };
    let row = guards
        .iter()
        .find(is_wanted)
        .unwrap_or_else(|| panic!("no guard {name} of {workload}"));
    let detail = row["detail"].as_str().expect("a sentence");
    println!("{name} of {workload}: {}: {detail}", row["passed"]);
    (row["passed"] == true, detail)
}

/// Jobs on a stack, one trial each.
fn study(disks: &str, stack: &str, jobs: &[(&str, &str)]) -> String {
    let jobs: String = jobs
        .iter()
        .map(|(name, job)| format!("[[workload]]\nname = \"{name}\"\nio = {{ {job} }}\n"))
        .collect();
    format!("ram = \"256M\"\n[disks]\n{disks}\n[[stack]]\n{stack}\n{jobs}[precision]\ntrials = 1\n")
}

const ONE_DISK: &str = "model = \"wd-500gb-2007\"";

/// For each first block of 512 bytes, 4 KiB are read from the disk, and the next seven blocks come from memory, as
/// in ZFS if records are larger than requests. Every byte has come from the disk, so `cold-cache` passes.
#[test]
fn reads_of_parts_of_pages_are_cache_hits() {
    let Some(laboratory) = Laboratory::open() else { return };
    let jobs = [
        ("parts", "rw = \"randread\", bs = \"512B\", size = \"1M\""),
        ("pages", "rw = \"randread\", bs = \"4K\", size = \"4M\""),
        (
            "deep",
            "rw = \"randread\", bs = \"4K\", size = \"4M\", iodepth = 32, direct = true",
        ),
        ("stream", "rw = \"read\", bs = \"4K\", size = \"16M\""),
    ];
    let json = run(
        &laboratory,
        &study(
            ONE_DISK,
            "array = { level = \"single\" }\nfs = { type = \"ext4\" }",
            &jobs,
        ),
    );
    assert!(guard(&json, "cold-cache", "parts", Some("randread")).0);
    let (passed, detail) = guard(&json, "cache-hits", "parts", Some("randread"));
    assert!(
        !passed && detail.contains(" requests at the member disks for 2048 reads"),
        "{detail}"
    );
    assert!(guard(&json, "cache-hits", "pages", Some("randread")).0);
    assert!(
        guard(&json, "cache-hits", "deep", Some("randread")).0,
        "merged requests count"
    );
    assert!(guard(&json, "cache-hits", "stream", Some("read")).0, "read ahead");
}

/// The drive's cache of 16 MB absorbs the first writes.
#[test]
fn a_cache_that_fills_is_not_steady() {
    let Some(laboratory) = Laboratory::open() else { return };
    let job = "rw = \"randwrite\", bs = \"16K\", size = \"256M\", direct = true, runtime = \"1s\"";
    let later = format!("{job}, ramp_time = \"2s\"");
    let json = run(
        &laboratory,
        &study(
            ONE_DISK,
            "fs = { type = \"raw\" }",
            &[("at once", job), ("later", &later)],
        ),
    );
    let (passed, detail) = guard(&json, "steady", "at once", Some("randwrite"));
    assert!(!passed && detail.contains("`ramp_time`"), "{detail}");
    assert!(guard(&json, "steady", "later", Some("randwrite")).0);
}

/// Physical sectors of 4 KiB; RAID 5 writes whole pages to them.
#[test]
fn writes_of_parts_of_sectors_are_not_aligned() {
    let Some(laboratory) = Laboratory::open() else { return };
    let jobs = [
        (
            "parts",
            "rw = \"randwrite\", bs = \"512B\", size = \"1M\", direct = true",
        ),
        (
            "sectors",
            "rw = \"randwrite\", bs = \"4K\", size = \"1M\", direct = true",
        ),
    ];
    let study = |disks: &str, stack: &str| study(disks, &format!("{stack}\nfs = {{ type = \"raw\" }}"), &jobs);
    let json = run(
        &laboratory,
        &study("model = \"seagate-ironwolf-12tb\"", "array = { level = \"single\" }"),
    );
    let (passed, detail) = guard(&json, "aligned", "parts", Some("randwrite"));
    assert!(!passed && detail.contains("a physical sector has 4096"), "{detail}");
    assert!(guard(&json, "aligned", "sectors", Some("randwrite")).0);
    assert!(
        guard(&json, "aligned", "parts", None).0,
        "the disk itself begins where it should"
    );

    let old = run(&laboratory, &study(ONE_DISK, "array = { level = \"single\" }"));
    assert!(
        guard(&old, "aligned", "parts", Some("randwrite")).0,
        "its sectors have 512 bytes"
    );
}

/// ext4 leaves about 120 of 128 MiB for files.
#[test]
fn a_filesystem_that_a_job_fills_is_nearly_full() {
    let Some(laboratory) = Laboratory::open() else { return };
    let jobs = [
        ("full", "rw = \"write\", bs = \"1M\", size = \"106M\""),
        ("half", "rw = \"write\", bs = \"1M\", size = \"64M\""),
    ];
    let stack = "array = { level = 1, size = \"128M\" }\nfs = { type = \"ext4\" }";
    let json = run(&laboratory, &study(&format!("{ONE_DISK}\ncount = 2"), stack, &jobs));
    let (passed, detail) = guard(&json, "nearly-full", "full", None);
    assert!(!passed && detail.contains("larger `size`"), "{detail}");
    assert!(guard(&json, "nearly-full", "half", None).0);
    assert!(guard(&json, "undisturbed", "half", None).0);
}

/// btrfs compresses zeros, except where space was reserved for them, and leaves random bytes unchanged.
#[test]
fn zeros_on_a_filesystem_that_compresses() {
    let Some(laboratory) = Laboratory::open() else { return };
    let write = "rw = \"write\", bs = \"128K\", size = \"32M\", end_fsync = true";
    let zeros = format!("{write}, zero_buffers = true");
    let read = "rw = \"read\", bs = \"128K\", size = \"32M\"";
    let jobs = [("reserved", zeros.as_str()), ("random", write), ("read", read)];
    let stack = "fs = { type = \"btrfs\", compression = \"zstd\" }";
    let of_fio = format!("[[workload]]\nname = \"zeros\"\nfio = {{ {zeros}, fallocate = \"none\" }}\n[precision]");
    let study = study(ONE_DISK, stack, &jobs).replace("[precision]", &of_fio);
    let json = run(&laboratory, &study);
    let (passed, detail) = guard(&json, "compressible", "zeros", Some("write"));
    assert!(!passed && detail.contains("`zero_buffers`"), "{detail}");
    assert!(guard(&json, "compressible", "reserved", Some("write")).0);
    assert!(guard(&json, "compressible", "random", Some("write")).0);
    assert!(guard(&json, "holes", "read", Some("read")).0);
    assert!(guard(&json, "cache-hits", "read", Some("read")).0);
}

/// The detail of a failed guard of a workload; `None` if it passed or was not checked.
fn failed<'a>(json: &'a Value, name: &str, workload: &str) -> Option<&'a str> {
    let guards = json["guards"].as_array().expect("guards");
    let ending = format!("| {workload}");
    let is_wanted = |row: &&Value| {
        let cell = row["cell"].as_str().expect("a cell");
        row["guard"] == name && cell.ends_with(&ending) && row["passed"] == false
    };
    let detail = guards.iter().find(is_wanted).and_then(|row| row["detail"].as_str());
    println!("{name} of {workload}: {detail:?}");
    detail
}

/// 16 MiB are written once, in random order: all of it is in memory at write-back, so stripes are complete.
#[test]
fn random_writes_that_memory_makes_stripes_of_read_nothing() {
    let Some(laboratory) = Laboratory::open() else { return };
    let job = "rw = \"randwrite\", bs = \"4K\", size = \"16M\"";
    let (direct, meant) = (format!("{job}, direct = true"), format!("{job}, fits_memory = true"));
    let jobs = [("buffered", job), ("direct", &direct), ("meant", &meant)];
    let stack = "array = { level = 5, size = \"256M\" }\nfs = { type = \"ext4\" }";
    let json = run(&laboratory, &study(&format!("{ONE_DISK}\ncount = 3"), stack, &jobs));
    let (passed, detail) = guard(&json, "read-modify-write", "buffered", Some("randwrite"));
    assert!(
        !passed && detail.contains("part of a stripe of 1048576 bytes") && detail.contains("`fits_memory"),
        "{detail}"
    );
    assert!(guard(&json, "read-modify-write", "direct", Some("randwrite")).0);
    assert_eq!(failed(&json, "read-modify-write", "meant"), None);
}

/// Records of 128 KiB: each is read once and answers 32 reads of 4 KiB, and all stay in ARC while parts are
/// written.
#[test]
#[ignore = "test-all"]
fn requests_that_arc_answers_are_seen() {
    let Some(laboratory) = Laboratory::open() else { return };
    let Some(_kernel) = kernel_named(&KernelName::parse("6.12+zfs")) else {
        return;
    };
    let jobs = [
        ("parts", "rw = \"randread\", bs = \"4K\", size = \"64M\""),
        ("records", "rw = \"randread\", bs = \"128K\", size = \"64M\""),
        ("write parts", "rw = \"randwrite\", bs = \"4K\", size = \"64M\""),
        ("write records", "rw = \"randwrite\", bs = \"128K\", size = \"64M\""),
    ];
    let stack = "fs = { type = \"zfs\", pool = \"mirror\", compression = \"off\" }";
    let study = study(&format!("{ONE_DISK}\ncount = 2"), stack, &jobs).replace("256M", "1G");
    let json = run(&laboratory, &study);
    assert!(
        guard(&json, "cold-cache", "parts", Some("randread")).0,
        "all bytes came from the disks"
    );
    let (passed, detail) = guard(&json, "cache-hits", "parts", Some("randread"));
    assert!(
        !passed && detail.contains(" requests at the member disks for 16384 reads"),
        "{detail}"
    );
    assert!(guard(&json, "cache-hits", "records", Some("randread")).0);
    let (passed, detail) = guard(&json, "read-modify-write", "write parts", Some("randwrite"));
    assert!(
        !passed && detail.contains("parts of a record of 131072 bytes"),
        "{detail}"
    );
    assert_eq!(failed(&json, "read-modify-write", "write records"), None);
    let (passed, detail) = guard(&json, "disk-bound", "parts", Some("randread"));
    assert!(!passed && detail.contains("random reads a second"), "{detail}");
    assert!(guard(&json, "disk-bound", "records", Some("randread")).0);
}

/// Three disks with 15,000 rpm and, instead of the fourth, one with 5,400 rpm: 2 ms and 5.6 ms of rotational
/// latency, and seeks of 3.5 ms and at least 9 ms.
#[test]
fn a_slower_model_among_the_members_is_named() {
    let study = study(
        "model = \"seagate-cheetah-15k7-450gb\"\ncount = 4",
        "array = { level = 5, size = \"8G\" }\nfs = { type = \"raw\" }",
        &[(
            "w",
            "rw = \"randread\", bs = \"4K\", size = \"16G\", direct = true, runtime = \"20s\"",
        )],
    );
    for slow in [None, Some(2)] {
        let trial = trials(&study).remove(0);
        let job = GuestJob::Trial(Box::new(trial.clone()));
        let Some(mut guest) = Guest::for_job(&job, &trial) else {
            return;
        };
        if let Some(slow) = slow {
            guest.disks.disks[slow] = disks("wd-wd30efrx", 1).disks.remove(0);
        }
        let events = guest.run().events();
        let judged = events.iter().find_map(|event| match event {
            Event::Guard(guard) if guard.name == "slow-member" => Some(guard),
            _ => None,
        });
        let judged = judged.expect("four members with the same load");
        println!("{slow:?}: {}", judged.detail);
        assert!(judged.passed, "simulated disks are sound: {}", judged.detail);
        assert!(
            slow.is_none() || judged.detail.contains(" at vdc and "),
            "{}",
            judged.detail
        );
    }
}

/// Records were thrown away, as if they were lost, when their log was larger than the guest's RAM.
#[test]
fn issue_39_a_log_larger_than_ram_is_read_back() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.run(
        "ram = \"256M\"\n[disks]\nmodel = \"samsung-pm9a3-1920gb\"\n[[workload]]\nname = \"log\"\n\
         server = { tests = [\"commit\"], clients = 4, records = 80, record = \"1M\" }\n[precision]\ntrials = 1\n",
    );
}
