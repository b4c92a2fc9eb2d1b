//! The contents of the page, and that no study can inject code into it.

use crate::first_look::input;
use crate::made;
use report::html;
use study::act::{Act, ActKind, Due};
use study::metric::Metric;
use study::stack::{MachineKind, ProcessorSpec};
use study::{CellId, Facts, Recorded, TrialKey};

/// The sentences above the scoreboard.
fn verdict(input: &report::Input) -> String {
    let page = html(input);
    let verdict = page.split("<p class=\"verdict\">").nth(1).expect("a verdict");
    verdict.split("</p>").next().expect("its end").to_owned()
}

#[test]
fn the_page_stands_alone_and_runs_nothing() {
    let page = html(&input());
    for foreign in [
        "<script", "<link", "<img", "<iframe", "src=", "href=\"h", "url(", "@import", "http://", "https://",
    ] {
        assert!(!page.contains(foreign), "the page contains `{foreign}`");
    }
    assert_eq!(
        page.matches("href=").count(),
        page.matches("href=\"#").count(),
        "links stay in the page"
    );
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn a_strangers_study_cannot_inject() {
    const HOSTILE: &str = "\"'><script>alert(1)</script><svg onload=alert(2)>";
    let mut input = input();
    let hostile = HOSTILE.to_owned();
    input.plan.title = hostile.clone();
    input.plan.description = hostile.clone();
    input.plan.source = format!("title = {HOSTILE}");
    input.plan.left_out[0].reason = hostile.clone();
    input.plan.claims[0].says = hostile.clone();
    input.plan.claims[0].that = hostile.clone();
    input.plan.claims[0].published = Some(hostile.clone());
    input.run.command = hostile.clone();
    input.run.raidlab_version = hostile.clone();
    input.disks[0].words = hostile.clone();
    for cell in &mut input.plan.cells {
        cell.stack_label.push_str(HOSTILE);
        cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
        cell.stack_mut().mount_options.push(hostile.clone());
    }
    // The cells keep the identities that trials refer to.
    for row in &mut input.samples {
        row.entry.test = format!("{}{HOSTILE}", row.entry.test).into();
        row.failed_guards.iter_mut().for_each(|guard| guard.push_str(HOSTILE));
    }
    for row in &mut input.calls {
        row.entry.argv.push(hostile.clone());
    }
    input
        .facts
        .provenance
        .iter_mut()
        .for_each(|row| row.entry.value.push_str(HOSTILE));
    input
        .guards
        .iter_mut()
        .for_each(|row| row.entry.detail.push_str(HOSTILE));

    let page = html(&input);
    assert!(
        !page.contains("<script") && !page.contains("<svg onload"),
        "it must be escaped everywhere"
    );
    assert!(!page.contains("\"'>"), "no attribute ends early");
    assert!(page.matches("&lt;script&gt;").count() > 100, "and is there, as text");
}

#[test]
fn simulated_figures_say_so_and_real_ones_do_not() {
    let mut input = input();
    let simulated = html(&input);
    assert!(simulated.contains("<strong>Simulated disks, virtual time.</strong>"));
    assert_eq!(
        simulated.matches("<span class=\"tag\">simulated</span>").count(),
        4,
        "once a workload, once for the claims, and once for the recommended stack"
    );
    input.run.machine = MachineKind::Host;
    let real = html(&input).to_lowercase();
    // The style sheet has a rule with that name.
    let body = &real[real.find("<body>").expect("a body")..];
    assert!(!body.contains("simulated"));
}

#[test]
fn what_went_wrong_is_told() {
    let page = html(&input());
    assert!(page.contains("1 trial of 42 failed; 1 of 164 guards failed."));
    assert!(page.contains("the guest was killed by signal 9"));
    assert!(page.contains("excluded: cold-cache failed"));
    assert!(page.contains("JFS supports only 4 KiB blocks"));
    assert!(
        page.contains("<span class=\"sign\" aria-hidden=\"true\">✓</span>supported</span>"),
        "JFS is slow"
    );
}

#[test]
fn a_run_that_has_just_begun_has_a_page_too() {
    let mut input = input();
    input.trials.truncate(1);
    input.samples.clear();
    input.latencies.clear();
    input.calls.clear();
    input.guards.clear();
    input.facts = Facts::default();
    input.run.finished_at_unix_s = None;
    let page = html(&input);
    assert!(page.contains("Nothing has been measured yet."));
    assert!(page.contains("The run is not finished: 1 of at least 42 trials are done."));
}

#[test]
fn all_that_repeats_the_run_is_there() {
    let input = input();
    let page = html(&input).replace("&#x2f;", "/");
    let study = input.plan.source.replace('"', "&quot;");
    let needed = [
        &input.run.command,
        &input.run.digest_sha256,
        &input.run.study_sha256,
        &study,
    ];
    for text in needed {
        assert!(page.contains(text.as_str()), "`{text}` is missing");
    }
    assert!(page.contains("mkfs.xfs -q -f -b size=4096 /dev/md0"));
}

/// The page of a study with a modelled processor claimed that CPU time is free.
#[test]
fn a_modelled_processor_is_named() {
    let mut input = input();
    assert!(html(&input).contains("Processor time is not modelled."));
    input.plan.cells[0].machine_mut().processor = Some(ProcessorSpec {
        model_sha256: None,
        model: "pentium-3".to_owned(),
        cores: 1,
    });
    assert!(html(&input).contains("that of a model (pentium-3), and not modelled where none is named."));
    let processor = input.plan.cells[0].machine.processor.clone();
    for cell in &mut input.plan.cells {
        cell.machine_mut().processor.clone_from(&processor);
    }
    assert!(html(&input).contains("Processor time is that of a model (pentium-3)."));
}

/// The reason of a guard was repeated for every trial.
#[test]
fn issue_12_17_a_guard_that_failed_in_many_trials_is_one_line() {
    let mut input = input();
    let cell = input.plan.cells[0].id;
    let guard = input
        .guards
        .iter()
        .find(|row| !row.entry.passed)
        .expect("one failed")
        .clone();
    input.guards.clear();
    for index in 0..3 {
        let trial = TrialKey {
            cell,
            index,
            ..guard.trial
        };
        input.guards.push(Recorded { trial, ..guard.clone() });
    }
    let page = html(&input);
    let row = format!(
        "<td>3: 1, 2, 3</td><td>{}</td>",
        guard.entry.test.as_deref().expect("of a test")
    );
    assert_eq!(page.matches(&row).count(), 1, "{row}");
    assert_eq!(
        page.matches(&format!("<td class=\"wrap\">{}</td>", guard.entry.detail))
            .count(),
        1
    );
}

/// The best stack was marked only by colour.
#[test]
fn issue_12_17_a_screen_reader_says_what_is_best() {
    let page = html(&input());
    let charts: Vec<&str> = page.split("role=\"img\" aria-label=\"").skip(1).collect();
    let is_best = |chart: &&&str| chart.split('"').next().is_some_and(|label| label.contains("; best: "));
    let (labels, classes) = (
        charts.iter().filter(is_best).count(),
        page.matches("<div class=\"row best\">").count(),
    );
    assert!(classes > 0);
    assert_eq!(labels, classes);
}

/// One trial of each stack, on the scale of the test, and as text for screen readers.
#[test]
fn throughput_over_time_is_drawn_for_each_stack() {
    let input = input();
    let page = html(&input);
    let drawn = page
        .split("<summary>Throughput over time</summary>")
        .nth(1)
        .expect("it is there");
    let drawn = drawn.split("</details>").next().expect("its end");
    let stacks = input.plan.stack_labels();
    assert!(
        stacks
            .iter()
            .all(|stack| drawn.contains(&format!("aria-label=\"{stack}: "))),
        "{drawn}"
    );
    assert!(drawn.contains("in 5 intervals of 250 ms"), "{drawn}");
    let mut without = input;
    without.throughput.clear();
    assert!(!html(&without).contains("Throughput over time"));
}

/// A row for each stack with latencies, with an outline and with text for screen readers.
#[test]
fn latency_histograms_are_drawn_for_each_stack() {
    let input = input();
    let page = html(&input);
    let latencies = page
        .split("<summary>Latencies of single operations</summary>")
        .nth(1)
        .expect("they are there");
    let latencies = latencies.split("</details>").next().expect("their end");
    let histograms: Vec<&str> = latencies.split("<figure class=\"histogram\">").skip(1).collect();
    assert!(!histograms.is_empty());
    for histogram in &histograms {
        let histogram = histogram.split("</figure>").next().expect("its end");
        let stacks = input.plan.stack_labels();
        let drawn = stacks
            .iter()
            .filter(|stack| histogram.contains(&format!("aria-label=\"{stack}: ")));
        assert_eq!(
            drawn.count(),
            histogram.matches("<path class=\"bar\" d=\"M").count(),
            "{histogram}"
        );
        assert!(histogram.matches("<path").count() >= 2, "{histogram}");
        assert!(histogram.matches("<text").count() >= 2, "an axis: {histogram}");
    }
    let mut without = input;
    without.latencies.clear();
    assert!(!html(&without).contains("Latencies of single operations"));
}

/// Unintended measurements of the study were only reported with the plan.
#[test]
fn issue_12_3_the_report_warns_as_the_plan_does() {
    let mut input = input();
    assert!(!html(&input).contains("Warning: "));
    input.advice = vec!["the working set fits in memory".to_owned()];
    assert!(html(&input).contains(">Warning: the working set fits in memory.</p>"));
}

/// With two stacks nothing above the fold said how long a rebuild takes.
#[test]
fn issue_39_a4_rebuilds_of_several_stacks_stand_in_the_first_lines() {
    let mut input = input();
    let cells: Vec<(CellId, f64)> = ["ext4", "xfs"]
        .into_iter()
        .zip([12.8, 14.5])
        .flat_map(|(stack, hours)| {
            let of_stack = input.plan.cells.iter().filter(move |cell| cell.stack_label == stack);
            of_stack.map(move |cell| (cell.id, hours))
        })
        .collect();
    for trial in input.trials.clone() {
        if let Some((_, hours)) = cells.iter().find(|(cell, _)| *cell == trial.key.cell) {
            made::sample(&mut input, trial.key, "rebuild", Metric::TimeToRebuildDisk, *hours);
        }
    }
    let said = verdict(&input);
    let words = "Rebuilds of a whole disk, extrapolated from members of 200 GiB: ext4 (12.8 h), xfs (14.5 h).";
    assert!(said.contains(words), "{said}");
}

/// A study of which a quarter failed had a headline that did not say so.
#[test]
fn issue_39_a6_failed_trials_stand_in_the_first_line() {
    let mut input = input();
    assert!(
        verdict(&input).starts_with("1 of 42 trials failed."),
        "{}",
        verdict(&input)
    );
    input.trials.truncate(40);
    assert!(
        verdict(&input).starts_with("1 of 40 trials failed. 2 of 42 trials are missing."),
        "{}",
        verdict(&input)
    );
}

/// The first screen was a wall of words.
#[test]
fn issue_39_c15_the_scoreboard_stands_above_everything_else() {
    let page = html(&input());
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}"));
    assert!(place("<p class=\"verdict\">") < place("<table class=\"board\">"));
    assert!(place("<table class=\"board\">") < place("<details class=\"about\">"));
    assert!(place("<table class=\"board\">") < place("<section"));
    let board = page.split("<table class=\"board\">").nth(1).expect("a scoreboard");
    let board = board.split("</table>").next().expect("its end");
    let stacks = board
        .split("<th scope=\"row\">")
        .skip(1)
        .map(|row| row.split('<').next().expect("a name"));
    // ext4 is at least 78 % as fast as the best everywhere, JFS writes small files at 7 % of btrfs.
    let stacks: Vec<&str> = stacks.collect();
    assert_eq!((stacks[0], stacks[6]), ("ext4", "jfs"), "{stacks:?}");
    assert!(page.contains("<tr class=\"leader\"><th scope=\"row\">ext4</th>"));
}

