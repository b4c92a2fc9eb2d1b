//! Outputs that were misread without a word: 130 were imported on 2026-11-29.

use super::*;

/// A terse line of version 3 of a job that read this many KiB in a second.
fn terse(name: &str, kib: u64) -> String {
    let of = |kib: u64, ms: u64| {
        let percentiles = ";50.000000%=43".to_owned() + &";0%=0".repeat(19);
        format!(
            "{kib};{kib};{};{ms}{}{percentiles}{}",
            kib / 4,
            ";0".repeat(8),
            ";0".repeat(9)
        )
    };
    format!(
        "3;fio-3.33;{name};0;0;{};{};1%;2%;3;4;5{}\n",
        of(kib, 1000),
        of(0, 0),
        ";0%".repeat(30)
    )
}

#[test]
fn issue_39_9_terse_lines_of_one_job_are_not_added() {
    let (first, second) = (terse("a", 102_400), terse("a", 51_200));
    let words = refused(&[first.as_str(), &second].concat());
    assert!(
        words.contains("do not say whether jobs of one name ran at the same time"),
        "{words}"
    );
    let all = read(&format!("{first}run 2, 14:02\n{second}")).expect("two runs");
    let found: Vec<_> = all.iter().map(|one| throughput(one, "a")).collect();
    assert_eq!(found, [Some(100.0), Some(50.0)]);
    // A later report of one run, with fio's progress between the two.
    let later = terse("a", 307_200).replace(";1000;", ";3000;");
    let words = refused(&format!("{first}Jobs: 1 (f=1): [r(1)][33.3%]\n{later}"));
    assert!(words.contains("--status-interval"), "{words}");
}

#[test]
fn issue_39_10_one_direction_in_terse_lines_is_that_of_all() {
    let whole = terse("a", 102_400);
    let fields: Vec<&str> = whole.trim().split(';').collect();
    // unified_rw_reporting leaves the second direction out; what follows has shares of latencies.
    let mixed = [&fields[..46], &["0.36%"; 40][..]].concat().join(";");
    assert_eq!(throughput(&one(&mixed), "a"), Some(100.0));
    let trims = terse("t", 0);
    assert!(refused(&trims).contains("no columns for trims"), "{}", refused(&trims));
}

/// IOzone's columns of tests that did not run are not as wide as their headings.
#[test]
fn issue_39_9_iozones_options_say_which_tests_its_figures_are_of() {
    let table = |options: &str, row: &str| {
        format!(
            "\tIozone: Performance Test of File I/O\n\tCommand line used: iozone -s 1m -r 64k {options} -f zf\n\
             {:68}random    random      bkwd     record     stride\n\
             {:14}kB  reclen    write    rewrite      read    reread      read     write      read    rewrite       read    \
             fwrite  frewrite     fread   freread\n            1024      64{row}\n\niozone test complete.\n",
            "", ""
        )
    };
    let blank = |columns: usize| " ".repeat(columns);
    let six = format!("{}2279941   6059442", blank(94));
    let six_and_seven = format!("{six}   8988941   8768716");
    let zero_and_seven = format!("   2206161   5782087{}8593274   9220512", blank(98));
    let tests = |text: &str| -> Vec<String> {
        let foreign = one(text);
        let of = |event: &Event| match event {
            Event::Sample(sample) => Some(sample.test.as_str().to_owned()),
            _ => None,
        };
        foreign.events.iter().filter_map(of).collect()
    };
    assert_eq!(tests(&table("-i 6", &six)), ["fwrite", "frewrite"]);
    assert_eq!(
        tests(&table("-i 6 -i7", &six_and_seven)),
        ["fwrite", "frewrite", "fread", "freread"]
    );
    assert_eq!(
        tests(&table("-i 0 -i 7", &zero_and_seven)),
        ["write", "rewrite", "fread", "freread"]
    );
    let backwards = format!("   2467229   6244448{}7160597", blank(39));
    assert_eq!(
        tests(&table("-i 0 -i 3", &backwards)),
        ["write", "rewrite", "backward-read"]
    );
    // Without the command line nobody can know.
    let unknown = table("-i 6", &six).replace("Command line used", "It was");
    assert!(refused(&unknown).contains("options -i say"), "{}", refused(&unknown));
    // Zeros of -+n are no measurements.
    let once = "   3031444         0  10134284         0   8988941   6650556";
    assert_eq!(
        tests(&table("-a -+n -i 0 -i 1 -i 2", once)),
        ["write", "read", "random-read", "random-write"]
    );
}

