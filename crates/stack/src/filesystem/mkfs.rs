//! The call of each mkfs.

use crate::error::Cause;
use crate::stripes::Stripes;
use std::path::{Path, PathBuf};
use study::stack::{Align, FilesystemKind, FilesystemSpec};
use tools::{Invocation, Tool, Version};

const MIB: u64 = 1 << 20;

/// mke2fs knows `assume_storage_prezeroed` from here on.
const PREZEROED_SINCE: [u32; 3] = [1, 47, 0];

/// A journal on a disk of its own that nobody gave a size: what mke2fs makes of a large filesystem.
const JOURNAL_BYTES: u64 = 1 << 30;

/// What mkfs is to make, and of what.
#[derive(Debug)]
pub(crate) struct Making<'a> {
    pub(crate) spec: &'a FilesystemSpec,
    /// One, but of filesystems that make an array themselves.
    pub(crate) devices: &'a [PathBuf],
    /// The device of an external journal.
    pub(crate) journal: Option<&'a Path>,
    /// Stripes of the array below.
    pub(crate) stripes: Option<Stripes>,
    /// All blocks of the devices are zero.
    pub(crate) zeroed: bool,
    /// Version of the program.
    pub(crate) mkfs: &'a Version,
}

/// Makes a journal of ext3 or ext4 of a device; the other filesystems' mkfs does both at once.
pub(crate) fn journal_device(spec: &FilesystemSpec, device: &Path) -> Option<Invocation> {
    if !matches!(spec.kind, FilesystemKind::Ext3 | FilesystemKind::Ext4) {
        return None;
    }
    let block = spec.block_size_bytes.unwrap_or(4096);
    let blocks = spec.journal_size_bytes.unwrap_or(JOURNAL_BYTES) / block;
    let call = Invocation::new(Tool::Mke2fs)
        .args(["-q", "-F", "-O", "journal_dev", "-b"])
        .arg(block.to_string());
    Some(call.arg(device).arg(blocks.to_string()))
}

