//! What is kept, brought up to date, exported, and refused.

mod exports;
mod fixture;
mod keeps;
mod migrates;
mod refuses;
mod reuses;
