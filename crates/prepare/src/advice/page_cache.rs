//! Large files written through a page cache that is too small for a parity array.

use super::OnStack;
use super::disks::Disks;
use study_file::describe_size;

/// The kernel's `dirty_ratio`: the share of memory that may wait to be written.
const DIRTY_SHARE: f64 = 0.2;

/// With fewer seconds of the array's rate in the page cache a parity array is written in partial stripes. Simulated, RAID 5 of
/// `seagate-ironwolf-4tb`, large files: ext4 on four disks reaches 53 % of its full rate with 0.07 s, 92 % with 0.15 s; on eight
/// 11 % with 0.03 s, 49 % with 0.09 s, 91 % with 0.17 s; XFS on eight 56 %, 87 % and 94 %. Chunks of 64 KiB change nothing.
const RATE_S_MIN: f64 = 0.14;

/// Smaller files are limited by their number.
const LARGE_BYTES: u64 = 16 << 20;

impl OnStack<'_> {
    /// Buffered writes of large files with little RAM.
    pub(super) fn little_ram(&self, disks: &Disks) -> Option<String> {
        let (io, array, ram) = (self.io(), &self.cell.stack.array, self.cell.machine.ram_bytes);
        let is_stream = !io.direct && io.pattern.has_writes() && !io.pattern.is_random() && !io.syncs();
        let is_large = self.cell.workload.work.spec().largest_file_bytes() >= LARGE_BYTES;
        if !is_stream || !is_large || !array.has_parity() || !disks.has_heads() || self.working_bytes() < ram {
            return None;
        }
        let count = u32::try_from(disks.count).ok()?.saturating_sub(array.spares);
        let data = count.saturating_sub(array.may_be_missing(disks.count as u32)).max(1);
        let bytes_s = disks.sustained_mb_s()? * 1e6 * f64::from(data);
        let (waiting, needed) = (DIRTY_SHARE * ram as f64, RATE_S_MIN * bytes_s / DIRTY_SHARE);
        (needed > ram as f64).then(|| {
            let enough = (needed as u64).next_power_of_two();
            format!(
                "writes through the page cache, and of {} of RAM the kernel lets a fifth wait to be written: {:.2} s of what the array \
                 streams. With less than {RATE_S_MIN} s partial stripes are written: in the lab ext4 fell to a tenth to a half of its \
                 rate, XFS to a half, so that filesystems change places; write `ram = \"{}\"` or more, and larger files",
                describe_size(ram),
                waiting / bytes_s,
                study_file::format_size(enough)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::advice::of;

    /// RAID 5 with ext4 wrote at a tenth of XFS's rate with 192 MiB of RAM, and at the same rate with 2 GiB.
    #[test]
    fn issue_39_little_ram_for_an_array_with_parity_is_warned_of() {
        let said = |ram: &str, count: u32, array: &str, workload: &str| {
            let study = format!(
                "ram = \"{ram}\"\n[disks]\nmodel = \"seagate-ironwolf-4tb\"\ncount = {count}\n[[stack]]\narray = {{ {array} }}\n\
                 fs = {{ type = \"ext4\" }}\n[[workload]]\nname = \"large files\"\n{workload}\n"
            );
            let plan = study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study");
            of(&plan).into_iter().find(|said| said.contains("page cache"))
        };
        let tree = "tree = { files = 2, size = \"1 GiB\", tests = [\"write\"] }";
        let words = said("192M", 8, "level = 5", tree).expect("a warning");
        assert!(
            words.starts_with("`large files` [write] writes through the page cache, and of 192 MiB"),
            "{words}"
        );
        assert!(words.contains("write `ram = \"1G\"` or more"), "{words}");
        assert!(said("256M", 4, "level = 5", tree).is_some());
        let buffered = "io = { rw = \"write\", bs = \"1M\", size = \"2G\" }";
        assert!(said("192M", 8, "level = 6", buffered).is_some());
        for (ram, count, array, workload) in [
            ("512M", 4, "level = 5", tree),
            (
                "1G",
                8,
                "level = 5",
                "tree = { files = 2, size = \"4 GiB\", tests = [\"write\"] }",
            ),
            ("192M", 4, "level = 10", tree),
            (
                "192M",
                8,
                "level = 5",
                "tree = { files = 200, size = \"4M\", tests = [\"write\"] }",
            ),
            (
                "192M",
                8,
                "level = 5",
                "io = { rw = \"write\", bs = \"1M\", size = \"2G\", direct = true }",
            ),
            (
                "192M",
                8,
                "level = 5",
                "tree = { files = 2, size = \"1 GiB\", tests = [\"read\"] }",
            ),
        ] {
            assert_eq!(
                said(ram, count, array, workload),
                None,
                "{ram} {count} {array} {workload}"
            );
        }
    }
}
