//! Parses a study file to a plan, or to all its errors.

use crate::Known;
use crate::axes::{Axis, axes_of};
use crate::evaluation::claims;
use crate::evaluation::table;
use crate::evaluation::vocabulary::REPLICATE;
use crate::expand::disk_state;
use crate::expand::groups::Fixed;
use crate::expand::label;
use crate::expand::matrix::{Matrix, Setting, Unit};
use crate::parse::document::read_document;
use crate::parse::entry::{Content, Entry};
use crate::parse::model_files;
use crate::parse::value::{Given, Value};
use crate::rules::acts;
use crate::schema::key::Table;
use crate::syntax::diagnostic::{Diagnostics, Found, suggest_and_show};
use crate::workload_forms::{WorkloadEntry, workloads};
use study::plan::{Cell, Plan, Precision};
use study::stack::{MachineKind, OwnModel};

/// Parses a study. `file_name` is used in messages, and as title if none is given.
pub fn read(source: &str, file_name: &str, known: &Known) -> Result<Plan, Diagnostics> {
    let mut found = Found::new(source);
    let Some(mut top) = read_document(source, known, &mut found) else {
        return Err(found.into_diagnostics(file_name));
    };
    let kind = machine_kind(&top, &mut found);
    let known = &model_files::resolve(&mut top, kind, known, &mut found);
    let units = units(&top, kind, known, &mut found);
    let workloads = workloads(&top, known, &mut found);
    let precision = precision(&top, &mut found);
    let no_disks = Entry::absent(Table::Disks, 0..0);
    let disks = top.tables("disks").first().unwrap_or(&no_disks);
    let mut fixed = Fixed::read(disks, kind, known, &mut found);
    fixed.draws_models = draws_models(&top);
    let setting = Setting {
        kind,
        known,
        fixed: &fixed,
    };
    let mut matrix = Matrix::expand(&setting, &units, &workloads, &mut found);
    acts::put_on(&top, kind, &mut matrix.cells, &mut found);
    replicates(&top, &mut matrix.cells);
    label::put_on(&mut matrix.cells);
    let claims = claims::read_all(&top, &units, &workloads, &matrix.cells, &mut found);
    let tables = table::read_all(&top, &units, &workloads, &matrix.cells, &mut found);
    if !found.is_empty() {
        return Err(found.into_diagnostics(file_name));
    }
    let models = model_files::own_models(&matrix.cells, known);
    let processors = model_files::own_processors(&matrix.cells, known);
    let mut plan = Plan {
        title: top.text("title").unwrap_or_else(|| title_from(file_name)),
        description: top.text("description").unwrap_or_default().trim().to_owned(),
        source: with_files(source, &workloads, &models, &processors),
        models,
        processors,
        cells: matrix.cells,
        left_out: matrix.left_out,
        claims,
        tables,
        weights: workloads
            .iter()
            .filter_map(|workload| Some((workload.name.clone(), workload.weight?)))
            .collect(),
        precision,
    };
    plan.identify();
    Ok(plan)
}

/// The study, with the files that it names and the user's own models appended as comments, because they determine
/// the results.
fn with_files(source: &str, workloads: &[WorkloadEntry], models: &[OwnModel], processors: &[OwnModel]) -> String {
    let mut whole = source.to_owned();
    let mut add = |heading: &str, text: &str| {
        whole.push_str(&format!("\n# {heading}:\n"));
        text.lines().for_each(|line| whole.push_str(&format!("# {line}\n")));
    };
    for workload in workloads {
        if let Some((path, text)) = workload.form.as_ref().and_then(|form| form.file()) {
            add(path, text);
        }
    }
    for model in models {
        add(&format!("disk model {}", model.name), &model.text);
    }
    for model in processors {
        add(&format!("processor model {}", model.name), &model.text);
    }
    whole
}

fn title_from(file_name: &str) -> String {
    let name = file_name.rsplit('/').next().unwrap_or(file_name);
    name.strip_suffix(".toml").unwrap_or(name).to_owned()
}

