//! Errors for impossible power cuts: the reason and a suggestion.

use study_file::{Known, KnownModel, MediaKind, read};

fn known() -> Known {
    Known {
        models: vec![KnownModel {
            name: "wd-500gb-2007".to_owned(),
            capacity_bytes: 500_107_862_016,
            media: MediaKind::Platters,
            own: None,
        }],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    }
}

fn study(machine: &str, array: &str, work: &str) -> String {
    format!(
        "title = \"t\"\nmachine = \"{machine}\"\n[disks]\n{}count = 4\n[[stack]]\narray = {{ {array} }}\n\
         fs = {{ type = \"ext4\" }}\n[[workload]]\nname = \"w\"\npower_cut = {{ {work} }}\n",
        if machine == "lab" {
            "model = \"wd-500gb-2007\"\n"
        } else {
            ""
        }
    )
}

fn refused(machine: &str, array: &str, work: &str) -> String {
    let study = study(machine, array, work);
    let errors = read(&study, "studies/cuts.toml", &known()).expect_err("is impossible");
    errors.to_string()
}

#[test]
fn power_cuts_that_cannot_be_are_refused() {
    for (machine, array, work, why) in [
        ("host", "level = 5", "points = 3", "only the lab can cut the power"),
        (
            "lab",
            "level = 0",
            "missing_member = true",
            "the stack has no redundancy of md or ZFS",
        ),
        ("lab", "level = 5", "points = 0", "points"),
        ("lab", "level = \"lvm-raid5\"", "points = 3", "a stack of LVM"),
    ] {
        let text = refused(machine, array, work);
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn power_cuts_of_md_and_of_single_disks_are_planned() {
    for array in ["level = 5, ppl = true", "level = 6", "level = \"single\""] {
        let text = study("lab", array, "operations = 20, points = [3, 5], subsets = 2");
        let plan = read(&text, "studies/cuts.toml", &known()).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(plan.cells.len(), 2);
    }
}
