//! `age` of a workload: its axes, identities, and what cannot be aged.

use study::plan::Plan;
use study::workload::{AgeProfile, AgeSpec};
use study_file::{Known, read};

const RAID_6: &str = "array = { level = 6, size = \"1G\" }";
const READS: &str = "io = { size = \"100M\" }";

fn source(top: &str, stack: &str, work: &str) -> String {
    format!("{top}\nram = \"512M\"\n[disks]\ncount = 6\n[[stack]]\n{stack}\n[[workload]]\nname = \"w\"\n{work}\n")
}

fn plan(stack: &str, work: &str) -> Plan {
    let source = source("", stack, work);
    read(&source, "studies/ages.toml", &Known::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(top: &str, stack: &str, work: &str) -> String {
    let source = source(top, stack, work);
    let found = read(&source, "studies/ages.toml", &Known::default()).expect_err(work);
    found.to_string()
}

#[test]
fn an_age_has_the_published_profile_unless_the_study_says_otherwise() {
    let of = |age: &str| {
        let plan = plan(RAID_6, &format!("age = {{ {age} }}\n{READS}"));
        plan.cells[0].workload.age.expect("an age")
    };
    let expected = AgeSpec {
        fill_percent: 90,
        turnover: 3,
        profile: AgeProfile::Agrawal,
        overwrite_percent: 0,
        seed: 1,
    };
    assert_eq!(of("fill = \"90 %\""), expected);
    let other = of("fill = \"60%\", turnover = 0, profile = \"wang-os\", seed = 7");
    assert_eq!(
        other,
        AgeSpec {
            fill_percent: 60,
            turnover: 0,
            profile: AgeProfile::WangOs,
            seed: 7,
            ..expected
        }
    );
    assert_eq!(of("fill = \"90 %\", overwrites = \"25 %\"").overwrite_percent, 25);
}

#[test]
fn each_key_is_an_axis_and_a_workload_without_an_age_is_the_one_it_was() {
    let new = plan(RAID_6, READS);
    let aged = plan(
        RAID_6,
        &format!("age = {{ fill = [\"50 %\", \"90 %\"], turnover = [0, 4], seed = [1, 2] }}\n{READS}"),
    );
    let names: Vec<&str> = aged.cells.iter().map(|cell| cell.workload.name.as_str()).collect();
    assert_eq!(names.len(), 8);
    assert_eq!(
        names[..3],
        [
            "w fill=50% turnover=0 age_seed=1",
            "w fill=50% turnover=0 age_seed=2",
            "w fill=50% turnover=4 age_seed=1"
        ]
    );
    let mut ids: Vec<_> = aged.cells.iter().chain(&new.cells).map(|cell| cell.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 9, "each is a cell of its own");
    // As it was before there were ages.
    assert_eq!(new.cells[0].workload.age, None);
}

/// Where it is wrong, what, and what would be right.
#[test]
fn what_cannot_be_aged_is_refused() {
    let aged = |fill: &str| format!("age = {{ fill = \"{fill}\" }}\n{READS}");
    for (stack, work, said) in [
        (
            "array = { level = 6 }\nfs = { type = \"raw\" }",
            aged("90 %"),
            ["this stack has none", "leave `age` out"],
        ),
        (RAID_6, aged("96 %"), ["`fill` cannot be 96 %", "use at most 95 %"]),
        (RAID_6, aged("0 %"), ["`fill` of `age` is 0 %", "\"1 %\" or more"]),
        (
            RAID_6,
            format!("age = {{ fill = 90 }}\n{READS}"),
            ["a share in per cent", "\"90 %\""],
        ),
        (
            RAID_6,
            format!("age = {{ turnover = 1 }}\n{READS}"),
            ["`fill` is missing", "age = { … }"],
        ),
        (
            RAID_6,
            format!("age = \"90 %\"\n{READS}"),
            ["`age` must be a table", "age = { fill = \"90 %\" }"],
        ),
        (
            RAID_6,
            format!("age = {{ fill = \"90 %\", profile = \"agraval\" }}\n{READS}"),
            ["agraval", "agrawal"],
        ),
        (
            RAID_6,
            "age = { fill = \"90 %\" }\nio = { size = \"500M\" }".to_owned(),
            [
                "the workload needs about 500 MiB, but a filesystem that is 90 % full has",
                "reduce the workload or `fill`",
            ],
        ),
        (
            RAID_6,
            format!("age = {{ fill = \"90 %\", turnover = 0, overwrites = \"10 %\" }}\n{READS}"),
            ["with `turnover = 0` nothing is", "`turnover = 1` or more"],
        ),
        (
            RAID_6,
            "age = { fill = \"90 %\" }\npower_cut = { points = 2 }".to_owned(),
            ["a power cut is explored on a new filesystem", "leave `age` out"],
        ),
        (
            "array = { level = 6, size = \"16M\" }",
            "age = { fill = \"50 %\" }\nio = { size = \"1M\" }".to_owned(),
            ["64 MiB is too small to be aged", "128 MiB or more"],
        ),
        (
            "array = { level = 6, size = \"200G\" }",
            aged("90 %"),
            ["ageing would write 2.8 TiB into the lab's memory", "at most 1 TiB"],
        ),
    ] {
        let errors = errors("", stack, &work);
        for said in said {
            assert!(errors.contains(said), "{said}: {errors}");
        }
        assert!(errors.contains("studies/ages.toml:"), "{errors}");
    }
}

/// On a host the disks are as large as they are.
#[test]
fn a_large_filesystem_of_a_host_can_be_aged() {
    let source = source(
        "machine = \"host\"",
        "array = { level = 6, size = \"200G\" }",
        &format!("age = {{ fill = \"90 %\" }}\n{READS}"),
    );
    assert!(read(&source, "a.toml", &Known::default()).is_ok());
}
