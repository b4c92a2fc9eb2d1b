//! The rules of the sources, as tests. They read files and need nothing else: `cargo test -p tidy`.

mod arrows;
mod files;
mod tree;
mod words;
