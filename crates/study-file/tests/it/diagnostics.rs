//! Diagnostics of a study: all errors, each with its position and a suggestion.

use study_file::{Diagnostics, Known, KnownModel, MediaKind, read};

pub fn known() -> Known {
    let models = [
        ("wd-500gb-2007", 500_107_862_016),
        ("seagate-ironwolf-12tb", 12_000_138_625_024),
    ];
    let known = |(name, capacity_bytes): (&str, u64)| KnownModel {
        name: name.to_owned(),
        capacity_bytes,
        media: MediaKind::Platters,
        own: None,
    };
    Known {
        memory_bytes: None,
        models: models.map(known).to_vec(),
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

fn diagnostics(source: &str) -> Diagnostics {
    read(source, "studies/wrong.toml", &known()).expect_err("a study with errors")
}

#[test]
fn classic_and_fio_work_that_cannot_be() {
    let workloads = [
        "fio = { exec_prerun = \"id\" }",
        "fio = { filename = \"/dev/sda\" }",
        "fio = { ioengine = \"external:/x\" }",
        "fio = { ioengine = \"rbd\" }",
        "fio = { bssplit = \"4k/60:$x\" }",
        "fio = { bsplit = \"4k/60\" }",
        "fio = { clocksource = \"cpu\" }",
        "io = { bssplit = \"4k/60\" }",
        "io = { rw = \"read:3K\" }",
        "io = { rw = \"trim\" }",
        "io = { ramp_time = \"1s\" }",
        "io = { rw = \"read\", verify = \"md5\" }",
        "io = { buffer_pattern = \"xyz\" }",
        "io = { zero_buffers = true, buffer_pattern = \"0x00ff\" }",
        "fio_file = \"../x.fio\"",
        "fio_file = 3",
        "fio_file = { size = \"1G\" }",
        "fio_file = { path = \"x.fio\", vars = \"4k\" }",
        "fio_file = { path = \"x.fio\", vars = { BS = [\"$(id)\"], RW = [] } }",
        "bonnie = {}",
        "bonnie = { size = \"0\" }",
        "bonnie = { size = \"1M\", files = 1000, chunk_size = \"5K\" }",
        "bonnie = { size = \"1000KiB\", file_min = \"2K\" }",
        "iozone = { file = \"10K\", record = \"4K\" }",
        "iozone = { tests = [\"write\", \"backwards\"] }",
        "tree = { collection = \"marechal-small\", files = 3 }",
        "tree = { from = \"source\" }",
        "tree = { collection = \"marechal\" }",
    ];
    insta::assert_debug_snapshot!(workloads.map(of_workload));
}

/// Messages and suggestions, one line each, of a study with `stack` and a valid workload.
fn of_stack(stack: &str) -> Vec<String> {
    let source = format!("{stack}\n[[workload]]\nname = \"w\"\nio = {{ size = \"1M\" }}\n");
    lines(&diagnostics(&source))
}

fn of_workload(workload: &str) -> Vec<String> {
    lines(&diagnostics(&format!("[[workload]]\nname = \"w\"\n{workload}\n")))
}

fn lines(diagnostics: &Diagnostics) -> Vec<String> {
    let line = |m: &study_file::Diagnostic| {
        format!(
            "{}:{} `{}` {}: {}",
            m.line,
            m.column,
            m.snippet,
            m.message,
            m.help.as_deref().unwrap_or("-")
        )
    };
    diagnostics.iter().map(line).collect()
}

#[test]
fn ten_errors_are_reported_at_once() {
    let found = diagnostics(include_str!("ten-errors.toml"));
    insta::assert_snapshot!(found);
    assert_eq!(found.len(), 10);
}

#[test]
fn a_syntax_error_does_not_hide_other_errors() {
    insta::assert_snapshot!(diagnostics(include_str!("syntax.toml")));
}

#[test]
fn colours_are_only_on_request() {
    let found = diagnostics("titel = \"x\"");
    assert!(!found.to_string().contains('\u{1b}'));
    assert!(found.to_string_in_colour().contains('\u{1b}'));
}

#[test]
fn arrays_that_md_cannot_build() {
    let arrays = [
        ("count = 3", "level = 6"),
        ("count = 1", "level = 5"),
        ("count = 1", "level = 10"),
        ("count = 4", "level = 6, spares = 1"),
        ("count = 4", "level = 0, spares = 1"),
        ("count = 2", "level = 1, chunk = \"64K\""),
        ("count = 2", "level = 0, chunk = \"96K\""),
        ("count = 2", "level = 0, chunk = \"2K\""),
        ("count = 2", "level = 0, bitmap = \"internal\""),
        ("count = 2", "level = 0, size = \"1G\""),
        ("count = 2", "level = 1, size = \"500GiB\""),
        ("count = 2", "level = 1, size = \"465.7G\""),
        ("count = 2", "level = 10, layout = \"n3\""),
        ("count = 2", "level = 10, layout = \"near\""),
        ("count = 3", "level = 5, layout = \"left-symetric\""),
        ("count = 2", "level = 1, layout = \"n2\""),
        ("count = 1", "metadata = \"1.2\""),
        ("count = 28", "level = 6, metadata = \"0.90\""),
        ("count = 2", "level = 0, metadata = \"0.90\""),
    ];
    let messages =
        arrays.map(|(disks, array)| of_stack(&format!("[disks]\n{disks}\n[[stack]]\narray = {{ {array} }}")));
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn filesystems_that_cannot_be() {
    let filesystems = [
        "type = \"jfs\", block_size = \"1K\"",
        "type = \"btrfs\", block_size = \"64K\"",
        "type = \"xfs\", block_size = \"8K\"",
        "type = \"ext4\", block_size = \"512B\"",
        "type = \"ext4\", block_size = \"3K\"",
        "type = \"raw\", block_size = \"4K\"",
        "type = \"xfs\", journal = \"ordered\"",
        "type = \"ext2\", journal_size = \"64M\"",
        "type = \"xfs\", journal_size = \"10M\"",
        "type = \"ntfs\"",
        "type = \"ext5\"",
    ];
    insta::assert_debug_snapshot!(filesystems.map(|fs| of_stack(&format!("[[stack]]\nfs = {{ {fs} }}"))));
}

#[test]
fn arrays_that_keep_what_was_not_written_in_two_ways() {
    let arrays = [
        ("count = 4", "level = 5, write_journal = true"),
        (
            "count = 4\n[disks.journal]",
            "level = 5, write_journal = true, bitmap = \"internal\"",
        ),
        ("count = 4\n[disks.journal]", "level = 1, write_journal = true"),
        ("count = 4", "level = 6, ppl = true"),
        ("count = 4", "level = 5, ppl = true, bitmap = \"internal\""),
        (
            "count = 4\n[disks.journal]",
            "level = 5, ppl = true, write_journal = true",
        ),
        ("count = 4", "level = 5, bitmap = \"external\""),
        ("count = 4", "level = 0, bitmap = \"external\""),
        ("count = 4", "level = 10, stripe_cache = 1024"),
        ("count = 4", "level = 5, stripe_cache = 16"),
    ];
    let messages =
        arrays.map(|(disks, array)| of_stack(&format!("[disks]\n{disks}\n[[stack]]\narray = {{ {array} }}")));
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn settings_of_arrays_that_cannot_be() {
    let arrays = [
        "level = 5, bitmap = \"internal\", bitmap_chunk = \"2K\"",
        "level = 5, bitmap = \"internal\", bitmap_chunk = \"96K\"",
        "level = 5, bitmap = \"none\", bitmap_chunk = \"64M\"",
        "level = 5, ppl = true, bitmap_chunk = \"64M\"",
        "level = 0, bitmap_chunk = \"64M\"",
        "level = \"lvm-raid5\", bitmap_chunk = \"64M\"",
        "level = 5, bitmap = \"internal\", bitmap_chunk = \"256K\"",
        "level = 10, bitmap = \"internal\", bitmap_chunk = \"512K\"",
        "level = 10, bitmap = \"internal\", bitmap_chunk = \"32K\", size = \"1G\"",
        "level = 10, group_thread_cnt = 4",
        "level = \"lvm-raid5\", group_thread_cnt = 4",
        "level = \"lvm-raid5\", rmw_level = 1",
        "level = 5, skip_copy = 2",
        "level = 5, group_thread_cnt = 8193",
        "level = 5, write_mostly = 1",
        "level = \"lvm-raid1\", write_mostly = 1",
        "level = 1, write_mostly = [4, 5]",
        "level = 1, write_mostly = 1, spares = 1",
        "level = 1, of = { level = 0, disks = 2 }, write_mostly = 2",
        "level = 1, write_behind = 256",
        "level = 1, write_mostly = 1, write_behind = 256, bitmap = \"none\"",
        "level = 1, write_mostly = 1, write_behind = 16384, bitmap = \"internal\"",
        "level = 10, write_behind = 256",
        "level = 0, sync_speed_max = 1000",
        "level = \"lvm-raid1\", sync_speed_min = 1000",
        "level = 5, sync_speed_min = 2000, sync_speed_max = 1000",
        "level = 5, sync_speed_max = 0",
    ];
    let messages = arrays.map(|array| of_stack(&format!("[disks]\ncount = 4\n[[stack]]\narray = {{ {array} }}")));
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn arrays_of_arrays_and_volumes_that_cannot_be() {
    let arrays = [
        ("count = 5", "level = 1, of = { level = 0, disks = 2 }"),
        ("count = 2", "level = 1, of = { level = 0, disks = 2 }"),
        ("count = 4", "level = 1, of = { level = 6, disks = 2 }"),
        ("count = 4", "level = 1, of = { level = 1, disks = 2, chunk = \"64K\" }"),
        ("count = 4", "level = 1, of = { disks = 2 }"),
        ("count = 4", "level = 1, of = { level = 0, disks = 2 }, spares = 1"),
        ("count = 4", "level = \"none\""),
        ("count = 4", "level = \"lvm-raid6\""),
        ("count = 5", "level = \"lvm-raid10\""),
        ("count = 4", "level = \"lvm-raid5\", bitmap = \"internal\""),
        ("count = 4", "level = \"lvm-raid5\", chunk = \"8M\""),
        ("count = 4", "level = \"lvm-raid5\", metadata = \"1.2\""),
        ("count = 4", "level = \"lvm-linear\", of = { level = 0, disks = 2 }"),
        ("count = 4", "level = 5, extent = \"4M\""),
        ("count = 4", "level = \"raidz1\""),
    ];
    let messages =
        arrays.map(|(disks, array)| of_stack(&format!("[disks]\n{disks}\n[[stack]]\narray = {{ {array} }}")));
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn filesystems_of_many_disks_and_journals_that_cannot_be() {
    let stacks = [
        "array = { level = \"none\" }\nfs = { type = \"ext4\" }",
        "fs = { type = \"zfs\", pool = \"raidz3\" }",
        "array = { level = 5 }\nfs = { type = \"zfs\", pool = \"mirror\" }",
        "fs = { type = \"ext4\", pool = \"mirror\" }",
        "fs = { type = \"ext4\", vdev_disks = 3 }",
        "fs = { type = \"zfs\", vdev_disks = 3 }",
        "fs = { type = \"zfs\", pool = \"stripe\", vdev_disks = 3 }",
        "fs = { type = \"zfs\", pool = \"mirror\", vdev_disks = 1 }",
        "fs = { type = \"zfs\", pool = \"mirror\", vdev_disks = [2, 4] }",
        "fs = { type = \"zfs\", pool = \"raidz2\", vdev_disks = 2 }",
        "array = { level = 5 }\nfs = { type = \"zfs\", pool = \"mirror\", vdev_disks = 3 }",
        "fs = { type = \"zfs\", pool = \"raid10\" }",
        "fs = { type = \"xfs\", recordsize = \"1M\", ashift = 12, log = true, l2arc = true, sync = \"always\" }",
        "fs = { type = \"zfs\", log = true, special = true, l2arc = true }",
        "fs = { type = \"zfs\", compression = \"zstd:3\" }",
        "fs = { type = \"zfs\", block_size = \"4K\" }",
        "fs = { type = \"ext4\", compression = \"lz4\" }",
        "array = { level = \"none\" }\nfs = { type = \"btrfs\", data = \"raid10\" }",
        "array = { level = 1 }\nfs = { type = \"btrfs\", metadata = \"raid1\" }",
        "array = { level = \"none\" }\nfs = { type = \"bcachefs\", replicas = 4 }",
        "array = { level = 5 }\nfs = { type = \"bcachefs\", replicas = 2 }",
        "array = { level = \"none\" }\nfs = { type = \"bcachefs\", compression = \"lzo\" }",
        "array = { level = \"none\" }\nfs = { type = \"bcachefs\", block_size = \"8K\" }",
        "fs = { type = \"xfs\", replicas = 2 }",
        "fs = { type = \"ext4\", journal_on = \"journal\" }",
        "fs = { type = \"btrfs\", journal_on = \"journal\" }",
        "fs = { type = \"ext4\", journal_on = \"data\" }",
        "fs = { type = \"ext4\", align = \"wrong\" }",
        "array = { level = 0 }\nfs = { type = \"jfs\", align = \"off\" }",
        "fs = { type = \"xfs\", lazy_init = true }",
        "fs = { type = \"ext4\", log_buffers = 8 }",
        "fs = { type = \"xfs\", log_buffer_size = \"64K\" }\nmount = \"logbsize=32k\"",
        "fs = { type = \"f2fs\", block_size = \"1K\" }",
    ];
    let messages = stacks.map(|stack| of_stack(&format!("[disks]\ncount = 3\n[[stack]]\n{stack}")));
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn groups_and_buses_that_cannot_be() {
    let disks = [
        "[disks]\nmodle = \"x\"\n[disks.data]\ncount = 1",
        "[disks.My_Journal]\ncount = 1",
        "[disks.journal]\nmodel = \"no-such-disk\"",
        "[disks.journal]\ncuont = 2",
        "[disks.source]\nfs = { type = [\"ext4\", \"xfs\"] }",
        "[disks.source]\ncount = 1\narray = { level = 5 }",
        "[disks]\nbus = [{ name = \"ide0\", kind = \"ide\", mb_s = 66, disks = [1, 2] }]",
        "[disks]\nbus = [{ name = \"ide0\", kind = \"sata\", mb_s = 66, disks = [\"journal\", \"data:0\", 1.5] }]",
        "[disks]\nbus = [{ name = \"a\", kind = \"pci\", mb_s = 0 }]",
        "[disks]\nbus = { kind = \"pci\" }",
        "[disks]\nbus = [{ name = \"a\", kind = \"pci\", mb_s = 1 }, { name = \"a\", kind = \"hba\", mb_s = 1 }]",
    ];
    insta::assert_debug_snapshot!(disks.map(of_stack));
}

#[test]
fn machines_and_mounts_that_cannot_be() {
    let stacks = [
        "kernel = \"7.3\"\n[[stack]]\nfs = { type = \"reiserfs\" }",
        "kernel = \"7.3\"\n[[stack]]\nfs = { type = \"bcachefs\" }",
        "kernel = \"6.21\"",
        "kernel = 6.12",
        "machine = \"host\"\nkernel = \"6.12\"",
        "ram = \"4 GB\"",
        "[disks]\nmodel = \"seagate-ironwolf-12b\"",
        "[[stack]]\nfs = { type = \"ext4\", journal = \"journal\" }\nmount = \"noatime,data=writeback\"",
        "[[stack]]\nfs = { type = \"raw\" }\nmount = \"noatime\"",
        "[[stack]]\nmount = \"-o noatime\"",
        "[[stack]]\nscheduler = \"deadline\"",
        "[[stack]]\nread_ahead = \"4MiB\"",
        "[[stack]]\nmount = []",
        "[[stack]]\nmount = [\"noatime\", \"noatime\"]",
        "[[stack]]\n[[stack]]",
        "[stack]",
        "stack = 5",
        "[[disks]]",
        "[[stack]]\nfs = [{ type = [\"ext4\", \"jfs\"], block_size = \"1K\" }, { type = \"jfs\", block_size = \"2K\" }]",
    ];
    insta::assert_debug_snapshot!(stacks.map(of_stack));
}

#[test]
fn processors_that_cannot_be() {
    let of = |line: &str| of_stack(line).join("\n");
    let unknown = of("cpu = \"quik\"");
    assert!(
        unknown.contains("unknown processor `quik`") && unknown.contains("quick"),
        "{unknown}"
    );
    let cores = of("cores = 4");
    assert!(
        cores.contains("an infinitely fast processor has no number of cores"),
        "{cores}"
    );
    let many = of("cpu = \"quick\"\ncores = 1000");
    assert!(many.contains("256"), "{many}");
}

#[test]
fn work_that_cannot_be() {
    let workloads = [
        "",
        "tree = {}\nio = {}",
        "io = { size = \"600G\" }",
        "tree = { files = 100000, size = \"4M\" }",
        "io = { bs = \"2M\", size = \"1M\" }",
        "io = { bs = \"1000B\", direct = true }",
        "io = { offset_increment = \"1G\" }",
        "io = { rwmixread = 70 }",
        "io = { runtime = 30 }",
        "io = { runtime = \"30 parsecs\" }",
        "io = { numjobs = \"8\" }",
        "io = { iodepth = 0 }",
        "io = { direct = 1 }",
        "io = { size = 4096 }",
        "io = { rw = \"trim\" }",
        "tree = { tests = [\"read\", \"read\"] }",
        "tree = { tests = [] }",
        "tree = { size = { min = \"4K\", median = \"2K\", max = \"8K\" } }",
        "tree = { size = { min = \"4K\" } }",
        "tree = { depth = 3 }",
        "tree = {}\n[[stack]]\n[[stack]]\nfs = { type = \"raw\" }",
        "io = {}\n[[workload]]\nname = \"a > b\"\nio = {}",
        "io = {}\n[[workload]]\nname = \"w\"\nio = {}",
    ];
    insta::assert_debug_snapshot!(workloads.map(of_workload));
}

#[test]
fn claims_and_precision_that_cannot_be() {
    let rest = [
        "[[claim]]\nsays = \"x\"\nthat = \"levle=6 > level=5\"",
        "[[claim]]\nsays = \"x\"\nthat = \"level=6 > level=5\"",
        "[[claim]]\nsays = \"x\"\nthat = \"xfs is best\"",
        "[[claim]]\nsays = \"x\"\nthat = \"type=xfs > type=xfs\"",
        "[[claim]]\nsays = \"x\"\nthat = \"type=xfs > type=ext4 by much\"",
        "[[claim]]\nsays = \"x\"\nthat = \"type=xfs > type=ext4 by 20\"",
        "[[claim]]\nsays = \"x\"\nthat = \"type=xfs > type=ext4 within 20%\"",
        "[[claim]]\nsays = \"x\"\nthat = \"all equal\"\nwhere = { workload = \"v\", tset = \"read\", metric = \"speed\" }",
        "[[claim]]\nsays = \"x\"\nthat = \"all equal\"\nwhere = { type = [\"xfs\"] }",
        "[[claim]]\nsays = \"x\"\nthat = \"type=xfs > type=ext4\"\nwhere = { type = \"xfs\" }",
        "[[claim]]\nthat = \"type=xfs fastest\"",
        "[precision]\ntrials = 0",
        "[precision]\ntrials = 3\nrelative = 0.1",
        "[precision]\nrelative = 2",
        "[precision]\nrelative = 0.02\nmin_trials = 5\nmax_trials = 4",
        "[precision]\nrelative = 0.02\nmin_trials = 1",
        "[precision]\nmax_trials = 4",
        "[precision]\nclaims = true",
        "[precision]\nclaims = true\ntrials = 3",
        "[precision]\nclaims = true\nrelative = 0.02",
        "[precision]\nclaims = 3",
    ];
    let messages = rest.map(|rest| {
        let study = "[[workload]]\nname = \"w\"\nio = {}\n[[stack]]\nfs = { type = [\"ext4\", \"xfs\"] }";
        lines(&diagnostics(&format!("{study}\n{rest}\n")))
    });
    insta::assert_debug_snapshot!(messages);
}

#[test]
fn axes_that_multiply_beyond_all_measure_are_refused_at_once() {
    let list: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    let list = list.join(", ");
    let source = format!(
        "[disks]\ncount = [{list}]\n[[stack]]\nread_ahead = [{list}]\n[[workload]]\nname = \"w\"\nio = {{ iodepth = [{list}] }}"
    );
    insta::assert_debug_snapshot!(lines(&diagnostics(&source)));
}

/// A level or a filesystem where its table must be, as newcomers write them.
#[test]
fn a_value_in_place_of_its_table_is_shown_as_a_table() {
    let helps = |stack: &str| {
        let study = format!("[disks]\ncount = 4\n[[workload]]\nname = \"w\"\nio = {{}}\n[[stack]]\n{stack}\n");
        diagnostics(&study).to_string()
    };
    for (stack, help) in [
        ("array = 5", "write `array = { level = 5 }`"),
        ("array = \"RAID6\"", "write `array = { level = 6 }`"),
        ("array = \"mirror\"", "write array = { … } of a [[stack]]"),
        ("array = { level = 5 }\nfs = \"xfs\"", "write `fs = { type = \"xfs\" }`"),
        (
            "array = { level = 5 }\nfs = [\"xfs\"]",
            "write `fs = { type = \"xfs\" }`",
        ),
        ("raid = 6", "write `array = { level = … }`"),
        ("level = 5", "`level` belongs in array = { … } of a [[stack]]"),
        (
            "array = { level = 5 }\nfilesystem = \"xfs\"",
            "write `fs = { type = \"…\" }`",
        ),
    ] {
        let seen = helps(stack);
        assert!(seen.contains(help), "{stack}: {seen}");
    }
}
