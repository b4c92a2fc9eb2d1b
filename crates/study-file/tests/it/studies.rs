//! The studies that ship with raidlab are valid.

use study::stack::OwnModel;
use study_file::{Known, KnownModel, MediaKind, read};

/// A model of the catalogue, or of a study's own.
fn model(file: &str, text: &str) -> Result<KnownModel, String> {
    let disk = toml::de::DeTable::parse(text).map_err(|error| format!("{file}: {error}"))?;
    let disk = disk.get_ref();
    let sectors = disk["sectors"].get_ref()["is"]
        .get_ref()
        .as_integer()
        .expect("a number of sectors");
    let name = disk["name"].get_ref().as_str().expect("a name");
    Ok(KnownModel {
        name: name.to_owned(),
        capacity_bytes: u64::from_str_radix(sectors.as_str(), sectors.radix()).expect("sectors") * 512,
        media: MediaKind::Platters,
        own: None,
    })
}

/// A model in a file that a study names.
fn own_model(file: &str, text: &str) -> Result<KnownModel, String> {
    let model = model(file, text)?;
    let own = Some(OwnModel::new(&model.name, text));
    Ok(KnownModel { own, ..model })
}

/// The catalogue.
fn known() -> Known {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/disks");
    let files = std::fs::read_dir(folder).expect("the catalogue's folder");
    let in_catalogue = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a disk");
        model(&path.display().to_string(), &text).expect("a sound disk model")
    };
    Known {
        memory_bytes: None,
        models: files
            .map(|entry| in_catalogue(entry.expect("a folder entry").path()))
            .collect(),
        read_model: Some(own_model),
        kernels: vec!["6.12".to_owned()],
        processors: Vec::new(),
        folder: Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies").into()),
        ..Known::default()
    }
}

#[test]
fn every_study_that_ships_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let mut read_so_far = 0;
    for entry in std::fs::read_dir(folder).expect("the studies' folder") {
        let path = entry.expect("a folder entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let source = std::fs::read_to_string(&path).expect("a study");
            if let Err(diagnostics) = read(&source, &path.display().to_string(), &known()) {
                panic!("{diagnostics}");
            }
            read_so_far += 1;
        }
    }
    assert!(read_so_far > 0, "no study in {folder}");
}

#[test]
fn first_look_has_seven_stacks_and_two_workloads() {
    let source = include_str!("../../../../studies/first-look.toml");
    let plan = read(source, "first-look.toml", &known()).expect("a sound study");
    let labels: Vec<&str> = plan.cells.iter().map(|cell| cell.key.as_str()).collect();
    insta::assert_debug_snapshot!(labels);
    assert!(plan.left_out.is_empty());
    assert_eq!(plan.claims.len(), source.matches("[[claim]]").count());
}
