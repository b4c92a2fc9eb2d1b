//! Memory of a guest against what its stack keeps there.

use study_file::{Known, read};

fn said(ram: &str, array: &str, io: &str) -> String {
    said_of(ram, array, &format!("io = {{ {io} }}"))
}

fn said_of(ram: &str, array: &str, work: &str) -> String {
    let source = format!(
        "ram = \"{ram}\"\n[disks]\ncount = 8\n[[stack]]\narray = {{ {array} }}\n[[workload]]\nname = \"w\"\n{work}\n"
    );
    match read(&source, "a.toml", &Known::default()) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

/// Issue 39, A6: 24 of 48 guests of 256 MiB panicked with 8192 stripes of eight members. Seen in the lab: 6000 stripes
/// run, 7000 do not.
#[test]
fn a_stripe_cache_larger_than_the_guest_is_an_error() {
    let of =
        |ram: &str, stripes: u32| said(ram, &format!("level = 6, size = \"1G\", stripe_cache = {stripes}"), "");
    let large = of("256M", 8192);
    assert!(
        large.contains("the guest has 256 MiB of RAM")
            && large.contains("stripe cache of 8192 stripes of 8 members"),
        "{large}"
    );
    assert!(
        large.contains("write ram = \"384M\" or more, or a smaller `stripe_cache`"),
        "{large}"
    );
    assert!(!of("256M", 7000).is_empty());
    assert_eq!(of("256M", 6000), "");
    assert_eq!(of("384M", 8192), "");
}

#[test]
fn buffers_of_requests_larger_than_the_guest_are_an_error() {
    let of = |io: &str| said("256M", "level = 6, size = \"1G\"", io);
    let large = of("bs = \"1M\", iodepth = 256");
    assert!(large.contains("buffers of 1 × 256 requests of 1M: 256 MiB"), "{large}");
    assert_eq!(of("bs = \"1M\", iodepth = 128"), "");
}

/// Issue 39: what `plan` accepted made the guest's kernel panic.
#[test]
fn names_that_do_not_fit_into_the_guest_are_an_error() {
    let of = |ram: &str, work: &str| said_of(ram, "level = 5", work);
    for work in [
        "tree = { files = 1, directories = 10000000 }",
        "tree = { files = 20000000, size = \"1B\" }",
        "server = { files = 10000000, size = \"1B\" }",
    ] {
        let said = of("128M", work);
        assert!(said.contains("the guest has 128 MiB of RAM"), "{work}: {said}");
        assert!(said.contains("names of "), "{work}: {said}");
    }
    assert_eq!(of("1G", "tree = { files = 1000000 }"), "");
}

/// Issue 39: 100,000 directories on ext4 of 1.5 GiB failed after 11 s with "No space left on device".
#[test]
fn more_files_than_inodes_are_an_error() {
    let of = |size: &str| {
        said_of(
            "1G",
            &format!("level = 5, size = \"{size}\""),
            "tree = { files = 1, directories = 300000 }",
        )
    };
    let small = of("512M");
    assert!(small.contains("ext4 of this size has about 229,376 inodes"), "{small}");
    assert_eq!(of("1G"), "");
}

/// Issue 39: with 400 jobs the guest was ended by `vm.max_map_count`, with 1,100 there were too many open files.
#[test]
fn more_threads_than_a_guest_runs_are_an_error() {
    let of = |work: &str| said_of("4G", "level = 5", work);
    for (work, key) in [
        ("io = { numjobs = 301, size = \"1M\" }", "numjobs"),
        ("server = { clients = 512 }", "clients"),
        ("iozone = { processes = 1024, file = \"64K\" }", "processes"),
        ("bonnie = { seekers = 1024 }", "seekers"),
    ] {
        let said = of(work);
        assert!(said.contains(&format!("write `{key} = 300` or less")), "{work}: {said}");
    }
    assert_eq!(of("io = { numjobs = 300, size = \"1M\" }"), "");
    assert!(said_of("4G", "level = 5", "io = { iodepth = 32769 }").contains("32768"));
}
