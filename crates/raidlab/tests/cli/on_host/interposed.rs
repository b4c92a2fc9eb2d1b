//! Other programs that act between two steps of raidlab: a tool that it calls also runs a shell script, so that a
//! race happens at the same moment each time.

use crate::desk::{Desk, PROGRAM};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

/// When the shell script runs.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Before the first call.
    BeforeFirst,
    /// After the call with this number, from 1, and after each later one until it has succeeded once.
    After(u32),
}

/// Raidlab in its own mount namespace, after `prepare` was run there, with `act` run at each call of `tool`. Once
/// it has succeeded there is a file `acted` on the desk.
pub fn raidlab(desk: &Desk, prepare: &str, tool: &str, when: When, act: &str, arguments: &[&str]) -> Command {
    let (real, folder) = (find(tool), desk.folder());
    let (copy, wrapper, calls) = (
        folder.join(format!("real-{tool}")),
        folder.join(format!("wrapped-{tool}")),
        folder.join("calls"),
    );
    fs::copy(&real, &copy).expect("the tool");
    for file in ["acted", "calls"] {
        let _ = fs::remove_file(folder.join(file));
    }
    let act = format!("[ -e {0}/acted ] || ( {act} ) && touch {0}/acted", folder.display());
    let (before, after) = match when {
        When::BeforeFirst => (format!("[ $number != 1 ] || {{ {act}; }}"), String::new()),
        When::After(from) => (String::new(), format!("[ $number -lt {from} ] || {{ {act}; }}")),
    };
    let script = format!(
        "#!/bin/sh\nnumber=$(($(cat {calls} 2> /dev/null || echo 0) + 1))\necho $number > {calls}\n\
         {{ :\n{before}\n}} < /dev/null > {folder}/said 2>&1\n{copy} \"$@\"\ncode=$?\n\
         {{ :\n{after}\n}} < /dev/null > {folder}/said 2>&1\nexit $code\n",
        calls = calls.display(),
        copy = copy.display(),
        folder = folder.display(),
    );
    fs::write(&wrapper, script).expect("written");
    fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).expect("ours");
    let script = format!(
        "{prepare}\nmount --bind {} {}\nexec \"$0\" \"$@\"",
        wrapper.display(),
        real.display()
    );
    let mut command = desk.command("unshare");
    command
        .args(requirements::own_mounts(&script))
        .arg(PROGRAM)
        .args(arguments);
    command
}

/// Raidlab under way: its first mke2fs waits until it is killed.
pub fn that_waits(desk: &Desk, arguments: &[&str]) -> Child {
    let waits = desk.folder().join("waits");
    let act = format!("touch {}; exec sleep 600", waits.display());
    let mut command = raidlab(desk, "", "mke2fs", When::BeforeFirst, &act, arguments);
    let mut child = command.spawn().expect("raidlab is run");
    while !waits.exists() {
        let ended = child.try_wait().expect("ours");
        assert!(ended.is_none(), "raidlab ended before mkfs: {ended:?}");
        sleep(Duration::from_millis(10));
    }
    child
}

/// Files of this module on the desk.
pub fn remove_files(desk: &Desk) {
    for file in ["real-mke2fs", "wrapped-mke2fs", "calls", "said", "acted", "waits"] {
        let _ = fs::remove_file(desk.folder().join(file));
    }
}

/// Whether the shell script has succeeded.
pub fn acted(desk: &Desk) -> bool {
    desk.folder().join("acted").exists()
}

fn find(tool: &str) -> PathBuf {
    let mut folders = tools::SEARCH_PATH.split(':').map(|folder| Path::new(folder).join(tool));
    let found = folders.find(|path| path.exists()).expect("a tool of the system");
    found.canonicalize().expect("it is there")
}
