//! `members`: an array over disks of several groups.

use study::plan::Plan;
use study::stack::{Bitmap, GroupDisk};
use study_file::{Known, KnownModel, MediaKind, read};

fn read_study(array: &str) -> Result<Plan, String> {
    let model = |name: &str, gib: u64, media| KnownModel {
        name: name.to_owned(),
        capacity_bytes: gib << 30,
        media,
        own: None,
    };
    let known = Known {
        models: vec![
            model("slow", 4096, MediaKind::Platters),
            model("fast", 80, MediaKind::Flash),
        ],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    };
    let source = format!(
        "[disks]\nmodel = \"slow\"\ncount = 3\n[disks.ssd]\nmodel = \"fast\"\n[disks.journal]\nmodel = \"fast\"\n\
         [disks.source]\nfs = {{ type = \"ext4\" }}\n[[stack]]\narray = {{ {array} }}\n[[workload]]\nname = \"w\"\nio = {{}}\n"
    );
    read(&source, "studies/members.toml", &known).map_err(|diagnostics| diagnostics.to_string())
}

fn plan(array: &str) -> Plan {
    read_study(array).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn error(array: &str) -> String {
    read_study(array).expect_err("it is refused")
}

#[test]
fn an_array_has_the_disks_that_it_names_in_their_order() {
    let plan = plan("level = 1, members = [\"ssd, data:2\", \"data:1+data:3\", \"default\"]");
    let of = |at: usize| -> Vec<String> {
        let cell = &plan.cells[at];
        let members = cell.machine.members(&cell.stack.array);
        members
            .iter()
            .map(|(group, number)| format!("{} {number}", group.model))
            .collect()
    };
    assert_eq!(of(0), ["fast 1", "slow 2"]);
    assert_eq!(of(1), ["slow 1", "slow 3"]);
    assert_eq!(of(2), ["slow 1", "slow 2", "slow 3"]);
    let labels: Vec<&str> = plan.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    assert_eq!(labels, ["(ssd + data:2) ext4", "(data:1 + data:3) ext4", "ext4"]);
    assert_eq!(plan.cells[0].stack.array.members[1], GroupDisk::parse("data:2"));
}

/// mdadm adds a bitmap above 100 GiB: of the smaller member.
#[test]
fn the_smallest_member_decides_the_size() {
    let bitmap = |array: &str| plan(array).cells[0].stack.array.bitmap;
    assert_eq!(bitmap("level = 1, members = \"data:1,ssd\""), Bitmap::None);
    assert_eq!(bitmap("level = 1, members = \"data:1,data:2\""), Bitmap::Internal);
    let large = error("level = 1, size = \"200G\", members = \"data:1,ssd\"");
    assert!(large.contains("200"), "{large}");
}

#[test]
fn members_that_cannot_be_are_refused_with_what_would_be_right() {
    for (array, words) in [
        (
            "level = 1, members = \"data:1,nvme:1\"",
            "names the group of disks `nvme`, which does not exist",
        ),
        (
            "level = 1, members = \"data:1,data:4\"",
            "names disk 4 of `data`, which has 3",
        ),
        (
            "level = 1, members = \"data:1,data\"",
            "disk 1 of `data` is named twice",
        ),
        (
            "level = 1, members = [\"data:1\", \"ssd:1\"]",
            "a list is one of stacks to compare",
        ),
        (
            "level = 1, members = \"data:0,ssd\"",
            "`members` cannot be `data:0,ssd`",
        ),
        ("level = 1, members = \"data:x,ssd\"", "`members` cannot be"),
        ("level = 1, members = \"data,,ssd\"", "`members` cannot be"),
        ("level = 1, members = \"\"", "`members` cannot be"),
        (
            "level = 5, write_journal = true, bitmap = \"none\", members = \"data,journal\"",
            "the group `journal` is for md's write journal",
        ),
        ("level = 1, members = \"data:1,source:1\"", "that of another filesystem"),
    ] {
        let said = error(array);
        assert!(said.contains(words), "{array}: {said}");
        assert!(said.contains("studies/members.toml:11"), "{said}");
    }
}
