//! Combines stacks and workloads to cells; excludes impossible combinations and reports them.

use crate::axes::{Axis, Point, points, size, text_bytes};
use crate::expand::build::members;
use crate::expand::disk_state;
use crate::expand::groups::Fixed;
use crate::expand::machine::{machine, stack};
use crate::rules::impossible::{Impossible, impossible};
use crate::rules::integrity::mode_of_nothing;
use crate::rules::layers::setting_of_nothing;
use crate::rules::machine::{cores_of_nothing, has_no_cores, is_repeated, write_cache_of_flash};
use crate::rules::stack::check_stack;
use crate::syntax::diagnostic::{Found, Span};
use crate::syntax::unit::describe_size;
use crate::workload_forms::{Variant, WorkloadEntry, check_work};
use crate::{INFINITE, Known};
use std::collections::HashSet;
use std::sync::Arc;
use study::CellId;
use study::plan::{Cell, LeftOut};
use study::stack::{Level, MachineKind, MachineSpec, StackSpec};

/// Limit: more cells than anyone can run, but few enough to fit in memory.
const MOST_CELLS: usize = 1_000_000;

/// Limit of the text in all cells: values of axes, names, job files. Plain studies have about 200 bytes a cell.
const TEXT_BYTES_MAX: usize = 256 << 20;

/// Variants of a workload that are made once for all stacks; more would take too much memory.
const SHARED_VARIANTS_MAX: usize = 4096;

/// Names of one and two letters: 26 + 26 × 26.
const GUEST_DISKS_MAX: u32 = 702;

/// One array with one filesystem of a `[[stack]]`, each with its axes.
pub(crate) struct Unit {
    pub axes: Vec<Axis>,
    pub span: Span,
}

/// Settings common to all cells.
pub(crate) struct Setting<'a> {
    pub kind: MachineKind,
    pub known: &'a Known,
    pub fixed: &'a Fixed,
}

#[derive(Default)]
pub(crate) struct Matrix {
    pub cells: Vec<Cell>,
    pub left_out: Vec<LeftOut>,
}

/// Reasons why a stack or a workload has no possible combination.
#[derive(Default)]
struct Verdict {
    possible: bool,
    reasons: Vec<(Span, Impossible)>,
}

impl Verdict {
    fn tell(self, found: &mut Found) {
        if !self.possible {
            for (span, impossible) in self.reasons {
                found.add_with_help(&span, impossible.reason, impossible.help);
            }
        }
    }
}

impl Matrix {
    pub fn expand(setting: &Setting, units: &[Unit], workloads: &[WorkloadEntry], found: &mut Found) -> Self {
        let mut matrix = Self::default();
        if too_many(units, workloads, found) {
            return matrix;
        }
        matrix.cells.reserve_exact(cells_of(units, workloads));
        let axes = stack_axes(units);
        let shared = |workload: &'_ WorkloadEntry| size(&workload.axes) <= SHARED_VARIANTS_MAX;
        let shared: Vec<Option<Vec<Variant<'_>>>> = workloads
            .iter()
            .map(|workload| shared(workload).then(|| workload.variants().collect()))
            .collect();
        let mut of_workloads: Vec<Verdict> = workloads.iter().map(|_| Verdict::default()).collect();
        let mut of_work_on_units = Vec::new();
        for unit in units {
            let mut of_unit = Verdict::default();
            let mut of_work = Verdict::default();
            for point in points(&unit.axes) {
                let mut words = place(&point, &axes);
                let Some((machine, stack, disk_bytes)) = matrix.stack(setting, &point, &words, unit, &mut of_unit)
                else {
                    continue;
                };
                if is_repeated(&machine, &point) || disk_state::is_repeated(&machine, &point, setting.known) {
                    continue;
                }
                if has_no_cores(&machine, &point) {
                    // Labels and tables give it no number.
                    words
                        .iter_mut()
                        .filter(|(axis, _)| axis == "cores")
                        .for_each(|(_, word)| INFINITE.clone_into(word));
                }
                for foreign in disk_state::foreign_axes(&machine, setting.known) {
                    words
                        .iter_mut()
                        .filter(|(axis, _)| axis == foreign)
                        .for_each(|(_, word)| "default".clone_into(word));
                }
                let on = On {
                    point: &point,
                    words: &words,
                    machine,
                    stack,
                    disk_bytes,
                };
                for ((workload, shared), verdict) in workloads.iter().zip(&shared).zip(&mut of_workloads) {
                    // A workload that could not be read may be possible.
                    verdict.possible |= workload.broken;
                    of_work.possible |= workload.broken;
                    let mut add = |variant| matrix.work(&on, workload, variant, verdict, &mut of_work);
                    match shared {
                        Some(variants) => variants.iter().cloned().for_each(&mut add),
                        None => workload.variants().for_each(&mut add),
                    }
                }
            }
            of_unit.tell(found);
            of_work_on_units.push(of_work);
        }
        // A workload that is impossible everywhere is reported once, as an error of the workload; otherwise as an
        // error of the stack.
        if of_workloads.iter().all(|verdict| verdict.possible) {
            of_work_on_units.into_iter().for_each(|verdict| verdict.tell(found));
        }
        of_workloads.into_iter().for_each(|verdict| verdict.tell(found));
        let names: HashSet<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
        if names.len() == workloads.len() {
            twice(&matrix.cells, units, found);
        }
        matrix
    }

