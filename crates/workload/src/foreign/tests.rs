mod hostile;
mod misread;
mod pasted;

use super::*;
use study::metric::Metric;

fn samples(foreign: &Foreign) -> Vec<(String, String)> {
    let of = |event: &Event| match event {
        Event::Sample(sample) => Some((sample.test.to_string(), sample.metric.name().to_owned())),
        _ => None,
    };
    foreign.events.iter().filter_map(of).collect()
}

#[test]
fn json_without_bins_keeps_its_percentiles() {
    let direction = |bytes: u64, ios: u64| {
        format!(
            r#"{{"io_bytes": {bytes}, "runtime": {}, "total_ios": {ios}, "lat_ns": {{"min": 0, "N": {ios}}},
                "clat_ns": {{"percentile": {{"50.000000": 1000, "99.000000": 2000, "99.900000": 3000}}}}}}"#,
            if bytes > 0 { 500 } else { 0 }
        )
    };
    let text = format!(
        r#"{{"fio version": "fio-3.1", "jobs": [{{"jobname": "a", "error": 0, "read": {}, "write": {},
            "sync": {{"lat_ns": {{"N": 0}}}}}}]}}"#,
        direction(1 << 20, 256),
        direction(0, 0)
    );
    let [foreign] = &read(&text).expect("a report")[..] else {
        panic!("one")
    };
    let has = |metric: &str| samples(foreign).contains(&("a".to_owned(), metric.to_owned()));
    assert!(has("throughput") && has("iops") && has("latency_p99") && has("latency_p999"));
}

#[test]
fn issue_12_7_fio_without_sync_is_read() {
    let direction = |bytes: u64| {
        format!(r#"{{"io_bytes": {bytes}, "runtime": 1000, "total_ios": 256, "lat_ns": {{"N": 256}}}}"#)
    };
    let text = format!(
        r#"{{"fio version": "fio-3.1", "jobs": [{{"jobname": "a", "error": 0, "read": {}, "write": {}}}]}}"#,
        direction(1 << 20),
        direction(0)
    );
    let [foreign] = &read(&text).expect("a report")[..] else {
        panic!("one")
    };
    assert!(samples(foreign).contains(&("a".to_owned(), "throughput".to_owned())));
}

#[test]
fn bonnie_and_iozone_are_known_by_what_they_print() {
    let line = "rig,2G,25684,81,30672,14,15186,7,27044,76,44331,10,176.8,0,16,2461,98,+++++,+++,18362,88,2519,98,+++++,+++,5963,92";
    let two = read(&format!("{line}\n{line}\n")).expect("lines");
    assert_eq!(
        (two.len(), two[0].program, two[0].machine.as_str(), two[0].work.as_str()),
        (2, "Bonnie++", "rig", "2G")
    );
    assert!(samples(&two[0]).contains(&("putc".to_owned(), "cpu".to_owned())));
    let table = "Children see throughput for 2 readers = 2048.00 kB/sec\niozone test complete.";
    let [iozone] = &read(table).expect("a table")[..] else {
        panic!("one")
    };
    assert_eq!(samples(iozone), [("read".to_owned(), "throughput".to_owned())]);
}

#[test]
fn anything_else_is_told() {
    for text in ["", "hello", "{}", "{\"fio version\": 3", "a,b,c\n"] {
        let error = read(text).expect_err(text);
        assert!(error.contains("fio"), "{error}");
    }
}

/// The value of a metric of a test.
fn value(foreign: &Foreign, test: &str, metric: Metric) -> Option<f64> {
    foreign.events.iter().find_map(|event| match event {
        Event::Sample(sample) if sample.test == test && sample.metric == metric => Some(sample.value),
        _ => None,
    })
}

fn throughput(foreign: &Foreign, test: &str) -> Option<f64> {
    value(foreign, test, Metric::Throughput).map(|value| (value * 10.0).round() / 10.0)
}

fn one(text: &str) -> Foreign {
    let mut all = read(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn noted(foreign: &Foreign, words: &str) -> bool {
    foreign.notes.iter().any(|note| note.contains(words))
}

/// A direction of MiB in milliseconds, with a median.
fn direction(mib: u64, ms: u64, p50: u64) -> String {
    format!(
        r#"{{"io_bytes": {}, "io_kbytes": {}, "bw": 1, "runtime": {ms}, "total_ios": {},
            "clat_ns": {{"percentile": {{"50.000000": {p50}}}}}}}"#,
        mib << 20,
        mib << 10,
        mib * 256
    )
}

fn job(name: &str, group: u32, options: &str, read: (u64, u64), write: (u64, u64)) -> String {
    format!(
        r#"{{"jobname": "{name}", "groupid": {group}, "error": 0, "job options": {{{options}}},
            "read": {}, "write": {}}}"#,
        direction(read.0, read.1, 70_000),
        direction(write.0, write.1, 10_000)
    )
}

