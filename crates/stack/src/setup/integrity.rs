//! dm-integrity on each disk, below md.

use super::steps::Setup;
use super::steps::wait_for;
use crate::array::integrity::{self, Checksummed};
use crate::array::md::Array;
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::device_mapper;
use crate::machine::error::Cause;
use crate::machine::executor::read_number;
use crate::machine::undo::Undo;
use std::path::Path;
use study::stack::{ArraySpec, Integrity, IntegrityMode};

impl Setup {
    /// A sector that was never written has no checksum and cannot be read, so everything that md will use is
    /// written first: by integritysetup the whole disk, with a `size` only that part.
    pub(super) fn integrity(
        &mut self,
        spec: &ArraySpec,
        integrity: Integrity,
        disks: &[BlockDevice],
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Vec<Checksummed>, Cause> {
        self.begin("set up dm-integrity", context);
        let mut all = Vec::new();
        for (number, disk) in disks.iter().enumerate() {
            let name = integrity::name_of(name, number);
            let node = device_mapper::node_of(&name);
            if context.access.executor.exists(&node) {
                return Err(Cause::State(format!("{} already exists", node.display())));
            }
            let from = self.acts.len();
            let types = integrity::SIGNATURE.to_owned();
            let device = disk.path.clone();
            self.intend(Undo::Signatures { device, types }, context)?;
            let (disk_path, of_device) = (disk.path.clone(), name.clone());
            let closing = Undo::Integrity {
                disk: disk_path,
                name: of_device,
            };
            self.intend(closing, context)?;
            let path = disk.path.as_path();
            let format = integrity::format(path, spec.member_size_bytes.is_none());
            context.access.run(&format, &[path])?;
            self.made(from, context)?;
            if let Some(bytes) = spec.member_size_bytes {
                zero(path, &name, bytes, context)?;
            }
            context.access.run(&integrity::open(path, &name, integrity), &[path])?;
            all.push(Checksummed {
                disk: disk.clone(),
                device: wait_for(&node, context)?,
                name,
                mode: integrity.mode,
            });
        }
        context.provenance("array.integrity", format!("crc32c, {}", integrity.mode.word()));
        Ok(all)
    }
}

/// Writes the part that md will use, without the journal, whose contents would not have reached their places yet.
fn zero(disk: &Path, name: &str, member_size_bytes: u64, context: &mut Context<'_>) -> Result<(), Cause> {
    let direct = Integrity {
        mode: IntegrityMode::Direct,
    };
    context.access.run(&integrity::open(disk, name, direct), &[disk])?;
    let node = device_mapper::node_of(name);
    let device = wait_for(&node, context)?;
    let sectors = read_number(context.access.executor, &device.sysfs.join("size"))?;
    for part in integrity::parts_written(member_size_bytes, sectors * 512) {
        context.access.run(&integrity::zero(&node, part), &[&node])?;
    }
    context.access.run(&integrity::close(name), &[disk])?;
    Ok(())
}

/// Checks that md uses only the part of its members that has checksums.
pub(super) fn must_have_checksums(
    spec: &ArraySpec,
    array: &Array,
    checksummed: &[Checksummed],
    context: &mut Context<'_>,
) -> Result<(), Cause> {
    let Some(size_bytes) = spec.member_size_bytes else {
        return Ok(());
    };
    for member in checksummed {
        let executor = &mut *context.access.executor;
        let attribute = |name: &str| {
            array
                .attribute(&format!("dev-{}", member.device.kernel_name))
                .join(name)
        };
        let offset = read_number(executor, &attribute("offset"))?;
        let kibibytes = read_number(executor, &array.attribute("component_size"))?;
        let sectors = read_number(executor, &member.device.sysfs.join("size"))?;
        let has_bytes = integrity::used_bytes(size_bytes, sectors * 512);
        let uses_bytes = offset * 512 + kibibytes * 1024;
        if uses_bytes > has_bytes {
            return Err(Cause::State(format!(
                "md uses {uses_bytes} bytes of {}, of which only {has_bytes} have checksums",
                member.name
            )));
        }
    }
    Ok(())
}
