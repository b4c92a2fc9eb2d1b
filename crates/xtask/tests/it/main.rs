//! `tidy`: checks that the sources follow the rules of ARCHITECTURE.md and CONTRIBUTING.md. What clippy can check is in
//! clippy.toml (the length of functions) and in the workspace's lints. `parsers`: every parser with almost valid
//! inputs.

mod almost_valid;
mod parsers;
mod tidy;
