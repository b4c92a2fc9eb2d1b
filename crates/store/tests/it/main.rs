//! Tests of the store: storing, migrating, exporting, and rejecting files.

mod exports;
mod fixture;
mod keeps;
mod migrates;
mod refuses;
mod reuses;
