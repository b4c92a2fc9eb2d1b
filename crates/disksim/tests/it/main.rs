//! Tests of the disk model against published figures, and of the store of contents against a simple one.

mod contents_memory;
mod contents_model;
mod contents_segments;
#[cfg(feature = "catalogue")]
mod emulated;
mod kept_segments;
#[cfg(feature = "catalogue")]
mod physics;
#[cfg(feature = "catalogue")]
mod properties;
#[cfg(feature = "catalogue")]
mod shared;
#[cfg(feature = "catalogue")]
mod shingled;
#[cfg(feature = "catalogue")]
mod streams;
mod survival;
#[cfg(feature = "catalogue")]
mod validation;
