//! Texts of a study file: sizes and times, files that it names, and errors with their positions.

pub(crate) mod diagnostic;
pub(crate) mod named_file;
pub(crate) mod unit;