    /// The stack at a point, if it is possible.
    fn stack(
        &mut self,
        setting: &Setting,
        point: &Point,
        words: &[(String, String)],
        unit: &Unit,
        verdict: &mut Verdict,
    ) -> Option<(Arc<MachineSpec>, Arc<StackSpec>, Option<u64>)> {
        let machine = machine(point, setting.kind, setting.fixed, setting.known);
        let disk_bytes = setting.known.capacity(setting.kind, &machine, &members(point));
        let stack = stack(point, disk_bytes, setting.fixed);
        let mut reasons = check_stack(&machine, &stack, disk_bytes);
        reasons.extend(cores_of_nothing(&machine, point));
        reasons.extend(mode_of_nothing(point));
        reasons.extend(setting_of_nothing(&stack, point));
        reasons.extend(beyond_a_guest(&machine, setting.known));
        reasons.extend(write_cache_of_flash(&machine, &stack, setting.known));
        if reasons.is_empty() {
            reasons.extend(no_array(point, &machine, &stack));
        }
        reasons.retain(|reason| !reason.about.iter().any(|axis| point.is_broken(axis)));
        if reasons.is_empty() {
            verdict.possible = true;
            return Some((Arc::new(machine), Arc::new(stack), disk_bytes));
        }
        self.leave_out(words.to_vec(), &reasons);
        for reason in reasons {
            let span = reason
                .about
                .iter()
                .find_map(|axis| point.span(axis))
                .unwrap_or(&unit.span);
            verdict.reasons.push((span.clone(), reason));
        }
        None
    }

    fn work(
        &mut self,
        on: &On,
        workload: &WorkloadEntry,
        variant: Variant<'_>,
        verdict: &mut Verdict,
        of_unit: &mut Verdict,
    ) {
        let mut axes = on.words.to_vec();
        axes.push(("workload".to_owned(), workload.name.clone()));
        axes.extend(variant.axes);
        let mut reasons = check_work(&on.machine, &on.stack, &variant.spec, on.disk_bytes);
        let broken = |axis: &str| variant.point.is_broken(axis) || on.point.is_broken(axis);
        reasons.retain(|reason| !reason.about.iter().any(|axis| broken(axis)));
        if !reasons.is_empty() {
            self.leave_out(axes, &reasons);
            for reason in reasons {
                let of_work = |axis: &&'static str| variant.point.span(axis);
                let of_stack = |axis: &&'static str| on.point.span(axis);
                let on_stack = reason.about.iter().find_map(of_stack).unwrap_or(&workload.span);
                let span = reason.about.iter().find_map(of_work).unwrap_or(on_stack);
                of_unit.reasons.push((on_stack.clone(), reason.clone()));
                verdict.reasons.push((span.clone(), reason));
            }
            return;
        }
        verdict.possible = true;
        of_unit.possible = true;
        if !on.point.has_broken() && !variant.point.has_broken() {
            self.cells.push(Cell {
                key: String::new(),
                id: CellId::default(),
                stack_label: String::new(),
                replicate: 0,
                acts: Vec::new(),
                axes,
                machine: on.machine.clone(),
                stack: on.stack.clone(),
                workload: variant.spec,
            });
        }
    }

    fn leave_out(&mut self, axes: Vec<(String, String)>, reasons: &[Impossible]) {
        let reasons: Vec<&str> = reasons.iter().map(|reason| reason.reason.as_str()).collect();
        self.left_out.push(LeftOut {
            axes,
            reason: reasons.join("; "),
        });
    }
}

/// Several disks without an array: only one of them would be used, silently.
fn no_array(point: &Point, machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    let count = machine.member_count(&stack.array);
    if count < 2 || stack.array.level != Level::Single || point.is_written("level") {
        return None;
    }
    let reason = format!("there are {count} disks and no `array`: the stack would use one of them");
    let help =
        "write `array = { level = 5 }` (or 0, 1, 6, 10), or `array = { level = \"single\" }` if one is meant";
    impossible(&["count"], reason, help)
}

