//! Stores with many cells are merged, shown, reported and exported in bounded time and memory. `make scale` does it
//! with 100,000 cells (`RAIDLAB_SCALE=100000`).

use crate::desk::Desk;
use crate::kept;
use runner::Partition;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};
use store::{Ending, RunSpec, Store};
use study::Shard;
use study::event::{Event, Sample};
use study::metric::Metric;
use study::plan::{Plan, Trial};

const TRIALS: u32 = 3;

const SHARDS: u32 = 4;

/// A study with at least this many cells: 96 workloads on as many stacks as necessary.
fn study(cells: usize) -> String {
    let mut text = String::from(
        "title = \"Many cells\"\n[disks]\nmodel = \"seagate-exos-x16-16tb\"\ncount = 8\n[precision]\ntrials = 3\n",
    );
    let stacks = cells.div_ceil(96);
    let caches: Vec<String> = (0..stacks.div_ceil(40)).map(|n| (256 + 16 * n).to_string()).collect();
    let filesystems = &["\"ext4\"", "\"xfs\"", "\"btrfs\"", "\"jfs\""][..stacks.div_ceil(10).clamp(1, 4)];
    let _ = write!(
        text,
        "[[stack]]\narray = {{ level = [\"raid5\", \"raid6\"], chunk = [\"4K\", \"16K\", \"64K\", \"256K\", \"1M\"], \
         stripe_cache = [{}] }}\nfs = {{ type = [{}] }}\n",
        caches.join(", "),
        filesystems.join(", ")
    );
    text.push_str(
        "[[workload]]\nname = \"fio\"\nfio = { rw = [\"read\", \"write\", \"randread\", \"randwrite\"], \
         bs = [\"4K\", \"16K\", \"64K\", \"256K\"], iodepth = [1, 4, 32], numjobs = [1, 4], size = \"1G\" }\n",
    );
    text
}

/// Values that differ by stack, by workload and, slightly, by trial.
fn events(stack: usize, workload: usize, index: u32) -> Vec<Event> {
    let base = 40.0 + (stack * 7919 % 101) as f64 + (workload % 24) as f64 * 3.0;
    let noise = f64::from((stack as u32 * 31 + workload as u32 * 17 + index * 101) % 97) / 970.0;
    let value = base * (1.0 + noise / 10.0);
    [
        (Metric::Throughput, value),
        (Metric::Iops, value * 256.0),
        (Metric::Duration, 1000.0 / value),
        (Metric::DeviceReads, (value * 100.0).floor()),
    ]
    .into_iter()
    .map(|(metric, value)| {
        Event::Sample(Sample {
            test: "fio".into(),
            metric,
            value,
        })
    })
    .collect()
}

/// The store of a shard with all its trials done.
fn measured(plan: &Plan, path: &Path, shard: Shard) {
    let partition = Partition::of(plan, shard.count());
    let mut store = Store::open(path).expect("a store is made");
    let spec = RunSpec {
        shard: Some(shard),
        ..kept::spec(plan)
    };
    let run = store.open_run(&spec).expect("a run begins");
    let workloads = plan.workload_names().len();
    for (place, cell) in plan.cells.iter().enumerate() {
        let is_own = |index: &u32| partition.shard_of(cell.id, *index) == Some(shard);
        for index in (0..TRIALS).filter(is_own) {
            let trial = Trial {
                cell: cell.clone(),
                index,
                seed: study::trial_seed(1, index),
            };
            let id = store.begin_trial(&run, &trial, "scale").expect("a trial begins");
            for event in events(place / workloads, place % workloads, index) {
                store.append(id, &event).expect("an event is kept");
            }
            store.end_trial(id, &Ending::Done, 5_000_000).expect("a trial ends");
        }
    }
    store.finish_run(&run, 1_700_000_100).expect("a run ends");
}

/// Cost of a raidlab call. Its processor time does not depend on what else the machine does.
struct Cost {
    processor: Duration,
    memory_bytes: u64,
}

