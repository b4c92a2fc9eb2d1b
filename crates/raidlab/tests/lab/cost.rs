//! The overhead of a trial.

use crate::guest::{Guest, trials};
use lab::job::GuestJob;
use std::fs;
use std::time::Duration;
use study::stack::FilesystemKind;
use trial::ProcessEnd;

/// Boot, provisioning, end.
const AT_MOST: Duration = Duration::from_secs(2);

/// mke2fs writes ext3's journal of 1 GiB with a call for each of its 262,144 blocks, although it is informed that
/// the disks are zeroed: an ext3 file has no extents, and an allocated block is written. On an idle EPYC of 2021 at
/// 2.2 GHz, whose guests take 35 µs for such a call, this is 9 s.
const AT_MOST_WITH_A_JOURNAL_WRITTEN: Duration = Duration::from_secs(16);

/// mkfs.jfs likewise writes its log page by page: 32,768 of them.
const AT_MOST_WITH_A_LOG_WRITTEN: Duration = Duration::from_secs(4);

/// This machine may have other load.
const ATTEMPTS: usize = 4;

#[test]
#[ignore = "test-all"]
fn boot_provision_and_end_take_less_than_two_seconds_for_each_stack_of_first_look() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/first-look.toml");
    let study = fs::read_to_string(path).expect("the study is there");
    let (stacks, _) = study.split_once("[[workload]]").expect("it has workloads");
    let trials = trials(&format!(
        "{stacks}[[workload]]\nname = \"one file\"\ntree = {{ files = 1, tests = [\"write\"] }}\n"
    ));
    assert!(trials.len() >= 7, "{} stacks", trials.len());
    let _slots = requirements::all_processors();
    let mut slow = Vec::new();
    for trial in trials {
        let Some(guest) = Guest::for_job(&GuestJob::Trial(Box::new(trial.clone())), &trial) else {
            return;
        };
        let at_most = match trial.cell.stack.filesystem.kind {
            FilesystemKind::Ext3 => AT_MOST_WITH_A_JOURNAL_WRITTEN,
            FilesystemKind::Jfs => AT_MOST_WITH_A_LOG_WRITTEN,
            _ => AT_MOST,
        };
        let (mut wall, mut processor) = (Duration::MAX, Duration::MAX);
        for _ in 0..ATTEMPTS {
            let seen = guest.run();
            assert_eq!(seen.ended.end, ProcessEnd::Exited, "{}", seen.ended.console);
            (wall, processor) = (wall.min(seen.ended.wall), processor.min(seen.processor_time));
            if wall.min(processor) < at_most {
                break;
            }
        }
        let label = trial.cell.stack_label;
        println!("{label}: {wall:.2?} of wall time, {processor:.2?} of a processor's");
        // On an otherwise idle machine they are the same.
        if wall.min(processor) >= at_most {
            slow.push((label, wall, processor));
        }
    }
    assert!(slow.is_empty(), "too slow: {slow:?}");
}
