//! Studies for tests, with disks from the catalogue.

use disksim::catalogue::{self, MediaType};
use study::plan::Plan;
use study_file::{Known, KnownModel, MediaKind};

/// The plan of a study.
///
/// # Panics
/// With the diagnostics if the study is invalid.
pub(crate) fn plan(study: &str) -> Plan {
    let models = catalogue::list().into_iter().map(|entry| KnownModel {
        name: entry.name,
        capacity_bytes: entry.sectors * disksim::request::SECTOR_BYTES,
        media: match entry.media {
            MediaType::Platters => MediaKind::Platters,
            MediaType::Shingled => MediaKind::ShingledPlatters,
            MediaType::Flash => MediaKind::Flash,
        },
        own: None,
    });
    let known = Known {
        models: models.collect(),
        ..Known::default()
    };
    study_file::read(study, "test.toml", &known).unwrap_or_else(|errors| panic!("{errors}"))
}
