//! What a workload's samples are called.

use crate::workload::{BONNIE_FILE_TESTS, BONNIE_TESTS, BonnieSpec, IoPattern, Work};

impl Work {
    /// The tests that it measures, in their order, as samples and claims name them.
    pub fn tests(&self) -> Vec<&str> {
        match self {
            Self::Tree(tree) => tree.tests.iter().map(|test| test.name()).collect(),
            Self::Io(io) => io.pattern.tests(),
            Self::FioFile(file) => file.sections.iter().map(|section| section.name.as_str()).collect(),
            Self::Bonnie(bonnie) => tests_of_bonnie(bonnie),
            Self::Iozone(iozone) => iozone.tests.iter().map(|test| test.name()).collect(),
        }
    }
}

impl IoPattern {
    /// The tests of a job with this pattern. The halves of a mixed pattern are measured apart, too.
    pub fn tests(self) -> Vec<&'static str> {
        let mut tests = vec![self.name()];
        if self.is_mixed() {
            tests.extend(["read", "write"]);
        }
        tests
    }
}

fn tests_of_bonnie(bonnie: &BonnieSpec) -> Vec<&'static str> {
    let classic = BONNIE_TESTS
        .into_iter()
        .filter(|test| bonnie.size_bytes > 0 && (bonnie.per_char || !matches!(*test, "putc" | "getc")));
    let files = BONNIE_FILE_TESTS.into_iter().filter(|_| bonnie.files > 0);
    classic.chain(files).collect()
}
