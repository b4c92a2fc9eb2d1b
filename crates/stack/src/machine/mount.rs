//! Mounts and unmounts by system calls, and reads the kernel's mount table.

use crate::machine::error::Cause;
use crate::machine::executor::{Mount, Mounted};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::ffi::CString;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// mount(2); an error includes the kernel's log messages.
pub(crate) fn mount(call: &Mount<'_>) -> Result<Mounted, Cause> {
    let (device, kind, with) = (call.source, call.kind, call.arguments);
    let data = CString::new(with.data.as_str())
        .map_err(|_| Cause::Impossible("mount options with a NUL byte".to_owned()))?;
    let mut log = KernelLog::from_now();
    rustix::mount::mount(device, call.folder, kind, with.flags, data.as_c_str()).map_err(|errno| {
        let with = if with.data.is_empty() {
            String::new()
        } else {
            format!(" with `{}`", with.data)
        };
        let doing = format!("mount {} as {kind}{with}{}", device.display(), log.words());
        Cause::errno(doing)(errno)
    })?;
    at(call.folder)?.ok_or_else(|| {
        let folder = call.folder.display();
        Cause::State(format!("{folder} was mounted, but is not in /proc/self/mounts"))
    })
}

/// Unmounts a folder. Never lazily: a filesystem in use would continue to write unnoticed.
pub(crate) fn unmount(folder: &Path) -> Result<(), Cause> {
    const TRIES: u32 = 25;
    let mut tries_left = TRIES;
    loop {
        match rustix::mount::unmount(folder, UnmountFlags::NOFOLLOW) {
            Ok(()) => return Ok(()),
            // A process that had a file open there may be exiting.
            Err(Errno::BUSY) if tries_left > 0 => std::thread::sleep(Duration::from_millis(200)),
            Err(errno) => return Err(Cause::errno(format!("unmount {}", folder.display()))(errno)),
        }
        tries_left -= 1;
    }
}

/// The topmost mount on a folder.
pub(crate) fn at(folder: &Path) -> Result<Option<Mounted>, Cause> {
    let table = fs::read_to_string("/proc/self/mounts").map_err(Cause::system("read /proc/self/mounts"))?;
    Ok(table
        .lines()
        .rev()
        .filter_map(parse)
        .find(|mounted| mounted.mount_point == folder))
}

fn parse(line: &str) -> Option<Mounted> {
    let mut fields = line.split(' ');
    Some(Mounted {
        source: unescape(fields.next()?).into(),
        mount_point: unescape(fields.next()?).into(),
        kind: fields.next()?.to_owned(),
        options: fields.next()?.to_owned(),
    })
}

/// The kernel writes white space and backslashes as three octal digits.
fn unescape(field: &str) -> String {
    let mut parts = field.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                text.push(char::from(byte));
                text.push_str(&part[3..]);
            }
            None => {
                text.push('\\');
                text.push_str(part);
            }
        }
    }
    text
}

/// The kernel's log from a point in time, if readable.
struct KernelLog(Option<fs::File>);

impl KernelLog {
    fn from_now() -> Self {
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = fs::OpenOptions::new()
            .read(true)
            .custom_flags(nonblocking)
            .open("/dev/kmsg");
        let at_its_end = file.and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file));
        Self(at_its_end.ok())
    }

    /// Messages logged since, as part of an error message.
    fn words(&mut self) -> String {
        let mut record = [0; 8192];
        let mut words = Vec::new();
        while let Some(Ok(count @ 1..)) = self.0.as_mut().map(|file| file.read(&mut record)) {
            let text = String::from_utf8_lossy(&record[..count]);
            let first_line = text.lines().next().unwrap_or_default();
            words.extend(first_line.split_once(';').map(|(_, message)| message.trim().to_owned()));
        }
        if words.is_empty() {
            String::new()
        } else {
            format!(" (kernel: {})", words.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_table() {
        let line = "/dev/md100 /work/with\\040blank\\134x ext3 rw,noatime,data=ordered 0 0";
        let mounted = parse(line).expect("is whole");
        assert_eq!(mounted.mount_point, Path::new("/work/with blank\\x"));
        assert_eq!(
            (mounted.kind.as_str(), mounted.options.as_str()),
            ("ext3", "rw,noatime,data=ordered")
        );
        assert_eq!(mounted.source, Path::new("/dev/md100"));
        assert_eq!(parse("none"), None);
    }

    #[test]
    fn finds_what_is_mounted_here() {
        assert_eq!(
            at(Path::new("/proc")).expect("readable").expect("is mounted").kind,
            "proc"
        );
        assert_eq!(at(Path::new("/proc/self")).expect("readable"), None);
    }
}
