//! Which filesystems this machine's kernel can mount, checked before anything is changed.

use std::fs;
use std::path::Path;

/// Whether the kernel has a filesystem built in or as a module. True if unknown, for example in a container without the
/// kernel's modules.
pub fn kernel_has(filesystem: &str) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let modules = Path::new("/lib/modules").join(release).join("modules.alias");
    let mounted = fs::read_to_string("/proc/filesystems");
    let (Ok(known), Ok(aliases)) = (mounted, fs::read_to_string(modules)) else {
        return true;
    };
    is_known(&known, filesystem) || has_module(&aliases, filesystem)
}

/// Listed in `/proc/filesystems`, where filesystems without a device are preceded by `nodev`.
fn is_known(known: &str, filesystem: &str) -> bool {
    known
        .lines()
        .any(|line| line.split_whitespace().last() == Some(filesystem))
}

/// In `modules.alias`: the alias by which the kernel loads a filesystem's module on mount.
fn has_module(aliases: &str, filesystem: &str) -> bool {
    let alias = format!("fs-{filesystem}");
    aliases.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("alias") && words.next() == Some(&alias)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_and_what_is_a_module() {
        let known = "nodev\tproc\n\text3\n\text4\nnodev\toverlay\n";
        assert!(is_known(known, "ext4") && is_known(known, "proc"));
        assert!(!is_known(known, "nodev") && !is_known(known, "ext"));
        let aliases = "# Aliases extracted from modules themselves.\nalias fs-xfs xfs\nalias crc32 crc32_pclmul\n";
        assert!(has_module(aliases, "xfs"));
        assert!(!has_module(aliases, "bcachefs") && !has_module(aliases, "x"));
    }
}