impl Making<'_> {
    /// The call that makes the filesystem; none for a raw device.
    pub(crate) fn invocation(&self) -> Result<Option<Invocation>, Cause> {
        let Some(tool) = super::mkfs_of(self.spec.kind) else {
            return Ok(None);
        };
        if tool == Tool::Zpool {
            return Err(Cause::Impossible("a pool is more than one call".to_owned()));
        }
        let call = Invocation::new(tool);
        let call = match tool {
            Tool::Mke2fs => self.mke2fs(call)?,
            Tool::MkfsXfs => self.xfs(call),
            Tool::MkfsJfs => self.jfs(call)?,
            Tool::MkfsReiserfs => self.reiserfs(call)?,
            Tool::MkfsBtrfs => self.btrfs(call),
            Tool::Bcachefs => self.bcachefs(call),
            Tool::MkfsF2fs => call.args(["-f", "-q", "-t", "0"]),
            Tool::MkfsNilfs2 => self.with_block(call.args(["-f", "-q", "-K"]), "-b", 1),
            // FAT32 whatever the size; whole disks, too.
            Tool::MkfsVfat => self.with_block(call.args(["-F", "32", "-I"]), "-s", 512),
            Tool::MkfsExfat => self.with_block(call, "-c", 1),
            _ => self.with_block(call.args(["-F", "-Q", "-q"]), "-c", 1),
        };
        Ok(Some(call.args(self.devices)))
    }

    /// Block or cluster size, in the unit that the program counts in.
    fn with_block(&self, call: Invocation, option: &str, unit_bytes: u64) -> Invocation {
        match self.spec.block_size_bytes {
            Some(bytes) => call.arg(option).arg((bytes / unit_bytes).to_string()),
            None => call,
        }
    }

    /// What mkfs is told of stripes.
    fn alignment(&self, block_bytes: u64) -> Option<Option<Stripes>> {
        let stripes = self.stripes?;
        Some(match self.spec.align {
            Align::Right => Some(stripes),
            Align::Off => None,
            Align::Wrong => Some(stripes.wrong(block_bytes)),
        })
    }

    fn mke2fs(&self, mut call: Invocation) -> Result<Invocation, Cause> {
        let spec = self.spec;
        call = call.args(["-q", "-F", "-t", super::kernel_name(spec.kind)]);
        if let Some(bytes) = spec.block_size_bytes {
            call = call.arg("-b").arg(bytes.to_string());
        }
        match (self.journal, spec.journal_size_bytes) {
            (Some(device), _) => call = call.arg("-J").arg(format!("device={}", device.display())),
            (None, Some(bytes)) => call = call.arg("-J").arg(format!("size={}", mebibytes("journal", bytes)?)),
            (None, None) => {}
        }
        let block = spec.block_size_bytes.unwrap_or(4096);
        let stripes = match self.alignment(block) {
            Some(Some(stripes)) => {
                let stride = (stripes.unit_bytes / block).max(1);
                format!(",stride={stride},stripe_width={}", stride * stripes.data_disks)
            }
            // Otherwise mke2fs asks the block device.
            Some(None) => ",stride=0,stripe_width=0".to_owned(),
            None => String::new(),
        };
        // Nothing may be left for the kernel to initialise behind the first measurement: either all tables are
        // written now, or they are known to be zero and marked so.
        let prezeroed = self.zeroed && self.mkfs.at_least(PREZEROED_SINCE);
        let tables = match (spec.lazy_init, prezeroed) {
            (true, _) => "nodiscard,lazy_itable_init=1,lazy_journal_init=1",
            (false, true) => "nodiscard,assume_storage_prezeroed=1",
            (false, false) => "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
        };
        Ok(call.arg("-E").arg(format!("{tables}{stripes}")))
    }

    fn xfs(&self, mut call: Invocation) -> Invocation {
        let spec = self.spec;
        call = call.args(["-f", "-q", "-K"]);
        if spec.block_size_bytes == Some(512) {
            // Metadata checksums want blocks of 1 KiB at least.
            call = call.args(["-m", "crc=0"]);
        }
        if let Some(bytes) = spec.block_size_bytes {
            call = call.arg("-b").arg(format!("size={bytes}"));
        }
        match self.alignment(spec.block_size_bytes.unwrap_or(4096)) {
            Some(Some(stripes)) => {
                let (unit, width) = (stripes.unit_bytes, stripes.data_disks);
                call = call.arg("-d").arg(format!("su={unit},sw={width}"));
            }
            Some(None) => call = call.args(["-d", "noalign"]),
            None => {}
        }
        match (self.journal, spec.journal_size_bytes) {
            (Some(device), size) => {
                let size = size.unwrap_or(JOURNAL_BYTES);
                call.arg("-l").arg(format!("logdev={},size={size}", device.display()))
            }
            (None, Some(bytes)) => call.arg("-l").arg(format!("internal,size={bytes}")),
            (None, None) => call,
        }
    }

    fn jfs(&self, mut call: Invocation) -> Result<Invocation, Cause> {
        call = call.arg("-q");
        if let Some(device) = self.journal {
            call = call.arg("-j").arg(device);
        }
        if let Some(bytes) = self.spec.journal_size_bytes {
            call = call.arg("-s").arg(mebibytes("log", bytes)?.to_string());
        }
        Ok(call)
    }

    fn reiserfs(&self, mut call: Invocation) -> Result<Invocation, Cause> {
        let spec = self.spec;
        call = call.args(["-q", "-f", "-f"]);
        let block_bytes = spec.block_size_bytes.unwrap_or(4096);
        if spec.block_size_bytes.is_some() {
            call = call.arg("-b").arg(block_bytes.to_string());
        }
        if let Some(device) = self.journal {
            call = call.arg("-j").arg(device);
        }
        if let Some(bytes) = spec.journal_size_bytes {
            if block_bytes == 0 || !bytes.is_multiple_of(block_bytes) {
                let reason = format!("a journal of {bytes} bytes: reiserfs counts it in blocks of {block_bytes}");
                return Err(Cause::Impossible(reason));
            }
            call = call.arg("-s").arg((bytes / block_bytes).to_string());
        }
        Ok(call)
    }

    fn btrfs(&self, call: Invocation) -> Invocation {
        // The profiles are what btrfs-progs chooses by itself since 5.15; older ones chose by the kind of disk.
        let data = self.spec.data_profile.map_or("single", |profile| profile.word());
        let many = if self.devices.len() > 1 { "raid1" } else { "dup" };
        let metadata = self.spec.metadata_profile.map_or(many, |profile| profile.word());
        let call = call.args(["-q", "-f", "-K", "-d", data, "-m", metadata]);
        self.with_block(call, "-s", 1)
    }

    fn bcachefs(&self, mut call: Invocation) -> Invocation {
        call = call.args(["format", "--force", "--quiet"]);
        if let Some(copies) = self.spec.replicas {
            call = call.arg(format!("--replicas={copies}"));
        }
        if let Some(word) = self.spec.compression.as_deref().filter(|word| *word != "off") {
            call = call.arg(format!("--compression={word}"));
        }
        match self.spec.block_size_bytes {
            Some(bytes) => call.arg(format!("--block_size={bytes}")),
            None => call,
        }
    }
}

fn mebibytes(what: &str, bytes: u64) -> Result<u64, Cause> {
    if bytes == 0 || !bytes.is_multiple_of(MIB) {
        return Err(Cause::Impossible(format!(
            "a {what} of {bytes} bytes: its mkfs counts in MiB"
        )));
    }
    Ok(bytes / MIB)
}
