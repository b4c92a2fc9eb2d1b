//! A machine that lacks something: exit code 3 and how to fix it. Needs a mount namespace, which only root can
//! create.

use crate::desk::{Desk, PROGRAM, Ran};
use crate::lab;
use std::path::Path;

/// Runs raidlab after the shell commands `before` have changed its mounts. `None`, with a message, without
/// permission.
pub fn in_a_world_of_its_own(desk: &Desk, before: &str, arguments: &[&str]) -> Option<Ran> {
    let unshare = |script: &str, arguments: &[&str]| {
        let mut unshare = desk.command("unshare");
        unshare.args(requirements::own_mounts(script)).arg(PROGRAM);
        unshare.args(arguments).output()
    };
    let refused = match unshare(before, &[]) {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    };
    if let Some(why) = refused {
        requirements::skip(format!("needs a mount namespace of its own: {why}"));
        return None;
    }
    let script = format!("{before}\nexec \"$0\" \"$@\"");
    Some(Ran::from(unshare(&script, arguments).expect("it went before")))
}

#[test]
fn root_a_missing_tool_names_its_package() {
    let desk = Desk::new();
    let jfs = Path::new("/usr/sbin/mkfs.jfs");
    desk.write("empty", "");
    desk.write(
        "jfs.toml",
        crate::desk::SMALL.replace("[\"ext2\", \"ext4\"]", "\"jfs\""),
    );
    let hide = if jfs.exists() {
        "mount --bind empty /usr/sbin/mkfs.jfs"
    } else {
        "true"
    };
    let Some(ran) = in_a_world_of_its_own(&desk, hide, &["run", "jfs.toml"]) else {
        return;
    };
    insta::assert_snapshot!(desk.shown(&ran));
    assert!(!desk.folder().join("raidlab.db").exists());
}

#[test]
fn root_without_a_kernel_and_its_source_the_package_is_named() {
    let desk = Desk::new();
    desk.write("small.toml", crate::desk::SMALL);
    let hide = "mount -t tmpfs tmpfs /usr/src";
    for arguments in [&["run", "small.toml"] as &[&str], &["kernel", "build"]] {
        let Some(ran) = in_a_world_of_its_own(&desk, hide, arguments) else {
            return;
        };
        assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
        let words = "raidlab: the source of Linux 6.12 is not installed: `apt-get install linux-source-6.12`\n";
        assert_eq!(ran.stderr, words);
        assert!(!desk.folder().join("raidlab.db").exists());
    }
    let doctor = in_a_world_of_its_own(&desk, hide, &["doctor"]).expect("it went before");
    assert_eq!(doctor.exit, Some(3));
    let line = doctor
        .stdout
        .lines()
        .find(|line| line.starts_with("missing  linux-source-6.12.tar.xz"));
    assert!(
        line.is_some_and(|line| line.contains("package linux-source-6.12")),
        "{}",
        doctor.stdout
    );
    assert!(
        doctor.stdout.contains("apt-get install linux-source-6.12"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn root_what_only_some_studies_need_is_told_apart() {
    let desk = Desk::new();
    let hide = "mount -t tmpfs tmpfs /usr/sbin";
    let Some(doctor) = in_a_world_of_its_own(&desk, hide, &["doctor"]) else {
        return;
    };
    assert_eq!(doctor.exit, Some(3), "mdadm is what every study needs");
    for (word, file, package) in [("missing", "mdadm", "mdadm"), ("for some", "mkfs.f2fs", "f2fs-tools")] {
        let is_told = |line: &str| line.starts_with(&format!("{word:<8} {file} ")) && line.contains(package);
        assert!(doctor.stdout.lines().any(is_told), "{}", doctor.stdout);
    }
    let fix = |option: &str| {
        doctor
            .stdout
            .lines()
            .find(|line| line.contains(option))
            .unwrap_or_default()
    };
    assert!(!fix("to fix: ").contains("f2fs-tools"), "{}", doctor.stdout);
    assert!(fix("--install --all").contains("f2fs-tools"), "{}", doctor.stdout);
}

#[test]
fn root_lab_no_room_for_a_store() {
    let Some((desk, _turn)) = lab::desk() else { return };
    std::fs::create_dir(desk.folder().join("disk")).expect("a folder");
    let mount = "mount -t tmpfs -o size=16k tmpfs disk";
    let run = ["run", "small.toml", "--store", "disk/raidlab.db"];
    let Some(ran) = in_a_world_of_its_own(&desk, mount, &run) else {
        return;
    };
    insta::assert_snapshot!(desk.shown(&ran));
}

/// The disk of the store fills up while trials run.
#[test]
fn root_lab_a_disk_that_fills_up() {
    let Some((desk, _turn)) = lab::desk() else { return };
    std::fs::create_dir(desk.folder().join("disk")).expect("a folder");
    let mount = "mount -t tmpfs -o size=1200k tmpfs disk";
    let run = ["run", "small.toml", "--jobs", "1", "--store", "disk/raidlab.db"];
    let Some(ran) = in_a_world_of_its_own(&desk, mount, &run) else {
        return;
    };
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(3), ""), "{}", ran.stderr);
    let done = ran.stderr.lines().filter(|line| line.contains("/6 ")).count();
    let words = format!(
        "raidlab: no space left for the store `disk/raidlab.db`: finished trials ({done}) are kept; free some space \
         and run the same command to continue\n"
    );
    assert!(ran.stderr.ends_with(&words), "{}", ran.stderr);
    assert!(done >= 1, "{}", ran.stderr);
    let trials = std::fs::read_dir(desk.cache().join("trials")).expect("it was made");
    assert_eq!(trials.count(), 0);
}

#[test]
fn root_without_a_mirror_bcachefs_is_told_to_be_missing() {
    let desk = Desk::new();
    desk.write("bcachefs.toml", crate::desk::SMALL.replace("\"ext4\"", "\"bcachefs\""));
    if Path::new("/usr/sbin/bcachefs").exists() || Path::new("/sbin/bcachefs").exists() {
        requirements::skip("bcachefs-tools is installed here");
        return;
    }
    // As if there were no network: apt is configured to fail at once.
    let offline = "mount -t tmpfs tmpfs /etc/apt/apt.conf.d\n\
        echo 'Acquire::http::Proxy \"http://127.0.0.1:9\"; Acquire::Retries \"0\";' > /etc/apt/apt.conf.d/offline";
    let Some(ran) = in_a_world_of_its_own(&desk, offline, &["run", "bcachefs.toml"]) else {
        return;
    };
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    for words in [
        "Debian's mirror does not offer bcachefs-tools (searched ",
        "install it on this machine, or select stacks without bcachefs",
        "E: Failed to fetch",
    ] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let on_host = desk.run(&["run", "bcachefs.toml", "--on", "host", "--loop", "2x1G"]);
    assert_eq!(on_host.exit, Some(3), "{}", on_host.stderr);
    assert!(
        on_host
            .stderr
            .contains("Debian has bcachefs-tools only in experimental"),
        "{}",
        on_host.stderr
    );
    let dry = desk.run(&["run", "bcachefs.toml", "--dry-run"]);
    assert_eq!(dry.exit, Some(0), "{}", dry.stderr);
    assert!(dry.stdout.contains("bcachefs format "), "{}", dry.stdout);
}
