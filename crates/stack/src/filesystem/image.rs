//! The image that carries a stack's filesystem: a file behind a loop device, or a zvol.

use crate::array::lvm::udev_runs;
use crate::array::zfs::ZFS;
use crate::filesystem::mounting::Mounting;
use crate::machine::access::Access;
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use crate::machine::page_cache;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::Image;
use tools::{Invocation, Tool};

/// Name of the file, and of the zvol in its pool.
const NAME: &str = "image";

/// The first zvol.
pub(crate) const ZVOL: &str = "/dev/zd0";

/// The file on a filesystem that is mounted here.
pub(crate) fn file_in(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// The folder, next to that of the stack, where the filesystem with the image is mounted, and the name of a zvol's pool.
pub(crate) fn name_of(stack: &str) -> String {
    format!("{stack}-host")
}

/// An image on a mounted filesystem, or in an imported pool.
#[derive(Debug)]
pub(crate) struct StoredImage {
    pub(crate) image: Image,
    /// The filesystem that it is on, or the pool's dataset.
    pub(crate) mounting: Mounting,
    pub(crate) folder: PathBuf,
}

/// The programs that make and attach an image.
pub(crate) fn tools_of(image: &Image) -> Vec<Tool> {
    let size = image.size_bytes.is_none().then_some(Tool::Df);
    let make = match (image.is_zvol(), image.preallocated) {
        (true, _) => vec![ZFS],
        (false, true) => vec![Tool::Fallocate, Tool::Losetup],
        (false, false) => vec![Tool::Truncate, Tool::Losetup],
    };
    size.into_iter().chain(make).collect()
}

impl StoredImage {
    /// The file.
    pub(crate) fn file(&self) -> PathBuf {
        file_in(&self.folder)
    }

    /// Its device in a guest, where nothing else has loop devices or zvols.
    pub(crate) fn node_in_guest(&self) -> PathBuf {
        PathBuf::from(if self.image.is_zvol() { ZVOL } else { "/dev/loop0" })
    }

    /// Makes the file or the zvol.
    pub(crate) fn make(&self, access: &mut Access<'_>) -> Result<(), Cause> {
        let size = match self.image.size_bytes {
            Some(bytes) => bytes.to_string(),
            None => self.default_size(access)?,
        };
        let call = if self.image.is_zvol() {
            let block = self.image.block_bytes.map(|bytes| format!("volblocksize={bytes}"));
            let call = Invocation::new(ZFS).args(["create", "-s"]);
            let call = match block {
                Some(block) => call.arg("-o").arg(block),
                None => call,
            };
            call.args(["-V", &size]).arg(self.zvol())
        } else if self.image.preallocated {
            Invocation::new(Tool::Fallocate)
                .args(["--length", &size])
                .arg(self.file())
        } else {
            Invocation::new(Tool::Truncate).args(["-s", &size]).arg(self.file())
        };
        access.run(&call, &self.mounting.devices)?;
        Ok(())
    }

    /// In bytes, from the space that is free. It is known only when the filesystem is there: in a dry run a word is in its place.
    fn default_size(&self, access: &mut Access<'_>) -> Result<String, Cause> {
        let ask = Invocation::new(Tool::Df).args(["--output=avail", "--block-size=1"]);
        let answer = access.ask(&ask.arg(&self.folder))?.stdout;
        let free = answer.split_whitespace().last().unwrap_or_default();
        match free.parse() {
            Ok(bytes) => Ok(Image::default_bytes(bytes).to_string()),
            Err(_) if free.is_empty() => Err(Cause::State(format!(
                "df does not say how much is free on {}",
                self.folder.display()
            ))),
            Err(_) => Ok(free.to_owned()),
        }
    }

    /// Its name in ZFS.
    pub(crate) fn zvol(&self) -> String {
        format!("{}/{NAME}", self.mounting.source.display())
    }

    /// Attaches a file to a free loop device. A zvol has its node as soon as its pool is imported.
    pub(crate) fn attach(&self, context: &mut Context<'_>) -> Result<BlockDevice, Cause> {
        let node = match self.image.is_zvol() {
            true => self.node_of_zvol(context.access.executor),
            false => {
                let call = Invocation::new(Tool::Losetup).args(["--find", "--show", "--direct-io=on"]);
                let shown = context
                    .access
                    .run(&call.arg(self.file()), &self.mounting.devices)?
                    .stdout;
                PathBuf::from(shown.trim())
            }
        };
        let device = wait_for(&node, context)?;
        self.judge_direct_io(&device, context.access.executor)?;
        Ok(device)
    }

    /// The kernel reads and writes through the page cache, without an error, if the sectors of the two devices do not fit.
    fn judge_direct_io(&self, device: &BlockDevice, executor: &mut dyn Executor) -> Result<(), Cause> {
        if self.image.is_zvol() {
            return Ok(());
        }
        let attribute = device.sysfs.join("loop/dio");
        match executor.read(&attribute)?.as_str() {
            "1" => Ok(()),
            other => Err(Cause::Setting {
                what: format!("direct I/O of {}", device.kernel_name),
                wanted: "1".to_owned(),
                got: other.to_owned(),
            }),
        }
    }

    /// udev names it after its dataset; without udev, as in guests, it is the only zvol.
    fn node_of_zvol(&self, executor: &mut dyn Executor) -> PathBuf {
        match udev_runs(executor) {
            true => Path::new("/dev/zvol").join(self.zvol()),
            false => PathBuf::from(ZVOL),
        }
    }

    /// Detaches the image, and unmounts what it is on: nothing of it stays cached.
    pub(crate) fn put_down(&self, node: &Path, context: &mut Context<'_>) -> Result<(), Cause> {
        if !self.image.is_zvol() {
            detach(&self.file(), &mut context.access)?;
        }
        page_cache::write_back(Some(&self.folder))?;
        context.access.executor.unmount(&self.folder)?;
        if let Some(pool) = &self.mounting.pool {
            context.access.run(&pool.export(), &pool.partitions)?;
            wait_until_gone(node, context.access.executor)?;
        }
        Ok(())
    }

    /// Mounts what it is on again, and attaches it to the same device.
    pub(crate) fn take_up(&self, node: &Path, context: &mut Context<'_>) -> Result<(), Cause> {
        if let Some(pool) = &self.mounting.pool {
            context.access.run(&pool.import(), &pool.partitions)?;
        }
        // After a power cut nothing is left of it but what is on the disks.
        if !context.access.executor.exists(&self.folder) {
            context.access.executor.make_folder(&self.folder)?;
        }
        self.mounting.mount(&self.folder, &mut context.access)?;
        if !self.image.is_zvol() {
            let call = Invocation::new(Tool::Losetup).arg("--direct-io=on").arg(node);
            context.access.run(&call.arg(self.file()), &self.mounting.devices)?;
        }
        let device = wait_for(node, context)?;
        self.judge_direct_io(&device, context.access.executor)
    }
}

fn wait_for(node: &Path, context: &mut Context<'_>) -> Result<BlockDevice, Cause> {
    context.access.executor.wait_for_device(node, Duration::from_secs(10))
}

fn wait_until_gone(node: &Path, executor: &mut dyn Executor) -> Result<(), Cause> {
    for _ in 0..500 {
        if !executor.exists(node) {
            return Ok(());
        }
        executor.sleep(Duration::from_millis(10));
    }
    Err(Cause::State(format!("{} does not go away", node.display())))
}

/// Detaches the loop devices of this file, and waits until they are gone: udev may have them open for a moment.
pub(crate) fn detach(file: &Path, access: &mut Access<'_>) -> Result<(), Cause> {
    let list = Invocation::new(Tool::Losetup).args(["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
    let mut refused = None;
    for _ in 0..500 {
        let listed = access.ask(&list)?.stdout;
        let attached = attached_to(&listed, file);
        if attached.is_empty() {
            return Ok(());
        }
        for node in attached {
            let call = Invocation::new(Tool::Losetup).arg("--detach").arg(node);
            // It may be gone since it was listed.
            refused = access.run::<&Path>(&call, &[]).err();
        }
        access.executor.sleep(Duration::from_millis(10));
    }
    Err(refused.unwrap_or_else(|| Cause::State(format!("{} stays attached", file.display()))))
}

/// `/dev/loop0 /mnt/image`
fn attached_to<'l>(listed: &'l str, file: &Path) -> Vec<&'l str> {
    let lines = listed
        .lines()
        .filter_map(|line| line.trim().split_once(char::is_whitespace));
    let ours = lines.filter(|(_, backing)| Path::new(backing.trim()) == file);
    ours.map(|(node, _)| node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_devices_of_the_file_are_detached() {
        let listed =
            "/dev/loop1 /srv/other\n/dev/loop0 /run/a-host/image\n/dev/loop2 /run/a-host/image (deleted)\n";
        assert_eq!(attached_to(listed, Path::new("/run/a-host/image")), ["/dev/loop0"]);
        assert!(attached_to("", Path::new("/run/a-host/image")).is_empty());
    }
}
