//! `[[table]]` of a study file → tables in the study's own shape.

mod layout;
mod read;

pub(crate) use read::read_all;
