//! Parses DiskSim 4's parameter files and converts them to the model format.
//!
//! Parameters are described in the DiskSim 4 reference manual (Bucy, Schindler, Schlosser, Ganger 2008) and in the
//! `.modspec` files of its source. Files are requested by name: this module reads none itself.

mod convert;
mod drive;
mod layout;
mod reader;
mod seek;
mod syntax;

use crate::catalogue::format::ModelFile;
use std::fmt;
use std::string::String;
use std::vec::Vec;

/// An error in a parameter file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// All errors in a set of parameter files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Returns the text of a file in the folder of the imported file, or the reason why it cannot be read.
pub type Files<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// Imports `name`, a `.diskspecs` file, with the `.model` and `.seek` files that it names. If there is a `.parv` file
/// of the same stem in that folder, the times of buses and controllers before the disk are included.
pub fn import(name: &str, files: &mut Files) -> Result<ModelFile, Diagnostics> {
    let mut sources = syntax::Sources::new(files);
    let converted = convert::model_file(name, &mut sources);
    let mut errors = sources.errors;
    match converted {
        Some(model) if errors.is_empty() => Ok(model),
        _ => {
            errors.sort();
            errors.dedup();
            Err(Diagnostics(errors))
        }
    }
}

/// The model as a catalogue file.
pub fn to_toml(model: &ModelFile) -> Result<String, toml::ser::Error> {
    toml::to_string(model)
}

#[cfg(test)]
mod tests;
