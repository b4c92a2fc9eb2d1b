//! Actions, measurements and remains of a run on this machine.

use super::rig::{Bystander, RUN, STUDY, World, desk, run_on, system};
use crate::machine::in_a_world_of_its_own;
use std::fs;

#[test]
fn root_loop_a_study_leaves_results_and_nothing_else() {
    let Some((desk, _turn)) = desk() else { return };
    let bystander = Bystander::new(&desk, "bystander").with_ext4();
    let mounted = desk.folder().join("mounted");
    fs::create_dir(&mounted).expect("a folder");
    system("mount", &[&bystander.node, mounted.to_str().expect("UTF-8")]);
    fs::write(mounted.join("mine"), "mine").expect("written");
    let before = World::of(&desk);

    let ran = desk.run(&RUN);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("2 trials done, 0 failed; "), "{}", ran.stdout);
    assert!(!ran.stderr.contains("virtual"), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
    assert_eq!(fs::read_to_string(mounted.join("mine")).expect("still mounted"), "mine");
    system("umount", &[mounted.to_str().expect("UTF-8")]);

    // Real figures are marked as such, with their disks.
    let shown = desk.run(&["show"]).stdout;
    assert!(
        shown.contains("files on loop devices of this host") && !shown.contains("simulated"),
        "{shown}"
    );
    assert!(
        shown.contains("A/A control: none"),
        "with one trial of each there is none: {shown}"
    );
    desk.run(&["report", "-o", "report.html"]);
    let page = fs::read_to_string(desk.folder().join("report.html")).expect("a report");
    assert!(page.contains("file of 1024 MiB on a loop device"), "{page}");

    let export = desk.run(&["export", "--format", "json"]).stdout;
    for fact in [
        "host.processor",
        "host.ram_bytes",
        "disk.0.write_cache",
        "mount.options",
        "load.others_processor",
    ] {
        assert!(export.contains(fact), "{fact} is not in the export");
    }
    let json: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    let guards = json["guards"].as_array().expect("guards");
    for name in ["memory", "cold-cache", "quiesced"] {
        let passed = guards
            .iter()
            .filter(|guard| guard["guard"] == name && guard["passed"] == true);
        assert!(passed.count() >= 2, "guard {name}: {guards:?}");
    }

    let again = desk.run(&RUN);
    assert!(again.stderr.contains("are already in the store"), "{}", again.stderr);
    // Other disks, another run.
    let other = desk.run(&[
        "run",
        "host.toml",
        "--on",
        "host",
        "--loop",
        "1x2G",
        "--only",
        "type=ext2",
    ]);
    assert!(
        other.stdout.starts_with("1 trials done, 0 failed; "),
        "{}{}",
        other.stdout,
        other.stderr
    );
}

#[test]
fn root_loop_a_real_disk_is_given_up_by_its_serial_number_alone() {
    let Some((desk, _turn)) = desk() else { return };
    let file = desk.folder().join("disk");
    fs::File::create(&file)
        .and_then(|file| file.set_len(1 << 30))
        .expect("a file");
    let node = system("losetup", &["--find", "--show", file.to_str().expect("UTF-8")]);
    let disk = Bystander { node, file }.with_ext4();
    let before = World::of(&desk);
    let ran = desk.run(&run_on(&disk.node, &["--destroy", disk.name()]));
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let given_up = format!("released by --destroy: {} carries ext4, labelled `photos`", disk.name());
    assert!(ran.stderr.contains(&given_up), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
    assert_eq!(system("wipefs", &["--noheadings", &disk.node]), "", "it is free again");
}

/// The disk below fills up: for the stack, its device fails.
#[test]
fn root_loop_a_device_that_fails_ends_its_trial_with_the_kernels_words() {
    let Some((desk, _turn)) = desk() else { return };
    fs::create_dir(desk.folder().join("disk")).expect("a folder");
    let before = World::of(&desk);
    let study = STUDY.replace("size = \"16K\"", "size = \"4M\"").replace("xfs", "ext4");
    desk.write("host.toml", study);
    // Enough room when it is checked, but not later.
    let mount = "mount -t tmpfs -o size=300m tmpfs disk\n\
        (for i in $(seq 1000); do ls disk/raidlab-*/disk0 && break; sleep 0.02; done
        head -c 260M /dev/zero > disk/other) > /dev/null 2>&1 &";
    let run = [&RUN as &[&str], &["--loop-folder", "disk"]].concat();
    let Some(ran) = in_a_world_of_its_own(&desk, mount, &run) else {
        return;
    };
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let reported: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("a disk failed: the kernel says"))
        .collect();
    // Both: the run continued with the next one.
    assert_eq!(reported.len(), 2, "{}", ran.stderr);
    assert!(reported.iter().all(|line| line.contains("dev loop")), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
}

