//! Parts of a study's machine that are not axes: other groups of disks, buses, and the filesystems on other groups.

use crate::Known;
use crate::axes::{axes_of, points};
use crate::expand::{build, disk_state};
use crate::parse::entry::Entry;
use crate::parse::value::{Given, Value};
use crate::rules::stack::check_stack;
use crate::schema::key::Table;
use crate::syntax::diagnostic::Found;
use study::stack::{Bus, BusKind, DATA, DiskState, GroupDisk, GroupStack, MachineKind, MachineSpec, StackSpec};

#[derive(Debug, Default)]
pub(crate) struct Fixed {
    named: Vec<Group>,
    pub buses: Vec<Bus>,
    pub group_stacks: Vec<GroupStack>,
    /// `[precision] models`.
    pub draws_models: bool,
}

#[derive(Debug)]
struct Group {
    name: String,
    /// Default: that of `[disks]`.
    model: Option<String>,
    count: u32,
    state: Option<DiskState>,
}

impl Fixed {
    /// The groups other than `data`: name, model, count and state.
    pub fn groups<'a>(
        &'a self,
        data_model: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str, u32, Option<DiskState>)> {
        self.named.iter().map(move |group| {
            let model = group.model.as_deref().unwrap_or(data_model);
            (group.name.as_str(), model, group.count, group.state)
        })
    }

    /// Parses them from `[disks]`.
    pub fn read(disks: &Entry, kind: MachineKind, known: &Known, found: &mut Found) -> Self {
        let mut fixed = Self::default();
        for entry in disks.tables("NAME") {
            if let Some(group) = group(entry, disks, kind, known, found) {
                fixed.named.push(group);
            }
        }
        for entry in disks.tables("NAME") {
            fixed.group_stacks.extend(stack_of(entry, disks, kind, known, found));
        }
        for entry in disks.tables("bus") {
            if let Some(bus) = bus(entry, disks, &fixed, kind, found) {
                fixed.buses.push(bus);
            }
        }
        fixed
    }
}

fn group(entry: &Entry, disks: &Entry, kind: MachineKind, known: &Known, found: &mut Found) -> Option<Group> {
    let name = entry.name.clone()?;
    let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name == DATA {
        let help = "write `model` and `count` in [disks] itself";
        found.add_with_help(&entry.span, "the disks of [disks] itself are the group `data`", help);
        return None;
    }
    if name.is_empty() || name.len() > 16 || !name.chars().all(is_fit) {
        let message = format!("`{name}` cannot name a group of disks");
        found.add_with_help(&entry.span, message, "a-z, 0-9 and -, at most 16 characters");
        return None;
    }
    let model = entry.text("model");
    let of_disks = || {
        disks
            .text("model")
            .or_else(|| known.models.first().map(|first| first.name.clone()))
    };
    let resolved = model.clone().or_else(of_disks).unwrap_or_default();
    let media = known.media(&resolved);
    disk_state::check(entry, &[resolved], kind, known, found);
    Some(Group {
        name,
        state: disk_state::of_group(entry, media, known, found),
        model,
        count: count_of(entry),
    })
}

fn count_of(group: &Entry) -> u32 {
    let count = group.value("count").and_then(|given| given.value.count());
    count.map_or(1, |count| count as u32)
}

