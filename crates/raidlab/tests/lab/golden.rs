//! Digests that hold on any machine: those of small studies, kept with the source.

use crate::laboratory::{Laboratory, succeeded};
use crate::processor;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// RAID 1 and RAID 5 under filesystems whose programs every machine with raidlab has, with files that do not fit into
/// memory, and threads that write at random places.
const STUDY: &str = "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
    [[stack]]\narray = { level = 1, size = \"4G\" }\nfs = { type = \"ext4\" }\n\
    [[stack]]\narray = { level = 5, size = \"4G\" }\nfs = { type = \"xfs\" }\n\
    [[workload]]\nname = \"tree\"\n\
    tree = { files = 150, size = { min = \"64B\", median = \"1M\", max = \"4M\" }, directories = 10 }\n\
    [[workload]]\nname = \"jobs\"\n\
    io = { rw = \"randrw\", bs = \"4K\", size = \"4M\", numjobs = 3, iodepth = 4, direct = true, end_fsync = true }\n\
    [precision]\ntrials = 1\n";

/// What a processor decides: a RAID 5 of memory, under work of several tasks.
const ON_A_PROCESSOR: &str = "ram = \"128M\"\ncpu = \"xeon-gold-6430\"\ncores = 4\n[disks]\nmodel = \"ram\"\ncount = 4\n\
    [[stack]]\narray = { level = 5, size = \"256M\" }\nfs = { type = [\"ext4\", \"xfs\"] }\n\
    [[workload]]\nname = \"tree\"\n\
    tree = { files = 300, size = { min = \"64B\", median = \"8K\", max = \"1M\" }, directories = 10 }\n\
    [[workload]]\nname = \"jobs\"\n\
    io = { rw = \"randwrite\", bs = \"4K\", size = \"4M\", numjobs = 3, direct = true }\n\
    [precision]\ntrials = 1\n";

/// Has the tests write the digests that they see.
const UPDATE: &str = "RAIDLAB_UPDATE_GOLDEN";

const DIGEST: &str = "digest";

#[test]
fn the_golden_digest() {
    let Some(laboratory) = Laboratory::open() else { return };
    check(&laboratory, STUDY, "golden.digest", Vec::new());
}

/// A dynamic linker may touch another page of the stack on another processor, which takes time here: so a digest that is another
/// one on another processor is reported, and is an error on the same.
#[test]
fn the_golden_digest_of_a_processor() {
    let Some(laboratory) = processor::laboratory() else {
        return;
    };
    let about = fs::read_to_string("/proc/cpuinfo").expect("Linux has it");
    let named = about.lines().find_map(|line| line.strip_prefix("model name\t: "));
    let named = named.unwrap_or("not named").to_owned();
    check(
        &laboratory,
        ON_A_PROCESSOR,
        "processor.digest",
        vec![("processor".to_owned(), named)],
    );
}

/// `also`: what else may explain another digest.
fn check(laboratory: &Laboratory, study: &str, file: &str, also: Vec<(String, String)>) {
    laboratory.study(study);
    let results = laboratory.run_with(&["--store", "golden.db", "--seed", "7"]);
    let mut seen = vec![(DIGEST.to_owned(), results.digest().to_owned())];
    for key in ["kernel.source", "mdadm", "mke2fs", "mkfs.xfs"] {
        let value = results
            .provenance(key)
            .first()
            .expect("every trial says it")
            .to_string();
        seen.push((key.to_owned(), value));
    }
    for compiler in ["gcc", "rustc"] {
        let version = succeeded(Command::new(compiler).arg("--version"));
        let version = version.lines().next().unwrap_or_default();
        seen.push((compiler.to_owned(), version.to_owned()));
    }

    seen.extend(also);

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab").join(file);
    if std::env::var_os(UPDATE).is_some() {
        let mut text = String::new();
        for (key, value) in &seen {
            writeln!(text, "{key}: {value}").expect("memory takes it");
        }
        fs::write(&path, text).expect("the source folder can be written");
        return;
    }
    let golden = fs::read_to_string(&path).expect("it is part of the source");
    let golden: Vec<(&str, &str)> = golden.lines().filter_map(|line| line.split_once(": ")).collect();
    let expected = |key: &str| {
        golden
            .iter()
            .find(|(known, _)| *known == key)
            .map_or("", |(_, value)| value)
    };
    if expected(DIGEST) == seen[0].1 {
        return;
    }
    let others: Vec<String> = seen[1..]
        .iter()
        .filter(|(key, value)| expected(key) != value)
        .map(|(key, value)| format!("{key}: here {value}, there {}", expected(key)))
        .collect();
    if !others.is_empty() {
        println!(
            "skipped: digest {} instead of the golden {} of {file}, with other programs or on another processor: {}",
            seen[0].1,
            expected(DIGEST),
            others.join("; ")
        );
        return;
    }
    panic!(
        "digest {}, and the golden one is {}, with the same kernel source, compilers and programs.\n\
         If a change of the disk model, the kernel, a stack or a workload is meant to change figures: say so in \
         CHANGELOG.md, and have the test write the new digest: {UPDATE}=1 cargo test -p raidlab --test lab golden\n\
         If nothing of that was changed: this machine, or this build, computes something else than others do, which \
         is a defect. `raidlab digest A.db B.db` says where two runs first differ.",
        seen[0].1,
        expected(DIGEST),
    );
}
