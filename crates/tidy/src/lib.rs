//! Tests alone: that the sources keep the rules of ARCHITECTURE.md and CONTRIBUTING.md. What clippy can check is in
//! clippy.toml (the length of functions) and in the workspace's lints; that the reference pages are up to date is a
//! test of `reference`.
