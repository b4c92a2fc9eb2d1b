//! A run that is killed, or interrupted, at any moment.

use super::interposed;
use super::rig::{Bystander, RUN, World, desk, ends, send, start, trials};
use crate::processes::descendants_of;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Number of kills at random moments; `make kill-test` uses 200.
fn kills() -> u32 {
    std::env::var("RAIDLAB_KILLS").map_or(4, |count| count.parse().expect("RAIDLAB_KILLS is a number"))
}

#[test]
fn root_loop_killed_at_any_moment_nothing_is_lost_or_left() {
    let Some((desk, _turn)) = desk() else { return };
    let bystander = Bystander::new(&desk, "bystander").with_ext4();
    let before = (World::of(&desk), bystander.contents());
    let mut seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970")
        .subsec_nanos();
    let began = Instant::now();
    assert_eq!(desk.run(&RUN).exit, Some(0));
    let whole = began.elapsed();
    let mut done_before = 0;
    fs::remove_file(desk.folder().join("raidlab.db")).expect("it is there");
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed) / f64::from(u32::MAX)
    };
    let mut victims = [0_u32; 3];
    for kill in 0..kills() {
        // Within one trial, half a run long, at a resolution of microseconds.
        let moment = whole.mul_f64(0.6 * random());
        let mut child = start(&desk);
        let until = Instant::now() + moment;
        while Instant::now() < until && child.try_wait().expect("ours").is_none() {
            sleep(Duration::from_millis(1));
        }
        // raidlab itself, the trial's process or one of its tools, or all of them one after the other.
        let victim = (random() * 3.0) as usize % 3;
        let family = descendants_of(child.id());
        victims[victim] += 1;
        if victim != 1 || family.is_empty() {
            send(&child, Signal::KILL);
        }
        let chosen = (random() * family.len() as f64) as usize;
        let others = family
            .iter()
            .enumerate()
            .filter(|(index, _)| victim == 2 || (victim == 1 && *index == chosen));
        for pid in others.filter_map(|(_, process)| Pid::from_raw(process.pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let ran = ends(child);
        let words = format!("kill {kill} after {moment:?} of {victim}\n{}", ran.stderr);
        if random() < 0.5 {
            let mut cleaning = desk.raidlab(&["clean"]).spawn().expect("raidlab is run");
            sleep(Duration::from_secs_f64(0.3 * random()));
            let _ = cleaning.kill();
            let _ = cleaning.wait();
        }
        // Every second time `run` itself finds the rest.
        if kill % 2 == 0 {
            let cleaned = desk.run(&["clean"]);
            assert_eq!(cleaned.exit, Some(0), "{words}{}", cleaned.stderr);
            assert_eq!(World::of(&desk), before.0, "{words}");
        }
        let (done, _) = trials(&desk);
        assert!((done_before..=2).contains(&done), "{done_before} then {done}: {words}");
        done_before = done;
        if done == 2 {
            fs::remove_file(desk.folder().join("raidlab.db")).expect("it is there");
            done_before = 0;
        }
    }
    let ran = desk.run(&RUN);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(trials(&desk).0, 2);
    assert_eq!((World::of(&desk), bystander.contents()), before);
    println!("{} kills: of raidlab, of one below it, of all: {victims:?}", kills());
}

#[test]
fn root_loop_ctrl_c_leaves_nothing_and_the_same_command_goes_on() {
    let Some((desk, _turn)) = desk() else { return };
    let before = World::of(&desk);
    let child = interposed::that_waits(&desk, &RUN);
    // Another process finds it busy, and leaves it alone.
    let cleaned = desk.run(&["clean"]);
    assert!(cleaned.stderr.contains("is running a study"), "{}", cleaned.stderr);
    assert_ne!(World::of(&desk).loops, before.loops);
    send(&child, Signal::INT);
    let ran = ends(child);
    interposed::remove_files(&desk);
    assert_eq!(ran.exit, Some(130), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
    assert!(
        ran.stderr
            .contains("to continue: raidlab run host.toml --seed 1 --on host --loop 1x1G"),
        "{}",
        ran.stderr
    );
    assert!(desk.run(&["clean"]).stdout.contains("nothing to clean up"));
}
