use super::*;
use crate::judge::tests::{measurement, plan};
use study::plan::Claim;
use study::stack::{FilesystemKind, JournalMode};
use study::table::{Figure, TableColumn, TableRow, TableSpec};
use study::workload::{IoSpec, IozoneEngine, IozoneSpec, IozoneTest, Work};

/// A cell by what is set: `ext4`, `mount=nobarrier`, `write_cache=false`, `journal=journal`.
fn set(cell: &mut Cell, settings: &[(&str, &str)]) {
    cell.stack_mut().mount_options.clear();
    cell.axes.retain(|(axis, _)| axis != "type");
    for (axis, value) in settings {
        match *axis {
            "mount" if *value != "defaults" => cell.stack_mut().mount_options.push((*value).to_owned()),
            "write_cache" => cell.stack_mut().write_cache = Some(*value == "true"),
            "journal" => {
                let mode = JournalMode::ALL.into_iter().find(|mode| mode.word() == *value);
                cell.stack_mut().filesystem.journal_mode = mode;
            }
            "type" => {
                let kind = if *value == "xfs" {
                    FilesystemKind::Xfs
                } else {
                    FilesystemKind::Ext4
                };
                cell.stack_mut().filesystem.kind = kind;
            }
            _ => {}
        }
        cell.axes.retain(|(known, _)| known != axis);
        cell.axes.push(((*axis).to_owned(), (*value).to_owned()));
    }
    let words: Vec<&str> = settings.iter().map(|(_, value)| *value).collect();
    cell.stack_label = words.join(" ");
    cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
}

