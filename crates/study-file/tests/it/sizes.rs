//! Small files that expand to much.

use study_file::{Known, read};

/// 300 KB of a name took 60 GB in 199,712 cells.
#[test]
fn a_name_that_every_cell_would_have_a_copy_of_is_refused_before_the_expansion() {
    let study = |name: &str| {
        let list: Vec<String> = (1..=300).map(|n| (8 * n).to_string()).collect();
        format!(
            "[disks]\ncount = [2, 3]\n[[stack]]\nread_ahead = [{}]\narray = {{ level = 0 }}\n\
             [[workload]]\nname = \"{name}\"\n\
             io = {{ rw = \"randread\", bs = [\"4K\", \"8K\"], size = [\"16M\", \"32M\"] }}",
            list.join(", ")
        )
    };
    let refused = |source: &str, words: &str| {
        let said = read(source, "s.toml", &Known::default())
            .expect_err("it is refused")
            .to_string();
        assert!(said.contains(words), "{said}");
        assert!(said.len() < 4000, "the message has {} bytes", said.len());
    };
    let long = "A".repeat(300_000);
    refused(&study(&long), "`name` has 300000 bytes");
    refused(
        &format!("description = \"{long}\"\n{}", study("w")),
        "`description` has 300000 bytes",
    );
    let many: Vec<String> = (0..40).map(|n| format!("\"{}{n}\"", "x".repeat(4000))).collect();
    let wide = study("w").replace("array =", &format!("mount = [{}]\narray =", many.join(", ")));
    refused(&wide, "of 96000 cells take");
    assert!(read(&study("w"), "s.toml", &Known::default()).is_ok());
}
