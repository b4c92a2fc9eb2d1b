//! `scripts/suites` runs some of mdadm's own tests in guests, and compares the results with the known ones.

use crate::laboratory;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Exit status of the script if a suite is not available.
const NO_SUITE: i32 = 3;

/// One test that passes, one that skips itself, and one that fails because of a defect of mdadm 4.2.
const TESTS: &[&str] = &["00raid1", "00multipath", "06wrmostly"];

#[test]
#[ignore = "test-all"]
fn results_of_mdadms_own_tests_are_compared_with_what_is_known() {
    let Some(_kernel) = laboratory::kernel() else { return };
    let _slot = requirements::one_processor();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = TempDir::new_in(top.join("target")).expect("a folder");
    let ran = Command::new(top.join("scripts/suites"))
        .arg("mdadm")
        .args(TESTS)
        .env("RAIDLAB", env!("CARGO_BIN_EXE_raidlab"))
        .env("RAIDLAB_SUITES", folder.path())
        .output()
        .expect("the script starts");
    let (table, said) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    if ran.status.code() == Some(NO_SUITE) {
        return requirements::skip(said.lines().last().unwrap_or_default());
    }
    let words = |test: &str| {
        let line = table.lines().find(|line| line.starts_with(test));
        let words = line.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        words.unwrap_or_else(|| panic!("no result of {test}:\n{table}{said}"))
    };
    assert_eq!(words("00raid1"), ["00raid1", "pass"], "{table}{said}");
    assert_eq!(words("00multipath")[1], "skip", "{table}{said}");
    // Newer versions have other defects; the known results are those of 4.2.
    if !table.starts_with("mdadm 4.2") {
        return requirements::skip_part("suites/mdadm/known is of mdadm 4.2, and this is another version");
    }
    assert_eq!(words("06wrmostly")[1..3], ["fail", "explained"], "{table}{said}");
    assert_eq!(ran.status.code(), Some(0), "{table}{said}");
    assert!(
        table.ends_with("1 passed, 1 failed, 0 hung, 1 skipped; 0 not as expected\n"),
        "{table}{said}"
    );
}
