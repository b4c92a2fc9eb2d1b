//! `state` of disks: what they hold before the stack is created.

use study::plan::Plan;
use study::stack::DiskState;
use study_file::{Known, KnownModel, MediaKind, read};

fn read_study(disks: &str) -> Result<Plan, String> {
    let model = |name: &str, media| KnownModel {
        name: name.to_owned(),
        capacity_bytes: 4 << 40,
        media,
        own: None,
    };
    let known = Known {
        models: vec![
            model("platters", MediaKind::Platters),
            model("shingled", MediaKind::ShingledPlatters),
            model("flash", MediaKind::Flash),
        ],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    };
    let source = format!("{disks}\n[[workload]]\nname = \"w\"\nio = {{}}\n");
    read(&source, "studies/states.toml", &known).map_err(|diagnostics| diagnostics.to_string())
}

fn plan(disks: &str) -> Plan {
    read_study(disks).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// Label and state of each stack.
fn states(disks: &str) -> Vec<(String, Option<DiskState>)> {
    let of = |cell: &study::plan::Cell| (cell.stack_label.clone(), cell.machine.disks[0].state);
    plan(disks).cells.iter().map(of).collect()
}

fn flash(filled_percent: u32, in_order: bool) -> Option<DiskState> {
    Some(DiskState::Flash {
        filled_percent,
        in_order,
    })
}

#[test]
fn drives_are_as_full_as_the_study_says() {
    let of = |keys: &str| states(&format!("[disks]\nmodel = \"flash\"\n{keys}"));
    let only = |keys| of(keys)[0].1;
    assert_eq!(only(""), None, "as the model has it");
    assert_eq!(only("state = { filled = \"75 %\" }"), flash(75, false));
    assert_eq!(only("state = { written = \"sequential\" }"), flash(100, true));
    assert_eq!(only("state = { filled = \"0 %\" }"), flash(0, false));
    let expected = [
        ("25% full ext4".to_owned(), flash(25, false)),
        ("100% full ext4".to_owned(), flash(100, false)),
    ];
    assert_eq!(of("state = { filled = [\"25 %\", \"100%\"] }"), expected);
}

#[test]
fn each_state_is_a_cell_of_its_own() {
    let id = |keys: &str| plan(&format!("[disks]\nmodel = \"flash\"\n{keys}")).cells[0].id;
    assert_ne!(id(""), id("state = { filled = \"100 %\" }"));
    assert_ne!(id("state = { filled = \"50 %\" }"), id("state = { filled = \"51 %\" }"));
}

#[test]
fn disks_that_have_no_such_state_occur_once() {
    let models = "[disks]\nmodel = [\"platters\", \"flash\", \"shingled\"]\n";
    let found = states(&format!(
        "{models}state = {{ filled = [\"0 %\", \"50 %\"], zone = \"20 %\" }}"
    ));
    let shingled = Some(DiskState::Shingled { zone_percent: 20 });
    let expected = [
        ("platters ext4", None),
        ("flash 0% full ext4", flash(0, false)),
        ("flash 50% full ext4", flash(50, false)),
        ("shingled zone 20% in use ext4", shingled),
    ];
    let expected = expected.map(|(label, state)| (label.to_owned(), state));
    assert_eq!(found, expected);
}

#[test]
fn a_new_drive_occurs_once_however_it_was_written() {
    let found = states(
        "[disks]\nmodel = \"flash\"\nstate = { filled = [\"0 %\", \"50 %\"], written = [\"random\", \"sequential\"] }",
    );
    let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
    let expected = [
        "0% full ext4",
        "50% full written at random ext4",
        "50% full written in order ext4",
    ];
    assert_eq!(labels, expected);
}

#[test]
fn other_groups_have_one_state() {
    let disks = "[disks]\nmodel = \"platters\"\n[disks.journal]\nmodel = \"flash\"\n";
    let found = plan(&format!(
        "{disks}state = {{ filled = \"90 %\", written = \"sequential\" }}"
    ));
    assert_eq!(found.cells[0].machine.disks[1].state, flash(90, true));
    let error = read_study(&format!("{disks}state = {{ filled = [\"90 %\", \"10 %\"] }}")).expect_err("two values");
    assert!(error.contains("`filled` takes one value here"), "{error}");
}

#[test]
fn states_that_cannot_be_are_refused_with_a_reason() {
    let refused = [
        (
            "model = \"platters\"\nstate = { filled = \"50 %\" }",
            "only solid-state drives",
        ),
        (
            "model = \"platters\"\nstate = { zone = \"20 %\" }",
            "their tracks are not shingled",
        ),
        (
            "model = \"flash\"\nstate = { zone = \"20 %\" }",
            "their tracks are not shingled",
        ),
        (
            "model = \"shingled\"\nstate = { filled = \"20 %\" }",
            "only solid-state drives",
        ),
        ("model = \"flash\"\nstate = {}", "`state` is empty"),
        ("model = \"flash\"\nstate = { filled = \"101 %\" }", "use at most 100 %"),
        ("model = \"flash\"\nstate = { filled = 0.5 }", "write \"0.5 %\""),
        (
            "model = \"flash\"\nstate = { filled = \"half\" }",
            "write it as \"50 %\"",
        ),
        ("model = \"flash\"\nstate = { written = \"twice\" }", "sequential"),
        ("model = \"flash\"\nstate = { trimmed = true }", "trimmed"),
        ("model = \"flash\"\nstate = \"new\"", "must be a table"),
    ];
    for (disks, words) in refused {
        let error = read_study(&format!("[disks]\n{disks}")).expect_err(disks);
        assert!(error.contains(words), "{disks}: {error}");
    }
    let host = "machine = \"host\"\n[disks]\nmodel = \"flash\"\nstate = { filled = \"50 %\" }";
    let error = read_study(host).expect_err("a host");
    assert!(error.contains("what a host's disks hold is as it is"), "{error}");
}

#[test]
fn claims_name_a_state_as_the_file_does() {
    let study = "[disks]\nmodel = \"flash\"\nstate = { filled = [\"25 %\", \"75 %\"] }\n\
                 [[claim]]\nsays = \"a\"\nthat = \"filled=75 % < filled=25%\"\n";
    assert_eq!(plan(study).claims.len(), 1);
}

/// `plan` listed it as possible, and the run ended before its first trial.
#[test]
fn a_solid_state_drive_of_the_lab_has_its_write_cache() {
    let on = |model: &str, values: &str| {
        read_study(&format!(
            "[disks]\nmodel = {model}\n[[stack]]\nwrite_cache = {values}\nfs = {{ type = \"ext4\" }}"
        ))
    };
    let both = on("[\"flash\", \"platters\"]", "[true, false]").expect("platters can do without");
    assert_eq!(both.cells.len(), 3);
    let reason = "the model `flash` is a solid-state drive, whose buffer cannot be switched off in the lab";
    assert_eq!(both.left_out.len(), 1);
    assert_eq!(both.left_out[0].reason, reason);
    let wrong = on("\"flash\"", "false").expect_err("nothing is possible");
    assert!(wrong.contains(reason), "{wrong}");
}
