//! Trials on the nodes themselves: each runs the whole study, on the disks that the inventory names for it.

use super::cluster::Cluster;
use crate::desk::{Desk, SMALL};
use crate::on_host::rig;
use std::fs;
use std::time::Duration;

const INVENTORY: &str = "[node.n1]\nloop = \"1x1G\"\n\n[node.n2]\nloop = \"1x1G\"\n";

#[test]
fn inventories_that_cannot_be_used() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.write(
        "nodes.toml",
        "[node.n1]\ndestroy = [\"NO-SUCH-DISK\"]\n[node.n2]\nloop = \"2x1\"\n",
    );
    desk.write("wrong.toml", "[node.n1]\ndisks = [\"sda\"]\n");
    let run = ["run", "small.toml", "--on", "host", "--inventory"];
    let submit = ["submit", "small.toml", "--slurm", "--dry-run"];
    let calls: Vec<(&str, Vec<&str>)> = vec![
        ("n1", [&run[..], &["nodes.toml"]].concat()),
        ("n2", [&run[..], &["nodes.toml"]].concat()),
        ("n3", [&run[..], &["nodes.toml"]].concat()),
        ("n1", [&run[..], &["wrong.toml"]].concat()),
        ("n1", [&run[..], &["none.toml"]].concat()),
        ("n1", [&run[..], &["nodes.toml", "--devices", "/dev/sda"]].concat()),
        ("n1", vec!["run", "small.toml", "--inventory", "nodes.toml"]),
        ("n1", [&submit[..], &["--on", "host"]].concat()),
        (
            "n1",
            [
                &submit[..],
                &["--on", "host", "--inventory", "nodes.toml", "--tasks", "2"],
            ]
            .concat(),
        ),
    ];
    let mut text = String::new();
    for (node, arguments) in calls {
        let output = desk.raidlab(&arguments).env("SLURMD_NODENAME", node).output();
        let ran = output.expect("raidlab is run").into();
        text.push_str(&format!(
            "$ SLURMD_NODENAME={node} raidlab {}\n{}\n",
            arguments.join(" "),
            desk.shown(&ran)
        ));
    }
    insta::assert_snapshot!(text);
    assert!(!desk.folder().join("raidlab.db").exists());
}

#[test]
fn every_node_has_a_script() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.write("nodes.toml", INVENTORY);
    let arguments = [
        "submit",
        "small.toml",
        "--slurm",
        "--on",
        "host",
        "--inventory",
        "nodes.toml",
        "--dry-run",
    ];
    let ran = desk.run_without_touching(&arguments);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    insta::assert_snapshot!(desk.shown(&ran).replace(crate::desk::PROGRAM, "/usr/bin/raidlab"));
}

#[test]
fn root_loop_slurm_runs_the_study_on_every_node() {
    let Some((desk, _loops)) = rig::desk() else { return };
    let Some(cluster) = Cluster::start(2) else { return };
    let inventory = format!("loop_folder = \"{}\"", desk.folder().display());
    let inventory = INVENTORY.replace("\"1x1G\"", &format!("\"1x1G\"\n{inventory}"));
    desk.write("nodes.toml", inventory);
    let arguments = [
        "submit",
        "host.toml",
        "--slurm",
        "--on",
        "host",
        "--inventory",
        "nodes.toml",
    ];
    let ran = cluster.raidlab(&desk, &[&arguments[..], &["--folder", "hosts.job"]].concat());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let merge = ran.stdout.split_once("by job ").expect("it names the job").1;
    let merge: String = merge.chars().take_while(char::is_ascii_digit).collect();
    cluster.wait_for_up_to(Duration::from_secs(600), "end of the job that merges", |cluster| {
        ["COMPLETED", "FAILED"]
            .iter()
            .any(|state| cluster.job(&merge).starts_with(state))
    });
    let logs = ["n1.log", "n2.log", "merge.log"]
        .map(|log| fs::read_to_string(desk.folder().join("hosts.job").join(log)).unwrap_or_default());
    let runs = desk.run(&["runs", "--store", "hosts.job/all.db"]);
    assert_eq!(runs.exit, Some(0), "{}{}", runs.stderr, logs.concat());
    for name in ["name n1", "name n2"] {
        assert!(runs.stdout.contains(name), "{}", runs.stdout);
    }
    let compared = desk.run(&["compare", "n1", "n2", "--store", "hosts.job/all.db"]);
    assert_eq!(compared.exit, Some(0), "{}", compared.stderr);
    let left: Vec<_> = fs::read_dir(desk.folder()).expect("our folder").flatten().collect();
    let left: Vec<String> = left
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(left.iter().all(|name| !name.starts_with("raidlab-")), "{left:?}");
}
