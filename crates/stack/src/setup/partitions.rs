//! Partitions of a stack's disks, and of its array.

use super::steps::{Setup, wait_for};
use crate::array::partition_table::{Place, partition_of, partitioning, scan_partitions};
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use crate::machine::uuid;
use std::path::PathBuf;

impl Setup {
    /// The node of the only partition of a device.
    pub(super) fn partition(
        &mut self,
        device: &BlockDevice,
        place: Place,
        context: &mut Context<'_>,
    ) -> Result<PathBuf, Cause> {
        self.begin(
            if context.setting.created {
                "scan partitions"
            } else {
                "partition disks"
            },
            context,
        );
        let uuid = uuid::of_filesystem(context.access.executor)?;
        let undo = Undo::PartitionTable {
            device: device.path.clone(),
            uuid: uuid.clone(),
        };
        self.intend(undo, context)?;
        match context.setting.created {
            true => scan_partitions(&device.path, context)?,
            false => {
                let make = partitioning(&device.path, &uuid, place);
                context.access.run(&make, &[&device.path])?;
            }
        }
        let partition = partition_of(device);
        wait_for(&partition, context)?;
        Ok(partition)
    }
}