fn machine_kind(top: &Entry, found: &mut Found) -> MachineKind {
    if top
        .value("machine")
        .is_none_or(|given| given.value == Value::Word("lab"))
    {
        return MachineKind::Lab;
    }
    if let Some(kernel) = top.field("kernel") {
        found.add_with_help(
            &kernel.span,
            "a host runs its own kernel",
            "leave `kernel` out, or use machine = \"lab\"",
        );
    }
    MachineKind::Host
}

/// The tables of layers.
const LAYERS: [(&str, Table); 5] = [
    ("partition", Table::Partition),
    ("cache", Table::Cache),
    ("luks", Table::Luks),
    ("volume", Table::Volume),
    ("image", Table::Image),
];

/// All combinations of array, layers and filesystem of every `[[stack]]`.
fn units(top: &Entry, kind: MachineKind, known: &Known, found: &mut Found) -> Vec<Unit> {
    let absent = |table| Entry::absent(table, 0..0);
    let no_disks = absent(Table::Disks);
    let disks = top.tables("disks").first().unwrap_or(&no_disks);
    check_models(disks, kind, known, found);
    let models: Vec<String> = match disks.values("model") {
        [] => known
            .models
            .first()
            .map(|model| model.name.clone())
            .into_iter()
            .collect(),
        given => given.iter().map(|given| given.value.word()).collect(),
    };
    disk_state::check(disks, &models, kind, known, found);
    let no_stack = [absent(Table::Stack)];
    let stacks = if top.field("stack").is_some() {
        top.tables("stack")
    } else {
        &no_stack
    };
    let mut units = Vec::new();
    for stack in stacks {
        let one = |name, table| match stack.tables(name) {
            [] => vec![Entry {
                broken: stack.is_broken(name),
                ..Entry::absent(table, stack.span.clone())
            }],
            _ => Vec::new(),
        };
        let (no_array, no_fs) = (one("array", Table::Array), one("fs", Table::Filesystem));
        let absent_layers = LAYERS.map(|(name, table)| one(name, table));
        let mut layers: Vec<Vec<&Entry>> = vec![Vec::new()];
        for ((name, _), absent) in LAYERS.iter().zip(&absent_layers) {
            let all = || stack.tables(name).iter().chain(absent);
            layers = layers
                .iter()
                .flat_map(|below| all().map(|layer| [below.as_slice(), &[layer]].concat()))
                .collect();
        }
        let no_of = Entry::absent(Table::Inner, stack.span.clone());
        for array in stack.tables("array").iter().chain(&no_array) {
            for layers in &layers {
                for fs in stack.tables("fs").iter().chain(&no_fs) {
                    let of = array.tables("of").first().unwrap_or(&no_of);
                    let tables = [top, disks].into_iter().chain(disks.tables("state"));
                    let tables = tables
                        .chain([array, of])
                        .chain(layers.iter().copied())
                        .chain([fs, stack]);
                    let mut axes: Vec<Axis> = tables.flat_map(|entry| axes_of(entry, known)).collect();
                    give_zfs_all_disks(&mut axes);
                    units.push(Unit {
                        axes,
                        span: stack.span.clone(),
                    });
                }
            }
        }
    }
    units
}

/// The default level, if the only filesystem on the disks is ZFS.
fn give_zfs_all_disks(axes: &mut [Axis]) {
    let is_zfs = |given: &Given| given.value == Value::Word("zfs");
    let only_zfs = axes
        .iter()
        .any(|axis| matches!(axis.name.as_ref(), "type" | "image") && axis.values.iter().all(is_zfs));
    if let Some(level) = axes.iter_mut().find(|axis| axis.name == "level")
        && only_zfs
        && !level.written
    {
        level
            .values
            .iter_mut()
            .for_each(|given| given.value = Value::Word("none"));
    }
}

fn check_models(disks: &Entry, kind: MachineKind, known: &Known, found: &mut Found) {
    // On a host the model is only a note about the disks.
    if kind == MachineKind::Host || known.models.is_empty() {
        return;
    }
    let names: Vec<&str> = known.models.iter().map(|model| model.name.as_str()).collect();
    let of_groups = disks.tables("NAME").iter().flat_map(|group| group.values("model"));
    for given in disks.values("model").iter().chain(of_groups) {
        let name = given.value.word();
        if given.value != Value::Broken && !names.contains(&name.as_str()) {
            let help = suggest_and_show(&name, &names, "`raidlab disk list` shows all");
            found.add_with_help(&given.span, format!("unknown disk model `{name}`"), help);
        }
    }
}

