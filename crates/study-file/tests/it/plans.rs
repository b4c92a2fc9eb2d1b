//! The plan of a valid study: cells, their names, excluded combinations, and the cells that claims and filters select.

use study::claim::Comparison;
use study::plan::{Cell, LeftOut, Plan};
use study::stack::Bitmap;
use study::workload::Work;
use study_file::{Known, KnownModel, MediaKind, Only, read};

fn known() -> Known {
    let models = vec![KnownModel {
        name: "small".to_owned(),
        capacity_bytes: 500 << 30,
        media: MediaKind::Platters,
        own: None,
    }];
    Known {
        memory_bytes: None,
        models,
        kernels: vec!["6.12".to_owned(), "7.3".to_owned()],
        processors: vec![study_file::KnownProcessor {
            name: "quick".to_owned(),
            cores: 8,
            own: None,
        }],
        folder: None,
        ..Known::default()
    }
}

fn plan(source: &str) -> Plan {
    read(source, "studies/plan.toml", &known()).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn keys(plan: &Plan) -> Vec<&str> {
    plan.cells.iter().map(|cell| cell.key.as_str()).collect()
}

const DESIGN: &str = r#"
machine = "lab"
ram = "4 GiB"
kernel = ["6.12"]

[disks]
count = 8

[[stack]]
array = { level = [6, 10], chunk = "512K", bitmap = ["internal", "none"] }
fs    = { type = ["ext4", "xfs"] }
mount = "noatime"

[[workload]]
name = "async-write-1M"
fio  = { rw = "randwrite", bs = "1M", numjobs = 8, iodepth = 8, size = "2G", end_fsync = true }

[[claim]]
says  = "without a bitmap, RAID 6 writes 1 MiB faster"
where = { level = 6, workload = "async-write-1M" }
that  = "bitmap=none > bitmap=internal"
published = "+27.9 %"

[precision]
relative = 0.02
max_trials = 12
"#;

/// `infinite` is the default, also in the cell's identity; the default of `cores` is that of the processor, and an axis
/// multiplies.
#[test]
fn a_machine_has_a_processor_if_the_study_names_one() {
    let rest = "[[workload]]\nname = \"w\"\nio = { size = \"1M\" }\n";
    let cells = |top: &str| plan(&format!("{top}{rest}")).cells;
    assert_eq!(cells("")[0].id, cells("cpu = \"infinite\"\n")[0].id);
    let processors: Vec<_> = cells("cpu = [\"infinite\", \"quick\"]\n")
        .into_iter()
        .map(|cell| {
            cell.machine
                .processor
                .clone()
                .map(|processor| (processor.model, processor.cores))
        })
        .collect();
    assert_eq!(processors, [None, Some(("quick".to_owned(), 8))]);
    let cores: Vec<_> = cells("cpu = \"quick\"\ncores = [1, 2]\n")
        .into_iter()
        .filter_map(|cell| Some(cell.machine.processor.as_ref()?.cores))
        .collect();
    assert_eq!(cores, [1, 2]);
    assert!(
        cells("machine = \"host\"\ncpu = \"quick\"\n")[0]
            .machine
            .processor
            .is_none()
    );
}

#[test]
fn lists_multiply_and_labels_say_what_distinguishes() {
    let plan = plan(DESIGN);
    insta::assert_debug_snapshot!(keys(&plan));
    assert_eq!(plan.title, "plan");
    assert_eq!((plan.precision.min_trials, plan.precision.max_trials), (3, 12));
}

#[test]
fn axes_are_in_the_order_of_the_file_also_those_with_one_value() {
    let plan = plan(DESIGN);
    let axes: Vec<String> = plan.cells[0]
        .axes
        .iter()
        .map(|(axis, word)| format!("{axis}={word}"))
        .collect();
    let expected = "ram=4G kernel=6.12 count=8 level=6 chunk=512K bitmap=internal type=ext4 mount=noatime \
                    workload=async-write-1M";
    assert_eq!(axes.join(" "), expected);
}

#[test]
fn a_label_names_every_axis_that_varies() {
    let plan = plan(
        r#"
        ram = ["1G", "8G"]
        kernel = ["6.12", "7.3"]
        [disks]
        count = [4, 6]
        [[stack]]
        array = { level = [5, 10], chunk = ["default", "64K"], bitmap = ["none", "internal"], spares = [0, 1], size = "100G" }
        fs = { type = "ext4", journal = ["journal", "default"], journal_size = ["64M", "default"] }
        mount = ["defaults", "noatime,commit=60"]
        scheduler = ["none", "default"]
        read_ahead = [8192, "default"]
        [[workload]]
        name = "w"
        io = {}
        "#,
    );
    let mut labels: Vec<&str> = plan.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    insta::assert_debug_snapshot!((labels[0], labels[labels.len() - 1], labels.len()));
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), plan.cells.len(), "labels are unique");
}

