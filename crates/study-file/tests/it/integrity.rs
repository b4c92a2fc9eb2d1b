//! dm-integrity below md: valid combinations, and the errors for invalid ones.

use study::stack::IntegrityMode;
use study_file::{Known, KnownModel, MediaKind, read};

fn known() -> Known {
    let model = |name: &str, capacity_bytes| KnownModel {
        name: name.to_owned(),
        capacity_bytes,
        media: MediaKind::Platters,
        own: None,
    };
    Known {
        models: vec![
            model("wd-500gb-2007", 500_107_862_016),
            model("hp-c2247a", 1_050_000_000),
        ],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    }
}

fn study(ram: &str, model: &str, array: &str, work: &str) -> String {
    format!(
        "ram = \"{ram}\"\n[disks]\nmodel = \"{model}\"\ncount = 4\n[[stack]]\narray = {{ {array} }}\n\
         [[workload]]\nname = \"w\"\n{work}\n"
    )
}

const READS: &str = "io = { rw = \"randread\", size = \"16M\", runtime = \"60s\" }";

#[test]
fn modes_and_plain_arrays_are_cells() {
    let array = "level = [1, 5], size = \"256M\", integrity = [\"none\", \"crc32c\"]";
    let plan = read(&study("512M", "wd-500gb-2007", array, READS), "i.toml", &known()).expect("is sound");
    let labels: Vec<&str> = plan.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "RAID 1 ext4",
            "RAID 1 ext4 dm-integrity crc32c",
            "RAID 5 ext4",
            "RAID 5 ext4 dm-integrity crc32c",
        ]
    );
    let array = "level = 5, size = \"256M\", integrity = \"crc32c\", integrity_mode = [\"default\", \"bitmap\", \"direct\"]";
    let plan = read(&study("512M", "wd-500gb-2007", array, READS), "i.toml", &known()).expect("is sound");
    let modes: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| cell.stack.array.integrity.map(|it| it.mode))
        .collect();
    assert_eq!(modes, IntegrityMode::ALL.map(Some));
    // Small disks can be written completely.
    let array = "level = [0, 6], integrity = \"crc32c\"";
    read(&study("256M", "hp-c2247a", array, READS), "i.toml", &known()).expect("is sound");
}

#[test]
fn what_cannot_be_is_shown_at_its_place() {
    let wrong = |ram: &str, model: &str, array: &str, work: &str| {
        let errors = read(&study(ram, model, array, work), "i.toml", &known()).expect_err("is impossible");
        let first = errors.iter().next().expect("an error");
        let help = first.help.clone().unwrap_or_default();
        format!("{}:{}: {}; {help}", first.line, first.column, first.message)
    };
    let of = |array: &str| wrong("512M", "wd-500gb-2007", array, READS);
    let messages = [
        of("level = \"none\", integrity = \"crc32c\" }\nfs = { type = \"btrfs\""),
        of("level = \"single\", integrity = \"crc32c\""),
        of("level = \"lvm-raid5\", integrity = \"crc32c\""),
        of("level = 5, integrity = \"sha3\""),
        of("level = 5, integrity_mode = \"direct\""),
        of("level = 5, integrity = \"crc32c\""),
        of("level = 0, integrity = \"crc32c\""),
        of("level = 5, integrity = \"crc32c\", size = \"463G\""),
        wrong(
            "256M",
            "wd-500gb-2007",
            "level = 5, integrity = \"crc32c\", size = \"256M\"",
            READS,
        ),
        wrong(
            "512M",
            "wd-500gb-2007",
            "level = 5, integrity = \"crc32c\", size = \"256M\"",
            "power_cut = { points = 3 }",
        ),
    ];
    insta::assert_debug_snapshot!(messages);
}
