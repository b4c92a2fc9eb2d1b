//! Inputs that are almost valid: valid ones with a few bytes or lines changed, moved, duplicated or cut.
//!
//! `RAIDLAB_FUZZ_SECONDS` sets the time for each target; the default is short. A failing input is minimised and
//! printed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use std::time::{Duration, Instant};

/// Time for each target by default.
const MOMENT: Duration = Duration::from_secs(2);

/// Cases between two checks of the time.
const CASES: u32 = 64;

/// Numbers and characters that often break parsers.
const HOSTILE: [&str; 18] = [
    "0",
    "-1",
    "1e308",
    "NaN",
    "inf",
    "18446744073709551616",
    "9223372036854775807",
    "-0.0",
    "\"",
    "'''",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    "\u{0}",
    "\u{202e}",
    "\\u0000",
];

/// One change of an input.
#[derive(Clone, Debug)]
enum Edit {
    Cut(Index, u8),
    Byte(Index, u8),
    Hostile(Index, usize),
    /// Replaces a number.
    Number(Index, usize),
    Double(Index),
    Swap(Index, Index),
    End(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(i, n)| Edit::Cut(i, n)),
        (at(), any::<u8>()).prop_map(|(i, b)| Edit::Byte(i, b)),
        (at(), 0..HOSTILE.len()).prop_map(|(i, s)| Edit::Hostile(i, s)),
        (at(), 0..HOSTILE.len()).prop_map(|(i, s)| Edit::Number(i, s)),
        at().prop_map(Edit::Double),
        (at(), at()).prop_map(|(a, b)| Edit::Swap(a, b)),
        at().prop_map(Edit::End),
    ]
}

fn apply(bytes: &mut Vec<u8>, edit: &Edit) {
    if bytes.is_empty() {
        return;
    }
    let lines = |bytes: &[u8]| {
        bytes
            .split_inclusive(|b| *b == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    match edit {
        Edit::Cut(at, length) => {
            let at = at.index(bytes.len());
            let end = (at + usize::from(*length)).min(bytes.len());
            bytes.drain(at..end);
        }
        Edit::Byte(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Edit::Hostile(at, which) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, HOSTILE[*which].bytes());
        }
        Edit::Number(at, which) => {
            let from = at.index(bytes.len());
            let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|n| from + n) else {
                return;
            };
            let end = bytes[start..]
                .iter()
                .position(|b| !b.is_ascii_digit())
                .map_or(bytes.len(), |n| start + n);
            bytes.splice(start..end, HOSTILE[*which].bytes());
        }
        Edit::Double(at) => {
            let mut all = lines(bytes);
            let at = at.index(all.len());
            all.insert(at, all[at].clone());
            *bytes = all.concat();
        }
        Edit::Swap(a, b) => {
            let mut all = lines(bytes);
            let (a, b) = (a.index(all.len()), b.index(all.len()));
            all.swap(a, b);
            *bytes = all.concat();
        }
        Edit::End(at) => bytes.truncate(at.index(bytes.len())),
    }
}

/// Runs a target with modified seeds and with random bytes.
pub fn bytes(seeds: &[Vec<u8>], target: impl Fn(&[u8]) -> Result<(), TestCaseError>) {
    let changed = (any::<Index>(), vec(edit(), 0..6)).prop_map(|(seed, edits)| {
        let mut bytes = seeds[seed.index(seeds.len())].clone();
        edits.iter().for_each(|edit| apply(&mut bytes, edit));
        bytes
    });
    let any_bytes = vec(any::<u8>(), 0..300);
    let input = prop_oneof![9 => changed, 1 => any_bytes];
    let seconds = std::env::var("RAIDLAB_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let budget = seconds.map_or(MOMENT, Duration::from_secs);
    let start = Instant::now();
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let mut cases = 0;
    while cases == 0 || start.elapsed() < budget {
        // A runner counts earlier cases, so each round needs a new one.
        match TestRunner::new(config.clone()).run(&input, |input| target(&input)) {
            Ok(()) => {}
            Err(TestError::Fail(reason, input)) => {
                panic!("{reason}; the smallest such input is\n{}", input.escape_ascii())
            }
            Err(error) => panic!("{error}"),
        }
        cases += CASES;
    }
    println!("{cases} inputs in {:?}", start.elapsed());
}

/// Like [`bytes`], for targets that take text: invalid UTF-8 is replaced.
pub fn text(seeds: &[&str], target: impl Fn(&str) -> Result<(), TestCaseError>) {
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|s| s.as_bytes().to_vec()).collect();
    bytes(&seeds, |input| target(&String::from_utf8_lossy(input)));
}
