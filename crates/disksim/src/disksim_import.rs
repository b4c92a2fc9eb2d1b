//! DiskSim 4's parameter files, read into our own model format.
//!
//! What each parameter means is in the DiskSim 4 reference manual (Bucy, Schindler, Schlosser, Ganger 2008) and in
//! the `.modspec` files of its source. Files are asked for by name: this module reads none itself.

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

/// A mistake in a parameter file and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for Mistake {}

/// All that is wrong with a set of parameter files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// Gives the text of a file that lies beside the one being imported, or why it cannot.
pub type Files<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// Reads `name`, a `.diskspecs` file, and the `.model` and `.seek` files that it names. If a `.parv` file of the
/// same stem lies beside it, the times of the buses and controllers on the way to the disk count, too.
pub fn import(name: &str, files: &mut Files) -> Result<ModelFile, Mistakes> {
    let mut sources = syntax::Sources::new(files);
    let converted = convert::model_file(name, &mut sources);
    let mut mistakes = sources.mistakes;
    match converted {
        Some(model) if mistakes.is_empty() => Ok(model),
        _ => {
            mistakes.sort();
            mistakes.dedup();
            Err(Mistakes(mistakes))
        }
    }
}

/// The model as a catalogue file.
pub fn to_toml(model: &ModelFile) -> Result<String, toml::ser::Error> {
    toml::to_string(model)
}

#[cfg(test)]
mod tests;
