//! The simulated disks of a trial, from the catalogue and from the user's own models.

pub mod rebuild_time;
#[cfg(test)]
mod test_study;
pub mod throughput_ceiling;
pub mod trace;

use crate::processor;
use disksim::catalogue::figures::Note;
use disksim::catalogue::format::{Quantity, Sure};
use disksim::catalogue::uncertainty;
use disksim::catalogue::{self, Model};
use disksim::comparison::Fit;
use disksim::contents::{Survival, Survivors};
use disksim::description::{Description, Device, DiskDescription};
use disksim::flash::OldData;
use disksim::link::LinkDescription;
use disksim::request::SECTOR_BYTES;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use study::plan::{Plan, Trial};
use study::stack::{Bus, DiskGroup, DiskState, GroupDisk, Holds, MachineSpec, MovedFigure, OwnModel, StackSpec};
use study::workload::{PowerCutSpec, Work};

/// Why the disks of a trial cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum DisksError {
    #[error(transparent)]
    Model(#[from] catalogue::Error),
    #[error(
        "write_cache = false: the model of `{model}` is a solid-state drive, whose buffer cannot be switched off here; \
         leave `write_cache` out, or use a disk with platters"
    )]
    NoWriteCacheSwitch { model: String },
}

/// The disk models of a plan: the catalogue, and the plan's own by SHA-256.
#[derive(Clone, Debug, Default)]
pub struct Models {
    own: BTreeMap<String, Result<Model, catalogue::Error>>,
    /// Those of the catalogue that were used so far: each is parsed once, not for every cell.
    built_in: Arc<Mutex<BTreeMap<String, Result<Model, catalogue::Error>>>>,
}

impl Models {
    pub fn of(plan: &Plan) -> Self {
        let parsed = |own: &OwnModel| (own.sha256.clone(), Model::parse(&own.name, &own.text));
        Self {
            own: plan.models.iter().map(parsed).collect(),
            ..Self::default()
        }
    }

    /// The model of a group's disks, in the state that the group has.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn find(&self, group: &DiskGroup) -> Result<Model, catalogue::Error> {
        self.in_any_state(group).map(|model| in_state(model, group.state))
    }

    fn in_any_state(&self, group: &DiskGroup) -> Result<Model, catalogue::Error> {
        let Some(sha256) = &group.model_sha256 else {
            let mut known = self.built_in.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(model) = known.get(&group.model) {
                return model.clone();
            }
            let model = catalogue::find(&group.model);
            known.insert(group.model.clone(), model.clone());
            return model;
        };
        let unknown = || catalogue::Error::Unknown {
            name: group.model.clone(),
            near: Vec::new(),
        };
        self.own.get(sha256).cloned().unwrap_or_else(|| Err(unknown()))
    }
}

/// The model with what its disks hold before the stack is created.
fn in_state(mut model: Model, state: Option<DiskState>) -> Model {
    match (&mut model.device, state) {
        (
            Device::Flash(disk),
            Some(DiskState::Flash {
                filled_percent,
                in_order,
            }),
        ) => {
            disk.old_data = OldData {
                permille: filled_percent * 10,
                in_order,
            };
        }
        (Device::Mechanical(disk), Some(DiskState::Shingled { zone_percent })) => {
            if let Some(shingled) = &mut disk.shingled {
                shingled.used_sectors = shingled.zone_sectors * u64::from(zone_percent) / 100;
            }
        }
        _ => {}
    }
    model
}

impl Models {
    /// The model of a group's disks in trials with a seed: drawn, if the study asks for it. Groups of one model have the same.
    ///
    /// # Errors
    /// If there is no such model.
    pub fn of_seed(&self, group: &DiskGroup, machine: &MachineSpec, seed: u64) -> Result<Model, catalogue::Error> {
        let model = self.find(group)?;
        let moved = machine.moved.as_ref().filter(|moved| moved.model == group.model);
        let moved = moved.and_then(|moved| model.moved(&moved.figure, moved.factor));
        Ok(match machine.draws_models {
            true => in_state(model.drawn(seed).0, group.state),
            false => moved.map_or(model, |moved| in_state(moved, group.state)),
        })
    }

    /// Each figure of a group's model at each end of its range, if that is a model.
    pub fn moved_figures(&self, group: &DiskGroup) -> Vec<MovedFigure> {
        let Ok(model) = self.find(group) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (figure, ends) in model.ranges() {
            let ends = ends.into_iter().filter(|&factor| model.moved(figure, factor).is_some());
            all.extend(ends.map(|factor| MovedFigure {
                model: group.model.clone(),
                figure: figure.to_owned(),
                factor,
                words: uncertainty::words(figure),
            }));
        }
        all
    }