fn report_at(timestamp_ms: u64, jobs: &[String]) -> String {
    format!(
        r#"{{"fio version": "fio-3.33", "timestamp_ms": {timestamp_ms}, "jobs": [{}]}}"#,
        jobs.join(",")
    )
}

const NONE: (u64, u64) = (0, 0);

#[test]
fn issue_39_9_reads_of_a_verification_are_not_added_to_the_writes() {
    let verify = r#""rw": "write", "verify": "crc32c""#;
    let foreign = one(&report_at(1, &[job("v", 0, verify, (4, 5), (4, 8))]));
    assert_eq!(throughput(&foreign, "v"), Some(500.0));
    assert!(noted(&foreign, "verified"), "{:?}", foreign.notes);
    // Without options, the times show it.
    let foreign = one(&report_at(1, &[job("v", 0, "", (4, 5), (4, 8))]));
    assert_eq!(
        ["v", "read", "write"].map(|test| throughput(&foreign, test)),
        [None, Some(800.0), Some(500.0)]
    );
    assert!(noted(&foreign, "not added"), "{:?}", foreign.notes);
}

#[test]
fn issue_39_9_jobs_of_one_name_in_two_groups_are_not_added() {
    let jobs = [job("a", 0, "", (100, 1000), NONE), job("a", 1, "", (50, 1000), NONE)];
    let foreign = one(&report_at(1, &jobs));
    assert_eq!(
        ["a (group 0)", "a (group 1)", "a"].map(|test| throughput(&foreign, test)),
        [Some(100.0), Some(50.0), None]
    );
    assert!(noted(&foreign, "2 groups"), "{:?}", foreign.notes);
    // In one group they ran at the same time; their percentiles cannot be added.
    let jobs = [job("a", 0, "", (100, 1000), NONE), job("a", 0, "", (50, 1000), NONE)];
    let foreign = one(&report_at(1, &jobs));
    assert_eq!(throughput(&foreign, "a"), Some(150.0));
    assert_eq!(value(&foreign, "a", Metric::LatencyP50), None);
    assert!(noted(&foreign, "json+"), "{:?}", foreign.notes);
}

#[test]
fn issue_39_9_percentiles_of_the_reads_are_not_those_of_a_mix() {
    let foreign = one(&report_at(
        1,
        &[job("m", 0, r#""rw": "randrw""#, (70, 1000), (30, 1000))],
    ));
    assert_eq!(
        ["m", "read", "write"].map(|test| throughput(&foreign, test)),
        [Some(100.0), Some(70.0), Some(30.0)]
    );
    assert_eq!(
        ["m", "read", "write"].map(|test| value(&foreign, test, Metric::LatencyP50)),
        [None, Some(0.07), Some(0.01)]
    );
}

#[test]
fn issue_39_9_of_several_reports_none_is_dropped_silently() {
    let report = |at: u64, mib: u64, ms: u64| report_at(at, &[job("a", 0, "", (mib, ms), NONE)]);
    // One run that was reported each second.
    let status = [
        report(11_000, 50, 900),
        report(12_000, 100, 1900),
        report(13_000, 150, 3000),
    ]
    .join("\n");
    let foreign = one(&status);
    assert_eq!(throughput(&foreign, "a"), Some(50.0));
    assert!(noted(&foreign, "2 earlier reports"), "{:?}", foreign.notes);
    // Two runs, appended to one file.
    let two = read(&[report(11_000, 50, 900), report(15_000, 100, 1900)].join("\n")).expect("reports");
    assert_eq!(two.len(), 2);
}

#[test]
fn issue_39_9_numbers_of_processes_are_not_averaged() {
    let line =
        |count: u32, rate: u32| format!("\tChildren see throughput for {count} readers = {rate}.00 kB/sec\n");
    let text = format!("{}{}\niozone test complete.", line(1, 1024), line(2, 4096));
    let all = read(&text).expect("lines");
    let found: Vec<(&str, Option<f64>)> = all
        .iter()
        .map(|one| (one.work.as_str(), throughput(one, "read")))
        .collect();
    assert_eq!(found, [("1 process", Some(1.0)), ("2 processes", Some(4.0))]);
}

#[test]
fn issue_39_10_units_of_fio_2_are_not_taken_for_those_of_fio_3() {
    let text = r#"{"fio version" : "fio-2.2.10", "jobs" : [{"jobname" : "n", "groupid" : 0, "error" : 0,
        "write" : {"io_bytes" : 37500272, "bw" : 62499, "iops" : 15624.7, "runtime" : 600008, "total_ios" : 9374944,
        "clat" : {"percentile" : {"99.000000" : 8640, "0.00" : 0, "0.00" : 0}}, "lat" : {"mean" : -nan}}}]}"#;
    let foreign = one(text);
    assert_eq!(throughput(&foreign, "n"), Some(61.0));
    assert_eq!(value(&foreign, "n", Metric::LatencyP99), Some(8.64));
    assert_eq!(value(&foreign, "n", Metric::Iops).map(f64::round), Some(15625.0));
}

