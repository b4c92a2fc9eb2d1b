//! Sweeps as maps, power cuts as verdicts, the recommended stack, the work of the disks, and the page's size.

use crate::first_look;
use crate::made;
use report::{Input, TableOptions, html, table};
use study::metric::{Better, Metric};
use study::stack::{Bitmap, Level};
use study::{DiskCounter, DiskCounters, Recorded};

/// The page's source from the first of these strings to the second.
fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let from = page.find(begin).unwrap_or_else(|| panic!("`{begin}` is missing"));
    let rest = &page[from..];
    &rest[..rest.find(end).unwrap_or_else(|| panic!("`{end}` is missing"))]
}

fn heats(map: &str) -> Vec<u32> {
    let values = map.split("--heat:").skip(1);
    values
        .map(|rest| rest.split('"').next().expect("a value").parse().expect("a number"))
        .collect()
}

#[test]
fn a_sweep_over_two_axes_is_a_map_with_a_third_as_small_multiples() {
    let page = html(&made::sweep());
    let write = between(&page, "<figcaption><strong>write</strong>", "</figure>");
    assert_eq!(write.matches("<table class=\"map\">").count(), 2);
    assert!(write.contains("type = ext4") && write.contains("type = xfs"));
    assert!(!write.contains("block_size"), "it follows from the type");
    assert!(write.contains("rowspan=\"2\">chunk</th>") && write.contains("colspan=\"2\">bitmap</th>"));
    // The last one is followed by the legend.
    let maps: Vec<Vec<u32>> = write
        .split("<table class=\"map\">")
        .skip(1)
        .map(|map| heats(between(map, "", "</table>")))
        .collect();
    assert!(maps.iter().all(|heats| heats.len() == 8));
    // One scale for both: 6.7 MiB/s is the minimum and 80 the maximum, and each doubling has the same distance.
    let (ext4, xfs) = (&maps[0], &maps[1]);
    assert_eq!((ext4[1], xfs[6]), (0, 100));
    assert!(ext4.iter().zip(xfs).all(|(one, other)| one.abs_diff(*other) <= 1));
    let steps: Vec<u32> = [0, 2, 4].map(|place| xfs[place + 2] - xfs[place]).to_vec();
    assert!(steps.iter().all(|step| step.abs_diff(steps[0]) <= 1), "{steps:?}");
    // Figures are in the cells, and the best one is marked by more than its shade.
    assert!(
        write.contains("80.") && write.contains("aria-label=\"best: \">●</span>80."),
        "{write}"
    );
}

#[test]
fn what_hardly_differs_has_nearly_one_shade() {
    let page = html(&made::sweep());
    let mut heats = heats(between(&page, "<figcaption><strong>randwrite</strong>", "</figure>"));
    // The legend is not stronger than the strongest place.
    let legend = heats.pop();
    assert_eq!(heats.len(), 16);
    assert_eq!(legend, heats.iter().max().copied());
    assert!(
        heats.iter().max().expect("some") - heats.iter().min().expect("some") < 5,
        "{heats:?}"
    );
}

#[test]
fn a_doubtful_sample_is_seen_at_the_top_in_its_map_and_in_its_chart() {
    let page = html(&made::sweep());
    assert!(page.contains("1 of 96 samples are doubtful and excluded from all figures: cold-cache failed."));
    let write = between(&page, "<figcaption><strong>write</strong>", "</figure>");
    assert_eq!(write.matches("doubtful samples: 1").count(), 1);
    assert_eq!(page.matches("<svg class=\"out\"").count(), 1);
}

#[test]
fn points_of_a_workloads_own_axes_are_one_section() {
    let page = html(&made::workload_sweep());
    assert_eq!(page.matches("<section class=\"workload\"").count(), 1);
    assert_eq!(page.matches("<details class=\"point\">").count(), 6);
    let map = between(&page, "<table class=\"map\">", "</table>");
    // For times, the minimum is the best.
    assert_eq!(heats(map).first(), Some(&0));
    assert_eq!(heats(map).last(), Some(&100));
}

/// Three filesystems, one of them with two block sizes, span no map.
#[test]
fn a_sparse_matrix_is_no_map() {
    let page = html(&first_look::input());
    assert!(!page.contains("<table class=\"map\">"));
    assert_eq!(page.matches("<figure class=\"panel\">").count(), 8);
}

