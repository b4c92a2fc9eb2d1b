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

/// The repetitions of a cell were counted from 0 for each: 2,500 took 20 s, 20,000 minutes.
#[test]
fn issue_39_18_equal_workloads_are_numbered_at_once() {
    let workloads: String = (0..8000)
        .map(|n| format!("[[workload]]\nname = \"w{n}\"\nio = {{ rw = \"read\", size = \"16M\" }}\n"))
        .collect();
    let study = format!("[disks]\ncount = 2\n[[stack]]\narray = {{ level = 0 }}\n{workloads}");
    let begin = std::time::Instant::now();
    let plan = read(&study, "s.toml", &Known::default()).expect("a study");
    assert!(plan.cells.iter().map(|cell| cell.replicate).eq(0..8000));
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}
