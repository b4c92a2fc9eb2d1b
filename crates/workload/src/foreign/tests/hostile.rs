//! Files that nobody measured.

use super::read;

fn job(name: &str, runtime: &str, bins: &str) -> String {
    format!(
        r#"{{"jobname": "{name}", "error": 0, "write": {{"io_bytes": 0}}, "read": {{"io_bytes": 1048576, "runtime": {runtime}, "total_ios": 256, "clat_ns": {{"N": 256, "bins": {{{bins}}}}}}}}}"#
    )
}

fn fio(jobs: &[String]) -> String {
    format!(r#"{{"fio version": "fio-3.33", "jobs": [{}]}}"#, jobs.join(","))
}

#[test]
fn issue_39_18_figures_that_no_job_can_have_are_refused() {
    assert!(read(&fio(&[job("a", "1000", r#""5000": 256"#)])).is_ok());
    for (runtime, bins) in [
        ("1e300", r#""5000": 256"#),
        ("-5", r#""5000": 256"#),
        ("1000", r#""5000": 18446744073709551615"#),
        ("1000", r#""5000": 9223372036854775807, "6000": 9223372036854775807"#),
        // The latency became 3601 s.
        ("1000", r#""18446744073709551615": 100, "1": 1"#),
    ] {
        let said = read(&fio(&[job("a", runtime, bins)]));
        assert!(
            said.as_ref().is_err_and(|error| error.contains("`a`")),
            "{runtime} {bins}: {said:?}"
        );
    }
    let huge = r#""5000": 18446744073709551000"#;
    assert!(read(&fio(&[job("a", "1000", huge), job("a", "1000", huge)])).is_err());
}

/// `Größe der Datei` ended in a panic: a letter of two bytes where a journal has the day.
#[test]
fn issue_39_18_any_letters_can_stand_around_a_report() {
    let report = fio(&[job("a", "1000", r#""5000": 256"#)]);
    for words in [
        "Größe der Datei",
        "Ääääääää",
        "Ménage à trois",
        "日本語のログ",
        "A🦀🦀🦀",
    ] {
        assert!(read(&format!("{words}\n{report}\n{words}\n")).is_ok(), "{words}");
        assert!(read(&format!("{words}\n")).is_err());
    }
}

/// 693 KB of lines without a test of raidlab's became 9 GiB: each of thousands of results had the notes of all.
#[test]
fn issue_39_18_a_note_is_kept_once() {
    let mut text = String::new();
    for number in 0..3000 {
        text.push_str(&format!(
            "\tEach process writes a {} kByte file in 4 kByte records\n",
            number + 1
        ));
        text.push_str("\tChildren see throughput for  1 initial writers \t=  100.00 kB/sec\n");
        text.push_str(&format!(
            "\tChildren see throughput for  1 odd{number} writers \t=  100.00 kB/sec\n"
        ));
    }
    let results = read(&text).expect("results");
    assert_eq!(results.len(), 3000);
    let kept: usize = results.iter().flat_map(|result| &result.notes).map(String::len).sum();
    assert!(kept < 10 << 20, "{kept} bytes of notes");
}

#[test]
fn issue_39_10_a_rate_of_iozone_is_not_negative() {
    for figure in ["-5", "inf", "NaN"] {
        let said = read(&format!("\"  Initial write \"  {figure}\niozone test complete.\n"));
        assert!(said.is_err(), "{figure}: {said:?}");
    }
}

/// `inf`, `-4` and 99,999,999,999 became 18,446,744,073,709,551,615, 0 and 1.
#[test]
fn sizes_and_numbers_of_iozone_that_are_none_are_refused() {
    let excel = |file: &str, record: &str, rate: &str| {
        format!("\"Writer report\"\n        \"{record}\"\n\"{file}\"   {rate}\n\niozone test complete.\n")
    };
    assert!(read(&excel("64", "4", "100")).is_ok());
    for (file, record, rate) in [
        ("inf", "4", "100"),
        ("64", "-4", "100"),
        ("64", "nan", "100"),
        ("64", "1e300", "100"),
        ("64.5", "4", "100"),
        ("64", "4", "1e17"),
    ] {
        let said = read(&excel(file, record, rate)).map(|all| all.len());
        assert!(said.is_err(), "{file} {record} {rate}: {said:?}");
    }
    for text in [
        "              KB  reclen   write\n          18446744073709551615       4   52588\niozone test complete.\n",
        "Children see throughput for 99999999999 readers = 3 kB/sec\niozone test complete.\n",
    ] {
        let said = read(text).map(|all| all.len());
        assert!(said.is_err(), "{said:?}");
    }
}

#[test]
fn a_rate_of_bonnie_that_nothing_has_is_refused() {
    let line = "rig,2G,25684,81,30672,14,15186,7,27044,76,44331,10,176.8,0,16,2461,98,+++++,+++,18362,88,2519,98,+++++,+++,5963,92";
    assert!(read(line).is_ok());
    for number in ["1e308", "inf", "-1"] {
        for (column, odd) in [("30672", number.to_owned()), (",14,", format!(",{number},"))] {
            let odd = line.replace(column, &odd);
            let error = read(&odd).map(|all| all.len()).expect_err(&odd);
            assert!(error.contains(&format!("`{number}`")), "{error}");
        }
    }
    let new = "1.98,2.00a,m,1,7,64M,,8192,5,48,20,+++++,+++,+++++,+++,44,16,+++++,+++,6668,70,1,,,,,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,850ms,2840us,12148us,454ms,6330us,210ms,3445us,4284us,4375us,7586us,4300us,3760us";
    assert!(read(new).is_ok());
    assert!(read(&new.replace("850ms", "18446744073709551615s")).is_err());
}

fn text(error: &str, figures: &str) -> String {
    format!(
        "a: (groupid=0, jobs=1): err={error}: pid=1: Fri Nov 27 22:16:38 2026\n  {figures}\n\nRun status group 0 (all jobs):\n"
    )
}

/// 2^32 became 0: a job that failed was one that did not.
#[test]
fn a_number_of_an_error_that_is_too_large_is_none() {
    let figures = "read: IOPS=100, BW=400KiB/s (410kB/s)(400KiB/1000msec)";
    assert!(read(&text(" 0", figures)).is_ok());
    for number in ["4294967296", "18446744073709551615"] {
        let error = read(&text(number, figures)).map(|all| all.len()).expect_err(number);
        assert!(error.contains("its job `a` failed"), "{error}");
    }
    let values = ["1"; 129].join(";");
    for (number, words) in [("4294967296", "failed"), ("nan", "not an error's number")] {
        let said = read(&format!("3;f;a;0;{number};{values}\n")).map(|all| all.len());
        assert!(said.as_ref().is_err_and(|error| error.contains(words)), "{said:?}");
    }
}

#[test]
fn a_line_of_fio_that_contradicts_itself_is_not_taken_for_sound() {
    let error = read(&text(" 0", "read: IOPS=100, BW=999MiB/s (1GB/s)(400KiB/1000msec)")).map(|all| all.len());
    assert!(
        error
            .as_ref()
            .is_err_and(|error| error.contains("not as fio prints it")),
        "{error:?}"
    );
    let notes = |figures: &str| read(&text(" 0", figures)).expect(figures).remove(0).notes.join("; ");
    let words = "the rate of read of `a` is not its amount of data in its time";
    assert!(notes("read: IOPS=100, BW=800KiB/s (820kB/s)(400KiB/1000msec)").contains(words));
    for sound in [
        "read: IOPS=100, BW=400KiB/s (410kB/s)(400KiB/1000msec)",
        // unit_base=1.
        "read: IOPS=100, BW=3200Kib/s (3277kb/s)(400KiB/1000msec)",
        "read: IOPS=0, BW=0B/s (0B/s)(0B/60001msec)",
        "read : io=4096.0B, bw=69B/s, iops=0, runt= 59001msec",
        "read : io=4KB, bw=0KB/s, iops=0, runt= 60000msec",
        "read : io=1,024MB, bw=104,857KB/s, iops=26,214 , runt= 10,240msec",
        "read: IOPS=153, BW=613KiB/s (628kB/s)(17.0MiB/30011msec)",
    ] {
        let said = read(&text(" 0", sound)).map(|mut all| all.remove(0).notes);
        let is_silent = said
            .as_ref()
            .map_or_else(|error| error.contains("no job moved any data"), Vec::is_empty);
        assert!(is_silent, "{sound}: {said:?}");
    }
}

#[test]
fn issue_39_18_a_name_is_no_formula() {
    for name in ["=cmd|'/c calc'!A0", "+1", "-1", "@SUM(1)"] {
        let said = read(&fio(&[job(name, "1000", r#""5000": 256"#)]));
        assert!(said.as_ref().is_err_and(|error| error.contains("formula")), "{said:?}");
    }
}

/// The outer value is no report, and ends where the report in it does: a run was imported without it and without a word.
#[test]
fn a_broken_report_in_a_broken_value_is_named() {
    let text = r#"{"results":[{"fio version":"fio-3.36","jobs":[{"jobname":"a","#;
    let said = read(text).unwrap_err().to_string();
    assert!(said.contains("whose JSON is broken near line 1"), "{said}");
}

/// 250 KB took 38 s: each open brace was read to the end of the text. These texts would have taken hours.
#[test]
fn braces_that_nobody_closes_are_read_in_linear_time() {
    const REPORT: &str = r#"{"fio version":"x","jobs":["#;
    for part in [r#"{"a":"#, "{", "{ ", REPORT, r#"{"a":1,"b":"{","c":"#, "{\"a\":\n"] {
        let text = part.repeat((2 << 20) / part.len());
        let error = read(&text).expect_err(part);
        assert_eq!(error.contains("ends too early"), part == REPORT, "{part}: {error}");
    }
}

/// The report was lost, or found twice, if the search went on at a wrong brace.
#[test]
fn a_report_is_found_behind_and_in_json_that_is_broken() {
    let report = fio(&[job("a", "1000", r#""5000": 256"#)]);
    let string = report.replace('"', "\\\"");
    for text in [
        format!("{{\n{report}"),
        format!("{{{{{report}"),
        format!(r#"{{"a":{{"b":[{report}"#),
        format!("{{\"a\":\n{{\"b\":\n{{}}, {report}, x {{"),
        format!("{{\"a\":{{x{report}}}"),
        format!("{{\"a\":{report} {{words}}"),
        format!(r#"{{"a":{{"fio version":"x","jobs":[{{"b":"}}\"{{", "c":{report}"#),
        format!(r#"{{"jobs":[{{"jobs":{{"a":"{string}"}}}}]}}"#),
        format!(r#"{{"a": "{{\"", "b": {report}, ]"#),
    ] {
        let found = read(&text).map(|found| found.len());
        assert_eq!(found, Ok(1), "{text}");
    }
}

/// Each level began with a new limit of depth, until the stack was full.
#[test]
fn jobs_in_jobs_do_not_fill_the_stack() {
    for open in ["{\"jobs\":", "{\"a\":"] {
        let levels = 100_000;
        let text = format!("{}1{}", open.repeat(levels), "}".repeat(levels));
        assert!(read(&text).is_err(), "{open}");
    }
}

/// The runs behind a value that serde_json does not read were lost: without a word.
#[test]
fn a_report_behind_a_value_that_cannot_be_read_is_not_lost_in_silence() {
    let report = fio(&[job("a", "1000", r#""5000": 256"#)]);
    let deep = ["[".repeat(130), "]".repeat(130)].concat();
    for value in ["1e999", r#""\ud83d""#, &deep] {
        for text in [
            format!(r#"{{"r":[{report},{value},{report}]}}"#),
            format!(r#"{{"log":{value},"r":[{report}]}}"#),
            report.replacen('{', &format!(r#"{{"global options":{value},"#), 1),
        ] {
            let said = read(&text).map(|all| all.len());
            assert!(
                said.as_ref()
                    .is_err_and(|error| error.contains("cannot be read to its end")),
                "{value}: {said:?}"
            );
        }
        // It has no report.
        let behind_it = format!("{{\"log\":{value}}}\n{report}");
        assert_eq!(read(&behind_it).map(|all| all.len()), Ok(1), "{value}");
    }
}

/// The first `jobs` were left out without a word.
#[test]
fn jobs_that_an_object_has_twice_are_refused() {
    let report = fio(&[job("a", "1000", r#""5000": 256"#)]);
    let jobs = job("b", "1000", r#""5000": 256"#);
    for key in ["jobs", "client_stats"] {
        let twice = report.replacen('{', &format!(r#"{{"{key}":[{jobs}],"{key}":[{jobs}],"#), 1);
        let said = read(&twice).map(|all| all.len());
        let words = format!("`{key}` twice");
        assert!(said.as_ref().is_err_and(|error| error.contains(&words)), "{said:?}");
    }
    let other = format!(r#"{{"jobs":1,"jobs":2,"r":{report}}}"#);
    assert_eq!(read(&other).map(|all| all.len()), Ok(1));
}

/// It was left out without a word, as was one in too many strings.
#[test]
fn a_broken_report_next_to_a_sound_one_is_named() {
    let report = fio(&[job("a", "1000", r#""5000": 256"#)]);
    let all = read(&format!("{report}\n{}", &report[..report.len() - 9])).expect("one report");
    assert_eq!(all.len(), 1);
    let notes = all[0].notes.join("; ");
    assert!(
        notes.contains("left out: a report of fio whose JSON is broken near line 2"),
        "{notes}"
    );
    let mut nested = report.clone();
    for levels in 1..=6 {
        nested = format!(r#"{{"log":{}}}"#, serde_json::Value::from(nested));
        let found = read(&nested).ok().map(|all| all.len());
        assert_eq!(found, (levels <= 4).then_some(1), "{levels} levels");
    }
    let said = read(&format!("{nested}\n{report}")).map(|all| all.len());
    assert!(
        said.as_ref().is_err_and(|error| error.contains("in too many strings")),
        "{said:?}"
    );
}

/// `disk: nano` became `disk: 0o`.
#[test]
fn a_name_with_nan_or_inf_is_not_changed() {
    for name in ["disk: nano", "flash:nand", "a: nan, b: -inf}", "say: inf"] {
        let jobs = [job(name, "1000", r#""5000": 256"#)];
        let report = fio(&jobs).replacen("\"runtime\"", "\"bw_mean\": -nan, \"bw_dev\" : nan, \"runtime\"", 1);
        let in_string = format!(r#"{{"log":{}}}"#, serde_json::Value::from(report.clone()));
        for text in [report.clone(), in_string, format!("a disk of 3.5\" {report}")] {
            let all = read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(super::throughput(&all[0], name), Some(1.0), "{text}");
        }
    }
}

/// Each took minutes: a job was compared with all before it.
#[test]
fn many_jobs_are_read_in_linear_time() {
    const JOBS: u64 = 90_000;
    let timed = |text: &str| {
        let begin = std::time::Instant::now();
        let said = read(text);
        assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
        said
    };
    let mut starts = String::new();
    for number in 0..JOBS {
        let start = number * 10;
        starts.push_str(&format!(
            r#"{{"jobname":"a","job_start":{start},"read":{{"io_bytes":9,"runtime":2,"bw":1}}}},"#
        ));
    }
    let starts = format!(r#"{{"fio version":"x","jobs":[{}]}}"#, starts.trim_end_matches(','));
    assert_eq!(timed(&starts).map(|all| all[0].notes.len()), Ok(1));
    let values = ["1"; 129].join(";");
    let terse: String = (0..60_000).map(|job| format!("3;f;a{job};0;0;{values}\n")).collect();
    assert_eq!(timed(&terse).map(|all| all.len()), Ok(1));
    let unread: String = (0..JOBS)
        .map(|job| format!("a{job}: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=x\n"))
        .collect();
    let error = timed(&unread).expect_err("no figure");
    assert!(
        error.len() < 3000 && error.contains("and 89980 more of this kind"),
        "{error}"
    );
}

/// 20 notes of one kind hid those of another.
#[test]
fn notes_of_each_kind_are_kept() {
    let mut jobs: Vec<String> = (0..30).map(|number| job(&format!("a{number}"), "1000", "")).collect();
    for job in &mut jobs {
        *job = job.replacen('{', r#"{"job options": {"rate": "1m"}, "#, 1);
    }
    jobs.push(job("b", "0", ""));
    let notes = read(&fio(&jobs)).expect("jobs").remove(0).notes;
    assert_eq!(notes.len(), 22, "{notes:?}");
    assert!(
        notes.iter().any(|note| note.contains("less than a millisecond")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note == "and 10 more of this kind"), "{notes:?}");
}

/// A time that no clock shows was an overflow.
#[test]
fn a_report_of_an_impossible_time_is_read() {
    let report = fio(&[job("a", "1000", r#""5000": 256"#)]);
    for key in ["timestamp", "timestamp_ms"] {
        let text = report.replacen('{', &format!(r#"{{"{key}": {},"#, u64::MAX), 1);
        assert_eq!(read(&text).map(|all| all.len()), Ok(1), "{key}");
    }
}

/// Each job had all options of all jobs: a file of 30 MB took 30 GB.
#[test]
fn long_options_of_all_jobs_are_not_stored_with_each() {
    let long = "9".repeat(1 << 20);
    let jobs: Vec<String> = (0..10_000)
        .map(|number| job(&format!("a{number}"), "1000", ""))
        .collect();
    let global = format!(r#"{{"global options": {{"size": "{long}", "description": "{long}", "rw": "read"}}, "#);
    let settings = read(&fio(&jobs).replacen('{', &global, 1))
        .expect("jobs")
        .remove(0)
        .settings;
    let bytes: usize = settings.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(bytes < 4 << 20, "{bytes}");
    assert_eq!(settings.get("a7 rw").map(String::as_str), Some("read"));
}

/// An option of 3 MB was repeated whole.
#[test]
fn a_note_does_not_repeat_a_long_value() {
    let long = "9".repeat(3 << 20);
    let limited = job("a", "1000", "").replacen('{', &format!(r#"{{"job options": {{"rate": "{long}"}}, "#), 1);
    let notes = read(&fio(&[limited])).expect("a job").remove(0).notes;
    assert!(
        notes.concat().len() < 1000 && notes[0].contains("it could have done more"),
        "{}",
        notes.len()
    );
}
