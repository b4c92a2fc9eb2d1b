//! What a workload's samples are called.

use crate::workload::{IoPattern, Work};

impl Work {
    /// The tests that it measures, in their order, as samples and claims name them.
    pub fn tests(&self) -> Vec<&'static str> {
        match self {
            Self::Tree(tree) => tree.tests.iter().map(|test| test.name()).collect(),
            Self::Io(io) => match io.pattern {
                // The halves of a mixed pattern are measured apart.
                IoPattern::ReadWrite | IoPattern::RandRw => vec!["read", "write"],
                pattern => vec![pattern.name()],
            },
        }
    }
}
