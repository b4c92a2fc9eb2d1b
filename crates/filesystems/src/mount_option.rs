//! Options of mount(8) that do not depend on the filesystem.

/// Options of every filesystem, without those that `no` negates.
pub(crate) const EVERYWHERE: &str = "_netdev async atime auto comment dev defaults dirsync diratime exec fail iversion \
    lazytime loud norelatime relatime ro rw silent strictatime suid symfollow sync";

/// Why a study must not use an option, if it must not: it affects more than the stack.
pub fn refused_mount_option(option: &str) -> Option<&'static str> {
    let name = option.split('=').next().unwrap_or(option);
    match name {
        "remount" | "bind" | "rbind" | "move" | "private" | "rprivate" | "shared" | "rshared" | "slave"
        | "rslave" | "unbindable" | "runbindable" => Some("it applies to other mounts"),
        "loop" | "offset" | "sizelimit" => Some("the stack's device is always mounted directly"),
        "user" | "users" | "owner" | "group" | "uid_helper" | "helper" => Some("only raidlab mounts the stack"),
        "logdev" | "rtdev" | "jdev" | "journal_path" | "journal_dev" | "device" | "journal" => {
            Some("a study does not name devices")
        }
        _ if option.to_ascii_lowercase().contains("panic") => Some("it could panic the whole machine"),
        _ => None,
    }
}
