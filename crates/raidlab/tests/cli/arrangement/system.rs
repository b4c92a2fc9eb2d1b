//! Programs, processes and loop devices of the machine, which has no udev.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program of the system; returns whether it succeeds.
pub fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).env("PATH", tools::SEARCH_PATH);
    command.output().is_ok_and(|output| output.status.success())
}

/// `struct loop_info64`, as far as it is not zero.
fn loop_info(offset: u64, limit: u64, flags: u32) -> [u8; 232] {
    let mut info = [0; 232];
    info[24..32].copy_from_slice(&offset.to_le_bytes());
    info[32..40].copy_from_slice(&limit.to_le_bytes());
    info[52..56].copy_from_slice(&flags.to_le_bytes());
    info
}

fn ioctl(file: &File, request: u32, argument: usize) -> bool {
    // SAFETY: the requests used here take a number, or a pointer to what lives as long as the call.
    unsafe { libc::ioctl(file.as_raw_fd(), request as _, argument) >= 0 }
}

const LOOP_SET_FD: u32 = 0x4c00;
const LOOP_CLR_FD: u32 = 0x4c01;
const LOOP_SET_STATUS64: u32 = 0x4c04;
const LOOP_CTL_GET_FREE: u32 = 0x4c82;
const BLKRRPART: u32 = 0x125f;
/// `LO_FLAGS_PARTSCAN`.
pub const PARTITIONS_SCANNED: u32 = 8;

pub fn attach_to(node: &Path, backing: &Path, offset: u64, limit: u64, flags: u32) -> bool {
    let open = |path: &Path| File::options().read(true).write(true).open(path);
    let (Ok(device), Ok(backing)) = (open(node), open(backing)) else {
        return false;
    };
    let info = loop_info(offset, limit, flags);
    let is_attached = ioctl(&device, LOOP_SET_FD, backing.as_raw_fd() as usize)
        && ioctl(&device, LOOP_SET_STATUS64, info.as_ptr() as usize);
    if is_attached && flags != 0 {
        // Without a partition table there is nothing to reread.
        ioctl(&device, BLKRRPART, 0);
    }
    is_attached
}

pub fn detach(node: &Path) -> bool {
    File::open(node).is_ok_and(|device| ioctl(&device, LOOP_CLR_FD, 0))
}

/// Starts a process that does this and then waits to be killed.
pub fn child(act: impl FnOnce() -> bool) -> Option<libc::pid_t> {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the child makes system calls alone, and never returns.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let is_done = act();
        let _ = std::io::Write::write_all(&mut &writer, &[u8::from(is_done)]);
        loop {
            // SAFETY: waits for a signal, no more.
            unsafe { libc::pause() };
        }
    }
    drop(writer);
    let mut is_done = [0];
    let said = std::io::Read::read_exact(&mut reader, &mut is_done);
    match said.is_ok() && is_done == [1] {
        true => Some(pid),
        false => {
            end_child(pid);
            None
        }
    }
}

pub fn end_child(pid: libc::pid_t) {
    // SAFETY: ends and waits for a child of ours.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
}

pub fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("no zero in it")
}

/// An unused loop device.
pub fn free_loop() -> PathBuf {
    let control = File::open("/dev/loop-control").expect("loop devices");
    // SAFETY: asks for a number.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
    PathBuf::from(format!("/dev/loop{number}"))
}

/// Folder of the files behind the loop devices.
pub const FOLDER: &str = "/tmp/w";

pub fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

pub fn write_at(name: &str, bytes: &[u8], at: u64) {
    let file = File::options().write(true).open(path(name)).expect("a file of ours");
    file.write_all_at(bytes, at).expect("room");
}