/// Replaces each cell by its replicates; two or more make an axis.
fn replicates(top: &Entry, cells: &mut Vec<Cell>) {
    let count = top
        .value("replicate")
        .and_then(|given| given.value.count())
        .unwrap_or(1) as u32;
    if count < 2 {
        return;
    }
    let replicate = |cell: &Cell, number: u32| {
        let mut cell = cell.clone();
        let workload = cell.axes.iter().position(|(axis, _)| axis == "workload");
        let place = workload.unwrap_or(cell.axes.len());
        cell.axes
            .insert(place, (REPLICATE.to_owned(), (number + 1).to_string()));
        cell.replicate = number;
        cell
    };
    *cells = cells
        .iter()
        .flat_map(|cell| (0..count).map(move |number| replicate(cell, number)))
        .collect();
}

fn draws_models(top: &Entry) -> bool {
    let given = top.tables("precision").first().and_then(|entry| entry.value("models"));
    given.is_some_and(|given| matches!(given.value, Value::Flag(true)))
}

fn precision(top: &Entry, found: &mut Found) -> Precision {
    let absent = Entry::absent(Table::Precision, 0..0);
    let entry = top.tables("precision").first().unwrap_or(&absent);
    let count = |name| {
        entry
            .value(name)
            .and_then(|given| given.value.count())
            .map(|n| n as u32)
    };
    if let Some(trials) = count("trials") {
        for name in ["relative", "claims", "min_trials", "max_trials"] {
            if let Some(field) = entry.field(name) {
                let message = format!("`trials` is an exact number, so `{name}` has no effect");
                found.add_with_help(&field.span, message, "leave one of the two out");
            }
        }
        return Precision::fixed(trials);
    }
    let relative = entry.value("relative").and_then(|given| match given.value {
        Value::Share(share) => Some(share),
        _ => None,
    });
    let claims = matches!(entry.value("claims"), Some(given) if matches!(given.value, Value::Flag(true)));
    if let (Some(field), Some(_)) = (entry.field("claims"), relative.filter(|_| claims)) {
        let message =
            "a cell is done when it is precise (`relative`) or when its claims are decided (`claims`), not both";
        found.add_with_help(&field.span, message, "leave one of the two out");
    }
    if let (Some(field), true) = (entry.field("claims"), claims && top.tables("claim").is_empty()) {
        found.add_with_help(
            &field.span,
            "the study has no claims to decide",
            "add `[[claim]]`, or write `trials = 3`",
        );
    }
    let broken = ["trials", "relative", "claims", "min_trials", "max_trials"]
        .iter()
        .any(|name| entry.is_broken(name));
    if relative.is_none() && !claims && !broken {
        for name in ["min_trials", "max_trials"] {
            if let Some(field) = entry.field(name) {
                let help = "write `trials = 3`, or add `relative = 0.02` or `claims = true`";
                found.add_with_help(&field.span, format!("`{name}` needs `relative` or `claims`"), help);
            }
        }
        return Precision::fixed(3);
    }
    let max = count("max_trials");
    let min = count("min_trials").unwrap_or(3.min(max.unwrap_or(3)));
    let max = max.unwrap_or(12.max(min));
    check_trials(entry, min, max, found);
    Precision {
        relative,
        claims,
        min_trials: min,
        max_trials: max,
    }
}

fn check_trials(entry: &Entry, min: u32, max: u32, found: &mut Found) {
    let span = |name| match entry.field(name) {
        Some(field) => match &field.content {
            Content::Values(values) => values.first().map_or(&field.span, |given| &given.span),
            _ => &field.span,
        },
        None => &entry.span,
    };
    if min < 2 {
        let name = if entry.field("min_trials").is_some() {
            "min_trials"
        } else {
            "max_trials"
        };
        found.add_with_help(
            span(name),
            "an interval needs at least 2 trials",
            "write 2 or more, or `trials = 1` alone",
        );
    } else if min > max {
        let message = format!("`max_trials` ({max}) is less than `min_trials` ({min})");
        found.add_with_help(span("max_trials"), message, format!("write {min} or more"));
    }
}
