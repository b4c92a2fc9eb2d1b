//! What each figure of the disks' models changes.

use report::{TableOptions, sensitivity};
use study::stack::MovedFigure;

/// The sweep's stacks with one chunk, and each with two figures moved. `seeks`: what slower seeks make of `randwrite` on ext4.
fn input(seeks: f64) -> report::Input {
    let mut input = crate::made::sweep();
    input
        .plan
        .cells
        .retain(|cell| cell.stack_label.starts_with("chunk 16K") && cell.stack_label.ends_with("none"));
    let own = input.plan.cells.clone();
    let kept: Vec<_> = own.iter().map(|cell| cell.id).collect();
    input
        .samples
        .retain(|sample| kept.contains(&sample.trial.cell) && sample.entry.test == "randwrite");
    for sample in &mut input.samples {
        // XFS is a tenth slower.
        sample.entry.value *= if sample.trial.cell == kept[0] { 1.1 } else { 1.0 };
    }
    let figures = [
        ("disk.seek", "seek times", 1.2),
        ("disk.queue", "the order of its queue", 2.0),
    ];
    for (figure, words, factor) in figures {
        for cell in &own {
            let mut moved = cell.clone();
            let end = MovedFigure {
                model: "wd-500gb-2007".to_owned(),
                figure: figure.to_owned(),
                factor,
                words: words.to_owned(),
            };
            moved.stack_label = end.of_stack(&cell.stack_label);
            moved.key = format!("{} | {}", moved.stack_label, cell.workload.name);
            moved.axes.push(("figure".to_owned(), end.end()));
            moved.machine_mut().moved = Some(end);
            input.plan.cells.push(moved);
        }
    }
    input.plan.identify();
    let all = input.plan.cells.clone();
    for cell in all.iter().filter(|cell| cell.machine.moved.is_some()) {
        let moved = cell.machine.moved.as_ref().expect("it is");
        let base = usize::from(cell.stack_label.contains("xfs"));
        let effect = match (moved.figure.as_str(), base) {
            ("disk.seek", 0) => seeks,
            _ => 1.001,
        };
        let of_base: Vec<_> = input
            .samples
            .iter()
            .filter(|sample| sample.trial.cell == all[base].id)
            .cloned()
            .collect();
        for mut sample in of_base {
            sample.trial.cell = cell.id;
            sample.entry.value *= effect;
            input.samples.push(sample);
        }
    }
    input
}

#[test]
fn issue_41_the_figure_that_decides_is_named_with_what_measures_it() {
    let text = sensitivity(&input(0.8), TableOptions::plain(10_000)).expect("figures were moved");
    assert!(
        text.contains(" seek times     1.20                        −20 %"),
        "{text}"
    );
    assert!(!text.contains("the order of its queue"), "{text}");
    let words = "small files randwrite: chunk 16K ext4 bitmap none leads as modelled, chunk 16K xfs bitmap none with `seek times` × 1.20, \
                 which `raidlab disk measure DEVICE -o FILE` measures.";
    assert!(text.contains(words), "{text}");
    let text = sensitivity(&input(0.95), TableOptions::plain(10_000)).expect("figures were moved");
    assert!(
        text.contains("No figure at an end of its range changes which stack leads"),
        "{text}"
    );
}

#[test]
fn a_run_with_the_models_as_they_are_has_none() {
    assert_eq!(sensitivity(&crate::made::sweep(), TableOptions::plain(80)), None);
}
