use super::{Error, Model, distance, find, list};
use std::string::ToString;
use std::vec::Vec;

#[test]
fn every_file_makes_a_disk() {
    for (name, text) in super::FILES {
        let model = Model::parse(name, text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(model.file.name, *name, "the file is called as its model");
        let description = crate::disk_set::Description {
            links: Vec::new(),
            disks: std::vec![model.description(1)],
        };
        assert!(crate::disk_set::World::new(&description).is_ok());
        assert!(!model.notes.is_empty());
    }
    assert_eq!(list().len(), super::FILES.len());
}

#[test]
fn an_alias_finds_its_model() {
    assert_eq!(
        find("ST12000VN0008").map(|m| m.file.name).as_deref(),
        Ok("seagate-ironwolf-12tb")
    );
}

#[test]
fn an_unknown_name_gets_its_neighbours() {
    let Err(Error::Unknown { near, .. }) = find("seagate-ironwulf-12tb") else {
        panic!("it is not there")
    };
    assert_eq!(near.first().map(|n| n.as_str()), Some("seagate-ironwolf-12tb"));
    let Err(Error::Unknown { near, .. }) = find("xqzvkwwpljj") else {
        panic!("it is not there")
    };
    assert!(near.is_empty(), "{near:?}");
}

#[test]
fn an_error_has_a_place() {
    let (name, text) = *super::FILES
        .iter()
        .find(|(name, _)| *name == "wd-500gb-2007")
        .expect("it is there");
    let broken = text.replace("rpm = { is = 7200.0", "rpm = { is = 7.0");
    let message = Model::parse(name, &broken).map(|_| ()).unwrap_err().to_string();
    assert_eq!(message, "wd-500gb-2007:12:14: 7 rpm: between 60 and 100000");
    let unknown = text.replace("heads = ", "haeds = ");
    let message = Model::parse(name, &unknown).map(|_| ()).unwrap_err().to_string();
    assert!(
        message.starts_with("wd-500gb-2007:13:1: unknown field `haeds`"),
        "{message}"
    );
}

#[test]
fn distance_counts_edits() {
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("same", "same"), 1, "a part of a name is near");
    assert_eq!(distance("ab", ""), 2);
}
