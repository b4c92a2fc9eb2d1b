//! The simulated disks of a trial, from the catalogue.

use crate::expected::ExpectedError;
use disksim::catalogue;
use disksim::description::Description;
use study::stack::DiskGroup;
use study::{Known, KnownModel};

/// What a study may name on this machine: the catalogue's disks, and kernels that are built or can be.
pub fn known(cache: &lab::kernel::Cache) -> Known {
    let models = catalogue::list().into_iter().map(|entry| KnownModel {
        name: entry.name,
        capacity_bytes: entry.sectors * disksim::request::SECTOR_BYTES,
    });
    Known {
        models: models.collect(),
        kernels: cache.names(),
        folder: None,
    }
}

/// Every disk of every group, in the groups' order, each with a seed of its own.
pub fn description(groups: &[DiskGroup], seed: u64) -> Result<Description, ExpectedError> {
    let mut disks = Vec::new();
    for group in groups {
        let model = catalogue::find(&group.model).map_err(|error| ExpectedError::Input(error.to_string()))?;
        for _ in 0..group.count {
            disks.push(model.description(study::trial_seed(seed, disks.len() as u32)));
        }
    }
    Ok(Description {
        links: Vec::new(),
        disks,
    })
}
