//! The disk model against figures of disks, and the store of contents against a plain one.

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
