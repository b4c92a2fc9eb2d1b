//! Layers on members and on the array.

use super::steps::{Setup, wait_for};
use crate::array::luks;
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::device_mapper;
use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use crate::machine::uuid;
use study::stack::{Layer, Luks};

impl Setup {
    /// Each device with these layers on it, from the device up. `member` is its number; absent for the array.
    pub(super) fn layers(
        &mut self,
        layers: &[Layer],
        device: &BlockDevice,
        (stack, member): (&str, Option<usize>),
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        let mut top = device.clone();
        for layer in layers {
            top = match *layer {
                Layer::Luks(luks) => self.luks(luks, &top, &luks::name_of(stack, member), context)?,
            };
        }
        Ok(top)
    }

    /// What was never written decrypts to random bytes: nothing above is zero.
    fn luks(
        &mut self,
        luks: Luks,
        device: &BlockDevice,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        self.begin("encrypt", context);
        self.zeroed = false;
        let node = device_mapper::node_of(name);
        if context.access.executor.exists(&node) {
            return Err(Cause::State(format!("{} already exists", node.display())));
        }
        let from = self.acts.len();
        let uuid = uuid::of_filesystem(context.access.executor)?;
        let path = device.path.as_path();
        let undo = Undo::Luks {
            device: path.to_owned(),
            name: name.to_owned(),
            uuid: uuid.clone(),
        };
        self.intend(undo, context)?;
        context.access.run(&luks::format(path, &uuid, luks), &[path])?;
        self.made(from, context)?;
        context.access.run(&luks::open(path, name, luks), &[path])?;
        let table = context.access.ask(&luks::table(name))?.stdout;
        let missing = luks::missing_settings(&table, luks);
        if !missing.is_empty() {
            return Err(Cause::State(format!(
                "{name} was opened without {}: `{}`",
                missing.join(" and "),
                table.trim()
            )));
        }
        wait_for(&node, context)
    }
}
