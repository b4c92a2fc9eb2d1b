//! `[[table]]` of a study file: custom tables of results.

mod layout;
mod read;

pub(crate) use read::read_all;
