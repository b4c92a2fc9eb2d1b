//! The subject of a sample.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

const MEMBER: &str = "member ";
const JOB: &str = " job ";

/// A test of a workload, or a part of one. Its text is the name of it in stores, exports and reports.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TestId {
    text: String,
    scope: Scope,
}

/// The part of a test that samples are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All of it: `randwrite`.
    Whole,
    /// One of its jobs, from 0: `randwrite job 3`.
    Job(u32),
    /// No test: a member disk during the whole workload, `member sda`.
    Member,
}

impl TestId {
    pub fn job(test: &str, number: u32) -> Self {
        Self {
            text: format!("{test}{JOB}{number}"),
            scope: Scope::Job(number),
        }
    }

    pub fn member(device: &str) -> Self {
        Self {
            text: format!("{MEMBER}{device}"),
            scope: Scope::Member,
        }
    }

    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// The test's name without its part; of a member the device.
    pub fn name(&self) -> &str {
        match self.scope {
            Scope::Whole => &self.text,
            Scope::Job(_) => self.text.rsplit_once(JOB).map_or(&self.text, |(test, _)| test),
            Scope::Member => &self.text[MEMBER.len()..],
        }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// As in stores and events, of all versions.
impl From<String> for TestId {
    fn from(text: String) -> Self {
        let job = || text.rsplit_once(JOB)?.1.parse().ok();
        let scope = match text.starts_with(MEMBER) {
            true => Scope::Member,
            false => job().map_or(Scope::Whole, Scope::Job),
        };
        Self { text, scope }
    }
}

impl From<&str> for TestId {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<TestId> for String {
    fn from(test: TestId) -> Self {
        test.text
    }
}

impl Deref for TestId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for TestId {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<&str> for TestId {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text, f)
    }
}

/// Quoted, as a digest has it.
impl fmt::Debug for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_read_from_its_text() {
        let member = TestId::member("sda");
        let job = TestId::job("randwrite", 12);
        for test in [member.clone(), job.clone(), TestId::from("randwrite")] {
            let line = serde_json::to_string(&test).expect("plain data");
            assert_eq!(line, format!("\"{test}\""));
            assert_eq!(serde_json::from_str::<TestId>(&line).expect("a test"), test);
        }
        assert_eq!((member.as_str(), member.name()), ("member sda", "sda"));
        assert_eq!(
            (job.as_str(), job.name(), job.scope()),
            ("randwrite job 12", "randwrite", Scope::Job(12))
        );
        assert_eq!(TestId::from("a job of two").scope(), Scope::Whole);
    }
}
