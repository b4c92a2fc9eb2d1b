//! The event stream as a machine prints it: guests and store are from the same build, but stores and other programs
//! keep these lines.

use study::event::{Event, Failure, Guard, Latency, Mark, OperationMark, Sample, ToolCall};
use study::metric::Metric;
use study::{DiskCounter, DiskCounters, Finding, FindingKind, Load, ProcessorAccount, TestDisk, TestId};

#[test]
#[expect(clippy::too_many_lines, reason = "one line for each kind of event")]
fn events_are_these_lines() {
    let test = || TestId::from("read");
    let lines = [
        (
            Event::Step {
                name: "mkfs".to_owned(),
                at_ns: 5,
            },
            r#"{"event":"step","name":"mkfs","at_ns":5}"#,
        ),
        (
            Event::Call(ToolCall {
                argv: vec!["mkfs.xfs".to_owned()],
                exit: None,
                stdout: String::new(),
                stderr: "no".to_owned(),
                duration_ns: 7,
            }),
            r#"{"event":"call","argv":["mkfs.xfs"],"exit":null,"stdout":"","stderr":"no","duration_ns":7}"#,
        ),
        (
            Event::Sample(Sample {
                test: test(),
                metric: Metric::Throughput,
                value: 1.5,
            }),
            r#"{"event":"sample","test":"read","metric":"throughput","value":1.5,"unit":"MiB/s","better":"higher"}"#,
        ),
        (
            Event::Sample(Sample {
                test: test(),
                metric: Metric::Seeks,
                value: 2.0,
            }),
            r#"{"event":"sample","test":"read","metric":"iops","value":2.0,"unit":"seeks/s","better":"higher"}"#,
        ),
        (
            Event::Latency(Latency {
                test: test(),
                operation: "open".to_owned(),
                count: 1,
                min_ns: 2,
                p50_ns: 3,
                p90_ns: 4,
                p99_ns: 5,
                p999_ns: 6,
                max_ns: 7,
                histogram_base64: "HIST".to_owned(),
            }),
            r#"{"event":"latency","test":"read","operation":"open","count":1,"min_ns":2,"p50_ns":3,"p90_ns":4,"p99_ns":5,"p999_ns":6,"max_ns":7,"histogram_base64":"HIST"}"#,
        ),
        (
            Event::Guard(Guard {
                name: "cold-cache".to_owned(),
                test: None,
                passed: true,
                detail: "seen".to_owned(),
            }),
            r#"{"event":"guard","name":"cold-cache","test":null,"passed":true,"detail":"seen"}"#,
        ),
        (
            Event::Provenance {
                key: "kernel".to_owned(),
                value: "6.12".to_owned(),
            },
            r#"{"event":"provenance","key":"kernel","value":"6.12"}"#,
        ),
        (
            Event::DiskCounters(DiskCounters {
                disk: "vda".to_owned(),
                counts: [(DiskCounter::Reads, 5), (DiskCounter::BusyNs, 6)].into(),
                contents: Some("b0b".to_owned()),
            }),
            r#"{"event":"disk-counters","disk":"vda","counts":{"reads":5,"busy_ns":6},"contents":"b0b"}"#,
        ),
        (
            Event::TestDisk(TestDisk {
                place: 0,
                node: "sdb".to_owned(),
                properties: Vec::new(),
            }),
            r#"{"event":"test-disk","place":0,"node":"sdb","properties":[]}"#,
        ),
        (
            Event::Load(Load {
                others_processor_percent: 9.5,
                other_disks_mib_per_s: Some(0.25),
                ..Load::default()
            }),
            r#"{"event":"load","others_processor_percent":9.5,"other_disks_mib_per_s":0.25,"pressure_cpu_percent":null,"pressure_io_percent":null,"pressure_memory_percent":null}"#,
        ),
        (
            Event::Processor(ProcessorAccount {
                charged_ns: 9,
                counts: vec![("block".to_owned(), 7)],
                ..ProcessorAccount::default()
            }),
            r#"{"event":"processor","charged_ns":9,"paid_by_another_ns":0,"passed_for_all_ns":0,"waited_for_core_ns":0,"counts":[["block",7]]}"#,
        ),
        (
            Event::Operation(OperationMark {
                number: 3,
                mark: Mark::Returned,
                at_ns: 8,
            }),
            r#"{"event":"operation","number":3,"mark":"returned","at_ns":8}"#,
        ),
        (
            Event::Finding {
                state: 2,
                number: 0,
                finding: Finding {
                    at_ns: 5,
                    seed: 7,
                    kind: FindingKind::NotMountable,
                    detail: "no".to_owned(),
                },
            },
            r#"{"event":"finding","state":2,"number":0,"finding":{"at_ns":5,"seed":7,"kind":"not-mountable","detail":"no"}}"#,
        ),
        (
            Event::Failed(Failure {
                step: "mkfs".to_owned(),
                message: "no room".to_owned(),
            }),
            r#"{"event":"failed","step":"mkfs","message":"no room"}"#,
        ),
        (Event::Done { at_ns: 9 }, r#"{"event":"done","at_ns":9}"#),
    ];
    for (event, line) in lines {
        assert_eq!(serde_json::to_string(&event).expect("plain data"), line);
        assert_eq!(serde_json::from_str::<Event>(line).expect("an event"), event);
    }
}

#[test]
fn a_sample_with_an_unknown_word_is_an_error() {
    let line = r#"{"event":"sample","test":"read","metric":"speed","value":1.5,"unit":"MiB/s","better":"higher"}"#;
    let error = serde_json::from_str::<Event>(line).expect_err("there is no such metric");
    assert!(error.to_string().contains("no metric `speed`"), "{error}");
}
