//! After the tests of a trial: does the kernel still have what the study asked for?
//!
//! Settings are checked when they are made, but other programs, udev rules, acts and remounts may change them, and mount options
//! are never refused where they have no effect. Only what a study sets is compared. Read when all figures are there, so that no
//! figure depends on it.

mod layers;
mod mount_options;

use crate::array::md::{self, Array, write_mostly};
use crate::machine::context::{Context, DiskKind};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use crate::machine::request_queue;
use crate::setup::stack::Stack;
use study::event::Guard;
use study::stack::{ArraySpec, Bitmap, Level, StackSpec};

/// A setting that the kernel has otherwise than the study.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Difference {
    key: String,
    asked: String,
    found: String,
}

impl Difference {
    fn words(&self) -> String {
        let Self { key, asked, found } = self;
        format!("{key}: asked for `{asked}`, the kernel has `{found}`")
    }
}

/// What was compared.
#[derive(Default)]
struct Comparison {
    compared: u32,
    differences: Vec<Difference>,
    /// Mount options that the kernel does not show.
    not_shown: Vec<String>,
}

impl Comparison {
    /// The kernel shows a value, a value with its origin (`5000 (local)`), or a list (`in_sync,write_mostly`).
    fn compare(&mut self, key: &str, asked: &str, found: &str) {
        self.compared += 1;
        if !found.split([',', ' ']).any(|word| word == asked) {
            self.differences.push(Difference {
                key: key.to_owned(),
                asked: asked.to_owned(),
                found: found.to_owned(),
            });
        }
    }

    fn verdict(&self) -> (bool, String) {
        if !self.differences.is_empty() {
            let all: Vec<String> = self.differences.iter().map(Difference::words).collect();
            return (false, all.join("; "));
        }
        let mut detail = match self.compared {
            0 => "the study sets nothing that the kernel shows".to_owned(),
            count => format!("{count} settings of the study are in the kernel as they were asked for"),
        };
        if !self.not_shown.is_empty() {
            detail += &format!(
                "; the kernel does not show the mount options {}",
                self.not_shown.join(", ")
            );
        }
        (true, detail)
    }
}

/// Records the guard `as-asked`. Acts may have changed the members and the shape of the array, which is then not compared.
pub fn as_asked(
    stack: &Stack,
    spec: &StackSpec,
    has_acts: bool,
    context: &mut Context<'_>,
) -> Result<Guard, Cause> {
    let mut all = Comparison::default();
    of_disks(stack, spec, has_acts, &mut all, context)?;
    if let Some(array) = &stack.array {
        of_array(
            array,
            &md::outer(&spec.array),
            has_acts,
            &mut all,
            context.access.executor,
        )?;
    }
    if let Some(folder) = &stack.mount_point
        && let Some(mounted) = context.access.executor.mounted(folder)?
    {
        mount_options::compare(&spec.mount_options, &mounted.options, &mut all);
    }
    if spec.asks_for_discards() && stack.mount_point.is_some() {
        of_discards(stack, spec, &mut all, context.access.executor)?;
    }
    layers::compare(stack, spec, has_acts, &mut all, context)?;
    let (passed, detail) = all.verdict();
    Ok(context.guard("as-asked", passed, detail))
}

fn of_disks(
    stack: &Stack,
    spec: &StackSpec,
    has_acts: bool,
    all: &mut Comparison,
    context: &mut Context<'_>,
) -> Result<(), Cause> {
    let is_real = context.setting.disk_kind == DiskKind::Real;
    let executor = &mut *context.access.executor;
    // A disk that died has no queue any more.
    for disk in stack.members.iter().filter(|_| !has_acts) {
        let name = &disk.kernel_name;
        if let Some(asked) = &spec.scheduler {
            all.compare(
                &format!("scheduler of {name}"),
                asked,
                &request_queue::scheduler(disk, executor)?,
            );
        }
        if let Some(on) = spec.write_cache {
            let word = |on| if on { "on" } else { "off" };
            let found = request_queue::write_cache(disk, executor)?;
            all.compare(&format!("write_cache of {name}"), word(on), word(found));
        }
        // The lab's disks are made with it.
        if let Some(depth) = spec.queue_depth.filter(|_| is_real)
            && let Some(attribute) = request_queue::depth_attribute(disk, executor)
        {
            let found = executor.read(&attribute)?;
            all.compare(&format!("queue_depth of {name}"), &depth.to_string(), &found);
        }
    }
    // With an image it is that of the device below.
    if let Some(sectors) = spec.read_ahead_sectors.filter(|_| spec.image.is_none()) {
        let device = match &stack.array {
            Some(array) if spec.layers.is_empty() => array.device.clone(),
            _ => executor.device(&stack.block_device)?,
        };
        let found = executor.read(&request_queue::read_ahead_attribute(&device))?;
        let asked = request_queue::kibibytes_of(sectors)?.to_string();
        all.compare(&format!("read_ahead_kb of {}", device.kernel_name), &asked, &found);
    }
    Ok(())
}

