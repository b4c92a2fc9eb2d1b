//! Outputs as people paste them: in logs, mails and articles.

use super::*;

/// Logs of CI systems and containers have a time or a name before each line.
#[test]
fn issue_39_10_output_in_a_log_is_read_as_if_it_were_alone() {
    let text = "\
v: (g=0): rw=randwrite, bs=(R) 4096B-4096B, ioengine=spdk_bdev, iodepth=8
fio-3.28

v: (groupid=0, jobs=4): err= 0: pid=712978: Wed Mar 15 14:44:17 2023
  read: IOPS=1023k, BW=3996MiB/s (4191MB/s)(935MiB/234msec)
  write: IOPS=26.1k, BW=102MiB/s (107MB/s)(1000MiB/10000msec); 0 zone resets

Run status group 0 (all jobs):
";
    let json = report_at(1, &[job("v", 0, r#""rw": "write""#, NONE, (1000, 10_000))]).replace(", ", ",\n  ");
    for before in [
        "00:14:33.770  ",
        "2024-05-14T09:12:10.1234567Z ",
        "fio-client-1  | ",
        "[pod/fio-tkx9r/fio] ",
        "May 14 09:12:10 rig fio[2211]: ",
        "\u{1b}[36m",
    ] {
        for output in [text, &json] {
            let log: String = output.lines().map(|line| format!("{before}{line}\r\n")).collect();
            let foreign = one(&log);
            assert_eq!(throughput(&foreign, "v"), Some(100.0), "{before}");
            assert_eq!(throughput(&foreign, "read"), None, "{before}");
        }
    }
}

#[test]
fn issue_39_10_a_sum_over_clients_that_stands_alone_is_read_with_a_note() {
    let sum = "All clients: (groupid=0, jobs=3): err= 0: pid=0: Tue Jul 12 18:52:21 2022\n\
               \x20 read: IOPS=29.5k, BW=7375Mi (7733M)(1000MiB/10000msec)\n";
    let foreign = one(sum);
    assert_eq!(throughput(&foreign, "All clients"), Some(100.0));
    assert!(noted(&foreign, "one after the other"), "{:?}", foreign.notes);
    // It is printed after the summary of the clients.
    let client = sum.replace("All clients", "<h1> a");
    let foreign = one(&format!("{client}Run status group 0 (all jobs):\n{sum}"));
    assert_eq!(throughput(&foreign, "All clients"), None);
    assert!(noted(&foreign, "left out"), "{:?}", foreign.notes);
}

#[test]
fn issue_39_10_text_that_was_cut_off_says_so() {
    let cut = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=1, BW=10MiB/s (10MB/s)(10MiB/1000msec)\n";
    assert!(noted(&one(cut), "Run status group"));
    assert!(one(&format!("{cut}Run status group 0 (all jobs):\n")).notes.is_empty());
}

#[test]
fn issue_39_10_results_of_all_programs_in_a_text_are_read() {
    let fio = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=1, BW=1MiB/s (1MB/s)(10MiB/1000msec)\n";
    let iozone = "Children see throughput for 2 readers = 2048.00 kB/sec\niozone test complete.\n";
    let bonnie = "\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
rig              2G 30641  71 28554   8 16580   3 29447  61 50313   5 185.9   0
";
    let all = read(&[fio, iozone, bonnie].concat()).expect("results");
    assert_eq!(
        all.iter().map(|one| one.program).collect::<Vec<_>>(),
        ["fio", "IOzone", "Bonnie++"]
    );
    let json = report_at(1, &[job("a", 0, "", (100, 1000), NONE)]);
    assert!(noted(&one(&format!("{json}\n{fio}")), "default output is left out"));
}

#[test]
fn issue_39_10_iozone_of_several_machines_is_not_added() {
    let text = "\
10.0.0.11:      Children see throughput for  1 initial writers  =  1024.00 kB/sec
10.0.0.7:       Children see throughput for  1 initial writers  =  2048.00 kB/sec
";
    let all = read(text).expect("lines");
    let found: Vec<(&str, Option<f64>)> = all
        .iter()
        .map(|one| (one.machine.as_str(), throughput(one, "write")))
        .collect();
    assert_eq!(found, [("10.0.0.11", Some(1.0)), ("10.0.0.7", Some(2.0))]);
    assert!(all.iter().all(|one| one.work == "1 process"));
    let sizes = "Each process writes a 512 kByte file in 4 kByte records\n\
                 >> \tChildren see throughput for 2 readers = 1024.00 kB/sec\n";
    assert_eq!(one(sizes).work, "2 processes 512K 4K");
}

/// The only figures of such a table were those of its first test, `write`.
#[test]
fn issue_39_10_a_column_of_an_iozone_table_is_known_by_its_heading() {
    let table = |heading: &str| {
        format!("              kB  reclen {heading}\n              64       4    1024 \niozone test complete.\n")
    };
    let foreign = one(&table("  fread"));
    assert_eq!(
        ["fread", "write"].map(|test| throughput(&foreign, test)),
        [Some(1.0), None]
    );
    let error = read(&table("   read")).expect_err("one of four");
    assert!(error.contains("`read` is not known"), "{error}");
}

#[test]
fn issue_39_10_iozone_with_figures_that_are_no_rates_is_refused() {
    let report = "\"Writer report\"\n        \"4\"\n\"1048576\"   2102 \n";
    for (before, words) in [
        ("./iozone -i 0 -w -c -O -I -r 4k -s 1g", "`-O`"),
        ("$ iozone -aN", "`-aN`"),
        ("Performance measurements are invalid in this mode.", "-+d"),
    ] {
        let error = read(&format!("{before}\n{report}")).expect_err(before);
        assert!(error.contains("IOzone") && error.contains(words), "{error}");
    }
    let sound = "/opt/iozone -azR -i 0 -f /mnt/NO -bON.xls -+n\n";
    assert_eq!(throughput(&one(&format!("{sound}{report}")), "write"), Some(2.1));
}

#[test]
fn issue_39_10_bonnie_as_people_paste_it() {
    let line = "1.96,1.96,d,1,1373282064,24G,,521,99,192435,27,106363,15,2691,98,446441,27,1067,43,16,,,,,23295,46,\
                +++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,16070us,454ms,174ms,14736us,98188us,30739us,5985us,\
                563us,583us,960us,32us,259us";
    // Instructions repeat it.
    let first = one(&format!("{line}\n  echo \"{line}\" | bon_csv2html\n"));
    assert_eq!((first.machine.as_str(), first.work.as_str()), ("d", "24G"));
    // A row without a machine, below a heading that lost its alignment.
    let table = "\
     ------Sequential Output------ --Sequential Input- --Random-
Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP
  4G 93865  99 312837  96 194487  23 102808  97 415501 21 +++++ +++

and the S905D3 VIM3L version:
";
    let foreign = one(table);
    assert_eq!(
        (foreign.work.as_str(), throughput(&foreign, "read")),
        ("4G", Some(405.8))
    );
    for (text, words) in [
        (table.replace(" /sec", "\n/sec"), "wrapped"),
        (
            "a,1G,3800,99,11114,22,4910,7,3632,92,17681,10,105.9,0,1\n6,484,98,+++++,+++,15714,86,518,98"
                .to_owned(),
            "wrapped",
        ),
        (table.lines().collect(), "joined"),
    ] {
        let error = read(&text).expect_err(&text);
        assert!(error.contains("Bonnie++") && error.contains(words), "{error}");
    }
}

#[test]
fn issue_39_10_parts_of_an_output_are_refused_by_name() {
    for (text, words) in [
        (
            "  trim: IOPS=21.6k, BW=84.4MiB/s (88.5MB/s)(847MiB/10036msec)",
            "part of fio's output",
        ),
        (
            "< a: (groupid=0, jobs=1): err= 0: pid=3265: x\n---\n",
            "without a line of reads",
        ),
        ("},\n \"clat_ns\" : { \"min\" : 1 } } ] }", "part of fio's JSON"),
        (
            r#"{"fio version": "fio-3", "jobs": [{"jobname": "a", "read": {"bw": 1, "iops": 1}}]}"#,
            "no `runtime`",
        ),
        (
            "r: (groupid=0, jobs=1): err= 5 (file:io_u.c:1708): pid=1: x",
            "report of fio, but its job `r` failed",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(words), "{error}");
    }
}

/// `iozone -t 1 -R`, of which the report for Excel is kept.
#[test]
fn issue_39_10_iozones_report_for_excel_of_throughput_mode_is_read() {
    let report =
        "\"  Initial write \"  1024.00 \n\n\"        Rewrite \"   2048.00 \n\"         Pwrite \"    1.00 \n";
    let foreign = one(report);
    assert_eq!(
        ["write", "rewrite"].map(|test| throughput(&foreign, test)),
        [Some(1.0), Some(2.0)]
    );
    assert!(noted(&foreign, "`pwrite`") && noted(&foreign, "how many processes"));
    // Two runs side by side, in a mail.
    let two = read("> \"  Initial write \"   1024.00    2048.00\n").expect("two");
    let found: Vec<(&str, Option<f64>)> = two
        .iter()
        .map(|one| (one.work.as_str(), throughput(one, "write")))
        .collect();
    assert_eq!(found, [("column 1", Some(1.0)), ("column 2", Some(2.0))]);
    // With the lines before it, it is a repetition.
    let children = "Children see throughput for 2 initial writers = 1024.00 kB/sec\n";
    assert_eq!(one(&format!("{children}{report}")).work, "2 processes");
}

/// Sums of two runs, of one client file each, were added.
#[test]
fn issue_39_9_sums_over_clients_of_two_runs_are_not_added() {
    let sum = |time: &str, mib: u32| {
        format!(
            "All clients: (groupid=0, jobs=12): err= 0: pid=0: Tue Aug 18 {time} 2020\n\
             \x20 read: IOPS=1k, BW=1Mi (1M)({mib}MiB/10000msec)\n"
        )
    };
    for second in ["06:57:32", "06:53:30"] {
        let all = read(&[sum("06:53:30", 1000), sum(second, 3000)].concat()).expect("runs");
        let found: Vec<Option<f64>> = all.iter().map(|run| throughput(run, "All clients")).collect();
        assert_eq!(found, [Some(100.0), Some(300.0)], "{second}");
    }
}

#[test]
fn issue_39_10_a_line_of_figures_that_was_changed_or_cut_off_is_named() {
    let job = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n";
    let odd = "  write: IOPS=487, BW=487MiB/s (511MB/s), mint=20974msec\n";
    let error = read(&format!("{job}{odd}")).expect_err("no figure");
    assert!(error.contains("`write: IOPS=487"), "{error}");
    let sound = "  read: IOPS=1, BW=1MiB/s (1MB/s)(10MiB/1000msec)\n";
    // The reads alone would be taken for the whole job.
    let error = read(&format!("{job}{sound}{odd}")).expect_err("half of a job");
    assert!(error.contains("`write: IOPS=487"), "{error}");
    let other = job.replace("a:", "b:");
    assert!(noted(&one(&format!("{other}{sound}{job}{odd}")), "`write: IOPS=487"));
}

/// `1,024MB` was one byte.
#[test]
fn issue_39_10_thousands_of_fio_1_are_not_cut_off() {
    let text = "a: (groupid=0, jobs=1): err= 0: pid=1\n  write: io=1,024MB, bw=104,857KB/s, iops=26,214 , runt= 10,240msec\n";
    let foreign = one(text);
    assert_eq!(throughput(&foreign, "a"), Some(100.0));
    assert_eq!(value(&foreign, "a", Metric::Iops).map(f64::round), Some(26214.0));
}

#[test]
fn issue_39_9_a_job_that_was_limited_is_named() {
    let limited = job("a", 0, r#""rw": "randwrite", "rate_iops": "300""#, NONE, (4, 1000));
    assert!(noted(&one(&report_at(1, &[limited])), "rate_iops=300"));
}

/// They were read as one job `x`, and added.
#[test]
fn a_bar_in_names_of_jobs_is_no_container_of_a_log() {
    let job = |name: &str, pid: u32, kib: u32| {
        format!(
            "{name}: (groupid=0, jobs=1): err= 0: pid={pid}: Fri Nov 27 22:16:38 2026\n\
             \x20 read: IOPS={}, BW={kib}KiB/s ({kib}kB/s)({kib}KiB/1000msec)\n",
            kib / 4
        )
    };
    let heading =
        |name: &str, rw: &str| format!("{name}: (g=0): rw={rw}, bs=4K-4K/4K-4K, ioengine=libaio, iodepth=1\n");
    let text = [
        heading("seq | x", "read"),
        heading("rand | x", "randread"),
        "fio-3.33\n\n".to_owned(),
        job("seq | x", 1, 400),
        job("rand | x", 2, 1200),
        "\nRun status group 0 (all jobs):\n".to_owned(),
    ]
    .concat();
    let log: String = text.lines().map(|line| format!("fio-1  | {line}\n")).collect();
    for text in [text, log] {
        let foreign = one(&text);
        let iops = ["seq | x", "rand | x"].map(|test| value(&foreign, test, Metric::Iops));
        assert_eq!(iops, [Some(100.0), Some(300.0)], "{text}");
        let of = |key: &str| foreign.settings.get(key).map(String::as_str);
        assert_eq!([of("seq | x rw"), of("rand | x rw")], ["read", "randread"].map(Some));
    }
}
