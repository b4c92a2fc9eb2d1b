//! Stacks and their disks.

use crate::words::figure::{bytes, count};
use study::stack::{
    Align, ArraySpec, Bitmap, DATA, FilesystemSpec, Image, InitialResync, InnerArray, Layer, MachineSpec,
    StackSpec, ZfsSpec, ZfsSync,
};
use study::wording::joined;

pub(crate) fn array(array: &ArraySpec) -> String {
    let parts = [
        (!array.members.is_empty()).then(|| {
            let members: Vec<String> = array.members.iter().map(ToString::to_string).collect();
            format!("of {}", members.join(" + "))
        }),
        array.of.as_ref().map(inner),
        array.chunk_bytes.map(|chunk| format!("chunk {}", bytes(chunk))),
        array.extent_bytes.map(|extent| format!("extents of {}", bytes(extent))),
        (array.level.is_md() && array.level.is_redundant()).then(|| match array.bitmap {
            Bitmap::Internal => "internal bitmap".to_owned(),
            Bitmap::External => "external bitmap".to_owned(),
            Bitmap::None => "no bitmap".to_owned(),
        }),
        array.write_journal.then(|| "write journal".to_owned()),
        array.ppl.then(|| "partial parity log".to_owned()),
        array
            .stripe_cache_pages
            .map(|pages| format!("stripe cache of {pages} pages")),
        array
            .bitmap_chunk_bytes
            .map(|chunk| format!("bitmap chunk {}", bytes(chunk))),
        array
            .write_mostly
            .map(|members| format!("{} write-mostly", count(members as usize, "member"))),
        array.write_behind.map(|writes| format!("write-behind of {writes}")),
        array
            .group_thread_cnt
            .map(|threads| format!("group_thread_cnt {threads}")),
        array.rmw_level.map(|level| format!("rmw_level {level}")),
        array.skip_copy.map(|skips| format!("skip_copy {skips}")),
        array
            .sync_speed_min
            .map(|speed| format!("resync at {speed} KiB/s or more")),
        array
            .sync_speed_max
            .map(|speed| format!("resync at {speed} KiB/s or less")),
        array.initial_resync.map(|resync| match resync {
            InitialResync::During => "initial resync during the tests".to_owned(),
            InitialResync::AssumeClean => "no initial resync (--assume-clean)".to_owned(),
        }),
        array
            .integrity
            .map(|integrity| format!("dm-integrity crc32c, {}", integrity.mode.word())),
        array.layout.as_ref().map(|layout| format!("layout {layout}")),
        array
            .member_size_bytes
            .map(|size| format!("{} of each member", bytes(size))),
        (array.spares > 0).then(|| count(array.spares as usize, "spare")),
        array.metadata.as_ref().map(|metadata| format!("metadata {metadata}")),
    ];
    joined(array.level.facts().title, parts)
}

pub(crate) const NO_LAYERS: &str = "none";

/// `LUKS on the array`; [`NO_LAYERS`] without any.
pub(crate) fn layers(stack: &StackSpec) -> String {
    let on = |layers: &[Layer], what: &str| -> Vec<String> {
        layers
            .iter()
            .map(|layer| format!("{} on {what}", layer.words()))
            .collect()
    };
    let image = stack.image.iter().map(Image::words).collect();
    let layers = [on(&stack.member_layers, "each member"), on(&stack.layers, "the array")];
    let all = [layers.concat(), image].concat();
    match all.is_empty() {
        true => NO_LAYERS.to_owned(),
        false => all.join(", "),
    }
}

fn inner(of: &InnerArray) -> String {
    let chunk = of
        .chunk_bytes
        .map_or(String::new(), |chunk| format!(", chunk {}", bytes(chunk)));
    format!("of {} of {} disks each{chunk}", of.level.facts().title, of.disks)
}

pub(crate) fn filesystem(filesystem: &FilesystemSpec) -> String {
    let parts = [
        filesystem.data_profile.map(|data| format!("data {}", data.word())),
        filesystem
            .metadata_profile
            .map(|metadata| format!("metadata {}", metadata.word())),
        filesystem.replicas.map(|copies| count(copies as usize, "replica")),
        filesystem.tier.as_ref().map(|group| format!("tier on `{group}`")),
        filesystem
            .block_size_bytes
            .map(|block| format!("{} blocks", bytes(block))),
        filesystem
            .compression
            .as_ref()
            .map(|word| format!("compression {word}")),
        filesystem.journal_mode.map(|mode| format!("data={}", mode.word())),
        filesystem
            .journal_size_bytes
            .map(|size| format!("{} journal", bytes(size))),
        filesystem
            .journal_on
            .as_ref()
            .map(|group| format!("journal on a disk of `{group}`")),
        filesystem
            .log_buffers
            .map(|number| count(number as usize, "log buffer")),
        filesystem
            .log_buffer_size_bytes
            .map(|size| format!("log buffers of {}", bytes(size))),
        match filesystem.align {
            Align::Right => None,
            Align::Off => Some("not aligned to stripes".to_owned()),
            Align::Wrong => Some("aligned wrongly on purpose".to_owned()),
        },
        filesystem.lazy_init.then(|| "lazy initialisation".to_owned()),
    ];
    let words = joined(filesystem.kind.title, parts);
    joined(&words, zfs(&filesystem.zfs))
}

fn zfs(zfs: &ZfsSpec) -> [Option<String>; 7] {
    [
        zfs.pool.map(|pool| match zfs.vdev_disks {
            Some(disks) => format!("{} of {disks} disks each", pool.word()),
            None => pool.word().to_owned(),
        }),
        zfs.recordsize_bytes.map(|size| format!("records of {}", bytes(size))),
        zfs.ashift.map(|ashift| format!("ashift {ashift}")),
        zfs.sync.map(|sync| {
            let word = match sync {
                ZfsSync::Standard => "standard",
                ZfsSync::Always => "always",
                ZfsSync::Disabled => "disabled",
            };
            format!("sync {word}")
        }),
        zfs.log.then(|| "log device".to_owned()),
        zfs.special.then(|| "special device".to_owned()),
        zfs.l2arc.then(|| "L2ARC".to_owned()),
    ]
}

/// The queue and disk settings of the study.
pub(crate) fn tuning(stack: &StackSpec) -> String {
    let parts = [
        stack
            .scheduler
            .as_ref()
            .map(|scheduler| format!("{scheduler} scheduler")),
        stack
            .read_ahead_sectors
            .map(|sectors| format!("read-ahead {sectors} sectors")),
        stack.queue_depth.map(|depth| format!("queue depth {depth}")),
        stack.write_cache.map(|on| {
            let word = if on { "on" } else { "off" };
            format!("the disks' write cache {word}")
        }),
    ];
    let words = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if words.is_empty() {
        "the kernel's choice".to_owned()
    } else {
        words
    }
}

pub(crate) fn disks(machine: &MachineSpec) -> String {
    let group = |group: &study::stack::DiskGroup| match group.name.as_str() {
        DATA if machine.disks.len() == 1 => group.words(),
        name => format!("{} ({name})", group.words()),
    };
    let bus = |bus: &study::stack::Bus| format!("{} `{}` of {} MB/s", bus.kind.name(), bus.name, bus.mb_s);
    let parts = machine.disks.iter().map(group).chain(machine.buses.iter().map(bus));
    parts.collect::<Vec<_>>().join(", ")
}
