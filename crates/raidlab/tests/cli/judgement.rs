//! Random arrangements of disks, in a guest that serves as the machine: whatever is stacked, mounted, open,
//! recognised or swapped on and around a disk, no byte changes that must not.
//!
//! The oracle does not analyse the disks: it has made the arrangement and knows its contents.

use crate::arrangement::{Arrangement, Random};
use crate::guest_host::Machine;
use host::{JUDGING, LedgerFolder, Session, WantedDisks};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tools::Tools;
use trial::DiskCheck;

/// Number of arrangements and the first seed; `make safety` uses 5,000.
const COUNT: &str = "RAIDLAB_ARRANGEMENTS";
const SEED: &str = "RAIDLAB_SEED";
/// Set only in the guest.
const INSIDE: &str = "RAIDLAB_INSIDE_A_GUEST";

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn lab_judgement_no_byte_changes_that_must_not() {
    let (count, seed) = (number(COUNT, 40), number(SEED, 1));
    let this = std::env::current_exe().expect("we run");
    let script = format!(
        "export {INSIDE}=1 {COUNT}={count} {SEED}={seed}; exec {} --exact judgement::inside_a_guest --nocapture",
        this.display()
    );
    let machine = Machine {
        // It has device mapper.
        kernel: "6.12+more",
        wall: Duration::from_secs(6 * 3600),
        ..Machine::default()
    };
    let began = Instant::now();
    let Some(said) = machine.run("/bin/sh", &["-ec", &script]) else {
        return;
    };
    assert!(said.contains(&format!("{count} arrangements judged")), "{said}");
    let counts = said.lines().filter(|line| line.contains("arrangements"));
    counts.for_each(|line| println!("{line}"));
    println!("in {} s", began.elapsed().as_secs());
}

/// The outcome for an arrangement.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    RefusedAtOnce,
    RefusedAtTheClaim,
    RefusedBeforeTheWrite,
    Written,
}

#[test]
fn inside_a_guest() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let (count, seed) = (number(COUNT, 1), number(SEED, 1));
    let tools = Tools::find(&JUDGING).expect("util-linux");
    let state = LedgerFolder::in_folder(Path::new("/tmp/state"));
    let (mut fates, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for seed in seed..seed + count {
        let mut random = Random::new(seed);
        let mut arrangement = Arrangement::new(&mut random);
        let fate = one(&mut arrangement, &mut random, &state, &tools);
        for word in arrangement.words() {
            *kinds.entry(word).or_insert(0) += 1;
        }
        arrangement.assert_untouched(seed, &fate);
        *fates.entry(fate.0).or_insert(0) += 1;
        drop(arrangement);
        if (seed + 1).is_multiple_of(500) {
            println!("{fates:?} arrangements so far");
        }
    }
    println!("{fates:?} are the fates of arrangements");
    println!("{kinds:?} were in arrangements");
    println!("{count} arrangements judged");
}

/// Does to a disk what a run does, with changes by others between the steps.
fn one(arrangement: &mut Arrangement, random: &mut Random, state: &LedgerFolder, tools: &Tools) -> (Fate, String) {
    let devices = [arrangement.target.clone()];
    let destroy: Vec<String> = arrangement
        .is_given_up
        .then(|| arrangement.kernel_name())
        .into_iter()
        .collect();
    let wanted = WantedDisks {
        devices: &devices,
        destroy: &destroy,
        count: 1,
        bytes_each: 1 << 20,
    };
    let chosen = match host::choose(&wanted, tools) {
        Ok(chosen) => chosen,
        Err(refused) => return (Fate::RefusedAtOnce, refused.to_string()),
    };
    if random.one_in(3) {
        arrangement.change(random);
    }
    let session = match Session::begin(state, &chosen, String::new(), &mut |_| ()) {
        Ok(session) => session,
        Err(error) => return (Fate::RefusedAtTheClaim, error.to_string()),
    };
    if random.one_in(3) {
        arrangement.change(random);
    }
    let mut check = match session.into_check() {
        Ok(check) => check,
        Err(error) => return (Fate::RefusedBeforeTheWrite, error.to_string()),
    };
    match check.before_write(&[&arrangement.target]) {
        Ok(()) => {
            // Opens the disk by its path, as other programs do.
            let disk = File::options()
                .write(true)
                .open(&arrangement.target)
                .expect("it was judged");
            for at in [
                0,
                128 << 10,
                arrangement.target_bytes() / 2,
                arrangement.target_bytes() - 4096,
            ] {
                disk.write_all_at(&[0xee; 4096], at).expect("written");
            }
            disk.sync_all().expect("synced");
            (Fate::Written, String::new())
        }
        Err(why) => (Fate::RefusedBeforeTheWrite, why),
    }
}

impl Arrangement {
    /// Nothing that must stay was written to, and disks without objections were not rejected.
    fn assert_untouched(&self, seed: u64, (fate, why): &(Fate, String)) {
        let what = format!("seed {seed}: {:?}, {fate:?}: {why}", self.words());
        if let Some(place) = self.first_change() {
            panic!("a byte changed that must not, at {place}: {what}");
        }
        let is_written = *fate == Fate::Written;
        assert!(!(is_written && self.is_protected()), "it was written to: {what}");
        assert!(is_written || self.is_protected(), "nothing speaks against it: {what}");
    }
}