/// A plan of these stacks with a claim, and a sample of each.
fn study(stacks: &[&[(&str, &str)]], that: Option<&str>) -> (Plan, Vec<Measurement>) {
    let names: Vec<String> = (0..stacks.len()).map(|at| at.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut plan = plan(&names);
    for (cell, settings) in plan.cells.iter_mut().zip(stacks) {
        set(cell, settings);
    }
    plan.claims = that.into_iter().map(claim).collect();
    plan.identify();
    let samples = sampled(&plan);
    (plan, samples)
}

fn claim(that: &str) -> Claim {
    Claim {
        says: that.to_owned(),
        filter: Vec::new(),
        that: that.to_owned(),
        published: None,
        untestable: None,
    }
}

fn sampled(plan: &Plan) -> Vec<Measurement> {
    let of_cell = |cell: &Cell| measurement(plan, &cell.stack_label, "read", 0, 100.0);
    plan.cells.iter().map(of_cell).collect()
}

fn settings(stacks: &[&[(&str, &str)]], that: Option<&str>) -> Vec<(ComparedBy, Setting)> {
    let (plan, samples) = study(stacks, that);
    let all = unlike(&plan, &samples).into_iter();
    all.map(|one| (one.by, one.setting)).collect()
}

fn ranking(setting: Setting) -> (ComparedBy, Setting) {
    (ComparedBy::Ranking("small files".to_owned()), setting)
}

#[test]
fn a_ranking_of_filesystems_with_unlike_settings() {
    let of = |axis, value, other| {
        settings(
            &[&[("type", "ext4"), (axis, value)], &[("type", "xfs"), (axis, other)]],
            None,
        )
    };
    assert_eq!(of("write_cache", "true", "false"), [ranking(Setting::WriteCache)]);
    assert_eq!(
        of("mount", "noatime,nobarrier", "defaults"),
        [ranking(Setting::Barriers)]
    );
    assert_eq!(of("mount", "defaults", "barrier=0"), [ranking(Setting::Barriers)]);
    assert_eq!(of("mount", "data=journal", "defaults"), [ranking(Setting::Journal)]);
}

#[test]
fn what_is_alike_is_not_reported() {
    let of = |axis, value, other| {
        settings(
            &[&[("type", "ext4"), (axis, value)], &[("type", "xfs"), (axis, other)]],
            None,
        )
    };
    assert_eq!(of("write_cache", "false", "false"), []);
    assert_eq!(of("mount", "noatime", "defaults"), []);
    assert_eq!(of("mount", "barrier=0", "nobarrier,noatime"), []);
    // Ordered mode is the default, and XFS has no such mode.
    assert_eq!(of("journal", "ordered", "none"), []);
    assert_eq!(of("mount", "data=writeback", "defaults"), []);
}

#[test]
fn a_comparison_of_the_setting_is_about_it() {
    let (on, off) = ([("mount", "defaults")], [("mount", "nobarrier")]);
    assert_eq!(settings(&[&on, &off], Some("mount=nobarrier > mount=defaults")), []);
    let (slow, fast) = ([("journal", "journal")], [("journal", "writeback")]);
    assert_eq!(settings(&[&slow, &fast], Some("journal=writeback fastest")), []);
}

/// Four stacks of two filesystems with and without barriers: each has a partner that differs only in barriers.
#[test]
fn a_full_cross_is_about_both_axes() {
    let cross: [&[(&str, &str)]; 4] = [
        &[("type", "ext4"), ("mount", "defaults")],
        &[("type", "ext4"), ("mount", "nobarrier")],
        &[("type", "xfs"), ("mount", "defaults")],
        &[("type", "xfs"), ("mount", "nobarrier")],
    ];
    assert_eq!(settings(&cross, Some("type=xfs fastest")), []);
    // A claim on the corners of the cross alone is not covered.
    let corners = "type=ext4, mount=nobarrier > type=xfs, mount=defaults";
    assert_eq!(
        settings(&cross, Some(corners)),
        [(ComparedBy::Claim(0), Setting::Barriers)]
    );
}

/// The verdict on a claim about two filesystems, with and without barriers, and its reason.
fn verdict(that: &str, first: &str, second: &str) -> (&'static str, String) {
    let stacks: [&[(&str, &str)]; 2] = [
        &[("type", "ext4"), ("mount", first)],
        &[("type", "xfs"), ("mount", second)],
    ];
    let (mut plan, samples) = study(&stacks, Some(that));
    plan.claims[0].filter = vec![(TEST.to_owned(), "read".to_owned())];
    let judged = crate::judge_claims(&plan, &samples).remove(0);
    assert!(judged.effect.is_some(), "it is shown in any case");
    let word = judged.verdict.word();
    match judged.verdict {
        crate::claims::Verdict::Untestable { reason } => (word, reason),
        _ => (word, String::new()),
    }
}

#[test]
fn a_claim_that_does_not_name_the_difference_is_untestable() {
    let (word, reason) = verdict("type=ext4 fastest", "nobarrier", "defaults");
    assert_eq!(word, "untestable");
    assert_eq!(
        reason,
        "the compared stacks also differ in barriers, which the claim does not name"
    );
    assert_eq!(verdict("all equal", "nobarrier", "defaults").0, "untestable");
    // With one trial each.
    assert_eq!(verdict("type=ext4 fastest", "defaults", "noatime").0, "undecided");
}

#[test]
fn a_claim_that_names_the_difference_is_about_it() {
    let named = "type=ext4, mount=nobarrier > type=xfs, mount=defaults";
    assert_eq!(verdict(named, "nobarrier", "defaults").0, "undecided");
    assert_eq!(
        settings_of(named),
        [(ComparedBy::Claim(0), Setting::Barriers)],
        "and warned of"
    );
}

fn settings_of(that: &str) -> Vec<(ComparedBy, Setting)> {
    let stacks: [&[(&str, &str)]; 2] = [
        &[("type", "ext4"), ("mount", "nobarrier")],
        &[("type", "xfs"), ("mount", "defaults")],
    ];
    let all = settings(&stacks, Some(that)).into_iter();
    all.filter(|(by, _)| *by == ComparedBy::Claim(0)).collect()
}

#[test]
fn the_first_pair_is_named_and_pairs_are_counted() {
    let (plan, samples) = study(
        &[
            &[("type", "ext4"), ("write_cache", "true")],
            &[("type", "xfs"), ("write_cache", "false")],
            &[("type", "jfs"), ("write_cache", "false")],
        ],
        Some("all equal"),
    );
    let all = unlike(&plan, &samples);
    assert_eq!(all[0].by, ComparedBy::Claim(0));
    assert_eq!((all[0].pairs, all[0].compared), (2, 3));
    assert_eq!(all[0].first, ("ext4 true | small files".to_owned(), Held::On));
    assert_eq!(all[0].second, ("xfs false | small files".to_owned(), Held::Off));
}

#[test]
fn what_was_not_measured_is_not_compared() {
    let stacks: [&[(&str, &str)]; 2] = [
        &[("type", "ext4"), ("write_cache", "true")],
        &[("type", "xfs"), ("write_cache", "false")],
    ];
    let (plan, mut samples) = study(&stacks, None);
    assert_eq!(unlike(&plan, &samples).len(), 1);
    samples[1].failed_guards.push("cold-cache".to_owned());
    assert_eq!(unlike(&plan, &samples), []);
}

/// A table with one row for each of two filesystems, as ratios to the first.
fn table(relative_to: Option<usize>) -> TableSpec {
    let row = |kind: &str| TableRow {
        values: vec![kind.to_owned()],
        published: vec![None],
    };
    TableSpec {
        title: String::new(),
        filter: Vec::new(),
        row_axes: vec!["type".to_owned()],
        rows: vec![row("ext4"), row("xfs")],
        columns: vec![TableColumn {
            heading: String::new(),
            filter: Vec::new(),
            unit: None,
            figure: Figure::Median,
            not_measured: None,
        }],
        relative_to,
        source: None,
    }
}

#[test]
fn a_table_compares_if_it_is_relative_to_a_row() {
    let stacks: [&[(&str, &str)]; 2] = [
        &[("type", "ext4"), ("mount", "nobarrier")],
        &[("type", "xfs"), ("mount", "defaults")],
    ];
    let (mut plan, samples) = study(&stacks, None);
    plan.tables = vec![table(None), table(Some(0))];
    let by: Vec<ComparedBy> = unlike(&plan, &samples).into_iter().map(|one| one.by).collect();
    assert_eq!(
        by,
        [ComparedBy::Table(1), ComparedBy::Ranking("small files".to_owned())]
    );
}

/// Two filesystems, each with a job that reads cold and one that reads its file first.
fn jobs(that: &str) -> Vec<Setting> {
    let (mut plan, _) = study(&[&[("type", "ext4")], &[("type", "xfs")]], Some(that));
    let mut cells = Vec::new();
    for cell in &plan.cells {
        for name in ["cold", "warm"] {
            let mut cell = cell.clone();
            let mut spec = IoSpec::default();
            if name == "warm" {
                spec.fio_options.push(("pre_read".to_owned(), "1".to_owned()));
            }
            cell.workload.work = Work::Io(spec);
            cell.workload.name = name.to_owned();
            cell.stack_label.push_str(name);
            cell.axes.retain(|(axis, _)| axis != "workload");
            cell.axes.push(("workload".to_owned(), name.to_owned()));
            cells.push(cell);
        }
    }
    plan.cells = cells;
    plan.identify();
    let samples = sampled(&plan);
    unlike(&plan, &samples).into_iter().map(|one| one.setting).collect()
}

#[test]
fn cold_against_warm_caches() {
    assert_eq!(jobs("workload=warm > workload=cold"), []);
    assert_eq!(
        jobs("type=xfs, workload=warm > type=ext4, workload=cold"),
        [Setting::Caches]
    );
    assert_eq!(jobs("type=xfs > type=ext4"), []);
}

#[test]
fn reading_again_is_warm() {
    let (mut plan, _) = study(&[&[("type", "ext4")], &[("type", "xfs")]], None);
    for cell in &mut plan.cells {
        cell.workload.work = Work::Iozone(IozoneSpec {
            engine: IozoneEngine::Native,
            file_bytes: 1 << 20,
            record_bytes: 1 << 12,
            processes: 1,
            tests: vec![IozoneTest::Read, IozoneTest::Reread],
            direct: false,
            sync: false,
            include_flush: false,
            stride_records: 1,
        });
    }
    plan.identify();
    let cells = &plan.cells;
    let has = |test| {
        Setting::Caches.of(&Side {
            cell: &cells[0],
            test: Some(test),
        })
    };
    assert_eq!(
        (has("read"), has("reread"), has("freread")),
        (Held::Cold, Held::Warm, Held::Warm)
    );
}