#[test]
fn issue_39_9_units_of_1000_are_not_taken_for_those_of_1024() {
    let text = "kb: (groupid=0, jobs=1): err= 0: pid=1: x\n\
                \x20 read: IOPS=7923, BW=31.7MB/s (30.2MiB/s)(31.7MB/1000msec)\nRun status group 0 (all jobs):\n";
    let rate = throughput(&one(text), "kb").expect("a rate");
    assert!((rate - 30.2).abs() < 0.1, "{rate}");
    let of_fio_2 = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n\
                    \x20 read : io=100MB, bw=102400KB/s, iops=25600, runt=  1000msec\nRun status group 0 (all jobs):\n";
    assert_eq!(throughput(&one(of_fio_2), "a"), Some(100.0));
}

#[test]
fn issue_39_9_jobs_that_start_later_are_not_added() {
    let with = |options: &str| job("x", 0, options, (100, 1000), NONE);
    let both = report_at(
        1,
        &[with(r#""rw": "read""#), with(r#""rw": "read", "startdelay": "2""#)],
    );
    let foreign = one(&both);
    assert!(noted(&foreign, "did not start at the same time"), "{:?}", foreign.notes);
    assert_eq!(throughput(&foreign, "x"), Some(100.0));
}

#[test]
fn issue_39_9_clients_of_one_run_are_added_as_in_their_json() {
    let client = "hostname=vm, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1\n";
    let job = |pid: u32| {
        format!(
            "a: (groupid=0, jobs=2): err= 0: pid={pid}: Sun Nov 29 06:31:49 2026\n\
             \x20 read: IOPS=1, BW=50MiB/s (52MB/s)(50MiB/1000msec)\nRun status group 0 (all jobs):\n"
        )
    };
    let text = [client, client, &job(1), &job(2)].concat();
    assert_eq!(throughput(&one(&text), "a"), Some(100.0));
    assert_eq!(read(&[job(1), job(2)].concat()).expect("two runs").len(), 2);
}

#[test]
fn issue_39_9_a_sum_of_which_a_part_cannot_be_read_is_refused() {
    let job = |figures: &str| format!("ng: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: {figures}\n");
    let good = job("IOPS=1, BW=1MiB/s (1MB/s)(10MiB/1000msec)");
    let comma = job("IOPS=2615, BW=10,2MiB/s (10,7MB/s)(10,2MiB/1002msec)");
    let words = refused(&[good.as_str(), &comma].concat());
    assert!(
        words.contains("cannot be added up: the line `read: IOPS=2615"),
        "{words}"
    );
}

#[test]
fn issue_39_9_bonnies_table_of_version_2_has_no_rates_of_files() {
    let heading = |files: &str| {
        format!(
            "Version 2.00a       ------Sequential Create------ --------Random Create--------\n\
             mybox               -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n\
             files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
             {files}  1024  24 +++++ +++  1024   2  1024  42 +++++ +++  1024   2\n"
        )
    };
    let output = "Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-\n\
                  \x20                   -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n\
                  Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
                  mybox            8M  286k  33 +++++ +++ +++++ +++  482k  31 +++++ +++ +++++ +++\n";
    let table = [output, &heading("     1:20000:1000/3")].concat();
    let foreign = one(&table);
    assert_eq!(value(&foreign, "create-seq", Metric::FilesPerSecond), None);
    assert!(noted(&foreign, "prints the number of files"), "{:?}", foreign.notes);
    assert_eq!(foreign.work, "8M 1k files of 20000:1000/3");
    // Quoted as in a mail.
    let quoted: String = table.lines().map(|line| format!("> {line}\n")).collect();
    let quoted = one(&quoted);
    assert_eq!(
        (quoted.machine.as_str(), quoted.work.as_str()),
        ("mybox", "8M 1k files of 20000:1000/3")
    );
    // With -s 0 nothing is left.
    assert!(refused(&heading("                30")).contains("prints the number of files"));
}

#[test]
fn issue_39_9_files_of_several_machines_belong_to_them() {
    let text = "\
1.02b           ------Sequential Output------ --Sequential Input- --Random-
                -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine    Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP
can (v2)   300M  4054  57  5121   2  3549   3  5942  91 10195   3 442.2   4
can (v3)   300M  5965  82  7861   3  2739   2  5437  82  9316   3 675.5   6

                ------Sequential Create------ --------Random Create--------
                -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
          files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP /sec %CP
can (v2)    16    44   0  4316  19    80   0    46   0  4684   8 68   0
can (v3)    16  2104   9  5060  16  2102   8  2149   6  5789  10 1833   6
";
    let all = read(text).expect("two machines");
    let found: Vec<_> = all
        .iter()
        .map(|one| (one.machine.as_str(), value(one, "create-seq", Metric::FilesPerSecond)))
        .collect();
    assert_eq!(found, [("can (v2)", Some(44.0)), ("can (v3)", Some(2104.0))]);
}

#[test]
fn issue_39_10_what_is_wrong_with_a_mail_is_said() {
    let mail =
        "a: (groupid=3D0, jobs=3D1): err=3D 0: pid=3D1: x\n  read: IOPS=3D1, BW=3D1MiB/s (1MB/s)(10MiB/1000msec)\n";
    assert!(refused(mail).contains("quoted-printable"));
}

/// Why the text is refused.
fn refused(text: &str) -> String {
    read(text).expect_err("it is refused")
}

/// Public outputs of 2026 and before: fio printed 17.96 as `17.0`, and 20.99 as `20.0`, in either place.
#[test]
fn issue_39_9_a_carry_that_fio_lost_is_found_by_its_other_figures() {
    let rate = |figures: &str| {
        let job = format!(
            "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: {figures}\nRun status group 0 (all jobs):\n"
        );
        value(&one(&job), "a", Metric::Throughput).expect("a rate")
    };
    for (figures, expected) in [
        ("IOPS=153, BW=613KiB/s (628kB/s)(17.0MiB/30011msec)", 613.0 / 1024.0),
        ("IOPS=314, BW=1259KiB/s (1289kB/s)(21.0MiB/17871msec)", 1259.0 / 1024.0),
        ("IOPS=486, BW=1945KiB/s (1992kB/s)(56.0MiB/30001msec)", 1945.0 / 1024.0),
        // The rate lacks it, and not the amount.
        ("IOPS=20, BW=20.0MiB/s (22.0MB/s)(1260MiB/60030msec)", 1260.0 / 60.030),
        // Three digits of the amount are less than four of the rate.
        ("IOPS=710, BW=2841KiB/s (2909kB/s)(166MiB/60001msec)", 2841.0 / 1024.0),
        // Nothing is odd.
        ("IOPS=12.6k, BW=49.2MiB/s (51.6MB/s)(49.3MiB/1001msec)", 49.3 / 1.001),
    ] {
        let rate = rate(figures);
        assert!(
            (rate / expected - 1.0).abs() < 0.0007,
            "{figures}: {rate} instead of {expected}"
        );
    }
}

/// Notes of an administrator: what other runs printed stood below, without the first lines of their jobs.
#[test]
fn issue_39_9_figures_without_their_job_are_not_those_of_the_last_one() {
    let job = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=14.7k, BW=57.5MiB/s (60.3MB/s)(1150MiB/20000msec)\n";
    let summary = "Run status group 0 (all jobs):\n   READ: bw=57.5MiB/s (60.3MB/s), io=1150MiB (1206MB)\n";
    let bare = "# fio --name=a --rw=write\n  write: IOPS=4440, BW=17.3MiB/s (18.2MB/s)(1041MiB/60001msec)\n";
    let clat = "    clat percentiles (usec):\n     | 99.00th=[  900], 99.90th=[ 1000]\n";
    let with = |parts: &[&str]| one(&parts.concat());
    for parts in [
        &[job, summary, bare, clat] as &[&str],
        &[bare, clat, job, summary],
        &[
            job,
            "  read: IOPS=3236, BW=12.6MiB/s (13.3MB/s)(758MiB/60004msec)\n",
            clat,
            summary,
        ],
        &[
            job,
            "     issued rwts: total=294121,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n",
            "  write: IOPS=4440, BW=17.3MiB/s (18.2MB/s)(1041MiB/60001msec)\n",
            clat,
            summary,
        ],
    ] {
        let foreign = with(parts);
        assert_eq!(throughput(&foreign, "a"), Some(57.5), "{parts:?}");
        assert_eq!(value(&foreign, "a", Metric::LatencyP99), None, "{parts:?}");
        assert!(
            noted(&foreign, "left out: a line of reads or writes without its job"),
            "{:?}",
            foreign.notes
        );
    }
    let alone = with(&[job, summary, summary]);
    assert!(
        noted(&alone, "left out: a summary without its job"),
        "{:?}",
        alone.notes
    );
    assert!(with(&[job, summary]).notes.is_empty());
}

/// For etcd and write-ahead logs it is the figure that matters.
#[test]
fn issue_39_9_latencies_of_fsync_are_a_test_of_their_own() {
    let text = "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  write: IOPS=100, BW=10MiB/s (10.5MB/s)(100MiB/10000msec)\n\
                \x20   clat percentiles (usec):\n     | 99.00th=[  490]\n  fsync/fdatasync/sync_file_range:\n\
                \x20   sync (usec): min=172, max=318970, avg=6442.63, stdev=5924.07\n    sync percentiles (msec):\n\
                \x20    | 50.00th=[    6], 99.00th=[   18], 99.90th=[   27]\nRun status group 0 (all jobs):\n";
    let foreign = one(text);
    assert_eq!(value(&foreign, "a", Metric::LatencyP99), Some(0.49));
    assert_eq!(value(&foreign, "fsync", Metric::LatencyP99), Some(18.0));
    assert!(foreign.notes.is_empty(), "{:?}", foreign.notes);
    let (job, summary) = text.split_once("Run").expect("a summary");
    let two = one(&format!("{job}{}Run{summary}", job.replace("pid=1", "pid=2")));
    assert_eq!(value(&two, "fsync", Metric::LatencyP99), None);
    assert!(
        noted(&two, "percentiles of the 2 jobs of `fsync` are left out"),
        "{:?}",
        two.notes
    );
}

/// A page of a vendor of 2008: four runs in one table, and their files below it.
#[test]
fn issue_39_9_rows_of_files_belong_to_the_runs_in_their_order() {
    let head = "Version 1.03b       ------Sequential Output------ --Sequential Input- --Random-\n\
                \x20                   -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n\
                Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n";
    let run =
        |rate: u32| format!("box             32G           {rate}  74 138283 18           498077  28 657.3   2\n");
    let files = "                    ------Sequential Create------ --------Random Create--------\n\
                 \x20                   -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n\
                 \x20             files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n";
    let row =
        |rate: u32| format!("                 16 {rate}  81 +++++ +++ 19658  65 20351  73 +++++ +++ 17767  71\n");
    let created = |text: &str| -> Vec<Option<f64>> {
        let all = read(text).expect("runs");
        all.iter()
            .map(|one| value(one, "create-seq", Metric::FilesPerSecond))
            .collect()
    };
    let runs: String = [648_269, 112_072, 166_892].map(run).concat();
    let three: String = [22_899, 18_945, 11_241].map(row).concat();
    let table = [head, &runs, files, &three].concat();
    assert_eq!(created(&table), [22_899.0, 18_945.0, 11_241.0].map(Some));
    assert_eq!(
        created(&[head, &runs, files, &row(22_899)].concat()),
        [None, None, Some(22_899.0)]
    );
    let two: String = [22_899, 18_945].map(row).concat();
    let unknown = [head, &runs, files, &two].concat();
    assert_eq!(created(&unknown), [None; 3]);
    assert!(noted(
        &read(&unknown).expect("runs")[0],
        "which run they are of is not known"
    ));
    assert_eq!(created(&[&*table, &table].concat()).len(), 6);
}

#[test]
fn issue_39_9_rows_of_iozone_may_have_a_label_and_nothing_is_left_out_in_silence() {
    let head = "              KB  reclen   write rewrite    read    reread\n";
    let text = format!(
        "{head}r0       5242880       4  904018  880332  2736581  2669745\n\
                        r1       5242880       4  117291       0  2719852  2660119\niozone test complete.\n"
    );
    let all = read(&text).expect("two rows");
    let machines: Vec<&str> = all.iter().map(|one| one.machine.as_str()).collect();
    assert_eq!(machines, ["r0", "r1"]);
    assert_eq!(throughput(&all[0], "write"), Some(882.8));
    assert!(noted(&all[0], "0 for rewrite is left out"), "{:?}", all[0].notes);
    let odd = format!(
        "{head}         5242880       4  904018  880332  2736581  2669745\n\
                       on r1    5242880       4  117291  120935\niozone test complete.\n"
    );
    assert!(noted(&one(&odd), "line 3 is left out"), "{:?}", one(&odd).notes);
}
