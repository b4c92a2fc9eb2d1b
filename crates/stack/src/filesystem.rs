//! Filesystems: mkfs is called without slow steps, without questions, and without deferred initialisation.

pub(crate) mod image;
pub(crate) mod lazy_init;
pub(crate) mod mounting;

use crate::around_test::snapshots;
use crate::array::zfs::ZFS;
use crate::machine::context::Teardown;
use crate::machine::error::Cause;
use filesystems::{BlockSizes, Made, MountSource};
use std::path::{Path, PathBuf};
use study::stack::{Bitmap, CacheKind, FilesystemKind, FilesystemSpec, IntegrityMode, Layer, StackSpec};
use tools::{Invocation, Tool};

/// The programs needed to set up and tear down a stack.
pub fn tools_needed(spec: &StackSpec, teardown: Teardown) -> Vec<Tool> {
    let mut tools = Vec::new();
    let of_image = spec.image.iter().map(|image| (&spec.array, &image.filesystem));
    let group_stacks = spec.group_stacks.iter().map(|other| (&other.array, &other.filesystem));
    let stacks = std::iter::once((&spec.array, &spec.filesystem));
    for (array, filesystem) in stacks.chain(of_image).chain(group_stacks) {
        tools.extend(array.level.is_md().then_some(Tool::Mdadm));
        tools.extend(array.level.is_lvm().then_some(Tool::Lvm));
        // For the small filesystem of an external bitmap.
        tools.extend((array.bitmap == Bitmap::External).then_some(Tool::MKE2FS));
        tools.extend(mkfs_of(filesystem.kind));
        tools.extend(filesystem.kind.mounting.program.map(Tool::Filesystem));
        if filesystem.kind.is_pool() {
            tools.extend([Tool::Sfdisk, ZFS]);
        }
        if let Some(integrity) = array.integrity {
            tools.push(Tool::Integritysetup);
            tools.extend(array.member_size_bytes.is_some().then_some(Tool::Blkdiscard));
            let asked = teardown == Teardown::Full || integrity.mode == IntegrityMode::Journal;
            tools.extend(asked.then_some(Tool::Dmsetup));
        }
        let signs =
            mkfs_of(filesystem.kind).is_some() || array.bitmap == Bitmap::External || array.integrity.is_some();
        tools.extend((signs && teardown == Teardown::Full).then_some(Tool::Wipefs));
    }
    tools.extend(tools_of_layers(spec, teardown));
    tools.extend(spec.image.iter().flat_map(image::tools_of));
    let mut needed = Vec::new();
    for tool in tools {
        if !needed.contains(&tool) {
            needed.push(tool);
        }
    }
    needed
}

