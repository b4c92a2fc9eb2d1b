//! Custom tables of a study: their expansion, and the errors in invalid ones.

use study::plan::{Cell, Plan};
use study::table::{Figure, TableSpec};
use study_file::{Known, read};

const STUDY: &str = r#"
[disks]
count = 4
[[stack]]
array = [{ level = 0, chunk = ["4K", "32K"] }, { level = 5, chunk = "32K", bitmap = "none" }]
fs = { type = "ext2", block_size = ["1K", "4K"] }
[[workload]]
name = "file"
tree = { files = 2, size = "4M", tests = ["write", "read"] }
[[workload]]
name = "seeks"
io = { rw = "randread", size = "1G" }
"#;

fn plan(table: &str) -> Plan {
    match read(&format!("{STUDY}{table}"), "tables.toml", &Known::default()) {
        Ok(plan) => plan,
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

fn table(table: &str) -> TableSpec {
    plan(table).tables.remove(0)
}

fn rows(table: &TableSpec) -> Vec<String> {
    table.rows.iter().map(|row| row.values.join(" ")).collect()
}

fn wrong(table: &str) -> String {
    let source = format!("{STUDY}{table}");
    match read(&source, "tables.toml", &Known::default()) {
        Ok(plan) => panic!("no error in {:?}", plan.tables),
        Err(diagnostics) => diagnostics
            .iter()
            .map(|m| format!("`{}` {}: {}\n", m.snippet, m.message, m.help.as_deref().unwrap_or("")))
            .collect(),
    }
}

const HOWTO: &str = r#"
[[table]]
title = "RAID 0"
where = { level = 0, workload = "file" }
rows = ["chunk", "block_size"]
unit = "KiB/s"
source = "HOWTO, 9.1"
column = [
    { heading = "Read", where = { test = "read" }, figure = "mean" },
    { heading = "Write", where = { test = "write" }, unit = "MiB/s" },
]
published = [
    { row = ["4K", "1K"], values = [19712, 18035] },
    { row = ["32 KiB", "4096B"], values = ["-", 26976.5] },
]
"#;

#[test]
fn rows_are_the_points_of_their_axes_with_what_was_published() {
    let table = table(HOWTO);
    assert_eq!(rows(&table), ["4K 1K", "4K 4K", "32K 1K", "32K 4K"]);
    let published: Vec<_> = table.rows.iter().map(|row| row.published.as_slice()).collect();
    assert_eq!(published[0], [Some(19712.0), Some(18035.0)]);
    assert_eq!(published[1], [None, None]);
    assert_eq!(published[3], [None, Some(26976.5)]);
    let units: Vec<_> = table.columns.iter().map(|column| column.unit.as_deref()).collect();
    assert_eq!(units, [Some("KiB/s"), Some("MiB/s")]);
    let figures: Vec<_> = table.columns.iter().map(|column| column.figure).collect();
    assert_eq!(figures, [Figure::Mean, Figure::Median]);
}

#[test]
fn a_place_leads_to_its_cell_also_in_a_part_of_the_plan() {
    let plan = plan(HOWTO);
    let table = &plan.tables[0];
    let place = table.place(3, 1, &plan.cells).expect("a figure");
    assert_eq!(plan.cells[place.cell].key, "RAID 0 chunk 32K ext2 4K | file");
    assert_eq!((place.test, place.metric), (Some("write"), None));
    let others: Vec<Cell> = plan
        .cells
        .iter()
        .filter(|cell| cell.axes.iter().all(|(_, v)| v != "32K"))
        .cloned()
        .collect();
    assert!(table.place(3, 1, &others).is_none());
    assert!(table.place(0, 1, &others).is_some());
}

#[test]
fn columns_may_go_across_axes_and_rows_by_the_stack() {
    let table = table("[[table]]\ntitle = \"all\"\nrows = [\"stack\"]\ncolumns = [\"workload\", \"test\"]\n");
    assert_eq!(rows(&table)[0], "RAID 0 chunk 4K ext2 1K");
    assert_eq!(table.rows.len(), 6);
    let headings: Vec<&str> = table.columns.iter().map(|column| column.heading.as_str()).collect();
    assert_eq!(headings, ["file write", "file read", "seeks randread"]);
}

#[test]
fn ratios_are_to_a_row() {
    let table = table(
        "[[table]]\ntitle = \"x\"\nwhere = { workload = \"seeks\", level = 5 }\nrows = [\"block_size\"]\ncolumns = [\"test\"]\nrelative_to = [\"1K\"]\n",
    );
    assert_eq!(table.relative_to, Some(0));
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let replaced = |from: &str, to: &str| {
        assert!(HOWTO.contains(from), "{from}");
        wrong(&HOWTO.replace(from, to))
    };
    let all = [
        replaced("\"chunk\", \"block_size\"", "\"chunks\", \"block_size\""),
        replaced("\"chunk\", \"block_size\"", "\"chunk\""),
        replaced("level = 0", "level = 6"),
        replaced("test = \"read\"", "test = \"copy\""),
        replaced("\"KiB/s\"", "\"kB/s\""),
        replaced("[\"4K\", \"1K\"]", "[\"8K\", \"1K\"]"),
        replaced("[\"4K\", \"1K\"]", "[\"4K\"]"),
        replaced("[\"32 KiB\", \"4096B\"]", "[\"4K\", \"1K\"]"),
        replaced("[19712, 18035]", "[19712]"),
        replaced("[19712, 18035]", "[\"19712\", 18035]"),
        replaced("[19712, 18035]", "19712"),
        replaced("source = \"HOWTO, 9.1\"\n", ""),
        replaced("title = \"RAID 0\"\n", ""),
        replaced("unit = \"KiB/s\"", "columns = [\"test\"]"),
        replaced("figure = \"mean\"", "figure = \"average\""),
        replaced(
            "rows = [\"chunk\", \"block_size\"]",
            "rows = [\"chunk\", \"block_size\"]\nrelative_to = [\"4K\", \"8K\"]",
        ),
        replaced(
            "unit = \"KiB/s\"",
            "relative_to = [\"4K\", \"1K\"]\nfigure = \"deviation\"",
        ),
        replaced("figure = \"mean\"", "not_measured = \"no time\""),
        wrong("[[table]]\ntitle = \"x\"\nrows = [\"stack\"]\n"),
        wrong("[[table]]\ntitle = \"x\"\nrows = [\"stack\"]\ncolumns = [\"metric\"]\n"),
        wrong("[[table]]\ntitle = \"x\"\nrows = [\"stack\"]\ncolumns = [\"test\"]\nsource = \"me\"\n"),
    ];
    insta::assert_snapshot!(all.join("---\n"));
}
