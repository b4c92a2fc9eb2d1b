//! Layers between disks and filesystem.

use study::plan::Plan;
use study::stack::{CacheKind, DiskCache, GptPartition, Layer, Level, Luks, Pool, Volume, VolumeKind};
use study_file::{Known, read};

fn read_study(stack: &str) -> Result<Plan, String> {
    let source =
        format!("[disks]\ncount = 4\n[disks.cache]\n[[stack]]\n{stack}\n[[workload]]\nname = \"w\"\nio = {{}}\n");
    read(&source, "studies/layers.toml", &Known::default()).map_err(|diagnostics| diagnostics.to_string())
}

fn plan(stack: &str) -> Plan {
    read_study(stack).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

#[test]
fn what_is_encrypted_is_an_axis() {
    let plan = plan("array = { level = 5 }\nluks = { on = [\"none\", \"members\", \"array\"] }");
    let labels: Vec<&str> = plan.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    assert_eq!(labels, ["ext4", "members on LUKS ext4", "LUKS ext4"]);
    let luks = vec![Layer::Luks(Luks::default())];
    let of = |at: usize| {
        let stack = &plan.cells[at].stack;
        (stack.member_layers.clone(), stack.layers.clone())
    };
    assert_eq!(of(0), (Vec::new(), Vec::new()));
    assert_eq!(of(1), (luks.clone(), Vec::new()));
    assert_eq!(of(2), (Vec::new(), luks));
}

#[test]
fn settings_are_those_of_cryptsetup() {
    let plan = plan(
        "array = { level = \"single\" }\nluks = { on = \"array\", sector_size = 512, no_read_workqueue = true }",
    );
    let luks = Luks {
        sector_bytes: Some(512),
        no_read_workqueue: true,
        no_write_workqueue: false,
    };
    assert_eq!(plan.cells[0].stack.layers, [Layer::Luks(luks)]);
}

/// A stack without layers has the identity that it had before there were any.
#[test]
fn stacks_without_layers_keep_their_identity() {
    let id = |stack: &str| plan(stack).cells[0].id;
    let plain = id("array = { level = 5 }");
    assert_eq!(plain, id("array = { level = 5 }\nluks = { on = \"none\" }"));
    assert_eq!(plain, id("array = { level = 5, members = \"default\" }"));
    assert_ne!(plain, id("array = { level = 5 }\nluks = { on = \"array\" }"));
}

#[test]
fn layers_that_cannot_be_are_refused_with_what_would_be_right() {
    for (stack, words) in [
        ("array = { level = 5 }\nluks = {}", "`on`"),
        (
            "array = { level = 5 }\nluks = \"array\"",
            "write `luks = { on = \"array\" }`",
        ),
        (
            "array = { level = 5 }\nluks = true",
            "write `luks = { on = \"array\" }`",
        ),
        ("array = { level = 5 }\nluks = { on = \"disks\" }", "members"),
        (
            "array = { level = \"single\" }\nluks = { on = \"members\" }",
            "write on = \"array\"",
        ),
        (
            "array = { level = \"none\" }\nfs = { type = \"btrfs\" }\nluks = { on = \"array\" }",
            "write on = \"members\"",
        ),
        (
            "fs = { type = \"zfs\" }\nluks = { on = \"members\" }",
            "a pool of ZFS is on partitions",
        ),
        (
            "array = { level = 5, integrity = \"crc32c\", size = \"64M\" }\nluks = { on = \"members\" }",
            "not both",
        ),
        (
            "array = { level = 5 }\nluks = { on = \"array\", sector_size = 1000 }",
            "512, 1024, 2048 or 4096",
        ),
        (
            "array = { level = 5 }\nluks = { on = \"array\", sector_size = \"4K\" }",
            "sector_size",
        ),
        (
            "array = { level = 5 }\nluks = { on = [\"none\", \"array\"], sector_size = 512 }",
            "nothing is encrypted",
        ),
    ] {
        refused(stack, words);
    }
}

#[test]
fn caches_that_cannot_be_are_refused_with_what_would_be_right() {
    for (stack, words) in [
        (
            "array = { level = 5 }\ncache = \"dm-cache\"",
            "write `cache = { type = \"dm-cache\" }`",
        ),
        ("array = { level = 5 }\ncache = { mode = \"writeback\" }", "`type`"),
        (
            "array = { level = 5 }\ncache = { type = \"bcache\", size = \"64M\" }",
            "write size = \"512M\" or more",
        ),
        (
            "array = { level = 5 }\ncache = { type = [\"none\", \"bcache\"], mode = \"writeback\" }",
            "`mode` is a setting of caches",
        ),
        (
            "array = { level = 5 }\ncache = { type = \"dm-writecache\", mode = \"writeback\" }",
            "`mode` is for dm-cache and bcache",
        ),
        (
            "array = { level = 5 }\ncache = { type = \"dm-writecache\" }",
            "write a `size`",
        ),
        (
            "array = { level = 5 }\ncache = { type = \"dm-writecache\", size = \"100G\" }",
            "more than a quarter of the machine's",
        ),
        (
            "array = { level = \"lvm-raid5\" }\ncache = { type = \"dm-cache\" }",
            "use a level of md",
        ),
        (
            "fs = { type = \"zfs\" }\ncache = { type = \"dm-cache\" }",
            "a pool of ZFS is on partitions",
        ),
        (
            "array = { level = 1, members = \"data,cache\" }\ncache = { type = \"dm-cache\" }",
            "for the cache of the array",
        ),
    ] {
        refused(stack, words);
    }
    let without = "[disks]\n[[stack]]\ncache = { type = \"dm-cache\" }\n[[workload]]\nname = \"w\"\nio = {}\n";
    let said = read(without, "studies/layers.toml", &Known::default()).expect_err("has no disk for the cache");
    assert!(said.to_string().contains("add [disks.cache]"), "{said}");
}

/// An error with these words, or a stack that is left out for this reason.
fn refused(stack: &str, words: &str) {
    match read_study(stack) {
        Err(said) => {
            assert!(said.contains(words), "{stack}: {said}");
            assert!(said.contains("studies/layers.toml:"), "{said}");
        }
        Ok(plan) => {
            let left_out: Vec<&str> = plan.left_out.iter().map(|left| left.reason.as_str()).collect();
            assert!(
                left_out.iter().any(|reason| reason.contains(words)),
                "{stack}: {left_out:?}"
            );
        }
    }
}

/// The cache is on the array, the encryption on the cache.
#[test]
fn a_cached_array_is_encrypted_above_its_cache() {
    let plan = plan(
        "array = { level = 5 }\ncache = { type = \"lvmcache\", mode = \"writeback\", size = \"64M\" }\nluks = { on = \"array\" }",
    );
    let cache = DiskCache {
        kind: CacheKind::DmCache,
        writeback: true,
        size_bytes: Some(64 << 20),
    };
    assert_eq!(
        plan.cells[0].stack.layers,
        [Layer::Cache(cache), Layer::Luks(Luks::default())]
    );
}

/// The header of LUKS takes 16 MiB of the array.
#[test]
fn what_does_not_fit_beside_the_header_is_refused() {
    let study = |on: &str, mib: u64| {
        let source = format!(
            "[disks]\ncount = 2\n[[stack]]\narray = {{ level = 1, size = \"1G\" }}\nfs = {{ type = \"raw\" }}\nluks = {{ on = \"{on}\" }}\n\
             [[workload]]\nname = \"w\"\nio = {{ rw = \"randread\", bs = \"4K\", size = \"{mib}M\" }}\n"
        );
        read(&source, "studies/layers.toml", &Known::default()).map_err(|diagnostics| diagnostics.to_string())
    };
    study("none", 1024).expect("fills the array");
    study("members", 1024).expect("the members are larger");
    study("array", 1008).expect("fills what is left");
    let said = study("array", 1009).expect_err("is too large");
    assert!(said.contains("the workload needs about"), "{said}");
}

/// As people wrote them before there were these keys.
#[test]
fn for_keys_of_other_names_the_right_ones_are_named() {
    for (stack, words) in [
        (
            "array = { level = 5, assume_clean = true }",
            "write `initial_resync = \"assume-clean\"`",
        ),
        (
            "array = { level = 5, crypt = \"members\" }",
            "write `luks = { on = \"members\" }`",
        ),
        ("array = { level = 5, cache = \"bcache\" }", "and add [disks.cache]"),
        (
            "array = { level = 1, disks = [\"data:1\", \"ssd:1\"] }",
            "write `members = \"data:1,ssd:1\"`",
        ),
        (
            "layers = [\"luks\"]",
            "`partition`, `cache`, `luks`, `volume` and `image`",
        ),
        ("array = { level = \"lvm-thin\" }", "lvm-linear"),
        (
            "array = { level = 5, over = {} }",
            "write `volume = { type = \"thin\" }`",
        ),
        ("array = { level = 5, snapshot = true }", "write `snapshots = 1`"),
        (
            "array = { level = 5 }\nvolume = \"thin\"",
            "write `volume = { type = \"thin\" }`",
        ),
        ("array = { level = 5 }\npartition = 63", "start = 63"),
        ("filesystem = \"ext4\"", "write `fs = { type"),
    ] {
        refused(stack, words);
    }
}

/// Whatever order the study writes them in.
#[test]
fn layers_are_in_the_order_that_linux_allows() {
    let plan = plan(
        "volume = { type = \"thin\", chunk = \"256K\" }\nluks = { on = \"volume\" }\ncache = { type = \"bcache\" }\n\
         partition = { on = \"array\", start = 63 }\narray = { level = 5 }\nsnapshots = [0, 2]",
    );
    let cache = DiskCache {
        kind: CacheKind::Bcache,
        writeback: false,
        size_bytes: None,
    };
    let volume = Volume {
        kind: VolumeKind::Thin,
        chunk_bytes: Some(256 << 10),
        snapshot_bytes: None,
    };
    let of_array = [
        Layer::Partition(GptPartition { start_sector: 63 }),
        Layer::Cache(cache),
        Layer::Volume(volume),
        Layer::Luks(Luks::default()),
    ];
    assert_eq!(plan.cells[0].stack.layers, of_array);
    assert_eq!(plan.cells[1].stack.snapshots, 2);
    let labels: Vec<&str> = plan.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    assert_eq!(labels, ["ext4", "ext4 2 snapshots"]);
}

#[test]
fn partitions_volumes_and_snapshots_that_cannot_be_are_refused_with_what_would_be_right() {
    for (stack, words) in [
        (
            "array = { level = 5 }\npartition = { on = \"members\", start = 33 }",
            "34",
        ),
        (
            "array = { level = \"single\" }\npartition = { on = \"members\" }",
            "write on = \"array\"",
        ),
        (
            "fs = { type = \"zfs\" }\npartition = { on = \"members\" }",
            "a pool of ZFS is on partitions",
        ),
        (
            "array = { level = 5, size = \"1G\" }\npartition = { on = \"array\", start = 8000000 }",
            "a partition has no room on a device of 3 GiB",
        ),
        (
            "array = { level = 5 }\npartition = { on = [\"none\", \"array\"], start = 63 }",
            "`start` is a setting of partitions",
        ),
        (
            "array = { level = \"lvm-raid5\" }\nvolume = { type = \"thin\" }",
            "leave `volume` out, or use a level of md",
        ),
        (
            "array = { level = 5 }\nvolume = { type = \"thin\", chunk = \"32K\" }",
            "write 64K or more",
        ),
        (
            "array = { level = 5 }\nvolume = { type = \"linear\", chunk = \"1M\" }",
            "a power of two up to 512K",
        ),
        (
            "array = { level = 5 }\nvolume = { type = \"linear\" }\nsnapshots = 1",
            "write a `snapshot_size`",
        ),
        (
            "array = { level = 5 }\nvolume = { type = \"linear\", snapshot_size = \"1G\" }",
            "and there are none",
        ),
        (
            "array = { level = 5 }\nvolume = { type = \"thin\", snapshot_size = \"1G\" }",
            "leave `snapshot_size` out",
        ),
        (
            "array = { level = \"lvm-raid1\" }\npartition = { on = \"array\" }",
            "write on = \"members\"",
        ),
        ("array = { level = 5 }\nsnapshots = 1", "add a volume"),
        (
            "array = { level = 5 }\nluks = { on = \"volume\" }",
            "there is no volume that could be encrypted",
        ),
        (
            "array = { level = 5, journal_mode = \"write-back\" }",
            "write write_journal = true",
        ),
        (
            "array = { level = 5, size = \"1G\" }\nvolume = { type = \"linear\", snapshot_size = \"1G\" }\nsnapshots = 4",
            "has no room on a device of 3 GiB",
        ),
    ] {
        refused(stack, words);
    }
}

/// A filesystem in a file or on a zvol, as a virtual machine's.
#[test]
fn images_carry_the_filesystem() {
    let study = plan("array = { level = 5 }\nimage = { on = [\"none\", \"xfs\", \"btrfs\"], preallocate = false }");
    let labels: Vec<&str> = study.cells.iter().map(|cell| cell.stack_label.as_str()).collect();
    assert_eq!(labels, ["ext4", "ext4 in file on xfs", "ext4 in file on btrfs"]);
    assert_eq!(study.cells[0].stack.image, None);
    let zvol = plan(
        "image = { on = \"zfs\", pool = \"mirror\", block = \"8K\", sync = \"always\" }\nfs = { type = \"xfs\" }",
    );
    let stack = &zvol.cells[0].stack;
    // As with ZFS itself.
    assert_eq!(stack.array.level, Level::None);
    let image = stack.image.as_ref().expect("has an image");
    assert_eq!((image.is_zvol(), image.block_bytes), (true, Some(8 << 10)));
    assert_eq!(image.filesystem.zfs.pool, Some(Pool::Mirror));
    assert_eq!(stack.may_be_missing(4), 3);
}

#[test]
fn images_that_cannot_be_are_refused_with_what_would_be_right() {
    for (stack, words) in [
        ("image = \"zfs\"", "image = { on = \"zfs\" }"),
        ("fs = { type = \"ext4\", zvol = true }", "image = { on = \"zfs\" }"),
        (
            "array = { level = 5 }\nimage = { on = \"vfat\" }",
            "`xfs`, `btrfs` or `zfs`",
        ),
        (
            "array = { level = 5 }\nimage = { on = \"xfs\", block = \"16K\" }",
            "`block` is a setting of zvols",
        ),
        (
            "array = { level = 5 }\nimage = { on = [\"none\", \"xfs\"], size = \"1G\" }",
            "`size` is a setting of images",
        ),
        (
            "image = { on = \"zfs\", preallocate = true }",
            "leave `preallocate` out",
        ),
        (
            "image = { on = \"zfs\", pool = \"raidz3\" }\narray = { level = 5 }",
            "write level = \"none\"",
        ),
        ("image = { on = \"zfs\", log = true }", "journal"),
        (
            "array = { level = 5 }\nimage = { on = \"xfs\" }\nfs = { type = \"zfs\" }",
            "use another filesystem",
        ),
        (
            "array = { level = 5 }\nimage = { on = \"xfs\" }\nfs = { type = \"raw\" }",
            "use a filesystem",
        ),
        (
            "array = { level = 5 }\nimage = { on = \"xfs\" }\nsnapshots = 1",
            "leave `snapshots` out, or `image`",
        ),
        (
            "array = { level = \"none\" }\nimage = { on = \"xfs\" }",
            "uses one device",
        ),
        (
            "array = { level = 5 }\nimage = { on = \"xfs\" }\nfs = { type = \"ext4\", journal_on = \"cache\" }",
            "leave `journal_on` out",
        ),
    ] {
        refused(stack, words);
    }
    let source =
        "create_once = true\n[disks]\n[[stack]]\nimage = { on = \"xfs\" }\n[[workload]]\nname = \"w\"\nio = {}\n";
    let copied = read(source, "studies/layers.toml", &Known::default()).expect_err("is refused");
    assert!(copied.to_string().contains("`create_once = false`"), "{copied}");
    let on_host = |image: &str| {
        let source = format!(
            "machine = \"host\"\n[disks]\ncount = 4\n[[stack]]\n{image}\n[[workload]]\nname = \"w\"\nio = {{}}\n"
        );
        read(&source, "studies/layers.toml", &Known::default()).map_err(|diagnostics| diagnostics.to_string())
    };
    on_host("array = { level = 5 }\nimage = { on = \"xfs\" }").expect("is possible");
    let refused = on_host("image = { on = \"zfs\" }").expect_err("is refused");
    assert!(refused.contains("write on = \"ext4\" or \"xfs\""), "{refused}");
}
