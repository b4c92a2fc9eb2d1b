//! The rules of the sources: `cargo test -p xtask tidy`.

mod arrows;
mod files;
mod names;
mod rooms;
mod tree;
mod words;