#[test]
fn what_cannot_be_is_left_out_with_its_reason() {
    let plan = plan(
        r#"
        [disks]
        count = [2, 4]
        [[stack]]
        array = { level = [0, 6], bitmap = ["none", "internal"] }
        fs = { type = ["raw", "jfs"], block_size = ["1K", "default"] }
        [[workload]]
        name = "files"
        tree = {}
        [[workload]]
        name = "blocks"
        io = { size = ["1G", "1T"] }
        "#,
    );
    let left_out = |left: &LeftOut| {
        let axes: Vec<String> = left.axes.iter().map(|(axis, word)| format!("{axis}={word}")).collect();
        format!("{}: {}", axes.join(" "), left.reason)
    };
    insta::assert_debug_snapshot!((keys(&plan), plan.left_out.iter().map(left_out).collect::<Vec<_>>()));
}

#[test]
fn lists_in_a_workload_are_axes_and_in_its_name() {
    let plan = plan(
        "[[workload]]\nname = \"w\"\nfio = { rw = [\"read\", \"randread\"], bs = \"4K\", size = [\"1G\", \"2GiB\"] }",
    );
    assert_eq!(
        keys(&plan),
        [
            "ext4 | w rw=read io_size=1G",
            "ext4 | w rw=read io_size=2G",
            "ext4 | w rw=randread io_size=1G",
            "ext4 | w rw=randread io_size=2G",
        ]
    );
    let last = plan.cells.last().expect("a cell");
    assert_eq!(last.axes.last(), Some(&("io_size".to_owned(), "2G".to_owned())));
}

#[test]
fn a_study_of_one_workload_has_defaults_for_all_else() {
    let plan = plan("[[workload]]\nname = \"w\"\ntree = {}");
    insta::assert_debug_snapshot!((&plan.cells, &plan.precision));
}

#[test]
fn mdadm_gives_large_redundant_members_a_bitmap() {
    let bitmap = |array: &str| {
        let source = format!(
            "[disks]\ncount = 2\n[[stack]]\narray = {{ {array} }}\n[[workload]]\nname = \"w\"\ntree = {{}}"
        );
        plan(&source).cells[0].stack.array.bitmap
    };
    assert_eq!(bitmap("level = 1"), Bitmap::Internal);
    assert_eq!(bitmap("level = 1, size = \"100G\""), Bitmap::None);
    assert_eq!(bitmap("level = 0"), Bitmap::None);
}

#[test]
fn a_host_has_a_kernel_and_disks_of_its_own() {
    let plan = plan(
        "machine = \"host\"\n[disks]\nmodel = \"what I had\"\n[[workload]]\nname = \"w\"\nio = { size = \"1P\" }",
    );
    assert_eq!(plan.cells[0].machine.kernel, "host");
    assert_eq!(plan.cells[0].machine.disks[0].model, "what I had");
    assert!(matches!(plan.cells[0].workload.work, Work::Io(_)));
}