/// More disks than a guest's kernel has names for, or more memory than this machine has.
fn beyond_a_guest(machine: &MachineSpec, known: &Known) -> Option<Impossible> {
    if machine.kind != MachineKind::Lab {
        return None;
    }
    let disks: u32 = machine.disks.iter().map(|group| group.count).sum();
    if disks > GUEST_DISKS_MAX {
        let reason =
            format!("a guest has at most {GUEST_DISKS_MAX} disks (/dev/vda to /dev/vdzz), but this needs {disks}");
        return impossible(
            &["count"],
            reason,
            format!("write `count = {GUEST_DISKS_MAX}` or less, in all groups together"),
        );
    }
    let there = known.memory_bytes.filter(|there| machine.ram_bytes > *there)?;
    let reason = format!(
        "`ram` ({}) is larger than the memory of this machine ({})",
        describe_size(machine.ram_bytes),
        describe_size(there)
    );
    impossible(&["ram"], reason, "write a smaller `ram`, such as `1G`")
}

/// A possible stack, to be combined with workloads.
struct On<'a> {
    point: &'a Point<'a>,
    words: &'a [(String, String)],
    machine: Arc<MachineSpec>,
    stack: Arc<StackSpec>,
    disk_bytes: Option<u64>,
}

fn sum(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.fold(0, usize::saturating_add)
}

fn cells_of(units: &[Unit], workloads: &[WorkloadEntry]) -> usize {
    let stacks = sum(units.iter().map(|unit| size(&unit.axes)));
    let works = sum(workloads.iter().map(|workload| size(&workload.axes)));
    stacks.saturating_mul(works.max(1))
}

fn too_many(units: &[Unit], workloads: &[WorkloadEntry], found: &mut Found) -> bool {
    let cells = cells_of(units, workloads);
    let stacks = sum(units.iter().map(|unit| size(&unit.axes)));
    let works = sum(workloads.iter().map(|workload| size(&workload.axes)));
    let span = units.first().map_or(0..0, |unit| unit.span.clone());
    if cells <= MOST_CELLS {
        let of_units = sum(units
            .iter()
            .map(|unit| size(&unit.axes).saturating_mul(text_bytes(&unit.axes))));
        let of_works = sum(workloads
            .iter()
            .map(|workload| size(&workload.axes).saturating_mul(workload.text_bytes())));
        // Each stack is combined with all workloads, and each workload with all stacks.
        let bytes = (of_units.saturating_mul(works)).saturating_add(of_works.saturating_mul(stacks));
        if bytes <= TEXT_BYTES_MAX {
            return false;
        }
        let message = format!(
            "the names, values and job files of {cells} cells take {} MiB",
            bytes >> 20
        );
        let help = format!(
            "shorten them, or the lists: at most {} MiB are possible",
            TEXT_BYTES_MAX >> 20
        );
        found.add_with_help(&span, message, help);
        return true;
    }
    let message = format!("the axes multiply to {cells} cells");
    found.add_with_help(
        &span,
        message,
        format!("shorten some of the lists: at most {MOST_CELLS} cells are possible"),
    );
    true
}

/// The axes of all stacks in the order of the file. Level and type are always included, because they describe every
/// stack.
fn stack_axes(units: &[Unit]) -> Vec<&str> {
    let mut axes: Vec<(usize, &str)> = Vec::new();
    for axis in units.iter().flat_map(|unit| &unit.axes) {
        let start = match axis.values.first() {
            Some(given) if axis.written => given.span.start,
            _ if matches!(axis.name.as_ref(), "level" | "type") => usize::MAX,
            _ => continue,
        };
        match axes.iter_mut().find(|(_, name)| *name == axis.name.as_ref()) {
            Some((first, _)) => *first = start.min(*first),
            None => axes.push((start, axis.name.as_ref())),
        }
    }
    axes.sort_by_key(|(start, _)| *start);
    axes.into_iter().map(|(_, name)| name).collect()
}

/// The values of a point on the axes of the plan.
fn place(point: &Point, axes: &[&str]) -> Vec<(String, String)> {
    axes.iter()
        .map(|axis| ((*axis).to_owned(), point.get(axis).word()))
        .collect()
}

/// Two cells with the same values would be the same cell measured twice. Duplicate workload names were already
/// reported.
fn twice(cells: &[Cell], units: &[Unit], found: &mut Found) {
    let mut known = HashSet::with_capacity(cells.len());
    let Some(cell) = cells.iter().find(|cell| !known.insert(cell.axes.as_slice())) else {
        return;
    };
    let words: Vec<String> = cell.axes.iter().map(|(axis, word)| format!("{axis}={word}")).collect();
    let span = units.last().map_or(0..0, |unit| unit.span.clone());
    let message = format!("the same stack occurs twice: {}", words.join(", "));
    found.add_with_help(&span, message, "leave one of the two out");
}
