use super::*;

fn of_mount(asked: &str, shown: &str) -> Comparison {
    let mut all = Comparison::default();
    mount_options::compare(&[asked.to_owned()], shown, &mut all);
    all
}

#[test]
fn options_that_the_kernel_writes_otherwise_are_the_same() {
    for (asked, shown) in [
        ("noatime", "rw,noatime,data=ordered"),
        ("relatime,barrier=0", "rw,relatime,nobarrier"),
        ("barrier=1", "rw,relatime,barrier=1"),
        ("compress=zstd", "rw,relatime,compress=zstd:3,space_cache=v2"),
        ("discard", "rw,relatime,discard=async"),
        ("allocsize=64m", "rw,relatime,allocsize=65536k"),
        ("logbsize=32k,logbufs=8", "rw,logbufs=8,logbsize=32k"),
        ("commit=30,commit=60", "rw,commit=60"),
        ("defaults,x-systemd.automount,nofail", "rw"),
        ("lazytime,rw", "rw,lazytime"),
    ] {
        let all = of_mount(asked, shown);
        assert_eq!(all.differences, [], "{asked} and {shown}");
        assert!(all.not_shown.is_empty(), "{asked}: {:?}", all.not_shown);
    }
}

#[test]
fn another_value_and_the_opposite_are_differences() {
    for (asked, shown, found) in [
        ("noatime", "rw,relatime", "relatime"),
        ("relatime", "rw,noatime", "noatime"),
        ("strictatime", "rw,relatime", "relatime"),
        ("data=journal", "rw,relatime,data=ordered", "data=ordered"),
        ("commit=30", "rw,commit=5", "commit=5"),
        ("nobarrier", "rw,barrier=1", "barrier=1"),
        ("compress=zstd", "rw,compress=lzo", "compress=lzo"),
        ("allocsize=64m", "rw,allocsize=64k", "allocsize=64k"),
        ("lazytime", "rw,relatime", "rw,relatime"),
        ("ro", "rw,relatime", "rw"),
    ] {
        let (passed, detail) = of_mount(asked, shown).verdict();
        assert!(!passed, "{asked} and {shown}");
        assert_eq!(
            detail,
            format!("mount option: asked for `{asked}`, the kernel has `{found}`")
        );
    }
}

/// ext4 shows no defaults.
#[test]
fn options_that_the_kernel_does_not_show_are_named() {
    let (passed, detail) = of_mount("data=ordered,noatime", "rw,noatime").verdict();
    assert!(passed);
    assert_eq!(
        detail,
        "2 settings of the study are in the kernel as they were asked for; the kernel does not show the mount options \
         data=ordered"
    );
}

#[test]
fn a_value_may_have_an_origin_or_be_in_a_list() {
    let mut all = Comparison::default();
    all.compare("sync_speed_max of md100", "5000", "5000 (local)");
    all.compare(
        "mode of dm-cache",
        "writeback",
        "0 8388608 cache 254:1 254:0 254:2 128 1 writeback smq 0",
    );
    assert!(all.verdict().0);
    all.compare("chunk_size of md100", "65536", "524288");
    assert_eq!(
        all.verdict(),
        (
            false,
            "chunk_size of md100: asked for `65536`, the kernel has `524288`".to_owned()
        )
    );
}

#[test]
fn layouts_have_numbers() {
    let number = |level, layout| layout_number(level, layout).unwrap_or_default();
    assert_eq!(number(Level::Raid10, "n2"), "258");
    assert_eq!(number(Level::Raid10, "f2"), "513");
    assert_eq!(number(Level::Raid10, "o2"), "66049");
    assert_eq!(number(Level::Raid5, "left-symmetric"), "2");
    assert_eq!(number(Level::Raid6, "parity-last"), "5");
    assert_eq!(layout_number(Level::Raid1, "n2"), None);
}