/// The stacks of the pairs that a claim compares, `better > worse`.
fn contests(source: &str, claim: &str) -> Vec<String> {
    let plan = plan(&format!("{source}\n[[claim]]\nsays = \"x\"\n{claim}"));
    let claim = plan.claims.last().expect("a claim");
    let label = |at: usize| plan.cells[at].stack_label.as_str();
    claim
        .contests(&plan.cells)
        .iter()
        .map(|c| format!("{} > {}", label(c.better), label(c.worse)))
        .collect()
}

#[test]
fn partners_differ_in_what_the_claim_names_and_in_nothing_else() {
    assert_eq!(
        contests(
            DESIGN.split("[[claim]]").next().expect("text"),
            "where = { level = \"raid6\" }\nthat = \"bitmap=none > bitmap=internal\""
        ),
        [
            "RAID 6 ext4 no bitmap > RAID 6 ext4 bitmap",
            "RAID 6 xfs no bitmap > RAID 6 xfs bitmap"
        ]
    );
}

const FILESYSTEMS: &str = r#"
[[stack]]
fs = [{ type = "ext3", block_size = ["1K", "4K"] }, { type = ["jfs", "xfs"] }]
[[workload]]
name = "by 3 files"
tree = {}
[[workload]]
name = "other"
tree = { tests = ["write"] }
"#;

#[test]
fn the_slowest_is_held_against_all_others_of_its_workload() {
    assert_eq!(
        contests(
            FILESYSTEMS,
            "where = { workload = \"other\" }\nthat = \"type=jfs slowest by 50%\""
        ),
        ["ext3 1K > jfs", "ext3 4K > jfs", "xfs > jfs"]
    );
    assert_eq!(contests(FILESYSTEMS, "that = \"all equal\"").len(), 2 * 6);
}

#[test]
fn less_is_more_turned_round() {
    let one = contests(
        FILESYSTEMS,
        "where = { workload = \"other\" }\nthat = \"block_size=1K < block_size=4096B\"",
    );
    assert_eq!(one, ["ext3 4K > ext3 1K"]);
}

#[test]
fn margins_are_ratios_and_words_in_names_are_not_margins() {
    let comparison = |that: &str| {
        let source = format!("{FILESYSTEMS}\n[[claim]]\nsays = \"x\"\nthat = \"{that}\"");
        plan(&source).claims[0].comparison().expect("a comparison")
    };
    assert!(matches!(
        comparison("type=xfs fastest by 2x"),
        Comparison::Fastest { by: 2.0, .. }
    ));
    assert!(matches!(comparison("all equal"), Comparison::AllEqual { within: 1.1 }));
    let Comparison::Better { worse, by, .. } = comparison("workload=other > workload=by 3 files by 25%") else {
        panic!("a comparison of two sides");
    };
    assert_eq!(
        (worse, by),
        (vec![("workload".to_owned(), "by 3 files".to_owned())], 1.25)
    );
}

fn only(filter: &str, source: &str) -> Vec<String> {
    let mut plan = plan(source);
    let only = Only::parse(&[filter], &plan).unwrap_or_else(|error| panic!("{error}"));
    only.keep_in(&mut plan);
    plan.cells.into_iter().map(|cell: Cell| cell.key).collect()
}

#[test]
fn a_filter_keeps_what_matches_every_axis_and_any_of_its_values() {
    let kept = only(
        "type=jfs,type=ext3,block_size=1024B,block_size=default,workload=other",
        FILESYSTEMS,
    );
    assert_eq!(kept, ["ext3 1K | other", "jfs | other"]);
    assert_eq!(
        only(" level = raid 6 , type=XFS,bitmap=none", DESIGN),
        ["RAID 6 xfs no bitmap | async-write-1M"]
    );
}

#[test]
fn a_filter_knows_mount_options_with_commas() {
    let source = "[[stack]]\nmount = [\"noatime\", \"noatime,data=journal\"]\n[[workload]]\nname = \"w\"\nio = {}";
    assert_eq!(
        only("mount=noatime,data=journal,type=ext4", source),
        ["ext4 noatime,data=journal | w"]
    );
    assert_eq!(only("mount=noatime", source), ["ext4 noatime | w"]);
}