#[test]
fn issue_39_10_a_report_is_found_wherever_it_is() {
    let report = report_at(1, &[job("a", 0, "", (100, 1000), NONE)]);
    let escaped = serde_json::to_string(&report).expect("a string");
    for text in [
        format!("\u{feff}{report}"),
        format!("fio: note {{ }}\n{report}\nbye {{"),
        format!(r#"[{{"Raw": {{"result": {report}}}}}]"#),
        format!(r#"{{"jobs": [{{"name": "ci", "steps": [{{"stdout": {escaped}}}]}}]}}"#),
        report.replace("\"jobs\"", "\"client_stats\""),
    ] {
        assert_eq!(throughput(&one(&text), "a"), Some(100.0), "{text}");
    }
    let cut = read(&report[..report.len() - 40]).expect_err("cut off");
    assert!(cut.contains("ends too early"), "{cut}");
}

#[test]
fn issue_39_10_trims_are_no_data_and_mixed_is_no_missing_field() {
    let job = |directions: &str| {
        let text =
            format!(r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "t", "error": 0, {directions}}}]}}"#);
        one(&text)
    };
    let of = |mib| direction(mib, 1000, 10_000);
    assert_eq!(throughput(&job(&format!(r#""trim": {}"#, of(80))), "t"), Some(80.0));
    let both = job(&format!(r#""write": {}, "trim": {}"#, of(40), of(80)));
    assert_eq!(
        ["t", "write", "trim"].map(|test| throughput(&both, test)),
        [None, Some(40.0), Some(80.0)]
    );
    assert_eq!(throughput(&job(&format!(r#""mixed": {}"#, of(80))), "t"), Some(80.0));
}

#[test]
fn issue_39_10_text_of_fio_is_read_with_its_units() {
    let text = "\
> a: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16
> a: (groupid=0, jobs=1): err= 0: pid=123: Fri Nov 27 22:16:38 2015
>   read : io=10240MB, bw=63317KB/s, iops=15829, runt=165607msec
>     clat percentiles (usec):
>      | 50.00th=[   48], 99.00th=[  184], 99.90th=[ 5473]
>     issued    : total=r=2621440/w=0/d=0, short=r=0/w=0/d=0
";
    let foreign = one(text);
    assert_eq!(throughput(&foreign, "a"), Some(61.8));
    assert_eq!(value(&foreign, "a", Metric::LatencyP50), Some(0.048));
    let three = "\
a: (groupid=0, jobs=1): err= 0: pid=1: x
  read: IOPS=228k, BW=889MiB/s (932MB/s)(8192KiB/10msec)
    clat percentiles (nsec):
     | 50.00th=[ 1560], 60.00th=[ 1608]
  write: IOPS=60.2k, BW=235MiB/s (247MB/s)(8192KiB/40msec); 0 zone resets
All clients: (groupid=0, jobs=2): err= 0: pid=0: x
  read: IOPS=228k, BW=889Mi (932M)(8192KiB/10msec)
";
    let foreign = one(three);
    assert_eq!(
        ["a", "read", "write"].map(|test| throughput(&foreign, test)),
        [None, Some(800.0), Some(200.0)]
    );
    assert!(noted(&foreign, "all clients"), "{:?}", foreign.notes);
}

/// Two runs that were quoted one after the other, without the summary between them, were added.
#[test]
fn issue_39_9_runs_of_a_text_without_its_summaries_are_not_added() {
    let heading =
        |engine: &str| format!("> t: (g=0): rw=randread, bs=4K-4K, ioengine={engine}, iodepth=64\n> fio-3.27\n");
    let job = |pid: u32, time: &str, mib: u32| {
        format!(
            "> t: (groupid=0, jobs=1): err= 0: pid={pid}: Fri Jul 23 {time} 2021\n>    read: IOPS=100, BW=1MiB/s (1MB/s)({mib}MiB/10000msec)\n"
        )
    };
    let found = |text: &str| -> Vec<Option<f64>> {
        read(text)
            .expect("runs")
            .iter()
            .map(|run| throughput(run, "t"))
            .collect()
    };
    let (first, second) = (job(1, "06:05:15", 1000), job(2, "06:05:49", 3000));
    let with_headings = [heading("psync"), first.clone(), heading("psync"), second.clone()].concat();
    assert_eq!(found(&with_headings), [Some(100.0), Some(300.0)]);
    assert_eq!(found(&[first.clone(), second].concat()), [Some(100.0), Some(300.0)]);
    // Two processes of one run.
    assert_eq!(found(&[first, job(2, "06:05:15", 3000)].concat()), [Some(400.0)]);
}

#[test]
fn issue_39_10_terse_lines_are_read_by_their_version() {
    let of = |kib: u64, ms: u64| {
        let bw = kib * 1000 / ms.max(1);
        let tail = ";0".repeat(4) + "; 0;0;0;0" + ";50.000000%=43;99.000000%=123" + &";0%=0".repeat(18);
        format!("{kib};{bw};{};{ms}{tail}{}", bw / 4, ";0".repeat(9)).replace("; 0", ";0")
    };
    let line = format!(
        "3;fio-3.33;a;0;0;{};{};1%;2%;3;4;5{}",
        of(102_400, 1000),
        of(0, 0),
        ";0%".repeat(30)
    );
    let foreign = one(&line);
    assert_eq!(throughput(&foreign, "a"), Some(100.0));
    assert_eq!(value(&foreign, "a", Metric::LatencyP99), Some(0.123));
}

#[test]
fn issue_39_10_every_row_of_an_iozone_table_is_a_result() {
    let text = "\
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
          262144       4   52588   59931    49144    49201   29894   15370
          262144      64  115506  122981   229070   229314  133219  129767

iozone test complete.
";
    let all = read(text).expect("a table");
    let labels: Vec<&str> = all.iter().map(|one| one.work.as_str()).collect();
    assert_eq!(labels, ["256M 4K", "256M 64K"]);
    assert_eq!(throughput(&all[1], "write"), Some(112.8));
    let excel = "\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   1024  2048\n\n\"Reader report\"\n        \"4\"\n\"64\"   4096\n";
    let all = read(excel).expect("reports");
    assert_eq!(
        all.iter()
            .map(|one| (one.work.as_str(), throughput(one, "write")))
            .collect::<Vec<_>>(),
        [("64K 4K", Some(1.0)), ("64K 8K", Some(2.0))]
    );
}

#[test]
fn issue_39_10_bonnie_with_a_heading_or_without_its_files_is_read() {
    let heading = format!("Machine,Size{}", ",K/sec,<- (CPU %)".repeat(12));
    let line = "rig,2G,25684,81,30672,14,15186,7,27044,76,44331,10,176.8,0,16,2461,98,+++++,+++,18362,88,2519,98,+++++,+++,5963,92";
    let first = one(&format!("{heading}\n{line}\n"));
    assert_eq!((first.machine.as_str(), first.work.as_str()), ("rig", "2G"));
    let no_size = format!(
        "1.98,2.00a,m0,1,17{},1,,,,{},,,,,,,2219us,45us,235us,66us,11us,56us",
        ",".repeat(16),
        ",700,10".repeat(6)
    );
    assert_eq!(value(&one(&no_size), "create-seq", Metric::FilesPerSecond), Some(700.0));
    let error = read(&format!("{line}\n{}", line.replace("30672", "x"))).expect_err("odd");
    assert!(error.contains("line 2: `x` is not a number"), "{error}");
}

#[test]
fn issue_39_10_what_is_refused_is_named() {
    for (text, words) in [
        ("Run status group 0 (all jobs):\n READ: bw=49MiB/s", "only the summary"),
        ("<html><table>", "web page"),
        ("Output is in ops/sec\niozone test complete.", "another unit"),
        (r#"{"fio version": "fio-3.33"}"#, "without `jobs`"),
        (
            r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "a"}]}"#,
            "none of `read`",
        ),
        (
            r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 28}]}"#,
            "No space left",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(words) && !error.contains("missing field"), "{error}");
    }
}

/// A job of 200 bytes took 800 KB for its histograms.
#[test]
fn issue_39_18_jobs_of_a_report_take_no_memory_for_latencies_that_they_lack() {
    let jobs: Vec<String> = (0..5000)
        .map(|number| job(&format!("j{number}"), 0, "", (1, 1000), NONE))
        .collect();
    assert_eq!(one(&report_at(1, &jobs)).events.len(), 1 + 5000 * 4);
    let many: Vec<String> = (0..60_000)
        .map(|number| job(&format!("j{number}"), 0, "", (1, 1000), NONE))
        .collect();
    assert!(read(&report_at(1, &many)).expect_err("too many").contains("at most"));
}
