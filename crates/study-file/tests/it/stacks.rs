//! Stacks of a plan: arrays and pools of studies.

use study::plan::Plan;
use study::stack::Level;
use study_file::{Known, KnownModel, MediaKind, read};

fn plan(source: &str) -> Plan {
    let small = KnownModel {
        name: "small".to_owned(),
        capacity_bytes: 500 << 30,
        media: MediaKind::Platters,
        own: None,
    };
    let known = Known {
        models: vec![small],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    };
    read(source, "studies/plan.toml", &known).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn keys(plan: &Plan) -> Vec<&str> {
    plan.cells.iter().map(|cell| cell.key.as_str()).collect()
}

#[test]
fn zfs_has_all_disks_where_no_level_is_written() {
    let of = |stack: &str| {
        let source = format!("[disks]\ncount = 4\n[[stack]]\n{stack}\n[[workload]]\nname = \"w\"\nio = {{}}\n");
        plan(&source).cells[0].stack.array.level
    };
    assert_eq!(of("fs = { type = \"zfs\", pool = \"raidz1\" }"), Level::None);
    let chosen = "array = { level = \"single\" }\nfs = { type = [\"zfs\", \"ext4\"] }";
    assert_eq!(of(chosen), Level::Single);
    assert_eq!(of("array = { level = 5 }\nfs = { type = \"zfs\" }"), Level::Raid5);
}

#[test]
fn vdevs_are_an_axis_and_pools_without_it_stay_what_they_were() {
    let of = |fs: &str, rest: &str| {
        plan(&format!(
            "[disks]\ncount = 8\n[[stack]]\nfs = [{fs}]\n[[workload]]\nname = \"w\"\nio = {{ size = \"1M\" }}\n{rest}"
        ))
    };
    let old = "{ type = \"zfs\", pool = \"mirror\" }";
    let new = "{ type = \"zfs\", pool = \"mirror\", vdev_disks = [2, 3, 4] }";
    let claim =
        "[[claim]]\nsays = \"x\"\nwhere = { pool = \"mirror\" }\nthat = \"vdev_disks=2 > vdev_disks=default\"\n";
    let (alone, both) = (of(old, ""), of(&format!("{old}, {new}"), claim));
    let labels: Vec<&str> = both.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    assert_eq!(labels, ["zfs mirror", "zfs 4 × mirror of 2", "zfs 2 × mirror of 4"]);
    assert_eq!(
        both.left_out[0].reason,
        "8 disks cannot be divided into vdevs of 3 disks"
    );
    assert_eq!(both.claims[0].contests(&both.cells).len(), 1);
    assert_eq!(alone.cells[0].id, both.cells[0].id);
    // The identity that pools of one vdev had before `vdev_disks` was a key.
    assert_eq!(alone.cells[0].id.to_string(), "f4a39532e6bb1f14950c51c6b8ce0c72");
}

#[test]
fn raid_10_takes_odd_numbers_of_disks() {
    let source = "[disks]\ncount = [2, 3]\n[[stack]]\narray = { level = 10, layout = [\"n2\", \"f2\", \"o3\"] }\n\
                  [[workload]]\nname = \"w\"\nio = {}";
    let plan = plan(source);
    let expected = ["2 disks n2", "2 disks f2", "3 disks n2", "3 disks f2", "3 disks o3"];
    assert_eq!(keys(&plan), expected.map(|disks| format!("{disks} ext4 | w")));
}

/// mdadm creates RAID 4 and 5 of two members, so a study may ask for them, nested arrays too.
#[test]
fn parity_arrays_of_two_members_can_be() {
    let plan = plan(
        r#"
        [disks]
        count = 4
        [[stack]]
        array = { level = 0, of = { level = 5, disks = 2 } }
        [[stack]]
        array = { level = [4, 5], spares = 2 }
        [[workload]]
        name = "w"
        io = { size = "1M" }
        "#,
    );
    let levels: Vec<Level> = plan.cells.iter().map(|cell| cell.stack.array.level).collect();
    assert_eq!(levels, [Level::Raid0, Level::Raid4, Level::Raid5]);
    assert!(plan.left_out.is_empty(), "{:?}", plan.left_out);
}

#[test]
fn settings_of_md_are_in_the_spec_and_their_absence_in_no_identity() {
    let plan = |array: &str| {
        plan(&format!(
            "[disks]\ncount = 3\n[[stack]]\narray = {{ {array} }}\n[[workload]]\nname = \"w\"\nio = {{ size = \"1M\" }}"
        ))
    };
    let array = |text: &str| plan(text).cells[0].stack.array.clone();
    let mirror = array(
        "level = 1, bitmap = \"internal\", bitmap_chunk = \"64M\", write_mostly = 2, write_behind = 512, \
         sync_speed_min = 5000, sync_speed_max = 50000",
    );
    assert_eq!(
        (mirror.bitmap_chunk_bytes, mirror.write_mostly, mirror.write_behind),
        (Some(64 << 20), Some(2), Some(512))
    );
    assert_eq!(
        (mirror.sync_speed_min, mirror.sync_speed_max),
        (Some(5000), Some(50_000))
    );
    assert_eq!(array("level = 5, group_thread_cnt = 0").group_thread_cnt, Some(0));
    let identity = |text: &str| plan(text).cells[0].id;
    let same =
        ", write_mostly = 0, write_behind = \"default\", bitmap_chunk = \"default\", sync_speed_max = \"default\"";
    assert_eq!(identity("level = 1"), identity(&format!("level = 1{same}")));
    assert_ne!(identity("level = 1"), identity("level = 1, write_mostly = 1"));
}