#[test]
fn a_filter_that_is_wrong_says_what_there_is() {
    let plan = plan(FILESYSTEMS);
    let errors = [
        "",
        "xfs",
        "typ=xfs",
        "type=zfs",
        "type=xfs,block_size=1K",
        "block_size=2K",
    ]
    .map(|filter| Only::parse(&[filter], &plan).expect_err("a wrong filter").to_string());
    insta::assert_debug_snapshot!(errors);
}

#[test]
fn a_summary_tells_what_is_held_fixed_and_what_is_varied() {
    insta::assert_debug_snapshot!(plan(DESIGN).summary());
}

#[test]
fn groups_and_buses_are_the_machines() {
    let source = r#"
        [disks]
        count = 2
        bus = [
            { name = "ide0", kind = "ide", mb_s = 66, disks = [1, 2] },
            { name = "ide1", kind = "ide", mb_s = 66, disks = ["source:1"] },
            { name = "pci", kind = "pci", mb_s = 133 },
        ]
        [disks.source]
        count = 2
        array = { level = 0, chunk = "64K" }
        fs = { type = "xfs" }
        mount = "noatime"
        [disks.journal]
        [[stack]]
        array = { level = 1 }
        fs = { type = "ext3", journal_on = ["default", "journal"] }
        [[workload]]
        name = "w"
        io = {}
    "#;
    let plan = plan(source);
    insta::assert_debug_snapshot!((keys(&plan), &plan.cells[1].machine, &plan.cells[1].stack));
}

#[test]
fn labels_of_every_kind_of_stack() {
    let source = r#"
        [disks]
        count = 6
        [disks.journal]
        [disks.special]
        [disks.bitmap]
        [disks.cache]
        [[stack]]
        array = [
            { level = 1, of = { level = 0, disks = 3, chunk = ["64K", "default"] } },
            { level = "lvm-raid5", extent = ["4M", "16M"] },
            { level = 5, write_journal = true, stripe_cache = 4096 },
            { level = 5, ppl = true },
            { level = 6, bitmap = ["external", "none"] },
            { level = 1, bitmap = "internal", bitmap_chunk = "1M", write_mostly = [0, 1], write_behind = ["default", 256] },
            { level = 6, rmw_level = [0, "default"], skip_copy = 1 },
            { level = 5, group_thread_cnt = [0, 4], sync_speed_min = 5000, sync_speed_max = [50000, "default"] },
        ]
        [[stack]]
        array = { level = 5 }
        fs = { type = ["ext4", "xfs"], align = ["off", "wrong"] }
        [[stack]]
        fs = { type = "zfs", pool = ["raidz2", "draid1"], log = [true, false], special = [true, false], sync = "always" }
        [[stack]]
        fs = { type = "zfs", pool = "raidz1", l2arc = [true, false] }
        [[stack]]
        fs = { type = "zfs", pool = ["mirror", "raidz1"], vdev_disks = [2, 3, 6] }
        [[stack]]
        array = { level = "none" }
        fs = [{ type = "btrfs", data = "raid10", metadata = "raid1c3", compression = "zstd:3" }, { type = "bcachefs", replicas = 2 }]
        [[stack]]
        array = { level = "single" }
        fs = { type = "xfs", log_buffers = 8, log_buffer_size = "256K" }
        queue_depth = 1
        write_cache = [true, false]
        [[workload]]
        name = "w"
        io = {}
    "#;
    insta::assert_debug_snapshot!(keys(&plan(source)));
}

