//! LUKS on a device: how cryptsetup is called.

use std::path::Path;
use study::stack::Luks;
use tools::{Invocation, Tool};

/// The type of its header in wipefs.
pub(crate) const SIGNATURE: &str = "crypto_LUKS";

/// The passphrase of every volume that raidlab makes: they hold nothing but test data. The key of the volume is random.
const PASSPHRASE: &str = "raidlab";

/// Name of the device on the member with this index, or on the array.
pub(crate) fn name_of(stack: &str, member: Option<usize>) -> String {
    match member {
        Some(number) => format!("{stack}-luks-{number}"),
        None => format!("{stack}-luks"),
    }
}

/// Writes the header. The passphrase is turned into a key with the fewest iterations: how long that takes is no part of what is
/// measured, and cryptsetup's default takes 2 s and 1 GiB of memory.
pub(crate) fn format(device: &Path, uuid: &str, luks: Luks) -> Invocation {
    let call = Invocation::new(Tool::Cryptsetup)
        .args(["luksFormat", "--batch-mode", "--type", "luks2", "--key-file=-"])
        .args(["--cipher", "aes-xts-plain64", "--key-size", "512"])
        .args(["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"])
        .args(["--uuid", uuid]);
    let call = match luks.sector_bytes {
        Some(bytes) => call.arg("--sector-size").arg(bytes.to_string()),
        None => call,
    };
    call.arg(device).input(PASSPHRASE)
}

pub(crate) fn open(device: &Path, name: &str, luks: Luks) -> Invocation {
    let call = Invocation::new(Tool::Cryptsetup).args(["open", "--key-file=-"]);
    let reads = luks.no_read_workqueue.then_some("--perf-no_read_workqueue");
    let writes = luks.no_write_workqueue.then_some("--perf-no_write_workqueue");
    call.args(reads).args(writes).arg(device).arg(name).input(PASSPHRASE)
}

pub(crate) fn close(name: &str) -> Invocation {
    Invocation::new(Tool::Cryptsetup).arg("close").arg(name)
}

/// The settings that the study asks for, as a `crypt` line of `dmsetup table` has them.
pub(crate) fn settings(luks: Luks) -> Vec<String> {
    let sector = luks.sector_bytes.filter(|bytes| *bytes > 512);
    let asked = [
        sector.map(|bytes| format!("sector_size:{bytes}")),
        luks.no_read_workqueue.then(|| "no_read_workqueue".to_owned()),
        luks.no_write_workqueue.then(|| "no_write_workqueue".to_owned()),
    ];
    asked.into_iter().flatten().collect()
}

/// Those that are not there.
pub(crate) fn missing_settings(table: &str, luks: Luks) -> Vec<String> {
    let words: Vec<&str> = table.split_whitespace().collect();
    let mut missing = settings(luks);
    missing.retain(|setting| !words.contains(&setting.as_str()));
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_did_not_reach_the_kernel_are_found() {
        let table = "0 3750716080 crypt aes-xts-plain64 :64:logon:cryptsetup:8babf3c8-d0 0 250:0 32768 2 sector_size:4096 \
                     no_read_workqueue";
        let luks = Luks {
            sector_bytes: Some(4096),
            no_read_workqueue: true,
            no_write_workqueue: true,
        };
        assert_eq!(missing_settings(table, luks), ["no_write_workqueue"]);
        assert!(
            missing_settings(
                table,
                Luks {
                    no_write_workqueue: false,
                    ..luks
                }
            )
            .is_empty()
        );
    }

    #[test]
    fn the_passphrase_is_no_argument() {
        let call = format(Path::new("/dev/md0"), "u", Luks::default());
        assert!(
            !call.argv().iter().any(|word| word.contains(PASSPHRASE)),
            "{:?}",
            call.argv()
        );
    }
}
