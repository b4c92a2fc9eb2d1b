//! How a filesystem is made: the arguments of its mkfs.

use crate::{Align, FilesystemSpec, Program};

/// How a filesystem is made.
#[derive(Debug)]
pub enum Made {
    Nothing,
    Mkfs(Mkfs),
    /// A pool, made by this program.
    Pool(&'static Program),
}

/// Computes arguments of mkfs; the error says why it is impossible.
pub type Computed = fn(&Request) -> Result<Vec<String>, String>;

/// A call of mkfs: `PROGRAM ARGUMENTS [BLOCK SIZE] COMPUTED DEVICES [UUID]`.
#[derive(Debug)]
pub struct Mkfs {
    pub program: &'static Program,
    /// Arguments that are always used: no questions, no discard.
    pub arguments: &'static [&'static str],
    /// Arguments for a block size, with `{}` in its place.
    pub block_size: &'static [&'static str],
    /// The unit of that size, in bytes.
    pub block_unit_bytes: u64,
    /// Arguments that depend on more than the block size.
    pub computed: Option<Computed>,
    /// Arguments for a chosen UUID, with `{}` in its place; empty if mkfs accepts none.
    pub uuid: &'static [&'static str],
}

impl Mkfs {
    pub(crate) const fn new(program: &'static Program, arguments: &'static [&'static str]) -> Self {
        Self {
            program,
            arguments,
            block_size: &[],
            block_unit_bytes: 1,
            computed: None,
            uuid: &[],
        }
    }

    /// All arguments before the devices. The error says why it is impossible.
    pub fn arguments(&self, request: &Request) -> Result<Vec<String>, String> {
        let mut arguments: Vec<String> = self.arguments.iter().map(|&word| word.to_owned()).collect();
        arguments.extend(request.block_size(self.block_size, self.block_unit_bytes));
        if let Some(computed) = self.computed {
            arguments.extend(computed(request)?);
        }
        Ok(arguments)
    }
}

/// Input of mkfs: the filesystem and its devices.
#[derive(Debug)]
pub struct Request<'a> {
    pub spec: &'a FilesystemSpec,
    /// Number of devices.
    pub devices: usize,
    /// The device of an external journal.
    pub journal: Option<&'a str>,
    /// Stripes of the array below.
    pub stripes: Option<Stripes>,
    /// The devices contain only zeros.
    pub zeroed: bool,
    /// Version of mkfs.
    pub version: [u32; 3],
}

impl Request<'_> {
    /// The block size in bytes; 4096 by default.
    pub(crate) fn block_bytes(&self) -> u64 {
        self.spec.block_size_bytes.unwrap_or(4096)
    }

    /// Arguments for the block size in units of `unit_bytes`.
    pub(crate) fn block_size(&self, template: &[&str], unit_bytes: u64) -> Vec<String> {
        match self.spec.block_size_bytes {
            Some(bytes) => fill(template, &(bytes / unit_bytes).to_string()),
            None => Vec::new(),
        }
    }

    /// The stripe geometry for mkfs: `None` if the array has none, `Some(None)` if mkfs is to ignore it.
    pub(crate) fn stripes(&self) -> Option<Option<Stripes>> {
        let stripes = self.stripes?;
        Some(match self.spec.align {
            Align::Right => Some(stripes),
            Align::Off => None,
            Align::Wrong => Some(stripes.wrong(self.block_bytes())),
        })
    }
}

/// Stripe geometry of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// Contiguous bytes on one disk before the next one follows (chunk size).
    pub unit_bytes: u64,
    /// Data disks per stripe, without copies and parity.
    pub data_disks: u64,
}

impl Stripes {
    /// A wrong geometry: one and a half chunks, in whole blocks, and one disk too many.
    pub fn wrong(self, block_bytes: u64) -> Self {
        Self {
            unit_bytes: (self.unit_bytes * 3 / 2).next_multiple_of(block_bytes),
            data_disks: self.data_disks + 1,
        }
    }
}

/// Fills `value` into a template (`{}`).
pub fn fill(template: &[&str], value: &str) -> Vec<String> {
    template.iter().map(|word| word.replace("{}", value)).collect()
}

/// Converts a size for an mkfs that counts in MiB.
pub(crate) fn mebibytes(what: &str, bytes: u64) -> Result<u64, String> {
    const MIB: u64 = 1 << 20;
    if bytes == 0 || !bytes.is_multiple_of(MIB) {
        return Err(format!("a {what} of {bytes} bytes: its mkfs takes whole MiB"));
    }
    Ok(bytes / MIB)
}

/// Default size of an external journal in bytes: what mke2fs chooses on a large filesystem.
pub(crate) const JOURNAL_BYTES: u64 = 1 << 30;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::FilesystemKind;

    /// The mkfs call on one device without stripes.
    pub(crate) fn call(spec: &FilesystemSpec, zeroed: bool, version: [u32; 3]) -> Result<String, String> {
        striped(spec, zeroed, version, None)
    }

    pub(crate) fn striped(
        spec: &FilesystemSpec,
        zeroed: bool,
        version: [u32; 3],
        stripes: Option<Stripes>,
    ) -> Result<String, String> {
        let Made::Mkfs(mkfs) = &spec.kind.made else {
            panic!("{} has no mkfs", spec.kind.name)
        };
        let request = Request {
            spec,
            devices: 1,
            journal: None,
            stripes,
            zeroed,
            version,
        };
        let words = [vec![mkfs.program.file.to_owned()], mkfs.arguments(&request)?].concat();
        Ok(words.join(" "))
    }

    /// All defaults, on used disks, with a recent mkfs.
    pub(crate) fn plain(kind: FilesystemKind) -> String {
        call(&spec(kind), false, [99, 0, 0]).expect("is possible")
    }

    /// With a block size and a journal.
    pub(crate) fn chosen(kind: FilesystemKind, block_bytes: u64, journal_bytes: Option<u64>) -> String {
        let spec = FilesystemSpec {
            block_size_bytes: Some(block_bytes),
            journal_size_bytes: journal_bytes,
            ..spec(kind)
        };
        call(&spec, false, [99, 0, 0]).expect("is possible")
    }

    pub(crate) fn spec(kind: FilesystemKind) -> FilesystemSpec {
        FilesystemSpec {
            kind,
            ..FilesystemSpec::default()
        }
    }
}