    /// What was drawn for trials with a seed: `wd-wd40efrx.disk.seek` and its factor. Empty if nothing is drawn.
    pub fn drawn(&self, machine: &MachineSpec, seed: u64) -> BTreeMap<String, f64> {
        let groups = machine.disks.iter().filter(|_| machine.draws_models);
        let mut all = BTreeMap::new();
        for group in groups {
            let drawn = self
                .find(group)
                .map_or_else(|_| Vec::new(), |model| model.drawn(seed).1);
            all.extend(
                drawn
                    .into_iter()
                    .map(|one| (format!("{}.{}", group.model, one.figure), one.factor)),
            );
        }
        all
    }
}

/// The figures of a model that are neither measured nor from a document, but from memory or a guess: `sustained rate`, `seek`,
/// `read-ahead`.
pub fn estimates(model: &Model) -> Vec<String> {
    let is_estimate = |note: &&Note| {
        note.sure == Sure::Unverified && ["from memory", "guess"].iter().any(|word| note.source.contains(word))
    };
    let name = |note: &Note| match note.name.rsplit('.').next().unwrap_or_default() {
        "buffer" => "read-ahead".to_owned(),
        "queue" => "order of the queue".to_owned(),
        key => key.replace("_mb_s", " rate").replace("_ms", " time").replace('_', " "),
    };
    let mut names: Vec<String> = model.notes.iter().filter(is_estimate).map(name).collect();
    if has_flush_estimate(model) {
        names.push("time of a flush".to_owned());
    }
    names
}

/// Commits to a drive without power-loss protection take as long as its flushes, and no published figure tells how long those are.
fn has_flush_estimate(model: &Model) -> bool {
    let is_estimate = |note: &Note| note.sure == Sure::Unverified && note.name.ends_with("overheads");
    let tells = |quantity: Quantity| matches!(quantity, Quantity::FlushMs | Quantity::SyncWriteMs);
    matches!(&model.device, Device::Flash(disk) if !disk.power_loss_protection)
        && model.notes.iter().any(is_estimate)
        && !model.file.check.iter().any(|check| tells(check.what))
}

/// A key of [`Models::drawn`] or of a processor's for a person: `seek times of wd-wd40efrx`.
pub fn drawn_words(key: &str) -> String {
    let place = ["disk", "flash", "cpu"]
        .into_iter()
        .find_map(|kind| key.rfind(&format!(".{kind}.")));
    match place.map(|place| (&key[..place], &key[place + 1..])) {
        Some((model, figure)) if figure.starts_with("cpu.") => {
            format!("{} of {model}", processor::uncertainty::words(figure))
        }
        Some((model, figure)) => format!("{} of {model}", uncertainty::words(figure)),
        None => key.to_owned(),
    }
}

/// How a model of the catalogue meets published figures of its disk; `None` without such figures, and for other models.
pub fn fit(name: &str) -> Option<Fit> {
    disksim::comparison::fit(name)
}

/// Capacity.
pub const fn bytes(model: &Model) -> u64 {
    model.sectors * SECTOR_BYTES
}

pub const fn has_heads(model: &Model) -> bool {
    matches!(model.device, Device::Mechanical(_))
}

/// Whether it is a solid-state drive that is full and was written at random for long.
pub fn is_full_drive(model: &Model) -> bool {
    matches!(&model.device, Device::Flash(disk) if disk.old_data == OldData::AGED)
}

/// The disks of a trial, encoded for the guest's kernel.
///
/// # Errors
/// As for [`description`].
pub fn encoded(trial: &Trial, models: &Models) -> Result<Vec<u8>, DisksError> {
    let mut description = description(&trial.cell.machine, &trial.cell.stack, trial.seed, models)?;
    if let Work::PowerCut(spec) = &trial.cell.workload.work {
        for disk in &mut description.disks {
            lose(disk, spec);
        }
    }
    Ok(postcard::to_allocvec(&description).expect("a description is plain data"))
}

/// Every disk of every group, in the order of the groups, each with its own seed, on the machine's buses, with the
/// queue depth and write cache that the stack sets.
///
/// # Errors
/// If there is no such model, or if it does not support a setting of the stack.
pub fn description(
    machine: &MachineSpec,
    stack: &StackSpec,
    seed: u64,
    models: &Models,
) -> Result<Description, DisksError> {
    let mut disks = Vec::new();
    for group in &machine.disks {
        let model = models.of_seed(group, machine, seed)?;
        for number in 1..=group.count {
            let mut disk = model.description(study::trial_seed(seed, disks.len() as u32));
            set(&mut disk.device, &group.model, stack)?;
            let hangs = |bus: &Bus| {
                let named = |on: &GroupDisk| on.group == group.name && on.number.is_none_or(|n| n == number);
                bus.disks.is_empty() || bus.disks.iter().any(named)
            };
            let buses = machine.buses.iter().enumerate().filter(|(_, bus)| hangs(bus));
            disk.links = buses.map(|(index, _)| index as u32).collect();
            disks.push(disk);
        }
    }
    Ok(Description {
        links: machine.buses.iter().map(link).collect(),
        disks,
    })
}

