//! ZFS pools: a partition on each disk, a pool on the partitions, and a dataset that is mounted like other filesystems.

use crate::machine::error::Cause;
use std::path::{Path, PathBuf};
use study::stack::{FilesystemSpec, Pool as Kind, ZfsSpec, ZfsSync};
use tools::{Invocation, Tool};

/// The program for pools.
pub(crate) const ZPOOL: Tool = Tool::Filesystem(&filesystems::zfs::ZPOOL);

/// The program for volumes.
pub(crate) const ZFS: Tool = Tool::Filesystem(&filesystems::zfs::ZFS);

/// Solaris /usr & Apple ZFS: the type of partitions that zpool creates.
pub(crate) const PARTITION_TYPE: &str = "6A898CC3-1DD2-11B2-99A6-080020736631";

/// No cache file.
const NO_CACHE: [&str; 2] = ["-o", "cachefile=none"];

/// A pool of the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    pub(crate) name: String,
    /// The partitions of the pool.
    pub(crate) partitions: Vec<PathBuf>,
}

/// The devices of a pool.
#[derive(Debug)]
pub(crate) struct Creation<'a> {
    pub(crate) spec: &'a FilesystemSpec,
    pub(crate) name: &'a str,
    /// Distributed spares of dRAID.
    pub(crate) spares: u32,
    pub(crate) data: &'a [PathBuf],
    pub(crate) log: Option<&'a Path>,
    pub(crate) special: Option<&'a Path>,
    pub(crate) l2arc: Option<&'a Path>,
}

impl Creation<'_> {
    /// `zpool create`; the dataset is mounted by mount(2), like any filesystem.
    pub(crate) fn invocation(&self) -> Invocation {
        let zfs = &self.spec.zfs;
        let mut call = Invocation::new(ZPOOL)
            .args(["create", "-f"])
            .args(NO_CACHE)
            .args(["-O", "mountpoint=legacy"]);
        if let Some(ashift) = zfs.ashift {
            call = call.arg("-o").arg(format!("ashift={ashift}"));
        }
        for (property, value) in properties(self.spec) {
            call = call.arg("-O").arg(format!("{property}={value}"));
        }
        call = call.arg(self.name);
        match zfs.pool.unwrap_or(Kind::Stripe) {
            Kind::Stripe => call = call.args(self.data),
            kind => {
                let width = zfs.vdev_disks.map_or(self.data.len(), |disks| disks as usize);
                for vdev in self.data.chunks(width.max(1)) {
                    let spares = match is_distributed(zfs) && self.spares > 0 {
                        true => format!(":{}s", self.spares),
                        false => String::new(),
                    };
                    call = call.arg(format!("{}{spares}", kind.word())).args(vdev);
                }
            }
        }
        for (word, device) in [("log", self.log), ("special", self.special), ("cache", self.l2arc)] {
            if let Some(device) = device {
                call = call.arg(word).arg(device);
            }
        }
        call
    }
}

/// The properties that the study sets, as `zfs get -p` shows them.
pub(crate) fn properties(spec: &FilesystemSpec) -> Vec<(&'static str, String)> {
    let sync = spec.zfs.sync.map(|sync| match sync {
        ZfsSync::Standard => "standard",
        ZfsSync::Always => "always",
        ZfsSync::Disabled => "disabled",
    });
    let all = [
        ("recordsize", spec.zfs.recordsize_bytes.map(|bytes| bytes.to_string())),
        ("compression", spec.compression.clone()),
        ("sync", sync.map(str::to_owned)),
    ];
    let set = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
    set.collect()
}

/// Whether spares are distributed over all disks.
pub(crate) const fn is_distributed(spec: &ZfsSpec) -> bool {
    matches!(spec.pool, Some(Kind::Draid1 | Kind::Draid2))
}

/// The name of a distributed spare of the first vdev.
pub(crate) fn distributed_spare(spec: &ZfsSpec, number: u32) -> Option<String> {
    let kind = spec.pool.filter(|_| is_distributed(spec))?;
    Some(format!("{}-0-{number}", kind.word()))
}

/// Checks the vdevs for this number of devices, before anything is changed.
pub(crate) fn check(spec: &ZfsSpec, devices: usize) -> Result<(), Cause> {
    let Some(width) = spec.vdev_disks.map(|disks| disks as usize) else {
        return Ok(());
    };
    let refuse = |reason: String| Err(Cause::Impossible(reason));
    let kind = spec.pool.unwrap_or(Kind::Stripe);
    if kind == Kind::Stripe {
        return refuse("each device of a stripe is a vdev of its own".to_owned());
    }
    let (word, least) = (kind.word(), kind.disks_min() as usize);
    if width < least {
        return refuse(format!(
            "{word} needs at least {least} devices in each vdev, not {width}"
        ));
    }
    if devices == 0 || !devices.is_multiple_of(width) {
        return refuse(format!("{devices} devices cannot be divided into vdevs of {width}"));
    }
    Ok(())
}

impl Pool {
    /// Exports the pool, which writes everything and drops its caches.
    pub(crate) fn export(&self) -> Invocation {
        Invocation::new(ZPOOL).arg("export").arg(&self.name)
    }

    /// Imports the pool, only from its own partitions, without mounting.
    pub(crate) fn import(&self) -> Invocation {
        let call = Invocation::new(ZPOOL).args(["import", "-N"]).args(NO_CACHE);
        let search = |call: Invocation, partition: &PathBuf| call.arg("-d").arg(partition);
        self.partitions.iter().fold(call, search).arg(&self.name)
    }

    /// Queries the state of the pool, including scrubs and resilvers.
    pub(crate) fn status(&self) -> Invocation {
        Invocation::new(ZPOOL).arg("status").arg(&self.name)
    }
}