fn cost(desk: &Desk, arguments: &[&str]) -> Cost {
    let mut command = desk.raidlab(arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("raidlab is run");
    let (mut memory_bytes, mut processor) = (0, Duration::ZERO);
    // Not `ru_maxrss`, which starts with the size of the parent process.
    let status = loop {
        memory_bytes = peak_bytes(child.id()).unwrap_or(0).max(memory_bytes);
        processor = processor_time(child.id()).unwrap_or_default().max(processor);
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{arguments:?}");
    Cost {
        processor,
        memory_bytes,
    }
}

/// The peak memory of a process so far.
fn peak_bytes(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// User and system time of a process and its threads so far.
fn processor_time(pid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may have spaces.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
    // utime and stime of proc(5), in ticks of 10 ms.
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// The limits hold for 100,000 cells; fewer cost less. A debug build is about five times slower.
#[test]
fn issue_14_many_cells_are_merged_shown_and_reported_in_bounded_time_and_memory() {
    let cells = std::env::var("RAIDLAB_SCALE").map_or(960, |text| text.parse().expect("a number of cells"));
    let desk = Desk::new();
    let text = study(cells);
    desk.write("many.toml", &text);
    let plan = study_file::read(&text, "many.toml", &study_file::Known::default()).expect("a study without errors");
    assert!(plan.cells.len() >= cells, "{}", plan.cells.len());
    let began = Instant::now();
    for number in 1..=SHARDS {
        let shard = Shard::new(number, SHARDS).expect("there is one");
        measured(&plan, &desk.folder().join(format!("part-{number}.db")), shard);
    }
    println!(
        "{} cells stored in {:.1} s",
        plan.cells.len(),
        began.elapsed().as_secs_f64()
    );
    for arguments in [
        &[
            "merge",
            "raidlab.db",
            "part-1.db",
            "part-2.db",
            "part-3.db",
            "part-4.db",
        ] as &[&str],
        &["status", "part-1.db", "part-2.db", "part-3.db", "part-4.db"],
        &["show"],
        &["show", "--format", "json"],
        &["report", "-o", "report.html"],
        &["export", "--format", "parquet", "-o", "samples.parquet"],
        &["export", "--format", "csv", "-o", "samples.csv"],
    ] {
        let cost = cost(&desk, arguments);
        println!(
            "{}: {:.1} s, {} MiB",
            arguments.join(" "),
            cost.processor.as_secs_f64(),
            cost.memory_bytes >> 20
        );
        assert!(
            cost.processor < Duration::from_secs(60),
            "{arguments:?}: {:?}",
            cost.processor
        );
        assert!(
            (1 << 20..1 << 30).contains(&cost.memory_bytes),
            "{arguments:?}: {} bytes",
            cost.memory_bytes
        );
    }
    let page = std::fs::metadata(desk.folder().join("report.html"))
        .expect("it is there")
        .len();
    println!("report.html: {} KiB", page >> 10);
}

/// Imports of thousands of results or of jobs took minutes to compare, because each was looked for among all.
#[test]
fn issue_39_many_imported_results_are_shown_compared_and_reported_in_seconds() {
    const MANY: usize = 3000;
    let desk = Desk::new();
    let job = |number: usize| {
        format!(
            r#"{{"jobname": "j{number}", "groupid": {number}, "error": 0, "read": {{"io_bytes": 4096000, "runtime": 1000, "total_ios": 1000,
            "lat_ns": {{"N": 1000}}}}, "write": {{"io_bytes": 0, "runtime": 0, "total_ios": 0, "lat_ns": {{"N": 0}}}}}}"#
        )
    };
    let jobs: Vec<String> = (0..MANY).map(job).collect();
    desk.write(
        "jobs.json",
        format!(r#"{{"fio version": "fio-3.33", "jobs": [{}]}}"#, jobs.join(",")),
    );
    let machine = |number: usize| {
        format!(
            "1.98,2.00,h{number},1,1600000000,8G,,8192,5,100,50,150000,20,90000,15,900,95,300000,25,300.0,10,16,,,,,1000,10,+++++,+++,\
             2000,12,1100,11,+++++,+++,2100,13,{}\n",
            ["10ms"; 12].join(",")
        )
    };
    desk.write("machines.csv", (0..MANY).map(machine).collect::<String>());
    for file in ["jobs.json", "machines.csv"] {
        let store = format!("{file}.db");
        assert_eq!(desk.run(&["import", file, "--store", &store]).exit, Some(0));
        for arguments in [
            &["show", "--store", &store] as &[&str],
            &["compare", &store, &store],
            &["report", "--store", &store, "-o", "page.html"],
        ] {
            let seconds = cost(&desk, arguments).processor.as_secs_f64();
            println!("{}: {seconds:.1} s", arguments.join(" "));
            assert!(seconds < 20.0, "{arguments:?}: {seconds} s");
        }
    }
}
