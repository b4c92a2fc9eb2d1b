//! No text makes the reader of studies panic.

use crate::diagnostics::known;
use proptest::prelude::*;
use study_file::read;

/// Pieces of studies, valid and invalid, in any order.
fn fragments() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "title = ",
        "\"x\"",
        "\n",
        "[disks]\n",
        "count = ",
        "[2, 3]",
        "[[stack]]\n",
        "array = ",
        "{ level = 6 }",
        "{ level = [0, 1], chunk = [\"4K\"] }",
        "fs = ",
        "[{ type = \"jfs\" }, ",
        "{ block_size = \"1K\" }",
        "]",
        "}",
        "[[workload]]\n",
        "name = ",
        "io = {",
        " size = \"9999999P\" ",
        "tree = ",
        "where = ",
        "that = ",
        "\"a=b > c=d\"",
        "[[claim]]\n",
        "says = ",
        "[precision]\n",
        "trials = ",
        "-1",
        "1e999",
        "\"default\"",
        "mount = ",
        "\"é\"",
        "\r",
        "#",
        "'''",
        "\"",
        "= =",
        "0x7fffffffffffffffffff",
        "[a.b.c]\n",
        "size = { min = \"0B\", median = \"1B\", max = \"16T\" }",
        "2026-11-21",
        "stack = ",
        "[[stack.fs]]\n",
        "type = ",
        "\u{feff}",
        "\t",
        "漢",
        "\0",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn does_not_panic(source: &str) {
    match read(source, "fuzz.toml", &known()) {
        Ok(plan) => assert!(plan.trials(1).take(5).count() <= 5),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            assert!(diagnostics.to_string().contains("fuzz.toml"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn no_text_panics(source in "(?s).*") {
        does_not_panic(&source);
    }

    #[test]
    fn no_pile_of_pieces_panics(source in fragments()) {
        does_not_panic(&source);
    }

    #[test]
    fn no_slip_in_a_sound_study_panics(at in any::<prop::sample::Index>(), cut in 0_usize..30, put in "(?s).{0,3}") {
        let sound = include_str!("../../../../studies/first-look.toml");
        let start = at.index(sound.len());
        let end = (start + cut).min(sound.len());
        // The study is ASCII: every byte begins a character.
        does_not_panic(&format!("{}{put}{}", &sound[..start], &sound[end..]));
    }
}
