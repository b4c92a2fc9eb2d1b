//! Converts mount options of mount(8) to those of mount(2): flags and options of the filesystem.

use crate::machine::error::Cause;
use filesystems::refused_mount_option;
use rustix::mount::MountFlags;

/// The arguments of mount(2).
#[derive(Debug, PartialEq, Eq)]
pub struct MountArguments {
    pub(crate) flags: MountFlags,
    /// Options of the filesystem, comma-separated.
    pub(crate) data: String,
}

impl MountArguments {
    /// As for `mount -o`; empty for the defaults.
    pub(crate) fn words(&self) -> String {
        let flags = FLAGS.iter().filter(|(flag, _)| self.flags.contains(*flag));
        let words = flags.map(|(_, word)| *word).chain([self.data.as_str()]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(",")
    }

    /// Adds options that the study need not specify.
    pub(crate) fn add(&mut self, words: &[String]) {
        let all = std::iter::once(self.data.clone()).chain(words.iter().cloned());
        self.data = all.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(",");
    }
}

/// Options that are flags of mount(2).
const FLAGS: [(MountFlags, &str); 12] = [
    (MountFlags::RDONLY, "ro"),
    (MountFlags::NOATIME, "noatime"),
    (MountFlags::NODIRATIME, "nodiratime"),
    (MountFlags::RELATIME, "relatime"),
    (MountFlags::STRICTATIME, "strictatime"),
    (MountFlags::LAZYTIME, "lazytime"),
    (MountFlags::NOSUID, "nosuid"),
    (MountFlags::NODEV, "nodev"),
    (MountFlags::NOEXEC, "noexec"),
    (MountFlags::SYNCHRONOUS, "sync"),
    (MountFlags::DIRSYNC, "dirsync"),
    (MountFlags::SILENT, "silent"),
];

enum Meaning {
    Set(MountFlags),
    Clear(MountFlags),
    /// Only for mount(8) or /etc/fstab.
    Nothing,
    /// Affects more than the stack.
    Refused(&'static str),
    /// An option of the filesystem.
    Data,
}

fn meaning(option: &str) -> Meaning {
    use Meaning::{Clear, Data, Nothing, Refused, Set};
    if let Some((flag, _)) = FLAGS.iter().find(|(_, word)| *word == option) {
        return Set(*flag);
    }
    let name = option.split('=').next().unwrap_or(option);
    match option {
        "rw" => Clear(MountFlags::RDONLY),
        "atime" => Clear(MountFlags::NOATIME),
        "diratime" => Clear(MountFlags::NODIRATIME),
        "norelatime" => Clear(MountFlags::RELATIME),
        "nostrictatime" => Clear(MountFlags::STRICTATIME),
        "nolazytime" => Clear(MountFlags::LAZYTIME),
        "suid" => Clear(MountFlags::NOSUID),
        "dev" => Clear(MountFlags::NODEV),
        "exec" => Clear(MountFlags::NOEXEC),
        "async" => Clear(MountFlags::SYNCHRONOUS),
        "loud" => Clear(MountFlags::SILENT),
        "" | "defaults" | "auto" | "noauto" | "nofail" | "_netdev" => Nothing,
        _ if name.starts_with("x-") || name == "comment" => Nothing,
        _ => refused_mount_option(option).map_or(Data, Refused),
    }
}

/// Splits the study's options, including entries with several options; a later option overrides an earlier one.
pub(crate) fn parse(options: &[String], journal_mode: Option<&str>) -> Result<MountArguments, Cause> {
    let mut flags = MountFlags::empty();
    let mut data: Vec<&str> = Vec::new();
    let words = options.iter().flat_map(|entry| entry.split(',')).map(str::trim);
    for option in words {
        match meaning(option) {
            Meaning::Set(flag) => flags |= flag,
            Meaning::Clear(flag) => flags -= flag,
            Meaning::Nothing => {}
            Meaning::Refused(why) => {
                return Err(Cause::Impossible(format!("mount option `{option}` is refused: {why}")));
            }
            Meaning::Data => data.push(option),
        }
    }
    if let Some(mode) = journal_mode {
        if let Some(other) = data
            .iter()
            .find(|option| option.starts_with("data=") && **option != mode)
        {
            return Err(Cause::Impossible(format!(
                "mount option `{other}` contradicts the journal mode `{mode}`"
            )));
        }
        data.retain(|option| *option != mode);
        data.push(mode);
    }
    Ok(MountArguments {
        flags,
        data: data.join(","),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &[&str]) -> Result<MountArguments, String> {
        let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
        parse(&options, None).map_err(|cause| cause.to_string())
    }

    #[test]
    fn flags_and_words_come_back_as_words() {
        let parsed = parsed(&["noatime,barrier=0", "ro", "defaults"]).expect("is sound");
        assert_eq!(parsed.words(), "ro,noatime,barrier=0");
    }

    #[test]
    fn flags_and_words_part() {
        let flags = MountFlags::NOATIME | MountFlags::NODEV;
        let data = "barrier=0,commit=30".to_owned();
        assert_eq!(
            parsed(&["noatime,barrier=0", "nodev", "commit=30"]),
            Ok(MountArguments { flags, data })
        );
    }

    #[test]
    fn a_later_option_overrides() {
        let nothing = MountArguments {
            flags: MountFlags::empty(),
            data: String::new(),
        };
        assert_eq!(
            parsed(&["ro", "noatime", "atime", "rw", "defaults", "x-systemd.automount"]),
            Ok(nothing)
        );
    }

    #[test]
    fn what_reaches_beyond_the_stack_is_refused() {
        assert_eq!(
            parsed(&["noatime,logdev=/dev/sda"]),
            Err("mount option `logdev=/dev/sda` is refused: a study does not name devices".to_owned())
        );
        for option in [
            "remount",
            "bind",
            "loop",
            "user",
            "device=/dev/sdb",
            "journal_path=/dev/sdc",
            "jdev=/dev/sd",
            "errors=panic",
            "fatal_errors=panic",
            "on_error=PANIC",
        ] {
            assert!(parsed(&[option]).is_err(), "{option}");
        }
    }

    #[test]
    fn the_journal_mode_is_an_option_and_said_once() {
        let options = ["data=journal".to_owned(), "nobh".to_owned()];
        assert_eq!(
            parse(&options, Some("data=journal")).expect("agrees").data,
            "nobh,data=journal"
        );
        let error = parse(&options, Some("data=ordered")).expect_err("contradicts");
        assert_eq!(
            error.to_string(),
            "mount option `data=journal` contradicts the journal mode `data=ordered`"
        );
    }
}
