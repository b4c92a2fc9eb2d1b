//! Which layers of a stack pass discards on, as fstrim and the mount option `discard` send them.

use super::{Layer, Level, StackSpec};

impl StackSpec {
    /// Why no discard of the filesystem reaches a disk, whatever the disks are; `None` if they pass through every layer.
    pub fn passes_no_discards(&self) -> Option<String> {
        // They free space of the filesystem that has the image.
        if self.image.is_some() {
            return None;
        }
        let array = &self.array;
        let parity = [Some(array.level), array.of.map(|inner| inner.level)];
        let parity = parity.into_iter().flatten().find(|level| has_raid456(*level));
        if let Some(level) = parity {
            return Some(format!(
                "{} passes no discards, because raid456.devices_handle_discard_safely is not set",
                level.facts().name
            ));
        }
        if array.integrity.is_some() {
            return Some("dm-integrity passes no discards".to_owned());
        }
        let layer = self.all_layers().find(|layer| matches!(layer, Layer::Luks(_)))?;
        Some(format!(
            "{} passes no discards without `--allow-discards`",
            layer.name()
        ))
    }

    /// Whether the mount options ask for discards.
    pub fn asks_for_discards(&self) -> bool {
        let asks = |option: &String| option == "discard" || option.starts_with("discard=");
        self.mount_options.iter().any(asks)
    }
}

/// Whether the kernel's module raid456 does it, for md or below LVM.
const fn has_raid456(level: Level) -> bool {
    matches!(
        level,
        Level::Raid4 | Level::Raid5 | Level::Raid6 | Level::LvmRaid5 | Level::LvmRaid6
    )
}