/// The scrub or resilver in progress, as shown by `zpool status`.
pub(crate) fn scan(status: &str) -> Option<&str> {
    let scan = status.lines().find_map(|line| line.trim().strip_prefix("scan: "))?;
    scan.contains("in progress").then_some(scan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::stack::FilesystemKind;

    #[test]
    fn a_pool_is_asked_for_in_zpools_words() {
        let spec = FilesystemSpec {
            kind: FilesystemKind::Zfs,
            compression: Some("lz4".to_owned()),
            zfs: ZfsSpec {
                pool: Some(Kind::Raidz2),
                vdev_disks: None,
                recordsize_bytes: Some(1 << 20),
                ashift: Some(12),
                sync: Some(ZfsSync::Always),
                log: true,
                special: false,
                l2arc: true,
            },
            ..FilesystemSpec::default()
        };
        let data = ["/dev/vda1", "/dev/vdb1"].map(PathBuf::from);
        let creation = Creation {
            spec: &spec,
            name: "raidlab",
            spares: 0,
            data: &data,
            log: Some(Path::new("/dev/vdc1")),
            special: None,
            l2arc: Some(Path::new("/dev/vdd1")),
        };
        assert_eq!(
            creation.invocation().to_string(),
            "zpool create -f -o cachefile=none -O mountpoint=legacy -o ashift=12 -O recordsize=1048576 \
             -O compression=lz4 -O sync=always raidlab raidz2 /dev/vda1 /dev/vdb1 log /dev/vdc1 cache /dev/vdd1"
        );
    }

    #[test]
    fn only_properties_that_the_study_sets_are_asked_for() {
        assert!(properties(&FilesystemSpec::default()).is_empty());
        let spec = FilesystemSpec {
            compression: Some("lz4".to_owned()),
            zfs: ZfsSpec {
                recordsize_bytes: Some(1 << 20),
                sync: Some(ZfsSync::Always),
                ..ZfsSpec::default()
            },
            ..FilesystemSpec::default()
        };
        assert_eq!(
            properties(&spec),
            [
                ("recordsize", "1048576".to_owned()),
                ("compression", "lz4".to_owned()),
                ("sync", "always".to_owned())
            ]
        );
    }

    /// The arguments after the pool's name.
    fn vdevs(pool: Kind, vdev_disks: Option<u32>, disks: usize, spares: u32) -> Result<String, Cause> {
        let zfs = ZfsSpec {
            pool: Some(pool),
            vdev_disks,
            ..ZfsSpec::default()
        };
        check(&zfs, disks)?;
        let spec = FilesystemSpec {
            kind: FilesystemKind::Zfs,
            zfs,
            ..FilesystemSpec::default()
        };
        let data: Vec<PathBuf> = ('a'..).take(disks).map(|letter| format!("{letter}1").into()).collect();
        let creation = Creation {
            spec: &spec,
            name: "NAME",
            spares,
            data: &data,
            log: Some(Path::new("log1")),
            special: None,
            l2arc: None,
        };
        let call = creation.invocation().to_string();
        Ok(call.split_once(" NAME ").expect("has the name").1.to_owned())
    }

    #[test]
    fn vdevs_have_the_disks_in_their_order() {
        let of = |pool, vdev_disks, disks| vdevs(pool, vdev_disks, disks, 0).expect("is possible");
        assert_eq!(
            of(Kind::Mirror, Some(2), 6),
            "mirror a1 b1 mirror c1 d1 mirror e1 f1 log log1"
        );
        assert_eq!(of(Kind::Mirror, Some(4), 4), "mirror a1 b1 c1 d1 log log1");
        assert_eq!(of(Kind::Mirror, None, 4), "mirror a1 b1 c1 d1 log log1");
        assert_eq!(of(Kind::Stripe, None, 3), "a1 b1 c1 log log1");
        let draid = vdevs(Kind::Draid2, None, 5, 1).expect("is possible");
        assert_eq!(draid, "draid2:1s a1 b1 c1 d1 e1 log log1");
        assert_eq!(of(Kind::Raidz1, Some(3), 6), "raidz1 a1 b1 c1 raidz1 d1 e1 f1 log log1");
    }

    #[test]
    fn vdevs_that_cannot_be_are_refused() {
        let of = |pool, vdev_disks, disks| match vdevs(pool, Some(vdev_disks), disks, 0) {
            Err(Cause::Impossible(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(of(Kind::Mirror, 3, 8), "8 devices cannot be divided into vdevs of 3");
        assert_eq!(
            of(Kind::Raidz2, 2, 8),
            "raidz2 needs at least 3 devices in each vdev, not 2"
        );
        assert_eq!(of(Kind::Stripe, 2, 8), "each device of a stripe is a vdev of its own");
    }

    #[test]
    fn a_scrub_is_read_from_the_status_of_a_pool() {
        let status = |scan: &str| format!("  pool: raidlab\n state: ONLINE\n{scan}config:\n\n\tNAME  STATE\n");
        let scrub = "  scan: scrub in progress since Sun Oct 11 00:24:03 2026\n\t1.2G / 8G scanned at 400M/s\n";
        assert_eq!(
            scan(&status(scrub)),
            Some("scrub in progress since Sun Oct 11 00:24:03 2026")
        );
        for idle in [
            "",
            "  scan: scrub repaired 0B in 00:00:01 with 0 errors on Sun Oct 11 00:24:03 2026\n",
            "  scan: scrub canceled on Sun Oct 11 00:24:03 2026\n",
        ] {
            assert_eq!(scan(&status(idle)), None, "{idle}");
        }
    }
}
