//! `create_once`: identities and labels, and where copies of a stack's disks are impossible.

use study_file::{Known, read};

fn study(top: &str, stack: &str, work: &str) -> String {
    format!("{top}\nram = \"512M\"\n[disks]\ncount = 4\n[[stack]]\n{stack}\n[[workload]]\nname = \"w\"\n{work}\n")
}

const READS: &str = "io = { rw = \"randread\", size = \"16M\", runtime = \"60s\" }";
const RAID_5: &str = "array = { level = 5 }";

#[test]
fn it_is_an_axis_and_the_default_has_the_identity_that_it_had() {
    let cells = |top: &str| {
        let plan = read(&study(top, RAID_5, READS), "c.toml", &Known::default()).expect("is sound");
        let cells = plan.cells.into_iter();
        cells
            .map(|cell| (cell.stack_label, cell.id, cell.machine.create_once))
            .collect::<Vec<_>>()
    };
    let both = cells("create_once = [false, true]");
    let labels: Vec<&str> = both.iter().map(|(label, ..)| label.as_str()).collect();
    assert_eq!(labels, ["created anew ext4", "created once ext4"]);
    assert_eq!((both[0].2, both[1].2), (false, true));
    assert_ne!(both[0].1, both[1].1);
    assert_eq!(cells("")[0].1, cells("create_once = false")[0].1);
}

#[test]
fn copies_that_cannot_be_started_are_refused() {
    for (top, stack, work, said) in [
        (
            "",
            "array = { level = \"lvm-raid5\" }",
            READS,
            "LVM's volumes are not activated",
        ),
        (
            "",
            "array = { level = 5, size = \"256M\", integrity = \"crc32c\" }",
            READS,
            "dm-integrity is not opened",
        ),
        (
            "",
            "array = { level = \"none\" }\nfs = { type = \"bcachefs\" }",
            READS,
            "bcachefs is not started",
        ),
        ("machine = \"host\"", RAID_5, READS, "a host has no copies of its disks"),
        (
            "",
            RAID_5,
            "power_cut = { points = 2 }",
            "a power cut is explored from the creation",
        ),
    ] {
        let text = study(&format!("create_once = true\n{top}"), stack, work);
        let errors = read(&text, "c.toml", &Known::default()).expect_err(said).to_string();
        assert!(errors.contains(said), "{said}: {errors}");
        assert!(errors.contains("create_once = false"), "{errors}");
    }
    let acts = "\n[[act]]\nat = \"5s\"\ndo = \"fail\"\ndisk = 1\n";
    let text = study("create_once = true", RAID_5, READS) + acts;
    let errors = read(&text, "c.toml", &Known::default())
        .expect_err("an act")
        .to_string();
    assert!(errors.contains("acts need the array as it was created"), "{errors}");
}