/// md's attributes.
fn of_array(
    array: &Array,
    spec: &ArraySpec,
    has_acts: bool,
    all: &mut Comparison,
    executor: &mut dyn Executor,
) -> Result<(), Cause> {
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let policy = match (spec.write_journal, spec.ppl) {
        (true, _) => Some("journal".to_owned()),
        (_, true) => Some("ppl".to_owned()),
        _ => None,
    };
    let mut asked = vec![
        ("stripe_cache_size", number(spec.stripe_cache_pages)),
        ("group_thread_cnt", number(spec.group_thread_cnt)),
        ("rmw_level", number(spec.rmw_level)),
        ("skip_copy", number(spec.skip_copy)),
        ("sync_speed_min", number(spec.sync_speed_min)),
        ("sync_speed_max", number(spec.sync_speed_max)),
    ];
    if !has_acts {
        let has_bitmap = spec.bitmap != Bitmap::None;
        asked.extend([
            ("chunk_size", spec.chunk_bytes.map(|bytes| bytes.to_string())),
            (
                "layout",
                spec.layout
                    .as_deref()
                    .and_then(|layout| layout_number(spec.level, layout)),
            ),
            ("metadata_version", spec.metadata.clone()),
            ("consistency_policy", policy),
            (
                "bitmap/chunksize",
                spec.bitmap_chunk_bytes
                    .filter(|_| has_bitmap)
                    .map(|bytes| bytes.to_string()),
            ),
            ("bitmap/backlog", number(spec.write_behind).filter(|_| has_bitmap)),
        ]);
    }
    for (name, asked) in asked {
        if let Some(asked) = asked {
            let found = executor.read(&array.attribute(name))?;
            all.compare(&format!("{name} of {}", array.device.kernel_name), &asked, &found);
        }
    }
    if spec.journal_write_back {
        let modes = executor.read(&array.attribute("journal_mode"))?;
        let key = format!("journal_mode of {}", array.device.kernel_name);
        all.compare(&key, "write-back", request_queue::in_use(&modes));
    }
    if !has_acts && spec.level.facts().is_redundant {
        let location = executor.read(&array.attribute("bitmap/location"))?;
        let found = match location.as_str() {
            "none" => "none",
            "file" => "external",
            _ => "internal",
        };
        let asked = match spec.bitmap {
            Bitmap::Internal => "internal",
            Bitmap::External => "external",
            Bitmap::None => "none",
        };
        all.compare(&format!("bitmap of {}", array.device.kernel_name), asked, found);
    }
    if !has_acts && write_mostly(spec) > 0 {
        let found = write_mostly_members(array, executor)?;
        let key = format!("write_mostly members of {}", array.device.kernel_name);
        all.compare(&key, &write_mostly(spec).to_string(), &found.to_string());
    }
    Ok(())
}

fn write_mostly_members(array: &Array, executor: &mut dyn Executor) -> Result<usize, Cause> {
    let folder = array.device.sysfs.join("md");
    let members = executor.entries(&folder)?.into_iter().filter(|entry| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("dev-")
    });
    let mut count = 0;
    for member in members {
        let state = executor.read(&member.join("state"))?;
        count += usize::from(state.split(',').any(|word| word == "write_mostly"));
    }
    Ok(count)
}

/// md's number of a layout; `None` if it is not known here.
fn layout_number(level: Level, layout: &str) -> Option<String> {
    const PARITY: [&str; 6] = [
        "left-asymmetric",
        "right-asymmetric",
        "left-symmetric",
        "right-symmetric",
        "parity-first",
        "parity-last",
    ];
    let number = match level {
        Level::Raid10 => {
            let copies: u64 = layout.get(1..)?.parse().ok()?;
            match layout.get(..1)? {
                "n" => 1 << 8 | copies,
                "f" => copies << 8 | 1,
                "o" => 1 << 16 | copies << 8 | 1,
                _ => return None,
            }
        }
        Level::Raid5 | Level::Raid6 => PARITY.iter().position(|name| *name == layout)? as u64,
        _ => return None,
    };
    Some(number.to_string())
}

/// The mount option `discard`: the kernel shows it, also where the device takes no discards.
fn of_discards(
    stack: &Stack,
    spec: &StackSpec,
    all: &mut Comparison,
    executor: &mut dyn Executor,
) -> Result<(), Cause> {
    let device: BlockDevice = executor.device(&stack.block_device)?;
    let most = executor.read(&device.queue().join("discard_max_bytes"))?;
    let why = spec
        .passes_no_discards()
        .unwrap_or_else(|| "the disks take none".to_owned());
    let found = match most.as_str() {
        "0" => format!(
            "no discards: discard_max_bytes of {} is 0, because {why}",
            device.kernel_name
        ),
        _ => "discards".to_owned(),
    };
    all.compared += 1;
    if most == "0" {
        all.differences.push(Difference {
            key: "mount option".to_owned(),
            asked: "discard".to_owned(),
            found,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
