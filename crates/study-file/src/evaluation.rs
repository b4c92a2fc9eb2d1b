//! The part of a study about its results: claims, custom tables, and the selection of cells.

pub(crate) mod cell_filter;
pub(crate) mod claims;
pub(crate) mod table;
pub(crate) mod vocabulary;
