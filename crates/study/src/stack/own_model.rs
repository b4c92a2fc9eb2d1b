//! Disk and processor models that are not built into raidlab.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A user-defined disk or processor model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnModel {
    /// Its name in the file, unique among the models of its kind in the plan.
    pub name: String,
    /// SHA-256 of the text, in hexadecimal.
    pub sha256: String,
    /// The text of the model file.
    pub text: String,
}

impl OwnModel {
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            sha256: hex::encode(Sha256::digest(text.as_bytes())),
            text: text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::DiskGroup;

    #[test]
    fn a_model_is_identified_by_its_text() {
        let model = OwnModel::new("mine", "abc");
        // FIPS 180-2, B.1.
        assert_eq!(
            model.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    /// For built-in models, guests and stored plans have only the name.
    #[test]
    fn a_built_in_model_has_its_name_only() {
        let text = r#"{"name":"data","model":"hitachi-7k500","count":2}"#;
        let group: DiskGroup = serde_json::from_str(text).expect("a group");
        assert_eq!(group.model_sha256, None);
        assert_eq!(serde_json::to_string(&group).expect("plain data"), text);
    }
}
