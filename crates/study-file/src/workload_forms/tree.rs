//! `tree = { … }`: a collection of files.

use super::Form;
use super::rules::Rules;
use crate::Known;
use crate::axes::{Axis, Point};
use crate::parse::entry::Entry;
use crate::parse::value::Value;
use crate::rules::impossible::{Impossible, impossible};
use crate::syntax::diagnostic::Found;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{NamedCollection, SizeSpec, TreeSpec, TreeTest, Work};

/// The part that is not an axis.
struct Tree {
    tests: Vec<TreeTest>,
    from: Option<String>,
    to: Option<String>,
}

pub(super) fn read(entry: &Entry, _: &Known, found: &mut Found) -> Option<Box<dyn Form>> {
    let table = entry.tables("tree").first()?;
    check_collection(table, found);
    Some(Box::new(Tree {
        tests: tests(table),
        from: table.text("from"),
        to: table.text("to"),
    }))
}

/// A named collection has fixed numbers.
fn check_collection(tree: &Entry, found: &mut Found) {
    if tree.field("collection").is_none() {
        return;
    }
    for name in ["files", "size", "directories"] {
        if let Some(field) = tree.field(name) {
            let message = format!("`collection` has its own `{name}`");
            found.add_with_help(&field.span, message, "leave one of the two out");
        }
    }
}

fn tests(tree: &Entry) -> Vec<TreeTest> {
    if tree.field("tests").is_none() {
        return TreeTest::ALL.to_vec();
    }
    let named = |word: &str| TreeTest::ALL.into_iter().find(|test| test.name() == word);
    let tests = tree.values("tests").iter();
    tests.filter_map(|given| named(&given.value.word())).collect()
}

impl Form for Tree {
    fn work(&self, point: &Point) -> Work {
        let (files, size, directories) = collection(point);
        Work::Tree(TreeSpec {
            files,
            size,
            directories,
            tests: self.tests.clone(),
            from: self.from.clone(),
            from_warm: point.flag("from_warm"),
            to: self.to.clone(),
        })
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        self.tests.iter().map(|test| Some(test.name().to_owned())).collect()
    }
}

/// Number of files, their sizes, number of directories.
fn collection(point: &Point) -> (u32, SizeSpec, u32) {
    let named = point.text("collection");
    if let Some(collection) = NamedCollection::ALL
        .into_iter()
        .find(|collection| named.as_deref() == Some(collection.name()))
    {
        return (collection.files(), collection.size(), collection.directories());
    }
    (point.small("files"), file_sizes(point), spread_over(point))
}

pub(super) fn file_sizes(point: &Point) -> SizeSpec {
    match *point.get("file_size") {
        Value::Spread { min, median, max } => SizeSpec {
            min_bytes: min,
            median_bytes: median,
            max_bytes: max,
        },
        _ => SizeSpec {
            min_bytes: 4096,
            median_bytes: 4096,
            max_bytes: 4096,
        },
    }
}

/// Number of directories; default one per 64 files.
pub(super) fn spread_over(point: &Point) -> u32 {
    point
        .number("directories")
        .map_or(point.small("files").div_ceil(64), |_| point.small("directories"))
}

impl Rules for TreeSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["collection", "files", "file_size"]
    }

    fn file_size_axes(&self) -> &'static [&'static str] {
        &["file_size"]
    }

    fn check(&self, machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
        check_groups(self, machine, stack)
    }
}

/// Checks that the groups of a tree exist.
fn check_groups(tree: &TreeSpec, machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    const ABOUT: &[&str] = &["from", "to"];
    let mut all = Vec::new();
    if tree.from_warm && tree.from.is_none() {
        let reason = "`from_warm` is about the files of `from`, which is not given".to_owned();
        all.extend(impossible(&["from_warm"], reason, "leave `from_warm` out".to_owned()));
    }
    for (key, name, test) in [("from", &tree.from, TreeTest::Write), ("to", &tree.to, TreeTest::Read)] {
        let Some(name) = name else { continue };
        if !machine.disks.iter().any(|group| group.name == *name) || name == "data" {
            let reason = format!("`{key}` names the group of disks `{name}`, which does not exist");
            all.extend(impossible(ABOUT, reason, format!("add [disks.{name}] with `model`")));
        } else if !stack.group_stacks.iter().any(|other| other.group == *name) {
            let reason = format!("`{key}` names the group of disks `{name}`, which has no filesystem");
            let help = format!("write fs = {{ type = \"ext4\" }} or another in [disks.{name}]");
            all.extend(impossible(ABOUT, reason, help));
        }
        if !tree.tests.contains(&test) {
            let reason = format!(
                "`{key}` is for the test `{}`, which is not among the tests",
                test.name()
            );
            all.extend(impossible(ABOUT, reason, format!("leave `{key}` out")));
        }
    }
    all
}