/// A delete of a tenth of a second decided which stack to build.
#[test]
fn issue_39_a1_a_test_of_less_than_a_second_decides_nothing() {
    let with_delete = |longest_s: f64| {
        let mut input = made::sweep();
        for trial in input.trials.clone() {
            let cell = input.plan.cells.iter().find(|cell| cell.id == trial.key.cell);
            let is_slow = cell.expect("a cell").stack_label.contains("bitmap none");
            let seconds = if is_slow { longest_s } else { longest_s / 10.0 };
            let mut add = |test, metric, value| made::sample(&mut input, trial.key, test, metric, value);
            add("write", Metric::Duration, 30.0);
            add("delete", Metric::Duration, seconds);
            add("delete", Metric::FilesPerSecond, 100.0 / seconds);
        }
        input
    };
    let (short, long) = (with_delete(0.9), with_delete(1.1));
    let without = verdict(&made::sweep()).replace("in every test ", "in every test that counts ");
    // It is named in the first lines, or nobody misses it.
    let too_short = " Too short to count: small files delete.";
    assert!(verdict(&short).contains(too_short), "{}", verdict(&short));
    assert_eq!(verdict(&short).replace(too_short, ""), without);
    assert!(
        html(&short).contains(
            "Tests of less than 1 s with most stacks do not count: small files delete (0.0900 to 0.900 s)."
        )
    );
    assert!(
        verdict(&long)
            .starts_with("chunk 1M xfs bitmap internal or chunk 1M ext4 bitmap internal may be the best choice"),
        "{}",
        verdict(&long)
    );
    let mut weighted = short;
    weighted.plan.weights = vec![("small files".to_owned(), 1)];
    assert_eq!(verdict(&weighted), verdict(&long));
}

