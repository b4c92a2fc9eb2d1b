use super::*;
use crate::io::fio_report::parse_own;
use proptest::prelude::*;
use std::process::Command;
use study::workload::{IoEngine, IoPattern};

fn spec() -> IoSpec {
    IoSpec {
        engine: IoEngine::Fio,
        pattern: IoPattern::RandRw,
        read_percent: 70,
        block_bytes: 4096,
        size_bytes: 1 << 20,
        offset_bytes: 0,
        jobs: 2,
        queue_depth: 1,
        direct: false,
        fsync_every: 32,
        end_fsync: true,
        runtime_ns: None,
        ..IoSpec::default()
    }
}

/// Output of the installed fio for a small job.
fn printed() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let target = Target {
        mount_point: Some(folder.path()),
        block_device: Path::new("/dev/null"),
    };
    let output = Command::new("fio")
        .args(arguments(&spec(), &target, 7, "psync"))
        .output()
        .expect("fio is needed for this test: apt-get install fio");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("fio prints text")
}

fn parse(printed: &str) -> Result<Outcome, WorkloadError> {
    parse_own(printed).map(outcome)
}

/// The error for invalid output. (A tally is too long to be printed by `expect_err`.)
fn complaint(printed: &str) -> String {
    parse(printed).map(drop).expect_err("an error").to_string()
}

#[test]
fn what_fio_prints_is_understood() {
    let printed = printed();
    let outcome = parse(&printed).expect("a report");
    let Tally {
        reads, writes, fsyncs, ..
    } = &outcome.tally;
    assert_eq!(reads.bytes + writes.bytes, 2 << 20);
    assert_eq!(reads.operations() + writes.operations(), 512);
    assert!((300..420).contains(&reads.operations()), "70 % of 512 were to be reads");
    assert!(fsyncs.operations() >= 2);
    assert!(outcome.duration > Duration::ZERO);

    let with_words_around = format!("fio: this is a note\nnote: {{ }}\n{printed}\nfio: bye\n");
    let again = parse(&with_words_around).expect("a report among words");
    assert_eq!(again.tally.reads.histogram, reads.histogram);
}

#[test]
fn cut_output_is_an_error_that_shows_it() {
    let printed = printed();
    let closing = printed.rfind('}').expect("an object");
    for end in (0..closing).step_by(97).chain([closing]) {
        let error = complaint(&printed[..end]);
        assert!(error.starts_with("cannot parse fio's output: "), "{error}");
        assert!(error.contains("it printed: ") && error.len() < 1000, "{error}");
    }
}

#[test]
fn odd_reports_are_errors_that_say_what_is_odd() {
    let printed = printed();
    let with = |from: &str, to: &str| {
        let changed = printed.replacen(from, to, 1);
        assert_ne!(changed, printed, "fio prints {from}");
        complaint(&changed)
    };
    assert!(with("\"error\" : 0", "\"error\" : 28").contains("No space left on device"));
    assert!(with("\"bins\"", "\"bans\"").contains("latencies in the bins of"));
    assert!(with("\"io_bytes\" : ", "\"io_bytes\" : -").contains("invalid value"));
    assert!(with("\"lat_ns\"", "\"latency\"").contains("missing field `lat_ns`"));
    assert!(complaint("").ends_with("it printed: nothing"));
    assert!(complaint("{\"jobs\": []}").contains("it has no job"));
}

proptest! {
    #[test]
    fn garbage_is_an_error(garbage in "(\\PC|\n|\\{|\"jobs\"|:|\\[){0,300}") {
        prop_assert!(parse(&garbage).is_err());
    }
}