#[test]
fn replicates_are_stacks_with_seeds_of_their_own() {
    let study = "replicate = 2\n[[stack]]\nfs = { type = [\"ext4\", \"xfs\"] }\n\
                 [[workload]]\nname = \"w\"\nio = {}\n\
                 [[claim]]\nthat = \"replicate=1 ~ replicate=2 within 5%\"\nsays = \"A/A\"\n";
    let plan_of = |study: &str| read(study, "study.toml", &Known::default()).expect("a study");
    let plan = plan_of(study);
    let keys: Vec<&str> = plan.cells.iter().map(|cell| cell.key.as_str()).collect();
    assert_eq!(keys, ["ext4 #1 | w", "ext4 #2 | w", "xfs #1 | w", "xfs #2 | w"]);
    assert_eq!(plan.claims[0].contests(&plan.cells).len(), 2);
    let once = study.replace("replicate = 2\n", "");
    let alone = plan_of(once.split("[[claim]]").next().expect("a part"));
    assert_eq!(
        plan.cells[0].id, alone.cells[0].id,
        "the first is what it would be alone"
    );
    let round = plan.rounds(7).next().expect("a round");
    let seed = |place: usize| {
        let trial = round.iter().find(|trial| trial.cell.id == plan.cells[place].id);
        trial.expect("each cell has a trial").seed
    };
    assert_eq!(
        (seed(0), seed(1)),
        (seed(2), seed(3)),
        "stacks are still compared on the same files"
    );
    assert_ne!(seed(0), seed(1));
    assert_eq!(seed(0), study::trial_seed(7, 0));
}

#[test]
fn an_a_a_control_is_the_first_stack_again() {
    let study = "[[stack]]\nfs = { type = [\"ext4\", \"xfs\"] }\n[[workload]]\nname = \"w\"\nio = {}\n\
                 [[claim]]\nthat = \"type=ext4 fastest\"\nsays = \"ext4 leads\"\n\
                 [[claim]]\nthat = \"type=ext4 > type=xfs\"\nsays = \"ext4 is ahead\"\n";
    let without = read(study, "study.toml", &Known::default()).expect("a study");
    let mut plan = without.clone();
    assert_eq!(study::aa_control::add(&mut plan, 3).as_deref(), Some("ext4 #2"));
    plan.identify();
    let keys: Vec<&str> = plan.cells.iter().map(|cell| cell.key.as_str()).collect();
    assert_eq!(keys, ["ext4 | w", "ext4 #2 | w", "xfs | w"]);
    assert_eq!(
        (plan.cells[0].id, plan.cells[2].id),
        (without.cells[0].id, without.cells[1].id)
    );
    let round = plan.rounds(7).next().expect("a round");
    let seeds: Vec<u64> = plan
        .cells
        .iter()
        .filter_map(|cell| round.iter().find(|trial| trial.cell.id == cell.id))
        .map(|trial| trial.seed)
        .collect();
    assert!(seeds[0] == seeds[2] && seeds[0] != seeds[1], "{seeds:?}");
    let pairs = |claim: usize| plan.claims[claim].contests(&plan.cells).len();
    assert_eq!(pairs(0), 2, "xfs against both, and neither against the other");
    assert_eq!(pairs(1), 1);
    // One control is enough, and one trial shows nothing.
    assert_eq!(study::aa_control::add(&mut plan, 3), None);
    let mut short = without.clone();
    short.precision.max_trials = 2;
    assert_eq!(study::aa_control::add(&mut short, 3), None);
    assert_eq!(short.cells, without.cells);
}

#[test]
fn every_other_round_is_the_one_before_backwards() {
    let study = "[[stack]]\nfs = { type = [\"ext4\", \"xfs\", \"jfs\"] }\n[[workload]]\nname = \"w\"\nio = {}\n\
                 [precision]\ntrials = 4\n";
    let plan = read(study, "study.toml", &Known::default()).expect("a study");
    let rounds: Vec<Vec<String>> = plan
        .rounds(1)
        .map(|round| round.into_iter().map(|trial| trial.cell.key).collect())
        .collect();
    let backwards = |round: &Vec<String>| round.iter().rev().cloned().collect::<Vec<_>>();
    assert_eq!(rounds[1], backwards(&rounds[0]));
    assert_eq!(rounds[3], backwards(&rounds[2]));
}