/// The filesystem of a group, if it has one.
fn stack_of(
    entry: &Entry,
    disks: &Entry,
    kind: MachineKind,
    known: &Known,
    found: &mut Found,
) -> Option<GroupStack> {
    if ["fs", "array", "mount"].iter().all(|key| entry.field(key).is_none()) {
        return None;
    }
    let absent = |table| Entry::absent(table, entry.span.clone());
    let (no_array, no_of, no_fs) = (absent(Table::Array), absent(Table::Inner), absent(Table::Filesystem));
    let array = entry.tables("array").first().unwrap_or(&no_array);
    let of = array.tables("of").first().unwrap_or(&no_of);
    let fs = entry.tables("fs").first().unwrap_or(&no_fs);
    let axes: Vec<_> = [array, of, fs].iter().flat_map(|entry| axes_of(entry, known)).collect();
    for axis in &axes {
        if let Some(second) = axis.values.get(1) {
            let message = format!("`{}` takes one value here", axis.name);
            found.add_with_help(&second.span, message, "only the stacks under test can be varied");
        }
    }
    if let Some(members) = array.field("members") {
        let message = "the filesystem of another group is on the disks of that group";
        found.add_with_help(&members.span, message, "leave `members` out");
        return None;
    }
    let point = points(&axes).next()?;
    if point.has_broken() {
        return None;
    }
    let name = entry.name.clone()?;
    let model = entry.text("model").or_else(|| disks.text("model"));
    let disk = known
        .models
        .iter()
        .find(|known| model.as_ref().is_none_or(|model| known.name == *model));
    let disk_bytes = disk
        .filter(|_| kind == MachineKind::Lab)
        .map(|known| known.capacity_bytes);
    let mount = entry.text("mount").unwrap_or_default();
    let stack = StackSpec {
        array: build::array(&point, disk_bytes),
        filesystem: build::filesystem(&point),
        mount_options: build::mount_options(&mount),
        ..StackSpec::default()
    };
    let machine = MachineSpec {
        kind,
        ram_bytes: 0,
        kernel: String::new(),
        disks: vec![known.disks(kind, DATA, &model.unwrap_or_default(), count_of(entry))],
        buses: Vec::new(),
        create_once: false,
        draws_models: false,
        moved: None,
        processor: None,
    };
    let reasons = check_stack(&machine, &stack, disk_bytes);
    for reason in &reasons {
        let span = reason.about.iter().find_map(|axis| point.span(axis));
        found.add_with_help(span.unwrap_or(&entry.span), &reason.reason, &reason.help);
    }
    let StackSpec {
        array,
        filesystem,
        mount_options,
        ..
    } = stack;
    reasons.is_empty().then_some(GroupStack {
        group: name,
        array,
        filesystem,
        mount_options,
    })
}

fn bus(entry: &Entry, all_disks: &Entry, fixed: &Fixed, kind: MachineKind, found: &mut Found) -> Option<Bus> {
    if kind == MachineKind::Host {
        let help = "leave `bus` out, or use machine = \"lab\"";
        found.add_with_help(&entry.span, "the buses of a host's disks cannot be chosen", help);
        return None;
    }
    let name = entry.text("name")?;
    if fixed.buses.iter().any(|bus| bus.name == name) {
        let message = format!("two buses have the name `{name}`");
        found.add_with_help(&entry.span, message, "give every bus a different name");
    }
    let counts = all_disks.values("count").iter().filter_map(|given| given.value.count());
    let most = counts.max().unwrap_or(1) as u32;
    let disks = entry
        .values("disks")
        .iter()
        .map(|given| bus_disk(given, most, fixed, found));
    Some(Bus {
        name,
        kind: BusKind::named(&entry.value("kind")?.value.word())?,
        mb_s: entry.value("mb_s")?.value.count()? as u32,
        disks: disks.collect::<Option<Vec<_>>>()?,
    })
}

/// `3`, `"journal"`, `"source:1"`. The number of disks of `data` is an axis; its largest value is used here.
fn bus_disk(given: &Given, data_most: u32, fixed: &Fixed, found: &mut Found) -> Option<GroupDisk> {
    let GroupDisk { group, number } = match &given.value {
        Value::Count(number) => GroupDisk {
            group: DATA.to_owned(),
            number: Some(*number as u32),
        },
        Value::Text(text) => GroupDisk::parse(text),
        _ => return None,
    };
    let named = fixed.named.iter().find(|known| known.name == group);
    let count = if group == DATA {
        Some(data_most)
    } else {
        named.map(|group| group.count)
    };
    let Some(count) = count else {
        let message = format!("there is no group of disks `{group}`");
        found.add_with_help(&given.span, message, format!("add [disks.{group}]"));
        return None;
    };
    if number.is_some_and(|number| number == 0 || number > count) {
        let message = format!("`{}` is not a disk of the group `{group}`", given.value.word());
        found.add_with_help(&given.span, message, format!("it has disks 1 to {count}"));
        return None;
    }
    Some(GroupDisk { group, number })
}