#[test]
fn the_command_line_says_all_of_the_job() {
    let target = Target {
        mount_point: None,
        block_device: Path::new("/dev/a:b"),
    };
    let raw = IoSpec {
        pattern: IoPattern::Read,
        offset_bytes: 4096,
        queue_depth: 8,
        direct: true,
        runtime_ns: Some(1_500_000_000),
        ..spec()
    };
    let line = arguments(&raw, &target, u64::MAX, "io_uring").join(" ");
    for option in [
        "--rw=read",
        "--bs=4096",
        "--size=1048576",
        "--numjobs=2",
        "--iodepth=8",
        "--ioengine=io_uring",
        "--direct=1",
        "--runtime=1500000us",
        "--time_based=1",
        "--filename=/dev/a\\:b",
        "--offset=4096",
        "--offset_increment=1048576",
        "--randseed=9223372036854775807",
        "--clocksource=clock_gettime",
        "--allow_mounted_write=0",
        "--allow_file_create=0",
    ] {
        assert!(line.split(' ').any(|word| word == option), "{option} in {line}");
    }
    assert!(!line.contains("rwmixread"));
}

/// fio's own log: a limited rate is steady, and the log has as many bytes as the report. Returns the MiB/s that fio
/// reports, and the description of its throughput over time.
fn measured(spec: &IoSpec) -> (f64, String) {
    let log = BandwidthLog::of(spec, None)
        .expect("a folder")
        .expect("a job with a runtime has a log");
    let folder = tempfile::tempdir().expect("a folder");
    let target = Target {
        mount_point: Some(folder.path()),
        block_device: Path::new("/dev/null"),
    };
    let output = Command::new("fio")
        .args(arguments(spec, &target, 7, "psync"))
        .args(log.arguments())
        .output()
        .expect("fio is needed for this test: apt-get install fio");
    assert!(output.status.success(), "{output:?}");
    let outcome = parse(&String::from_utf8_lossy(&output.stdout)).expect("a report");
    let series = log.read().expect("a log");
    let (_, detail) =
        crate::steady_state::verdict(&series.throughput, outcome.duration).expect("more than 16 intervals");
    let counted = outcome.tally.reads.bytes as f64 / outcome.duration.as_secs_f64() / f64::from(1 << 20);
    (counted, detail)
}

#[test]
fn throughput_over_time_comes_from_fio() {
    let spec = IoSpec {
        pattern: IoPattern::RandRead,
        rate_iops: Some(1000),
        runtime_ns: Some(1_200_000_000),
        time_based: true,
        ..spec()
    };
    // 2 jobs of 1000 requests of 4 KiB per second: 7.8 MiB/s. A busy machine may not reach this rate; fio's own
    // report says so.
    let (mut counted, mut detail) = measured(&spec);
    for _ in 0..4 {
        if counted < 7.5 {
            (counted, detail) = measured(&spec);
        }
    }
    let rates = detail.rsplit(": ").next().expect("rates");
    let rates: Vec<f64> = rates.split(' ').filter_map(|rate| rate.parse().ok()).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((7.0..8.6).contains(&mean), "{detail}");
    assert!(
        (mean / counted - 1.0).abs() < 0.1,
        "{counted} MiB/s by fio's report; {detail}"
    );

    // Most intervals of 10 ms have no request, and fio writes no line for them.
    let slow = IoSpec {
        rate_iops: Some(20),
        block_bytes: 1 << 16,
        ..spec.clone()
    };
    let (counted, detail) = measured(&slow);
    let rates = detail.rsplit(": ").next().expect("rates");
    let rates: Vec<f64> = rates.split(' ').filter_map(|rate| rate.parse().ok()).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!(
        (mean / counted - 1.0).abs() < 0.25,
        "{counted} MiB/s by fio's report; {detail}"
    );

    let taken = IoSpec {
        fio_options: vec![("write_bw_log".to_owned(), "mine".to_owned())],
        ..spec
    };
    assert!(BandwidthLog::of(&taken, None).expect("nothing is made").is_none());
    assert!(
        BandwidthLog::of(&self::spec(), None)
            .expect("nothing is made")
            .is_none()
    );
}
