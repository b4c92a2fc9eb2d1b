//! Converts a point of the matrix to the specifications for later stages.

use crate::axes::Point;
use crate::rules::md_geometry::default_bitmap;
use study::stack::{
    Align, ArraySpec, Bitmap, CacheKind, DiskCache, FilesystemKind, FilesystemSpec, GptPartition, GroupDisk, Image,
    InitialResync, InnerArray, Integrity, IntegrityMode, JournalMode, Layer, Level, Luks, Pool, Profile, Volume,
    VolumeKind, ZfsSpec, ZfsSync,
};

/// The disks that the array names; empty for all of `data`.
pub(crate) fn members(point: &Point) -> Vec<GroupDisk> {
    let text = point.text("members").unwrap_or_default();
    text.split(',')
        .filter(|part| !part.is_empty())
        .map(GroupDisk::parse)
        .collect()
}

pub(crate) fn array(point: &Point, disk_bytes: Option<u64>) -> ArraySpec {
    let level = level(point, "level").unwrap_or_default();
    let of = level_of_members(point);
    let member_size_bytes = point.number("size");
    let small = |axis| point.number(axis).map(|_| point.small(axis));
    ArraySpec {
        level,
        members: members(point),
        chunk_bytes: point.number("chunk"),
        bitmap: match point.text("bitmap").as_deref() {
            Some("internal") => Bitmap::Internal,
            Some("external") => Bitmap::External,
            Some("none") => Bitmap::None,
            // md cannot combine a bitmap with a write journal or PPL.
            _ if point.flag("write_journal") || point.flag("ppl") => Bitmap::None,
            _ => default_bitmap(level, of.as_ref(), member_size_bytes.or(disk_bytes)),
        },
        spares: point.small("spares"),
        member_size_bytes,
        layout: point.text("layout"),
        metadata: point.text("metadata"),
        of,
        write_journal: point.flag("write_journal"),
        journal_write_back: point.text("journal_mode").as_deref() == Some("write-back"),
        ppl: point.flag("ppl"),
        stripe_cache_pages: small("stripe_cache"),
        bitmap_chunk_bytes: point.number("bitmap_chunk"),
        write_mostly: small("write_mostly").filter(|members| *members > 0),
        write_behind: small("write_behind"),
        group_thread_cnt: small("group_thread_cnt"),
        rmw_level: small("rmw_level"),
        skip_copy: small("skip_copy"),
        sync_speed_min: small("sync_speed_min"),
        sync_speed_max: small("sync_speed_max"),
        initial_resync: initial_resync(point),
        integrity: integrity(point),
        extent_bytes: point.number("extent"),
    }
}

/// Layers on the members, and on the array.
pub(crate) fn layers(point: &Point) -> [Vec<Layer>; 2] {
    let luks = Layer::Luks(Luks {
        sector_bytes: point.number("luks_sector_size").map(|bytes| bytes as u32),
        no_read_workqueue: point.flag("no_read_workqueue"),
        no_write_workqueue: point.flag("no_write_workqueue"),
    });
    let word = point.text("cache").unwrap_or_default();
    let kind = CacheKind::ALL.into_iter().find(|kind| kind.word() == word);
    let cache = kind.map(|kind| {
        Layer::Cache(DiskCache {
            kind,
            writeback: point.text("cache_mode").as_deref() == Some("writeback"),
            size_bytes: point.number("cache_size"),
        })
    });
    let partition = Layer::Partition(GptPartition {
        start_sector: point.number("partition_start").unwrap_or(GptPartition::DEFAULT_START),
    });
    let word = point.text("volume").unwrap_or_default();
    let kind = VolumeKind::ALL.into_iter().find(|kind| kind.word() == word);
    let volume = kind.map(|kind| {
        Layer::Volume(Volume {
            kind,
            chunk_bytes: point.number("volume_chunk"),
            snapshot_bytes: point.number("snapshot_size"),
        })
    });
    let is_on = |axis: &str, place: &str| point.text(axis).as_deref() == Some(place);
    let luks_on = |place| is_on("luks", place).then_some(luks);
    let partition_on = |place| is_on("partition", place).then_some(partition);
    let members = [partition_on("members"), luks_on("members")];
    let array = [
        partition_on("array"),
        cache,
        luks_on("array"),
        volume,
        luks_on("volume"),
    ];
    [
        members.into_iter().flatten().collect(),
        array.into_iter().flatten().collect(),
    ]
}