#[test]
fn issue_39_c15_each_claim_is_a_line() {
    let page = html(&input());
    let claims = page.split("<ul class=\"claims\">").nth(1).expect("claims");
    let claims = claims.split("</ul>").next().expect("their end");
    assert_eq!(claims.matches("<details>").count(), input().plan.claims.len());
}

/// A rebuild that its workload did not outlast was missing from the first screen.
#[test]
fn issue_39_a4_a_rebuild_that_outlasts_its_workload_is_not_said_to_be_done() {
    let of_rebuild = |guards: &[&str]| {
        let mut input = made::sweep();
        for trial in input.trials.clone() {
            made::sample(&mut input, trial.key, "rebuild", Metric::TimeToRebuildDisk, 12.8);
            let last = input.samples.last_mut().expect("the rebuild");
            last.failed_guards = guards.iter().map(|guard| (*guard).to_owned()).collect();
        }
        html(&input)
    };
    assert!(of_rebuild(&[]).contains("12.8 h"), "a rebuild that ended");
    let unfinished = of_rebuild(&[study::event::Guard::ACT]);
    assert!(unfinished.contains("not done when small files ended"));
    assert!(!unfinished.contains("12.8 h"), "no time under this load is known");
    assert!(
        !of_rebuild(&["slow-member"]).contains("not done when"),
        "another reason"
    );
}

