//! Problems found by a newcomer and a sceptic: issue 12, by its points. Those that need a guest are in the lab's
//! tests.

use crate::desk::Desk;

/// A plan as shown; the study must be valid.
fn plan(study: &str) -> String {
    let desk = Desk::new();
    desk.write("a.toml", study);
    let ran = desk.run_without_touching(&["plan", "a.toml"]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// The errors in a study.
fn refused(study: &str) -> String {
    let desk = Desk::new();
    desk.write("a.toml", study);
    let ran = desk.run_without_touching(&["plan", "a.toml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    ran.stderr
}

/// The study of README as it was, and as it is.
fn bitmaps(work: &str) -> String {
    format!(
        "[disks]\nmodel = \"seagate-ironwolf-12tb\"\ncount = 8\n[[stack]]\n\
         array = {{ level = 6, bitmap = [\"internal\", \"none\"] }}\nfs = {{ type = \"raw\" }}\n[[workload]]\n\
         name = \"random writes\"\nio = {{ rw = \"randwrite\", bs = \"4K\", direct = true, {work} }}\n"
    )
}

#[test]
fn issue_12_3_plan_warns_of_caches_and_corners() {
    let old = plan(&bitmaps("size = \"64M\", numjobs = 4, iodepth = 8, runtime = \"30s\""));
    for sentence in [
        "warning: `random writes` writes to an area of 256 MiB, 341.3 MiB with copies and parity, but the write caches of the 8 disks \
         hold 1 GiB: most writes end before the data is on the media",
        "seeks within 256 MiB, less than 1 % of the stack: over the whole disks, seek and rotation take 2.",
        "runs for 30 s, but each disk needs",
        "where the bits of the bitmap stay set; over the whole array a bitmap is first written",
    ] {
        assert!(old.contains(sentence), "{sentence} in {old}");
    }
    assert_eq!(old.matches("warning:").count(), 4, "{old}");
    let new = plan(&bitmaps(
        "size = \"8T\", numjobs = 4, iodepth = 8, ramp_time = \"10s\", runtime = \"30s\"",
    ));
    assert_eq!(new.matches("warning:").count(), 1, "{new}");
    assert!(
        new.contains("the bitmap is first written for most of these writes"),
        "{new}"
    );
}

#[test]
fn issue_12_3_plan_warns_of_work_that_fits_in_memory() {
    let study = |work: &str| {
        format!("ram = \"1G\"\n[[workload]]\nname = \"w\"\nio = {{ rw = \"read\", bs = \"1M\", {work} }}\n")
    };
    let cached = plan(&study("size = \"256M\", runtime = \"30s\""));
    let sentence = "`w` repeats 256 MiB until its runtime is over, but the machine has 1 GiB of RAM";
    assert!(cached.contains(sentence), "{cached}");
    // Cold, once.
    assert!(!plan(&study("size = \"256M\"")).contains("warning"));
    assert!(!plan(&study("size = \"4G\", runtime = \"30s\"")).contains("warning"));
}

#[test]
fn issue_12_8_plan_shows_every_kernel_ram_model_and_count() {
    let shown = plan(
        "ram = [\"512M\", \"1G\"]\n[disks]\nmodel = [\"wd-500gb-2007\", \"hitachi-7k500\"]\ncount = [4, 6]\n\
         [[stack]]\narray = { level = 5 }\n[[workload]]\nname = \"w\"\ntree = { files = 10 }\n",
    );
    assert!(
        shown.contains("disks: 4 × wd-500gb-2007, 6 × wd-500gb-2007, 4 × hitachi-7k500, 6 × hitachi-7k500 (data)"),
        "{shown}"
    );
    assert!(shown.contains("RAM: 512 MiB, 1 GiB; kernel 6.12"), "{shown}");
}

#[test]
fn issue_12_8_four_disks_without_an_array_are_an_error() {
    let study = |stack: &str| {
        format!("[disks]\ncount = 4\n[[stack]]\n{stack}[[workload]]\nname = \"w\"\ntree = {{ files = 10 }}\n")
    };
    let message = refused(&study("fs = { type = \"xfs\" }\n"));
    assert!(
        message.contains("there are 4 disks and no `array`: the stack would use one of them"),
        "{message}"
    );
    assert!(
        message.contains("help: write `array = { level = 5 }`") && message.contains("a.toml:2:9"),
        "{message}"
    );
    // If given explicitly, it is intended.
    assert!(plan(&study("array = { level = \"single\" }\n")).contains("1 cell"));
    // ZFS uses all of them.
    assert!(plan(&study("fs = { type = \"zfs\", pool = \"raidz1\" }\n")).contains("1 cell"));
}

#[test]
fn issue_12_15_more_disks_than_a_guest_has_names_for() {
    let study = |count: u32| {
        format!(
            "[disks]\ncount = {count}\n[[stack]]\narray = {{ level = 0 }}\n[[workload]]\nname = \"w\"\n\
             tree = {{ files = 10 }}\n"
        )
    };
    let message = refused(&study(4096));
    let reason = "a guest has at most 702 disks (/dev/vda to /dev/vdzz), but this needs 4096";
    assert!(
        message.contains(reason) && message.contains("help: write `count = 702` or less"),
        "{message}"
    );
    assert!(refused(&study(703)).contains("702"));
}

#[test]
fn issue_12_15_more_memory_than_the_machine_has() {
    let message = refused("ram = \"16T\"\n[[workload]]\nname = \"w\"\ntree = { files = 10 }\n");
    assert!(
        message.contains("`ram` (16 TiB) is larger than the memory of this machine ("),
        "{message}"
    );
    assert!(
        message.contains("a.toml:1:7") && message.contains("help: write a smaller `ram`"),
        "{message}"
    );
}
