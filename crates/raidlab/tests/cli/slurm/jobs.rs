//! A study on a cluster with all kinds of failures: its results are those of one machine.

use super::cluster::Cluster;
use crate::desk::export_body;
use crate::lab;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// 200 trials with a quarter of a second per guest.
const STUDY: &str = "title = \"Many\"\nram = \"128 MiB\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 2\n\
    [[stack]]\narray = { level = 1, size = \"64 MiB\", bitmap = \"none\" }\nfs = { type = [\"ext2\", \"ext4\"] }\n\
    [[workload]]\nname = \"few files\"\ntree = { files = 4, size = \"4K\", directories = 1, tests = [\"write\"] }\n\
    [precision]\ntrials = 100\n";

/// A job's number in what `submit` printed.
fn number_after(stdout: &str, before: &str) -> String {
    let rest = stdout.split_once(before).expect("it names the job").1;
    rest.chars().take_while(char::is_ascii_digit).collect()
}

fn status(cluster: &Cluster, desk: &crate::desk::Desk) -> Value {
    let ran = cluster.raidlab(desk, &["status", "many-seed7.job", "--format", "json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_default()
}

/// Number of completed trials of a shard.
fn done(status: &Value, shard: &str) -> u64 {
    let shards = status["shards"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_shard = shards.iter().find(|row| row["shard"] == shard);
    of_shard.and_then(|row| row["trials_done"].as_u64()).unwrap_or(0)
}

fn state(status: &Value, shard: &str) -> String {
    let shards = status["shards"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_shard = shards.iter().find(|row| row["shard"] == shard);
    of_shard
        .and_then(|row| row["state"].as_str())
        .unwrap_or("running")
        .to_owned()
}

#[test]
#[ignore = "test-all"]
fn root_lab_slurm_loses_no_trial_and_has_none_twice() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let Some(mut cluster) = Cluster::start(4) else { return };
    desk.write("many.toml", STUDY);
    let ran = cluster.raidlab(&desk, &["submit", "many.toml", "--slurm", "--seed", "7"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let [job, merge] = ["job ", "by job "].map(|before| number_after(&ran.stdout, before));
    // Each task is stopped once it has done two trials: it cannot end before what follows, however fast the machine is.
    let mut begun = BTreeSet::new();
    cluster.wait_for("trials of every task", |cluster| {
        let status = status(cluster, &desk);
        let ready = (1..=4).filter(|task| done(&status, &format!("{task}/4")) >= 2);
        begun.extend(ready.filter(|&task| cluster.stop(&job, task)));
        begun.len() == 4
    });

    // A node is lost with its task running.
    let node = cluster.task(&job, 2);
    let node = node
        .strip_prefix("RUNNING n")
        .expect("it runs")
        .parse::<usize>()
        .expect("a node");
    cluster.kill_node(node - 1);

    // Another task is preempted.
    let preempted = done(&status(&cluster, &desk), "3/4");
    cluster.ask("scontrol", &["requeue", &format!("{job}_3")]);
    cluster.wait_for("requeued task", |cluster| cluster.task(&job, 3).starts_with("PENDING"));
    cluster.start_soon(&job, 3);

    // The controller is restarted.
    cluster.stop_controller();
    cluster.start_controller();
    cluster.wait_for("controller", |cluster| !cluster.task(&job, 1).is_empty());
    for task in [1, 4] {
        cluster.go_on(&job, task);
    }

    // The daemon comes back, and kills the rest of the task; then the task may start again.
    cluster.wait_for("lost task that is requeued", |cluster| {
        cluster.task(&job, 2).starts_with("PENDING")
    });
    cluster.start_node(node - 1);
    cluster.wait_for("end of the lost task", |cluster| {
        state(&status(cluster, &desk), "2/4") != "running"
    });
    cluster.wait_for("node", |cluster| cluster.nodes("idle,mixed,allocated") == 4);
    cluster.start_soon(&job, 2);

    let all = desk.folder().join("many-seed7.job/all.db");
    cluster.wait_for_up_to(Duration::from_secs(600), "end of the job that merges", |cluster| {
        ["COMPLETED", "FAILED"]
            .iter()
            .any(|state| cluster.job(&merge).starts_with(state))
    });
    assert!(all.exists(), "{}", cluster.logs());
    for log in ["task-1.log", "task-4.log", "merge.log"] {
        assert!(desk.folder().join("many-seed7.job").join(log).exists(), "{log}");
    }
    let ended = status(&cluster, &desk);
    assert_eq!(ended["finished"], true, "{ended:#}");
    assert_eq!(
        (&ended["trials_done"], &ended["trials_failed"]),
        (&200.into(), &0.into())
    );
    assert!(preempted < 50, "the task was preempted before its end");
    must_equal_one_machine(&cluster, &desk, &all);
}

fn must_equal_one_machine(cluster: &Cluster, desk: &crate::desk::Desk, all: &Path) {
    let whole = desk.run(&["run", "many.toml", "--seed", "7", "--store", "whole.db"]);
    assert_eq!(whole.exit, Some(0), "{}", whole.stderr);
    let all = all.display().to_string();
    let digest = desk.run(&["digest", "whole.db", &all]);
    assert_eq!(
        digest.exit,
        Some(0),
        "{}{}\n{}",
        digest.stdout,
        digest.stderr,
        cluster.logs()
    );
    let export = |store: &str| {
        let ran = desk.run(&["export", "--format", "json", "--store", store]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        export_body(&ran.stdout)
    };
    let merged = export(&all);
    assert_eq!(merged["trials"].as_array().map(Vec::len), Some(200));
    assert!(merged == export("whole.db"), "the exports differ");
}
