//! The simulated disks of a trial, from the catalogue.

use disksim::catalogue;
use disksim::description::{Description, Device};
use disksim::link::LinkDescription;
use study::plan::Trial;
use study::stack::{Bus, BusDisk, Holds, MachineSpec, StackSpec};

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

/// The disks of a trial, encoded for the guest's kernel.
///
/// # Errors
/// As [`description`].
pub fn encoded(trial: &Trial) -> Result<Vec<u8>, DisksError> {
    let description = description(&trial.cell.machine, &trial.cell.stack, trial.seed)?;
    Ok(postcard::to_allocvec(&description).expect("a description is plain data"))
}

/// Every disk of every group, in the order of the groups, each with its own seed, on the machine's buses, with the
/// queue depth and write cache that the stack sets.
///
/// # Errors
/// If there is no such model, or if it does not support a setting of the stack.
pub fn description(machine: &MachineSpec, stack: &StackSpec, seed: u64) -> Result<Description, DisksError> {
    let mut disks = Vec::new();
    for group in &machine.disks {
        let model = catalogue::find(&group.model)?;
        for number in 1..=group.count {
            let mut disk = model.description(study::trial_seed(seed, disks.len() as u32));
            set(&mut disk.device, &group.model, stack)?;
            let hangs = |bus: &Bus| {
                let named = |on: &BusDisk| on.group == group.name && on.number.is_none_or(|n| n == number);
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
        let plan = crate::test_study::plan(&source);
        let cell = &plan.cells[0];
        description(&cell.machine, &cell.stack, 7).expect("models are in the catalogue")
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
