//! `raidlab cache`.

use crate::desk::Desk;
use std::fs;
use std::os::unix::fs::symlink;

/// A cache with folders of each kind, none of which this raidlab needs but the packages.
fn desk() -> Desk {
    let desk = Desk::new();
    for (folder, bytes) in [
        ("kernels/6.12-0123456789ab-0123456789ab", 5000),
        ("build/6.12-0123456789ab", 300_000),
        ("packages/zfs-dkms", 20_000),
        ("stacks/0123456789abcdef01234567", 9000),
    ] {
        let folder = desk.cache().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("file"), vec![1; bytes]).expect("written");
    }
    desk
}

fn folders(desk: &Desk) -> Vec<String> {
    let ran = desk.run(&["cache", "list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let entries = list["entries"].as_array().expect("a list");
    let name = |entry: &serde_json::Value| entry["name"].as_str().expect("a name").to_owned();
    entries.iter().map(name).collect()
}

#[test]
fn issue_40_the_cache_is_listed_with_sizes_and_dropped_by_name() {
    let desk = desk();
    let list = desk.run(&["cache", "list"]);
    assert_eq!(list.exit, Some(0));
    assert!(list.stdout.contains("build/6.12-0123456789ab"), "{}", list.stdout);
    assert!(list.stdout.contains(" KiB "), "{}", list.stdout);
    assert!(
        list.stdout.contains("`raidlab cache drop --unused` frees"),
        "{}",
        list.stdout
    );
    let dropped = desk.run(&["cache", "drop", "build/6.12-0123456789ab"]);
    assert_eq!((dropped.exit, folders(&desk).len()), (Some(0), 3), "{}", dropped.stderr);
    assert_eq!(desk.run(&["cache", "drop", "--unused"]).exit, Some(0));
    assert_eq!(folders(&desk), ["packages/zfs-dkms"]);
    assert_eq!(desk.run(&["cache", "drop", "--all"]).exit, Some(0));
    assert_eq!(folders(&desk), [""; 0]);
}

#[test]
fn issue_40_what_is_no_folder_of_the_cache_is_not_dropped() {
    let desk = desk();
    let elsewhere = desk.folder().join("mine");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("photo"), "mine").expect("written");
    symlink(&elsewhere, desk.cache().join("build/link")).expect("a link");
    symlink(&elsewhere, desk.cache().join("build/6.12-0123456789ab/link")).expect("a link");
    for name in ["../../work/mine", "build/link", "build", "", "/", "build/.."] {
        let ran = desk.run(&["cache", "drop", "packages/zfs-dkms", name]);
        assert_eq!(ran.exit, Some(2), "{name}");
        assert!(ran.stderr.contains("nothing was dropped"), "{}", ran.stderr);
    }
    assert_eq!(desk.run(&["cache", "drop"]).exit, Some(2));
    assert_eq!(folders(&desk).len(), 4);
    assert_eq!(desk.run(&["cache", "drop", "--all"]).exit, Some(0));
    assert_eq!(
        fs::read_to_string(elsewhere.join("photo")).expect("still there"),
        "mine"
    );
}

/// A kernel that guests run has a shared lock.
#[test]
fn issue_40_a_kernel_that_runs_is_not_dropped() {
    let desk = desk();
    let folder = desk.cache().join("kernels/6.12-0123456789ab-0123456789ab");
    fs::write(folder.join("linux"), "an image").expect("written");
    let image = fs::File::open(folder.join("linux")).expect("there");
    rustix::fs::flock(&image, rustix::fs::FlockOperation::LockShared).expect("ours");
    let ran = desk.run(&["cache", "drop", "--all"]);
    assert!(
        ran.stderr.contains("is left: a raidlab is running it"),
        "{}",
        ran.stderr
    );
    assert_eq!(folders(&desk), ["kernels/6.12-0123456789ab-0123456789ab"]);
    drop(image);
    assert_eq!(desk.run(&["cache", "drop", "--all"]).exit, Some(0));
    assert!(!folder.exists());
}
