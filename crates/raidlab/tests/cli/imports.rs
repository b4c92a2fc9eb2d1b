//! Results measured by other programs.

use crate::desk::Desk;
use crate::kept;
use serde_json::Value;

/// fio's output for one job that read `mib` MiB in a second, without its parameters.
fn fio(name: &str, mib: u64) -> String {
    let direction = |bytes: u64, operations: u64| {
        format!(
            r#"{{"io_bytes": {bytes}, "runtime": 1000, "total_ios": {operations}, "lat_ns": {{"N": {operations}}}}}"#
        )
    };
    format!(
        r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "{name}", "error": 0, "read": {}, "write": {}}}]}}"#,
        direction(mib << 20, mib),
        direction(0, 0)
    )
}

/// The last run of the store.
fn export(desk: &Desk) -> Value {
    let ran = desk.run(&["export"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// Imports these files, which must succeed.
fn import(desk: &Desk, arguments: &[&str]) {
    let ran = desk.run(&[&["import"], arguments].concat());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
}

/// A random read was shown as "raidlab's own engine: read, 4 KiB blocks, 1 job of 1 GiB" on "single disk, ext4".
#[test]
fn issue_12_7_what_is_unknown_of_imported_results_is_not_made_up() {
    let desk = Desk::new();
    desk.write("randread.json", fio("randread", 100));
    import(&desk, &["randread.json"]);
    let shown = desk.run(&["show"]).stdout;
    assert!(shown.contains("randread"), "{shown}");
    let page = desk.run(&["report", "-o", "-"]).stdout;
    let json = export(&desk).to_string();
    for (text, of) in [(&shown, "show"), (&page, "report"), (&json, "export")] {
        for invented in [
            "ext4",
            "single disk",
            "own engine",
            "1 GiB",
            "4 KiB blocks",
            "1 job of",
            "Memory 0 B",
        ] {
            assert!(!text.contains(invented), "{of} says `{invented}`: {text}");
        }
    }
    let cell = &export(&desk)["cells"][0];
    assert_eq!(cell["machine"], serde_json::json!({ "kind": "foreign" }));
    assert_eq!([&cell["stack_spec"], &cell["workload_spec"]], [&Value::Null; 2]);
}

/// Three files of one stack were shown as three stacks.
#[test]
fn issue_12_7_files_of_one_stack_are_its_trials() {
    let desk = Desk::new();
    for (file, mib) in [("1.json", 100), ("2.json", 104), ("3.json", 96)] {
        desk.write(file, fio("randread", mib));
    }
    let files = ["1.json", "2.json", "3.json"];
    import(&desk, &files);
    assert_eq!(export(&desk)["cells"].as_array().map(Vec::len), Some(3));
    import(
        &desk,
        &[&files[..], &["--stack", "mirror, XFS", "--workload", "mail"]].concat(),
    );
    let export = export(&desk);
    assert_eq!(export["cells"].as_array().map(Vec::len), Some(1), "{export}");
    let samples = export["samples"].as_array().expect("samples");
    let throughput = samples.iter().filter(|sample| sample["metric"] == "throughput");
    let mut trials: Vec<u64> = throughput
        .map(|sample| sample["trial"].as_u64().expect("a number"))
        .collect();
    trials.sort_unstable();
    assert_eq!(trials, [0, 1, 2]);
    let shown = desk.run(&["show"]).stdout;
    assert!(shown.contains("mirror, XFS") && shown.contains("100 ± "), "{shown}");
}

/// Sizes of a file and of a record stood on the scoreboard as stacks: "1G 512K" was the best.
#[test]
fn issue_39_10_sizes_of_iozone_are_no_stacks() {
    let desk = Desk::new();
    for (file, factor) in [("a.txt", 1), ("b.txt", 2)] {
        let row = |record: u32| {
            format!(
                "262144 {record} {} {}\n",
                factor * 1024 * record,
                factor * 2048 * record
            )
        };
        desk.write(
            file,
            format!(
                "kB reclen write rewrite\n{}{}\niozone test complete.\n",
                row(4),
                row(64)
            ),
        );
    }
    import(&desk, &["a.txt", "b.txt"]);
    let cells = export(&desk)["cells"].clone();
    let of = |key: &str| -> Vec<String> {
        let cells = cells.as_array().expect("cells").iter();
        cells.map(|cell| cell[key].as_str().expect("text").to_owned()).collect()
    };
    assert_eq!(of("stack"), ["a.txt", "a.txt", "b.txt", "b.txt"], "{cells}");
    assert_eq!(of("workload")[..2], ["IOzone 256M 4K", "IOzone 256M 64K"], "{cells}");
    import(&desk, &["a.txt", "--stack", "RAID 6", "--workload", "scan"]);
    let cell = &export(&desk)["cells"][1];
    assert_eq!([&cell["stack"], &cell["workload"]], ["RAID 6", "scan 256M 64K"]);
}

/// Own and imported results are in one table, and the imported ones are marked.
#[test]
fn issue_12_7_imported_results_are_shown_with_a_run() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    desk.write("1.json", fio("write", 100));
    import(
        &desk,
        &["1.json", "--stack", "elsewhere", "--workload", "w", "--test", "write"],
    );
    let ran = desk.run(&["show", "--run", "1", "--with", "2"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for words in ["Small", "elsewhere (imported)"] {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    let page = desk.run(&["report", "--run", "1", "--with", "2", "-o", "-"]).stdout;
    assert!(page.contains("elsewhere (imported)"), "{page}");
    // The file's job is a workload of its own, but its test is that of the run: both stand in one table, and the first
    // screen says how they differ.
    let first_screen = ran.stdout.replace('\n', " ");
    for words in [
        "with imported results, which were measured elsewhere",
        "Imported against simulated, few files write: 100 against 0.500 MiB/s (elsewhere against ext2), 200.00 times, more is \
         better.",
    ] {
        assert!(first_screen.contains(words), "{words} in {}", ran.stdout);
    }
    let page = desk.run(&["report", "--run", "1", "--with", "2", "-o", "-"]).stdout;
    assert!(page.contains("except for rows marked imported"), "{page}");
    // Only imported runs can be shown with others.
    let ran = desk.run_without_touching(&["show", "--run", "2", "--with", "1"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
}

/// Two files of two stacks could not stand next to the two stacks of a study, and their figures were four sentences at most.
#[test]
fn several_imports_stand_next_to_a_run() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    for (file, rate, stack) in [("1.json", 100, "here"), ("2.json", 3, "there"), ("3.json", 5, "here")] {
        desk.write(file, fio("write", rate));
        import(&desk, &[file, "--stack", stack, "--workload", "w", "--test", "write"]);
    }
    // Without `--run` the last run that was not imported.
    let ran = desk.run(&["show", "--with", "2", "--with", "3"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let shown = ran.stdout.replace('\n', " ");
    for words in [
        "0 of 2 imported rates are within a factor of 1.5 of the simulated ones. Furthest apart: few files write",
        "· 1 trial · seed",
        "imported figures and those of this run  (imported, simulated)",
        "here against ext2",
        "there against ext2",
        "6.00",
    ] {
        assert!(shown.contains(words), "{words} in {}", ran.stdout);
    }
    assert!(
        !shown.contains("order the stacks"),
        "both are against one stack: {shown}"
    );
    let page = desk.run(&["report", "--with", "2", "--with", "3", "-o", "-"]).stdout;
    assert!(page.contains("<td>there against ext2</td>"), "{page}");
    // What has no counterpart is named.
    desk.write("4.json", fio("seqread", 7));
    import(&desk, &["4.json", "--stack", "here", "--workload", "jobs"]);
    let shown = desk
        .run(&["show", "--run", "1", "--with", "2", "--with", "5"])
        .stdout
        .replace('\n', " ");
    assert!(
        shown.contains(
            "Without a counterpart in this run, which is a workload with the name of the job: jobs seqread."
        ),
        "{shown}"
    );
    // The test `write` moves to the run's workload: the cell that it leaves is not that of the other import.
    for (file, test) in [("1.json", "write"), ("2.json", "other")] {
        import(&desk, &[file, "--stack", "away", "--workload", "jobs", "--test", test]);
    }
    let ran = desk.run(&["show", "--with", "6", "--with", "7"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let ran = desk.run_without_touching(&["show", "--with", "2", "--with", "4"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("runs 2 and 4 both have results of `here` with the workload `few files`"),
        "{}",
        ran.stderr
    );
}

/// `--test` named the latencies of fsync, or refused the file, because they are a test as well.
#[test]
fn issue_39_a_test_that_is_named_is_that_of_the_job_and_not_of_its_syncs() {
    let desk = Desk::new();
    for (file, job) in [("1.txt", "write"), ("2.txt", "wal")] {
        desk.write(
            file,
            format!(
                "{job}: (groupid=0, jobs=1): err= 0: pid=1: x\n  write: IOPS=100, BW=10MiB/s (10.5MB/s)(100MiB/10000msec)\n  \
                 fsync/fdatasync/sync_file_range:\n    sync percentiles (msec):\n     | 50.00th=[    6], 99.00th=[   18]\n\
                 Run status group 0 (all jobs):\n"
            ),
        );
        import(&desk, &[file, "--test", "commits"]);
        let csv = desk.run(&["export", "--format", "csv"]).stdout;
        assert!(csv.contains(",commits,throughput,10,"), "{csv}");
        assert!(csv.contains(",fsync,latency_p99,18,"), "{csv}");
    }
}

/// One round for each bad file of a folder was what it took.
#[test]
fn issue_39_10_all_files_that_are_refused_are_named_at_once() {
    let desk = Desk::new();
    desk.write("good.json", fio("write", 100));
    desk.write("bad.txt", "nothing");
    let ran = desk.run_without_touching(&["import", "bad.txt", "good.json", "missing.json"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    for words in ["2 of 3 files are refused:", "`bad.txt` ", "`missing.json`"] {
        assert!(ran.stderr.contains(words), "{words} in {}", ran.stderr);
    }
}

/// Names of files and jobs could move the cursor and set the title of the terminal.
#[test]
fn issue_12_7_no_name_gives_orders_to_the_terminal() {
    let desk = Desk::new();
    let file = "a\u{1b}]0;owned\u{7}b.json";
    desk.write(file, fio(r"job\u001b[2Jname", 100));
    desk.write(
        "study.toml",
        "title = \"T\"\ndescription = \"a\\u001b[31mred\"\n[[workload]]\nname = \"w\"\nio = {}\n",
    );
    for call in [
        &["import", file] as &[&str],
        &["import", file],
        &["show"],
        &["runs"],
        &["export", "--format", "csv"],
        &["compare", "1", "1"],
        &["plan", "study.toml"],
    ] {
        let ran = desk.run(call);
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{7}']), "{call:?}: {text:?}");
        }
        assert_eq!(ran.exit, Some(0), "{call:?}: {}", ran.stderr);
    }
}

/// A name was shown but could not be used.
#[test]
fn issue_12_16_a_run_is_chosen_by_its_name() {
    let desk = Desk::new();
    kept::named_runs(&desk, "raidlab.db", &["begun", "after", "before"]);
    let seed = |arguments: &[&str]| {
        let ran = desk.run_without_touching(&[&["export"], arguments].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        let export: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        export["run"]["seed"].to_string().trim_matches('"').to_owned()
    };
    assert_eq!(seed(&["--run", "after"]), "2");
    assert_eq!(seed(&["--run", "before"]), "3");
    assert_eq!(seed(&["--run", "1"]), "1");
    let ran = desk.run_without_touching(&["compare", "after", "raidlab.db:before"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("run 2 of") && ran.stdout.contains("run 3 of"),
        "{}",
        ran.stdout
    );
    insta::assert_snapshot!(desk.transcript(&[
        &["show", "--run", "between"],
        &["compare", "between", "after"],
        &["run", "study.toml", "--name", "7"],
    ]));
}

/// A name with a character that changes the direction of writing made invalid JSON of every command.
#[test]
fn issue_39_json_for_programs_is_json_whatever_names_are() {
    let desk = Desk::new();
    desk.write("a.json", fio("w\u{202e}rite", 100));
    import(&desk, &["a.json"]);
    for command in [&["export"] as &[&str], &["show", "--format", "json"]] {
        let ran = desk.run(command);
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert!(value.to_string().contains('\u{202e}'), "{command:?}");
    }
    let text = desk.run(&["show"]).stdout;
    assert!(!text.contains('\u{202e}') && text.contains("\\u{202e}"), "{text}");
}

/// A job was called like a workload of the study, whose test is `write`, and was left out of the comparison in silence.
#[test]
fn issue_39_11_a_job_is_that_of_the_workload_of_its_name() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    let report = fio("few files", 100).replace("\"jobname\"", "\"job options\": {\"size\": \"1t\"}, \"jobname\"");
    desk.write("1.json", report);
    import(&desk, &["1.json", "--stack", "elsewhere"]);
    let ran = desk.run(&["show", "--run", "1", "--with", "2"]);
    let first_screen = ran.stdout.replace('\n', " ");
    for words in [
        "Imported against simulated, few files write: 100 against 0.500 MiB/s (elsewhere against ext2)",
        "The import has size=1t: figures of other sizes, depths or engines are not comparable.",
    ] {
        assert!(first_screen.contains(words), "{words} in {}", ran.stdout);
    }
}

/// A file that was imported under one name was "already in the store" under another one, and not stored.
#[test]
fn issue_39_names_of_different_options_are_different_imports() {
    let desk = Desk::new();
    desk.write("r.json", fio("r", 100));
    let stored = |arguments: &[&str]| {
        let ran = desk.run(&[&["import", "r.json"], arguments].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        !(ran.stdout + &ran.stderr).contains("already in the store")
    };
    assert!(stored(&["--stack", "a"]) && !stored(&["--stack", "a"]));
    assert!(stored(&["--workload", "a"]) && stored(&["--test", "a"]));
    assert!(stored(&["--stack", "x, y"]) && stored(&["--stack", "x", "--workload", "y"]));
}