/// What the filesystem is on instead of the array.
pub(crate) fn image(point: &Point) -> Option<Image> {
    let word = point.text("image").filter(|word| word != "none")?;
    Some(Image {
        filesystem: FilesystemSpec {
            kind: FilesystemKind::named(&word).expect("no other word is read for an image"),
            zfs: ZfsSpec {
                pool: pool(point, "image_pool"),
                sync: sync(point, "image_sync"),
                log: point.flag("image_log"),
                ..ZfsSpec::default()
            },
            ..FilesystemSpec::default()
        },
        mount_options: mount_options(&point.text("image_mount").unwrap_or_default()),
        preallocated: point.flag("preallocate"),
        block_bytes: point.number("image_block"),
        size_bytes: point.number("image_size"),
    })
}

fn initial_resync(point: &Point) -> Option<InitialResync> {
    let word = point.text("initial_resync")?;
    InitialResync::ALL.into_iter().find(|known| known.word() == word)
}

fn integrity(point: &Point) -> Option<Integrity> {
    point.text("integrity").filter(|word| word != "none")?;
    let mode = point.text("integrity_mode");
    let named = IntegrityMode::ALL
        .into_iter()
        .find(|known| mode.as_deref() == Some(known.word()));
    Some(Integrity {
        mode: named.unwrap_or_default(),
    })
}

fn level(point: &Point, axis: &str) -> Option<Level> {
    let word = point.text(axis)?;
    Some(Level::named(&word).expect("no other word is read for a level"))
}

fn level_of_members(point: &Point) -> Option<InnerArray> {
    Some(InnerArray {
        level: level(point, "of_level")?,
        disks: point.small("of_disks"),
        chunk_bytes: point.number("of_chunk"),
    })
}

pub(crate) fn filesystem(point: &Point) -> FilesystemSpec {
    FilesystemSpec {
        kind: kind(point),
        block_size_bytes: point.number("block_size"),
        journal_mode: point.text("journal").map(|word| {
            let mode = JournalMode::ALL.into_iter().find(|mode| mode.word() == word);
            mode.expect("no other word is read for a journal mode")
        }),
        journal_size_bytes: point.number("journal_size"),
        journal_on: point.text("journal_on"),
        align: match point.text("align").as_deref() {
            Some("off") => Align::Off,
            Some("wrong") => Align::Wrong,
            _ => Align::Right,
        },
        lazy_init: point.flag("lazy_init"),
        log_buffers: point.number("log_buffers").map(|_| point.small("log_buffers")),
        log_buffer_size_bytes: point.number("log_buffer_size"),
        data_profile: profile(point, "fs_data"),
        metadata_profile: profile(point, "fs_metadata"),
        replicas: point.number("replicas").map(|_| point.small("replicas")),
        tier: point.text("tier"),
        compression: point.text("compression"),
        zfs: zfs(point),
    }
}

/// The filesystem that the study names; default ext4. Unknown names were rejected when reading.
fn kind(point: &Point) -> FilesystemKind {
    point.text("type").map_or_else(FilesystemKind::default, |word| {
        FilesystemKind::named(&word).expect("no other word is read for a filesystem")
    })
}

fn profile(point: &Point, axis: &str) -> Option<Profile> {
    let word = point.text(axis)?;
    Profile::ALL.into_iter().find(|profile| profile.word() == word)
}

fn pool(point: &Point, axis: &str) -> Option<Pool> {
    let word = point.text(axis)?;
    Pool::ALL.into_iter().find(|known| word == known.word())
}

fn sync(point: &Point, axis: &str) -> Option<ZfsSync> {
    match point.text(axis)?.as_str() {
        "standard" => Some(ZfsSync::Standard),
        "always" => Some(ZfsSync::Always),
        "disabled" => Some(ZfsSync::Disabled),
        _ => None,
    }
}

fn zfs(point: &Point) -> ZfsSpec {
    ZfsSpec {
        pool: pool(point, "pool"),
        vdev_disks: point.number("vdev_disks").map(|_| point.small("vdev_disks")),
        recordsize_bytes: point.number("recordsize"),
        ashift: point.number("ashift").map(|_| point.small("ashift")),
        sync: sync(point, "fs_sync"),
        log: point.flag("log"),
        special: point.flag("special"),
        l2arc: point.flag("l2arc"),
    }
}

pub(crate) fn mount_options(text: &str) -> Vec<String> {
    let options = text
        .split(',')
        .filter(|option| !option.is_empty() && *option != "defaults");
    options.map(str::to_owned).collect()
}
