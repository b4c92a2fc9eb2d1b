//! Tests that are skipped. libtest counts them as passed; `scripts/test` counts them by the file that they are written to.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::thread;

/// The environment variable that names the file with one line per skip: `skipped` or `part`, the test, the reason.
pub const FILE: &str = "RAIDLAB_TEST_SKIPS";

/// The test that calls this does nothing: it must return after the call.
pub fn skip(reason: impl Display) {
    record("skipped", &reason);
}

/// The test that calls this leaves out a part of what it would test.
pub fn skip_part(reason: impl Display) {
    record("part", &reason);
}

/// What was required; if there is none, the test is skipped.
pub fn met<T, E: Display>(requirement: Result<T, E>) -> Option<T> {
    requirement.map_err(skip).ok()
}

fn record(what: &str, reason: &dyn Display) {
    let reason = reason.to_string().replace('\n', "; ");
    println!("{what}: {reason}");
    if let Some(file) = std::env::var_os(FILE) {
        append(Path::new(&file), what, &reason).expect("the file of skipped tests can be written");
    }
}

/// One write, so that lines of several tests do not mix.
fn append(file: &Path, what: &str, reason: &str) -> std::io::Result<()> {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{what}\t{test}\t{reason}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn a_skip_is_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("skips");
        append(&file, "skipped", "needs root").expect("written");
        append(&file, "part", "no zfs").expect("written");
        let test = "skips::tests::a_skip_is_one_line";
        let text = std::fs::read_to_string(file).expect("it is there");
        // With one test thread, libtest runs tests in the thread `main`.
        let text = text.replace("\tmain\t", &format!("\t{test}\t"));
        assert_eq!(text, format!("skipped\t{test}\tneeds root\npart\t{test}\tno zfs\n"));
    }
}
