//! `luks`: encrypted members and arrays.

use study::plan::Plan;
use study::stack::{CacheKind, DiskCache, Layer, Luks};
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
        ("array = { level = 5 }\ncache = { type = \"bcache\" }", "dm-cache"),
        (
            "array = { level = 5 }\ncache = { type = \"dm-writecache\", mode = \"writeback\" }",
            "`mode` is for dm-cache",
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
        ("layers = [\"luks\"]", "write `luks = { … }`"),
        ("filesystem = \"ext4\"", "write `fs = { type"),
    ] {
        refused(stack, words);
    }
}
