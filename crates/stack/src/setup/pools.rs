//! ZFS pools.

use super::checks::unused_spares;
use super::steps::{BaseDevice, Setup};
use crate::array::partition_table::Place;
use crate::array::zfs::{Creation, PARTITION_TYPE, Pool};
use crate::filesystem::mounting::Mounting;
use crate::machine::context::Context;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::mount_options;
use crate::machine::undo::Undo;
use std::path::PathBuf;
use study::stack::{CACHE, JOURNAL, Level, SPECIAL, StackSpec};

/// zpool would also partition a whole disk, but then waits for udev.
const IN_POOL: Place = Place {
    start: None,
    sectors: None,
    kind: Some(PARTITION_TYPE),
};

impl Setup {
    /// A pool with its dataset mounted.
    pub(super) fn pool(
        &mut self,
        spec: &StackSpec,
        base: &BaseDevice,
        disks: &Disks,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<(PathBuf, Mounting), Cause> {
        let of = &spec.filesystem;
        let mut data = Vec::new();
        for device in &base.devices {
            data.push(self.partition(device, IN_POOL, context)?);
        }
        let mut external = |is_there: bool, group: &str| -> Result<Option<PathBuf>, Cause> {
            if !is_there {
                return Ok(None);
            }
            let disk = context.access.executor.device(disks.first(group)?)?;
            self.partition(&disk, IN_POOL, context).map(Some)
        };
        let log = external(of.zfs.log, JOURNAL)?;
        let special = external(of.zfs.special, SPECIAL)?;
        let l2arc = external(of.zfs.l2arc, CACHE)?;
        // For acts; the pool itself does not know them.
        let disks = disks.members(&spec.array);
        let mut spares = Vec::new();
        for path in &disks[disks.len() - unused_spares(spec, disks.len())..] {
            let disk = context.access.executor.device(path)?;
            spares.push(self.partition(&disk, IN_POOL, context)?);
        }
        self.begin(
            if context.setting.created {
                "import pool"
            } else {
                "create pool"
            },
            context,
        );
        let pool = Pool {
            name: name.to_owned(),
            partitions: data
                .iter()
                .chain(&log)
                .chain(&special)
                .chain(&l2arc)
                .chain(&spares)
                .cloned()
                .collect(),
        };
        let undo = Undo::Pool {
            name: pool.name.clone(),
            partitions: pool.partitions.clone(),
        };
        self.intend(undo, context)?;
        let create = Creation {
            spec: of,
            name,
            spares: match spec.array.level {
                Level::None => spec.array.spares,
                _ => 0,
            },
            data: &data,
            log: log.as_deref(),
            special: special.as_deref(),
            l2arc: l2arc.as_deref(),
        };
        let call = match context.setting.created {
            true => pool.import(),
            false => create.invocation(),
        };
        context.access.run(&call, &pool.partitions)?;
        let mounting = Mounting {
            source: PathBuf::from(name),
            devices: vec![PathBuf::from(name)],
            kind: of.kind,
            arguments: mount_options::parse(&spec.mount_options, None)?,
            options: spec.mount_options.clone(),
            pool: Some(pool),
            is_lazy: false,
        };
        let folder = self.mount(&mounting, name, context)?;
        Ok((folder, mounting))
    }
}