#[test]
fn power_cuts_are_a_table_of_verdicts() {
    let input = made::power_cuts();
    let page = html(&input);
    assert!(page.contains(" Of 2 stacks 1 lost nothing in any power cut, 1 lost data.</p>"));
    let section = between(&page, "<section class=\"cuts\"", "</section>");
    let row = |stack: &str| between(section, &format!("<th scope=\"row\">{stack}</th>"), "</tr>").to_owned();
    assert!(row("ext4").contains("nothing lost</b> <span class=\"fine\">under 39 % of cuts"));
    let lost = row("ext4 nobarrier");
    assert!(
        lost.contains("<b>loses data</b>") && lost.contains("<b>2</b>") && lost.contains(">6</td>"),
        "{lost}"
    );
    assert!(row("xfs").contains("not tried"));
    assert!(section.contains("lost: u10 is gone"));
    assert!(!page.contains("<figure class=\"panel\">"), "it is no speed");
    assert!(!page.contains("power-cut.finding"), "a finding is no version");
    let text = table(&input, TableOptions::plain(140));
    let line = |stack: &str| {
        text.lines()
            .find(|line| line.trim_start().starts_with(stack))
            .expect("a row")
            .to_owned()
    };
    assert!(line("ext4 nobarrier").contains("loses data"), "{text}");
    assert!(line("xfs").contains("not tried"));
    for width in 40..=140 {
        let text = table(&input, TableOptions::plain(width));
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_recommended_stack_can_be_built_by_copying() {
    let page = html(&first_look::input()).replace("&#x2f;", "/");
    let section = between(&page, "<section id=\"recommended\"", "</section>");
    assert!(section.contains("<summary>ext4</summary>"), "{section}");
    for line in [
        "mdadm --create /dev/md0 --level=1 --raid-devices=2",
        "mkfs.",
        "mount -t ",
    ] {
        assert!(section.contains(line), "{line}: {section}");
    }
    for dangerous in ["assume-clean", "prezeroed", " -f ", "/dev/ubd"] {
        assert!(!section.contains(dangerous), "{dangerous}: {section}");
    }
    assert!(section.contains("All data on these disks is lost."));
}

#[test]
fn settings_and_mount_options_of_the_recommended_stack_are_among_its_commands() {
    let mut input = first_look::input();
    for cell in &mut input.plan.cells {
        cell.stack_mut().array.bitmap = Bitmap::None;
        cell.stack_mut().mount_options = vec!["noatime".to_owned()];
        cell.stack_mut().scheduler = Some("none".to_owned());
        cell.stack_mut().read_ahead_sectors = Some(4096);
    }
    let page = html(&input).replace("&#x2f;", "/");
    let section = between(&page, "<section id=\"recommended\"", "</section>");
    for line in [
        "echo none &gt; /sys/block/DISK2/queue/scheduler",
        "blockdev --setra 4096 /dev/md0",
        "-o noatime /dev/md0 /mnt",
    ] {
        assert!(section.contains(line), "{line}: {section}");
    }
}

#[test]
fn without_a_difference_no_stack_is_recommended() {
    let mut input = first_look::input();
    for one in &mut input.samples {
        one.entry.value = 50.0 + f64::from(one.trial.index);
    }
    let page = html(&input);
    assert!(page.contains(" and differences of less than a tenth are not ranked"));
    assert!(!page.contains("<section id=\"recommended\""));
}

#[test]
fn effects_stand_next_to_figures() {
    let page = html(&first_look::input());
    // JFS writes small files at 0.84 MiB/s, btrfs at 11.6: 0.072 times.
    let row = page
        .split("<div class=\"row")
        .find(|row| row.contains("aria-label=\"jfs: median") && row.contains("<b>0.8"))
        .expect("jfs");
    assert!(
        row.contains("<span class=\"effect\">0.072×</span>")
            || row.contains("<span class=\"effect\">0.073×</span>"),
        "{row}"
    );
    assert!(page.contains("Ranking, with effects and their intervals"));
}

#[test]
fn what_the_disks_did_is_there_on_demand() {
    let mut input = made::sweep();
    let trials: Vec<_> = input.trials.iter().map(|trial| trial.key).collect();
    for trial in trials {
        for (metric, value) in [
            (Metric::Duration, 1.0),
            (Metric::DeviceReads, 100.0),
            (Metric::DeviceRead, 4.0),
            (Metric::DeviceWrites, 50.0),
            (Metric::DeviceWritten, 4.0),
            (Metric::DeviceBusy, 43.0),
            (Metric::DeviceBusiest, 7.5),
        ] {
            made::sample(&mut input, trial, "randwrite", metric, value);
        }
    }
    let page = html(&input);
    let disks = between(&page, "<summary>Disk activity</summary>", "</details>");
    // 2 MiB/s for a second: twice that read and written, in requests of 41 and 82 KiB.
    let row =
        "<td>43 %</td><td>7.5 %</td><td>100</td><td>41.0</td><td>50</td><td>81.9</td><td>2.00</td><td>2.00</td>";
    assert!(disks.contains(row), "{disks}");
}

/// Only for tests that write, on arrays with parity, and if something was read.
#[test]
fn read_modify_write_is_named_where_parity_is_written() {
    let mut input = first_look::input();
    for cell in &mut input.plan.cells {
        let level = if cell.stack_label == "xfs" {
            Level::Raid5
        } else {
            Level::Raid1
        };
        cell.stack_mut().array.level = level;
    }
    let trials: Vec<_> = input.trials.iter().map(|trial| trial.key).collect();
    input
        .samples
        .retain(|sample| sample.entry.metric.better() != Better::Neither);
    for trial in trials {
        for test in ["write", "read"] {
            for (metric, value) in [
                (Metric::DeviceReads, 100.0),
                (Metric::DeviceRead, 4000.0),
                (Metric::DeviceWrites, 50.0),
                (Metric::DeviceWritten, 4000.0),
            ] {
                made::sample(&mut input, trial, test, metric, value);
            }
        }
    }
    let page = html(&input);
    let marked: Vec<&str> = page
        .split("<tr>")
        .filter(|row| row.contains("<span class=\"fine block\">read-modify-write</span>"))
        .collect();
    assert_eq!(marked.len(), 2, "of each workload one row: {marked:?}");
    for row in marked {
        assert!(row.starts_with("<td>write</td><th scope=\"row\">xfs</th>"), "{row}");
    }
    // Files of 2 KiB are partial stripes anyway.
    let note = "medium files`, write: partial stripes were written, and the disks were read to compute their parity, on `xfs` (";
    for said in [&page, &table(&input, TableOptions::plain(10_000))] {
        assert!(said.contains(note), "{said}");
        assert!(said.contains("a larger `stripe_cache` or a smaller `chunk` may be faster"));
        assert_eq!(said.matches("partial stripes were written").count(), 1);
    }
}

/// Percentages of seeks, rotation and transfer, over all disks and completed trials.
#[test]
fn the_mechanics_of_whole_trials_are_shares() {
    let mut input = first_look::input();
    let of_cell = |input: &Input, place: usize| input.plan.cells[place].id;
    let (cell, other) = (of_cell(&input, 0), of_cell(&input, 1));
    let trials: Vec<_> = input
        .trials
        .iter()
        .map(|trial| trial.key)
        .filter(|key| key.cell == cell)
        .collect();
    for trial in trials {
        for metric in [Metric::DeviceReads, Metric::DeviceWrites] {
            made::sample(&mut input, trial, "write", metric, 1.0);
        }
        for (disk, counts) in [
            ("vda", [(DiskCounter::SeekNs, 1000), (DiskCounter::RotationNs, 400)]),
            ("vdb", [(DiskCounter::SeekNs, 1000), (DiskCounter::TransferNs, 1600)]),
        ] {
            let entry = DiskCounters {
                disk: disk.to_owned(),
                counts: counts.into(),
                contents: None,
            };
            input.facts.disk_counters.push(Recorded { trial, entry });
        }
    }
    let page = html(&input);
    let stack = |id| {
        let cell = input.plan.cells.iter().find(|cell| cell.id == id);
        cell.expect("a cell").stack_label.clone()
    };
    let row = format!(
        "<th scope=\"row\">{}</th><td class=\"number\">50 %</td><td class=\"number\">10 %</td><td class=\"number\">40 %</td>",
        stack(cell)
    );
    let table = between(&page, "aria-label=\"Mechanics of the disks", "</table>");
    assert!(table.contains(&row), "{table}");
    assert!(
        !table.contains(&format!("<th scope=\"row\">{}</th>", stack(other))),
        "{table}"
    );
}

#[test]
fn ten_thousand_samples_fit_in_three_megabytes() {
    let input = made::many(10_000);
    assert!(input.samples.len() >= 10_000);
    let page = html(&input);
    assert!(
        page.len() < 3_000_000,
        "{} bytes of {} samples",
        page.len(),
        input.samples.len()
    );
}
