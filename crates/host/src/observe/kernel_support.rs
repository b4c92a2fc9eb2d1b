//! Which array levels this machine's kernel supports, checked before anything is changed.

use std::fs;
use std::path::Path;
use study::stack::Level;

/// Whether the kernel has an array level, loaded or as an available module.
pub fn kernel_has_level(level: Level) -> bool {
    Support::of_machine().has(level)
}

/// Whether the kernel has a target of device mapper, by the name of its module: `dm-integrity`, `dm-crypt`.
pub fn kernel_has_target(module: &str) -> bool {
    Support::of_machine().has_target(module)
}

/// Information from the kernel.
struct Support {
    /// /proc/mdstat, if md is loaded.
    mdstat: Option<String>,
    /// /proc/misc, which names the device mapper.
    misc: String,
    /// The files of all modules, including built-in ones.
    modules: String,
}

impl Support {
    fn of_machine() -> Support {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let folder = Path::new("/lib/modules").join(release);
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        Support {
            mdstat: fs::read_to_string("/proc/mdstat").ok(),
            misc: fs::read_to_string("/proc/misc").unwrap_or_default(),
            modules: text("modules.dep") + &text("modules.builtin"),
        }
    }

    fn has(&self, level: Level) -> bool {
        let (word, modules): (&str, &[&str]) = match level {
            Level::Single | Level::None => return true,
            Level::Linear => ("linear", &["md-linear", "linear"]),
            Level::Raid0 => ("raid0", &["raid0"]),
            Level::Raid1 => ("raid1", &["raid1"]),
            Level::Raid4 => ("raid4", &["raid456"]),
            Level::Raid5 => ("raid5", &["raid456"]),
            Level::Raid6 => ("raid6", &["raid456"]),
            Level::Raid10 => ("raid10", &["raid10"]),
            Level::LvmLinear => return self.has_device_mapper(),
            Level::LvmRaid0 | Level::LvmRaid1 | Level::LvmRaid5 | Level::LvmRaid6 | Level::LvmRaid10 => {
                return self.has_target("dm-raid");
            }
        };
        // `Personalities : [raid6] [raid5] [raid4]`
        let loaded = self.mdstat.iter().any(|text| text.contains(&format!("[{word}]")));
        loaded || modules.iter().any(|module| self.has_module(module))
    }

    /// Whether the device mapper has a target. Without modules it is unknown which are compiled in.
    fn has_target(&self, module: &str) -> bool {
        self.has_device_mapper() && (self.modules.is_empty() || self.has_module(module))
    }

    fn has_device_mapper(&self) -> bool {
        let is_it = |line: &str| line.split_whitespace().last() == Some("device-mapper");
        self.misc.lines().any(is_it) || self.has_module("dm-mod")
    }

    /// `kernel/drivers/md/raid456.ko.xz: …`; modules that are compiled in are listed under the same names.
    fn has_module(&self, name: &str) -> bool {
        self.modules.contains(&format!("/{name}.ko"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn support(mdstat: Option<&str>, misc: &str, modules: &str) -> Support {
        Support {
            mdstat: mdstat.map(str::to_owned),
            misc: misc.to_owned(),
            modules: modules.to_owned(),
        }
    }

    #[test]
    fn issue_12_14_a_kernel_without_md_is_known_before_anything_is_made() {
        let none = support(None, "229 fuse\n", "");
        for level in Level::ALL {
            assert_eq!(
                none.has(level),
                matches!(level, Level::Single | Level::None),
                "{level:?}"
            );
        }
    }

    #[test]
    fn levels_that_are_loaded_or_can_be() {
        let loaded = support(
            Some("Personalities : [raid6] [raid5] [raid4] \nunused devices: <none>\n"),
            "",
            "",
        );
        assert!(loaded.has(Level::Raid6) && loaded.has(Level::Raid4) && !loaded.has(Level::Raid1));
        let modules =
            "kernel/drivers/md/raid1.ko.xz: kernel/drivers/md/md-mod.ko.xz\nkernel/drivers/md/dm-mod.ko:\n";
        let modules = support(None, "", modules);
        assert!(modules.has(Level::Raid1) && !modules.has(Level::Raid10));
        assert!(modules.has(Level::LvmLinear) && !modules.has(Level::LvmRaid1));
        assert!(!modules.has_target("dm-integrity"));
        let mapper = support(None, " 59 vhost\n236 device-mapper\n", "");
        assert!(mapper.has(Level::LvmLinear) && mapper.has(Level::LvmRaid5) && mapper.has_target("dm-integrity"));
    }
}