/// How a power cut treats the disk's cache.
pub fn lose(disk: &mut DiskDescription, spec: &PowerCutSpec) {
    disk.survival = Survival {
        survivors: match spec.survivors {
            study::workload::Survivors::Subset => Survivors::Subset,
            study::workload::Survivors::Prefix => Survivors::Prefix,
            study::workload::Survivors::None => Survivors::None,
            study::workload::Survivors::All => Survivors::All,
            study::workload::Survivors::Any => Survivors::Any,
        },
        whole_blocks: spec.whole_blocks,
    };
}

fn link(bus: &Bus) -> LinkDescription {
    match bus.kind.holds() {
        Holds::Command => LinkDescription::ide(bus.mb_s),
        Holds::ArbitratedTransfer => LinkDescription::scsi(bus.mb_s),
        Holds::Transfer => LinkDescription::bus(bus.mb_s),
    }
}

/// Settings that a real disk has in mode pages. A queue depth above the disk's own has no effect.
fn set(device: &mut Device, model: &str, stack: &StackSpec) -> Result<(), DisksError> {
    let depth = match device {
        Device::Mechanical(disk) => &mut disk.queue.depth,
        Device::Flash(disk) => &mut disk.queue_depth,
    };
    if let Some(wanted) = stack.queue_depth {
        *depth = wanted.min(*depth);
    }
    match (device, stack.write_cache) {
        (Device::Mechanical(disk), Some(on)) => disk.write_cache.enabled = on,
        (Device::Flash(_), Some(false)) => {
            return Err(DisksError::NoWriteCacheSwitch {
                model: model.to_owned(),
            });
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(study: &str) -> Description {
        let source = format!("{study}\n[[workload]]\nname = \"w\"\nio = {{}}\n");
        let plan = test_study::plan(&source);
        let cell = &plan.cells[0];
        description(&cell.machine, &cell.stack, 7, &Models::of(&plan)).expect("models are in the catalogue")
    }

    #[test]
    fn disks_hang_on_the_buses_that_name_them() {
        let study = r#"
            [disks]
            model = "wd-500gb-2007"
            count = 2
            bus = [
                { name = "ide0", kind = "ide", mb_s = 64, disks = [1, "source:2"] },
                { name = "scsi", kind = "scsi", mb_s = 80, disks = ["source"] },
                { name = "pci", kind = "pci", mb_s = 128 },
            ]
            [disks.source]
            count = 2
            [[stack]]
            array = { level = 1 }
        "#;
        let world = described(study);
        let links: Vec<&[u32]> = world.disks.iter().map(|disk| disk.links.as_slice()).collect();
        assert_eq!(links, [&[0, 2][..], &[2], &[1, 2], &[0, 1, 2]]);
        assert_eq!(world.links[0].sector_ps, 8_000_000);
        let one_command: Vec<bool> = world.links.iter().map(|link| link.one_command).collect();
        assert_eq!(one_command, [true, false, false]);
        assert!(world.links[1].transfer_ns > 0 && world.links[2].transfer_ns == 0);
    }

    #[test]
    fn own_models_are_those_of_the_plan() {
        let mut plan = test_study::plan("[[workload]]\nname = \"w\"\nio = {}\n");
        let text = include_str!("../../../data/disks/wd-raptor-150gb.toml").replace("wd-raptor-150gb", "mine");
        let own = OwnModel::new("mine", &text.replace("10000.0", "12000.0"));
        let group = &mut plan.cells[0].machine_mut().disks[0];
        group.model = "mine".to_owned();
        group.model_sha256 = Some(own.sha256.clone());
        let group = group.clone();
        plan.models = vec![own];
        let Device::Mechanical(disk) = Models::of(&plan).find(&group).expect("it is the plan's").device else {
            panic!("it has platters")
        };
        assert_eq!(disk.revolution_ns, 5_000_000);
        let unknown = Models::default().find(&group).expect_err("it is not in the catalogue");
        assert!(unknown.to_string().starts_with("there is no disk model `mine`"));
    }

    #[test]
    fn disks_have_the_cache_and_the_depth_that_the_stack_asks_for() {
        let of = |stack: &str| {
            let disks = described(&format!(
                "[disks]\nmodel = \"seagate-ironwolf-12tb\"\n[[stack]]\n{stack}"
            ))
            .disks;
            match &disks[0].device {
                Device::Mechanical(disk) => (disk.queue.depth, disk.write_cache.enabled),
                Device::Flash(_) => panic!("it has platters"),
            }
        };
        let (depth, _) = of("");
        assert_eq!(of("queue_depth = 1\nwrite_cache = false"), (1, false));
        assert_eq!(of("queue_depth = 65535\nwrite_cache = true"), (depth, true));
    }
}
