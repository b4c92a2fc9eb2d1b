//! What would fail, or be dropped, only when a study runs.

use study::plan::Plan;
use study_file::{Diagnostics, Known, KnownProcessor, read};

fn known() -> Known {
    Known {
        kernels: vec!["6.12".to_owned(), "mine".to_owned()],
        processors: vec![KnownProcessor {
            name: "quick".to_owned(),
            cores: 8,
            own: None,
        }],
        ..Known::default()
    }
}

fn study(rest: &str) -> Result<Plan, Diagnostics> {
    let source =
        format!("{rest}\n[[workload]]\nname = \"w\"\nio = {{ rw = \"read\", size = \"1M\", runtime = \"60s\" }}\n");
    read(&source, "a.toml", &known())
}

fn said(rest: &str) -> String {
    study(rest).map_or_else(|wrong| wrong.to_string(), |_| String::new())
}

/// Issue 39, C16: `cores` dropped the cells of the infinitely fast processor.
#[test]
fn cores_do_not_drop_the_infinitely_fast_processor() {
    let cells = |top: &str| -> Vec<(String, Option<u32>)> {
        let plan = study(top).expect("a sound study");
        assert_eq!(plan.left_out, [], "{top}");
        let of_cell = |cell: &study::plan::Cell| {
            let cores = cell.machine.processor.as_ref().map(|processor| processor.cores);
            (cell.stack_label.clone(), cores)
        };
        plan.cells.iter().map(of_cell).collect()
    };
    let one: Vec<Option<u32>> = cells("cpu = [\"infinite\", \"quick\"]\ncores = 4")
        .into_iter()
        .map(|(_, cores)| cores)
        .collect();
    assert_eq!(one, [None, Some(4)]);
    let several = cells("cpu = [\"infinite\", \"quick\"]\ncores = [1, 2]");
    let cores: Vec<Option<u32>> = several.iter().map(|(_, cores)| *cores).collect();
    assert_eq!(cores, [None, Some(1), Some(2)]);
    assert!(!several[0].0.contains("core"), "{several:?}");
}

/// Issue 39, C16: refused in the trial only.
#[test]
fn corrupt_on_a_layout_that_it_does_not_know_is_an_error_of_the_plan() {
    let of = |count: u32, array: &str| {
        said(&format!(
            "[[act]]\nat = \"1s\"\ndo = \"corrupt\"\ndisk = 1\noffset = \"1M\"\n[disks]\ncount = {count}\n[[stack]]\n\
             array = {{ size = \"1G\", {array} }}"
        ))
    };
    let far = of(4, "level = 10, layout = \"f2\"");
    assert!(
        far.contains("where RAID 10 with the layout `f2` and 4 members has its data is not known"),
        "{far}"
    );
    for (count, array, is_known) in [
        (4, "level = 10", true),
        (4, "level = 10, layout = \"n2\"", true),
        (5, "level = 10", false),
        (4, "level = 5, layout = \"right-symmetric\"", false),
        (4, "level = 5, layout = \"left-symmetric\"", true),
        (4, "level = 4", false),
        (2, "level = 1", true),
    ] {
        assert_eq!(of(count, array).is_empty(), is_known, "{count} {array}");
    }
}

/// Issue 39, C14: every trial failed at the mount.
#[test]
fn a_mount_option_that_does_not_exist_is_an_error_of_the_plan() {
    let of = |fs: &str, option: &str| said(&format!("[[stack]]\nfs = {{ type = \"{fs}\" }}\nmount = \"{option}\""));
    let typo = of("ext4", "noatme");
    assert!(
        typo.contains("ext4 has no mount option `noatme`") && typo.contains("did you mean `noatime`?"),
        "{typo}"
    );
    for (fs, option) in [
        ("xfs", "nobarrier"),
        ("xfs", "data=journal"),
        ("btrfs", "nodelalloc"),
        ("ext4", "compress=zstd"),
    ] {
        assert!(of(fs, option).contains("has no mount option"), "{fs} {option}");
    }
    for (fs, option) in [
        (
            "ext4",
            "noatime,commit=60,nodelalloc,nobarrier,data=journal,noauto_da_alloc",
        ),
        ("ext3", "noload"),
        ("xfs", "logbsize=32k,nodiscard,inode32,lazytime"),
        ("btrfs", "compress=zstd:3,nodatacow,ssd,x-systemd.automount"),
        ("f2fs", "fsync_mode=nobarrier"),
    ] {
        assert_eq!(of(fs, option), "", "{fs} {option}");
    }
    // A developer's kernel may have another one.
    assert!(said("kernel = \"mine\"\n[[stack]]\nmount = \"my_own_option\"").is_empty());
    assert!(!said("kernel = \"mine\"\n[[stack]]\nmount = \"noatme\"").is_empty());
}

/// The kernel counts read-ahead in pages: a run failed at its first trial.
#[test]
fn issue_39_a_read_ahead_that_is_no_number_of_pages_is_an_error_of_the_plan() {
    assert!(said("[[stack]]\nread_ahead = 7").contains("a read-ahead of 7 sectors is not a multiple of a page"));
    assert_eq!(said("[[stack]]\nread_ahead = [0, 8, 6144]"), "");
}

/// Results of drawn models are other results, and those of studies without them stay what they were.
#[test]
fn issue_41_models_are_drawn_in_the_lab_where_the_study_asks_for_it() {
    let cell = |top: &str, precision: &str| {
        let text = format!("{top}\n[precision]\ntrials = 8\n{precision}\n");
        study(&text).expect("a sound study").cells.remove(0)
    };
    let (drawn, plain) = (cell("", "models = true"), cell("", ""));
    assert!(drawn.machine.draws_models && !plain.machine.draws_models);
    assert_ne!(drawn.id, plain.id);
    assert_eq!(cell("", "models = false").id, plain.id);
    assert!(!cell("machine = \"host\"", "models = true").machine.draws_models);
}