#[test]
fn root_loop_a_trial_has_a_time_limit() {
    let Some((desk, _turn)) = desk() else { return };
    let before = World::of(&desk);
    let run = [&RUN as &[&str], &["--trial-limit", "3s", "--only", "type=ext2"]].concat();
    let ran = desk.run(&run);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("--trial-limit sets another limit"),
        "{}",
        ran.stderr
    );
    assert_eq!(World::of(&desk), before);
}

#[test]
fn root_loop_a_run_on_this_machine_has_an_a_a_control() {
    let Some((desk, _turn)) = desk() else { return };
    desk.write("control.toml", STUDY.replace("trials = 1", "trials = 3"));
    let call = [&RUN[..], &["--only", "type=ext2"]].concat();
    let call: Vec<&str> = call
        .into_iter()
        .map(|word| if word == "host.toml" { "control.toml" } else { word })
        .collect();
    let ran = desk.run(&call);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("6 trials done, 0 failed; "), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("#2 is measured as an A/A control"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("A/A control"), "{}", ran.stdout);
    let export = desk.run(&["export", "--format", "json"]).stdout;
    let export: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    let pairs = export["control"].as_array().expect("a list");
    assert!(!pairs.is_empty());
    for pair in pairs {
        let second = pair["second"].as_str().expect("a key");
        assert!(second.contains("#2") && pair["differs"].is_boolean(), "{pair}");
    }
}

/// As counted by this machine's kernel, during the test and not during mkfs.
#[test]
fn root_loop_how_busy_the_disks_are_is_of_the_test() {
    let Some((desk, _turn)) = desk() else { return };
    let study = "machine = \"host\"\nram = \"256M\"\n[disks]\ncount = 1\n[[stack]]\narray = { level = \"single\" }\n\
        fs = { type = \"ext2\" }\n[[workload]]\nname = \"reads\"\n\
        io = { rw = \"randread\", bs = \"4K\", size = \"64M\", direct = true, runtime = \"2s\" }\n\
        [precision]\ntrials = 1\n";
    desk.write("busy.toml", study);
    let ran = desk.run(&["run", "busy.toml", "--on", "host", "--loop", "1x1G"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let json: serde_json::Value =
        serde_json::from_str(&desk.run(&["export", "--format", "json"]).stdout).expect("JSON");
    let of = |metric: &str| {
        let samples = json["samples"].as_array().expect("samples");
        let found = samples
            .iter()
            .find(|sample| sample["metric"] == metric && sample["test"] == "randread");
        found
            .and_then(|sample| sample["value"].as_f64())
            .unwrap_or_else(|| panic!("no {metric}: {samples:?}"))
    };
    let (mean, busiest) = (of("device_busy"), of("device_busiest"));
    // On a busy machine the disk waits for the program.
    assert!(mean > 0.0 && mean <= 100.0, "{mean}");
    assert!((mean - busiest).abs() < 1e-9, "one disk: {mean} and {busiest}");
}
