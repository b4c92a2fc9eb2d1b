//! What decides tests of a kind, whatever the disks are: above the scoreboard.

use report::{TableOptions, table};
use study::stack::{FilesystemKind, Level};
use study::workload::{IoPattern, IoSpec, ServerSpec, ServerTest, SizeSpec, Work};

/// The text above the scoreboard.
fn first_screen(input: &report::Input) -> String {
    let text = table(input, TableOptions::plain(10_000));
    let (first, _) = text.split_once("each stack relative").expect("a scoreboard");
    first.to_owned()
}

/// RAID 6 was 4 times slower than RAID 10, and no screen said why.
#[test]
fn issue_39_levels_that_are_compared_by_small_writes_have_their_requests() {
    let mut input = crate::made::sweep();
    for cell in &mut input.plan.cells {
        cell.workload.work = Work::Io(IoSpec {
            pattern: IoPattern::RandWrite,
            ..IoSpec::default()
        });
    }
    let with_levels = |input: &report::Input, levels: [Level; 2]| {
        let mut input = input.clone();
        for (place, cell) in input.plan.cells.iter_mut().enumerate() {
            cell.stack_mut().array.level = levels[place % 2];
            cell.machine_mut().disks[0].count = 8;
        }
        first_screen(&input)
    };
    let said = with_levels(&input, [Level::Raid6, Level::Raid10]);
    let words = "RAID 6 of 8 reads 3 blocks and writes 3, RAID 10 of 8 writes 2 blocks. With parity the old data";
    assert!(said.contains(words), "{said}");
    for levels in [[Level::Raid6; 2], [Level::Raid1, Level::Raid10]] {
        let said = with_levels(&input, levels);
        assert!(!said.contains("For each small write"), "{said}");
    }
}

/// Two stacks that differed by half did not differ for a NAS on 1 Gbit/s.
#[test]
fn issue_39_files_that_come_faster_than_a_network_are_named() {
    let with_rates = |factor: f64| {
        let mut input = crate::made::sweep();
        for sample in &mut input.samples {
            sample.entry.value *= if sample.entry.test == "write" { factor } else { 1.0 };
        }
        first_screen(&input)
    };
    let said = with_rates(30.0);
    let words = "Over Ethernet of 1 Gbit/s, which carries 112 MiB/s, no stack is slower than the network in small files write.";
    assert!(said.contains(words), "{said}");
    assert!(!with_rates(5.0).contains("Ethernet"), "10 MiB/s with the slowest");
}

/// XFS led for PostgreSQL by a log that grows, which PostgreSQL's does not.
#[test]
fn issue_39_commits_that_append_do_not_choose_a_filesystem_for_a_database_that_overwrites() {
    let with_test = |test: ServerTest| {
        let mut input = crate::made::sweep();
        let kinds = [FilesystemKind::Ext4, FilesystemKind::Xfs];
        for (place, cell) in input.plan.cells.iter_mut().enumerate() {
            cell.stack_mut().filesystem.kind = kinds[place % 2];
            cell.workload.work = Work::Server(ServerSpec {
                tests: vec![test],
                clients: 1,
                files: 1,
                size: SizeSpec {
                    min_bytes: 1,
                    median_bytes: 1,
                    max_bytes: 1,
                },
                directories: 1,
                records: 1,
                record_bytes: 8192,
                read_percent: 50,
                rate: None,
                runtime_ns: 1,
            });
        }
        first_screen(&input)
    };
    let words = "this test does not show which filesystem is the faster one for it";
    assert!(with_test(ServerTest::Commit).contains(words));
    assert!(!with_test(ServerTest::Append).contains(words));
}
