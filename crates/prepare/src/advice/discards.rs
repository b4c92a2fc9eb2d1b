//! Discards that would reach no disk: settings without an effect.

use super::disks::Disks;
use disksim::description::Device;
use study::act::ActKind;
use study::plan::Cell;

/// `fstrim` or the mount option `discard` where a layer or the disks take no discards.
pub(super) fn without_effect(cell: &Cell, disks: Option<&Disks>) -> Option<String> {
    let trims = cell.acts.iter().any(|act| act.kind == ActKind::Fstrim);
    let asks = match (trims, cell.stack.asks_for_discards()) {
        (true, _) => "is trimmed by `fstrim`",
        (false, true) => "is mounted with `discard`",
        (false, false) => return None,
    };
    let of_disks = || {
        let model = &disks?.model;
        matches!(model.device, Device::Mechanical(_)).then(|| format!("{} takes no discards", model.file.name))
    };
    let why = cell.stack.passes_no_discards().or_else(of_disks)?;
    Some(format!(
        "{asks}, but nothing of it reaches a disk: {why}; figures that depend on it are excluded"
    ))
}

#[cfg(test)]
mod tests {
    use crate::advice::of;

    fn warnings(model: &str, array: &str, mount: &str, acts: &str) -> String {
        let study = format!(
            "[disks]\nmodel = \"{model}\"\ncount = 4\n[[stack]]\narray = {{ {array} }}\n{mount}\
             [[workload]]\nname = \"w\"\ntree = {{ files = 1000 }}\n{acts}"
        );
        of(&study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study")).join("\n")
    }

    const FSTRIM: &str = "[[act]]\nat = \"1s\"\ndo = \"fstrim\"\n";
    const DISCARD: &str = "mount = \"discard\"\n";

    /// cases/fstrim-discard: what md passes on.
    #[test]
    fn discards_that_no_layer_passes_on_are_warned_of() {
        let of = |level: &str, mount: &str, acts: &str| {
            warnings(
                "samsung-970-evo-500gb",
                &format!("level = {level}, size = \"4G\""),
                mount,
                acts,
            )
        };
        let raid_5 = "RAID 5 passes no discards, because raid456.devices_handle_discard_safely is not set";
        let said = of("5", DISCARD, "");
        assert!(
            said.contains("is mounted with `discard`, but nothing of it reaches a disk"),
            "{said}"
        );
        assert!(said.contains(raid_5), "{said}");
        assert!(of("5", "", FSTRIM).contains(raid_5));
        for level in ["1", "10"] {
            assert!(!of(level, DISCARD, "").contains("discards"), "{level}");
        }
        assert!(!of("5", "", "").contains("discards"));
        let disks = warnings("wd-500gb-2007", "level = 1, size = \"4G\"", "", FSTRIM);
        assert!(disks.contains("wd-500gb-2007 takes no discards"), "{disks}");
        let encrypted = "luks = { on = \"members\" }\nmount = \"discard\"\n";
        let said = of("1", encrypted, "");
        assert!(
            said.contains("LUKS passes no discards without `--allow-discards`"),
            "{said}"
        );
    }
}