/// Those of layers, and of snapshots.
fn tools_of_layers(spec: &StackSpec, teardown: Teardown) -> Vec<Tool> {
    let mut tools = Vec::new();
    for layer in spec.all_layers() {
        tools.extend(match layer {
            Layer::Partition(_) => vec![Tool::Sfdisk],
            Layer::Luks(_) => vec![Tool::Cryptsetup, Tool::Dmsetup],
            Layer::Cache(cache) if cache.kind == CacheKind::Bcache => {
                let partition = cache.size_bytes.map(|_| Tool::Sfdisk);
                let undo = (teardown == Teardown::Full).then_some(Tool::BcacheSuperShow);
                [Some(Tool::MakeBcache), partition, undo]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            Layer::Cache(_) | Layer::Volume(_) => vec![Tool::Lvm, Tool::Dmsetup],
        });
        let signs = !matches!(layer, Layer::Volume(_));
        tools.extend((signs && teardown == Teardown::Full).then_some(Tool::Wipefs));
    }
    if spec.snapshots > 0 {
        tools.extend(spec.snapshot_maker().and_then(snapshots::tool_of));
    }
    tools
}

/// The program that makes it.
pub(crate) fn mkfs_of(kind: FilesystemKind) -> Option<Tool> {
    kind.maker().map(Tool::Filesystem)
}

/// The mount option of a journal mode.
pub(crate) fn journal_option(spec: &FilesystemSpec) -> Option<String> {
    spec.journal_mode.map(|mode| format!("data={}", mode.word()))
}

/// Checks the spec, before anything is changed.
pub(crate) fn check(spec: &FilesystemSpec, mount_options: &[String]) -> Result<(), Cause> {
    let (kind, name) = (spec.kind, spec.kind.mount_type());
    let refuse = |reason: String| Err(Cause::Impossible(reason));
    if spec.journal_mode.is_some() && !kind.has_journal_modes {
        let others = filesystems::words(|other| other.has_journal_modes);
        return refuse(format!("{name} has no selectable journal mode: {others} have"));
    }
    if spec.journal_on.is_some() && kind.journal.is_none() {
        return refuse(format!("{name} cannot have an external journal"));
    }
    if spec.journal_size_bytes.is_some() && kind.journal.is_none() {
        return refuse(format!("{name} has no configurable journal size"));
    }
    let is_page = matches!(kind.block_sizes, BlockSizes::Page { .. });
    if is_page && spec.block_size_bytes.is_some_and(|bytes| bytes != 4096) {
        return refuse(format!("{name} supports only blocks of 4096 bytes on Linux"));
    }
    if kind.is_raw() && spec.block_size_bytes.is_some() {
        return refuse("a raw device has no filesystem blocks".to_owned());
    }
    if kind.is_raw() && !mount_options.is_empty() {
        return refuse("a raw device is not mounted, so it takes no mount options".to_owned());
    }
    Ok(())
}

/// The signatures of external journals, for wipefs.
pub(crate) fn journal_signatures() -> String {
    let mut all: Vec<&str> = Vec::new();
    for journal in FilesystemKind::ALL
        .iter()
        .filter_map(|kind| kind.get().journal.as_ref())
    {
        if !all.contains(&journal.signature) {
            all.push(journal.signature);
        }
    }
    all.join(",")
}

/// The signatures that an mkfs leaves, for wipefs.
pub(crate) fn signatures(kind: FilesystemKind) -> String {
    kind.signatures.join(",")
}

mod mkfs;

pub(crate) use mkfs::{Making, journal_device};

/// The source for mount(2) of a filesystem on these devices.
pub(crate) fn mount_source(kind: FilesystemKind, devices: &[PathBuf]) -> PathBuf {
    let all: Vec<String> = devices.iter().map(|device| device.display().to_string()).collect();
    match kind.mounting.source {
        MountSource::All => all.join(":").into(),
        MountSource::First | MountSource::FirstAndOption(_) => devices.first().cloned().unwrap_or_default(),
    }
}

/// The call with a UUID that identifies the filesystem; `None` if its mkfs accepts none.
pub(crate) fn with_uuid(kind: FilesystemKind, call: Invocation, uuid: &str) -> Option<Invocation> {
    match &kind.get().made {
        Made::Mkfs(mkfs) if !mkfs.uuid.is_empty() => Some(call.args(filesystems::fill(mkfs.uuid, uuid))),
        _ => None,
    }
}

/// The filesystem's mount options in addition to those of the study.
pub(crate) fn own_options(spec: &FilesystemSpec, devices: &[PathBuf], journal: Option<&Path>) -> Vec<String> {
    let kind = spec.kind.get();
    let path = |template: &str, device: &Path| template.replace("{}", &device.to_string_lossy());
    let mut words = Vec::new();
    let journal_option = kind.journal.as_ref().and_then(|journal| journal.mount_option);
    words.extend(
        journal_option
            .zip(journal)
            .map(|(template, device)| path(template, device)),
    );
    if let MountSource::FirstAndOption(template) = kind.mounting.source {
        words.extend(devices.iter().skip(1).map(|device| path(template, device)));
    }
    let compression = kind.compression.as_ref().and_then(|how| how.mount_option);
    let word = spec.compression.as_deref().filter(|word| *word != "off");
    words.extend(
        compression
            .zip(word)
            .map(|(template, word)| template.replace("{}", word)),
    );
    words.extend(spec.log_buffers.map(|count| format!("logbufs={count}")));
    words.extend(spec.log_buffer_size_bytes.map(|bytes| format!("logbsize={bytes}")));
    words
}

#[cfg(test)]
mod tests;
