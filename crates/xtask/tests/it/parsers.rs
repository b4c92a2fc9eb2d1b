//! No input makes a parser panic, hang, or report a position outside the input.

use crate::almost_valid;
use disksim::catalogue::Model;
use disksim::description::Description;
use disksim::disk_set::World;
use disksim::disksim_import::{self, Diagnostic};
use disksim::request::{Op, Request};
use disksim::{catalogue, replay};
use proptest::prop_assert;
use proptest::test_runner::TestCaseError;
use study::event::{Event, Failure};
use study::{DiskCounter, DiskCounters};

const SPECS: &str = include_str!("../../../disksim/src/disksim_import/tests/small.diskspecs");
const MODEL: &str = include_str!("../../../disksim/src/disksim_import/tests/small.model");
const SEEK: &str = "Seek distances measured: 3\n1, 1.0\n10, 2.0\n100, 5.5\n";
const TRACE: &str =
    "R Miss 100 2 14095.370 13876.270\nR Hit 102 2 1414.270 18746.770\nW Doub 90 15 17221.000 21894.380\n";

/// The error has a message, and its position is in the text or right after it.
fn is_reported(error: &Diagnostic, text: &str) -> Result<(), TestCaseError> {
    prop_assert!(!error.message.trim().is_empty());
    let lines: Vec<&str> = text.lines().collect();
    prop_assert!(error.line >= 1 && error.line <= lines.len() + 1, "{error}");
    let length = lines.get(error.line - 1).map_or(0, |line| line.chars().count());
    prop_assert!(error.column >= 1 && error.column <= length + 2, "{error}");
    Ok(())
}

#[test]
fn study_files() {
    let seeds = [
        include_str!("../../../../studies/first-look.toml"),
        include_str!("../../../study-file/tests/it/syntax.toml"),
        include_str!("../../../study-file/tests/it/ten-errors.toml"),
    ];
    let known = study_file::Known::default();
    almost_valid::text(&seeds, |text| {
        if let Err(errors) = study_file::read(text, "study.toml", &known) {
            prop_assert!(!errors.to_string().trim().is_empty());
        }
        Ok(())
    });
}

#[test]
fn disk_models() {
    let seeds = [
        include_str!("../../../../data/disks/wd-500gb-2007.toml"),
        include_str!("../../../../data/disks/hp-c2247a.toml"),
        include_str!("../../../../data/disks/nvme-ssd-1920gb.toml"),
    ];
    almost_valid::text(&seeds, |text| match Model::parse("disk.toml", text) {
        Ok(model) => use_it(&Description {
            links: Vec::new(),
            disks: vec![model.description(1)],
        }),
        Err(error) => {
            prop_assert!(!error.to_string().trim().is_empty());
            Ok(())
        }
    });
}

/// A model that was accepted answers requests.
fn use_it(description: &Description) -> Result<(), TestCaseError> {
    if description.disks.iter().map(|d| d.sectors).sum::<u64>() > 1 << 34 || description.disks.len() > 4 {
        return Ok(());
    }
    let Ok(mut world) = World::new(description) else {
        return Ok(());
    };
    let mut done = Vec::new();
    for tag in 0..8u32 {
        let op = [Op::Read, Op::Write, Op::Flush, Op::Discard][tag as usize % 4];
        let request = Request {
            tag,
            op,
            sector: u64::from(tag) * 1_000_003,
            sectors: 8,
            fua: tag == 5,
        };
        world.submit(0, u64::from(tag) * 100_000, request);
    }
    let mut steps = 0;
    while let Some(at_ns) = world.next_event_ns() {
        world.advance(at_ns, &mut done);
        steps += 1;
        prop_assert!(steps < 200_000, "events without end");
    }
    prop_assert!(
        done.len() == 8 || description.disks.is_empty(),
        "{} of 8 requests came back",
        done.len()
    );
    Ok(())
}

#[test]
fn disksims_parameters() {
    let whole = format!("{SPECS}\n=====\n{MODEL}\n=====\n{SEEK}");
    almost_valid::text(&[&whole], |text| {
        let mut parts = text.splitn(3, "=====");
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (specs, model, seek) = (part(), part(), part());
        let mut files = |name: &str| match name {
            "small.diskspecs" => Ok(specs.clone()),
            "small.model" => Ok(model.clone()),
            "small.seek" => Ok(seek.clone()),
            _ => Err("it does not exist".to_owned()),
        };
        match disksim_import::import("small.diskspecs", &mut files) {
            Ok(file) => {
                let text = disksim_import::to_toml(&file).map_err(|e| TestCaseError::fail(e.to_string()))?;
                // A parsed file either becomes a disk or is rejected with an error.
                if let Ok(model) = Model::parse("small.toml", &text) {
                    use_it(&Description {
                        links: Vec::new(),
                        disks: vec![model.description(1)],
                    })?;
                }
                Ok(())
            }
            Err(errors) => errors.0.iter().try_for_each(|error| match error.file.as_str() {
                "small.diskspecs" => is_reported(error, &specs),
                "small.model" => is_reported(error, &model),
                "small.seek" => is_reported(error, &seek),
                _ => Ok(()),
            }),
        }
    });
}

#[test]
fn traces() {
    let model = catalogue::find("hp-c2247a").expect("in the catalogue");
    almost_valid::text(&[TRACE], |text| match replay::parse("disk.trace", text) {
        Ok(trace) => match replay::run(&model, "disk.trace", &trace, 1) {
            Ok(report) => {
                prop_assert!(report.rms_ms.is_finite());
                Ok(())
            }
            Err(error) => is_reported(&error, text),
        },
        Err(error) => is_reported(&error, text),
    });
}

/// The descriptions that the lab passes to the guest's kernel.
#[test]
fn descriptions_of_disks() {
    let seeds: Vec<Vec<u8>> = ["wd-500gb-2007", "hp-c2247a", "sata-ssd-960gb"]
        .iter()
        .map(|name| {
            let disk = catalogue::find(name).expect("in the catalogue").description(1);
            let description = Description {
                links: Vec::new(),
                disks: vec![disk],
            };
            postcard::to_allocvec(&description).expect("plain data")
        })
        .collect();
    almost_valid::bytes(&seeds, |bytes| match postcard::from_bytes::<Description>(bytes) {
        Ok(description) => use_it(&description),
        Err(_) => Ok(()),
    });
}

/// The output of a guest's init.
#[test]
fn events() {
    let seeds = [
        Event::Step {
            name: "boot".to_owned(),
            at_ns: 12,
        },
        Event::Provenance {
            key: "kernel".to_owned(),
            value: "6.12".to_owned(),
        },
        Event::DiskCounters(DiskCounters {
            disk: "vda".to_owned(),
            counts: DiskCounter::ALL.into_iter().zip(1..).collect(),
            contents: Some("b0b".to_owned()),
        }),
        Event::Failed(Failure {
            step: "boot".to_owned(),
            message: "no".to_owned(),
        }),
    ]
    .map(|event| serde_json::to_string(&event).expect("plain data"));
    let seeds = seeds.each_ref().map(String::as_str);
    almost_valid::text(&seeds, |line| {
        if let Ok(event) = serde_json::from_str::<Event>(line) {
            let again = serde_json::to_string(&event).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert!(serde_json::from_str::<Event>(&again).is_ok(), "{again}");
        }
        Ok(())
    });
}