/// "There are no two stacks to compare in any test" stood above the answer to "how long is my array at risk?".
#[test]
fn issue_39_a4_a_study_of_one_stack_leads_with_its_rebuilds() {
    let said = |acts: &[Act], guards: &[&str]| {
        let mut input = made::workload_sweep();
        input.samples.clear();
        assert!(!input.disks.is_empty());
        for disk in &mut input.disks {
            disk.pass_hours = Some(12.0);
        }
        for cell in &mut input.plan.cells {
            cell.acts = acts.to_vec();
        }
        for (place, trial) in input.trials.clone().iter().enumerate().take(2) {
            let hours = [12.8, 229.0][place];
            made::sample(&mut input, trial.key, "rebuild", Metric::TimeToRebuildDisk, hours);
        }
        let last = input.samples.last_mut().expect("the second rebuild");
        last.failed_guards = guards.iter().map(|guard| (*guard).to_owned()).collect();
        verdict(&input)
    };
    let first =
        "Extrapolated from members of 200 GiB, a rebuild of a whole disk takes 12.8 h (reads bs=4K iodepth=1)";
    // Members of 2 and 6 GiB gave 123 and 61 h for one disk under one load.
    let both = format!(
        "{first} and very roughly 230 h, perhaps 76 to 690 h, and several times that under more load (reads bs=4K iodepth=4: md yields to other requests"
    );
    let replaced = said(&[], &[]);
    assert!(
        replaced.contains(&both) && !replaced.contains("no two stacks"),
        "{replaced}"
    );
    assert!(!replaced.contains("another failed disk"), "{replaced}");
    let fail = Act {
        due: Due::AtNs(0),
        kind: ActKind::Fail,
        disk: Some(1),
        delay_ns: None,
        corrupted: None,
        level: None,
    };
    let failed = said(&[fail], &[study::event::Guard::ACT]);
    let unfinished = "The rebuild was not done when reads bs=4K iodepth=4 ended.";
    assert!(
        failed.contains(&format!(
            "{first}. {unfinished} From the failure until the rebuild is done another failed disk loses the array, and sectors that \
             another disk cannot read are lost. A rebuild of a whole disk reads 0.500 TB; datasheets promise at most one"
        )),
        "{failed}"
    );
}

/// The ratio of a stack that is not ranked was cut off at 1.
#[test]
fn issue_39_a2_a_stack_that_is_ahead_but_not_ranked_comes_first() {
    let mut input = made::sweep();
    let ahead = input.plan.cells.last().expect("a cell").clone();
    let of_stack = input.samples.iter_mut().filter(|sample| sample.trial.cell == ahead.id);
    for sample in of_stack {
        sample.entry.value *= 10.0;
        if sample.trial.index > 0 {
            sample.failed_guards.push("steady".to_owned());
        }
    }
    let said = verdict(&input);
    assert!(
        said.starts_with(&format!("{} may be the best: in small files ", ahead.stack_label)),
        "{said}"
    );
    assert!(said.contains("Not ranked, because too few trials count"), "{said}");
}
