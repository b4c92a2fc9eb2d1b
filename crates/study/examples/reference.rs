//! Prints docs/study.md: every key of a study file, from the table that the reader itself uses.

fn main() {
    print!("{}", study::reference());
}
