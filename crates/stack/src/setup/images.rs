//! The image that carries a stack's filesystem.

use super::checks::versions;
use super::stack::Stack;
use super::steps::{BaseDevice, Setup};
use crate::filesystem::image::StoredImage;
use crate::machine::context::Context;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use study::stack::{Image, StackSpec};

impl Setup {
    /// The stack's own filesystem, in an image on the stack below.
    pub(super) fn in_image(
        &mut self,
        (spec, image): (&StackSpec, &Image),
        below: Stack,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Stack, Cause> {
        let (Some(mounting), Some(folder)) = (below.mounting, below.mount_point) else {
            return Err(Cause::Impossible(
                "an image needs a filesystem that it is on".to_owned(),
            ));
        };
        self.begin("create image", context);
        let stored = StoredImage {
            image: image.clone(),
            mounting,
            folder,
        };
        stored.make(&mut context.access)?;
        if !image.is_zvol() {
            self.intend(Undo::LoopDevice { file: stored.file() }, context)?;
        }
        let device = stored.attach(context)?;
        // What was never written to it is zeros, whatever the disks have.
        self.zeroed = true;
        // The image's own programs are recorded with their versions, too.
        let inside = StackSpec {
            image: Some(image.clone()),
            ..spec.inside_image()
        };
        let base = BaseDevice::of_disks(vec![device.clone()]);
        let (mount_point, mounting) = match versions(&inside, context)? {
            Some(version) => self.filesystem(&inside, &base, &Disks::default(), &version, name, context)?,
            None => (None, None),
        };
        Ok(Stack {
            block_device: device.path,
            mount_point,
            mounting,
            image: Some(stored),
            ..below
        })
    }
}
