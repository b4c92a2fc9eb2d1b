//! Mount namespaces of tests.

/// Lets go of filesystems on loop devices that are mounted outside the current folder: they are those of other tests, which
/// could not use their devices after an unmount as long as a copy of the mounts keeps the filesystem.
const LET_GO: &str = r#"while read -r device folder rest; do
case "$device $folder" in "/dev/loop"*" $PWD/"*) ;; "/dev/loop"*) umount "$folder" 2>/dev/null || :;; esac
done < /proc/self/mounts"#;

/// The arguments with which `unshare` runs a shell script in a mount namespace of its own; what follows them are the
/// arguments of the script, from `$0`. The script ends with the first command that fails.
pub fn own_mounts(script: &str) -> [String; 5] {
    ["--mount", "sh", "-e", "-c", &format!("{LET_GO}\n{script}")].map(str::to_owned)
}
