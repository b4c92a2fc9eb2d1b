//! The reference of the study file, generated from the table of keys.

use study_file::format_size;
use study_file::key::{Axis, Key, Table, Takes};
use study_file::workload::KINDS;

const HEAD: &str = "\
# The study file

A study describes what to measure: disks, the stacks built on them, the workloads, what the results should show,
and how precise they should be. It is a TOML file. This page is generated from the table of keys with which raidlab
reads studies.

## How it is read

- **A list on an axis multiplies**: `level = [5, 6]` and `type = [\"ext4\", \"xfs\"]` are four stacks. Keys marked
  *axis* take a value or a list. `fs` and `array` take a table or a list of tables, each with its own axes. There can be
  several `[[stack]]`.
- Keys marked *axis, default* also take the value `\"default\"`, which means the default of mdadm, mkfs or the
  kernel. A missing key means the same.
- **Impossible combinations** (JFS with 1 KiB blocks, a bitmap on RAID 0) are left out, and `raidlab plan` lists
  them with the reason. A table or a workload without any possible combination is an error.
- **Sizes** have a unit: `512K`, `4MiB`, `\"200 GiB\"`, `4096B`. `K` and `KiB` are 1024 bytes. `KB`, `MB`, `GB` are
  refused, because they are ambiguous (1000 or 1024). **Times** also have a unit: `500ms`, `30s`, `5min`, `1h`.
- Errors are reported with line, column and a suggestion. All errors are reported at once, and nothing is changed.
- A **cell** is a stack with a workload. Its key is `STACK | WORKLOAD`. The name of the stack consists of what
  distinguishes it from the other stacks of the plan: `ext3 1K | small files`. If a workload has lists, their values
  follow its name: `async write bs=1M`.
";

const OWN_MODELS: &str = "\
## Disk models of your own

A `model` with a `/`, or that ends in `.toml`, is a model file: `model = [\"./raptor.toml\", \"hitachi-7k500\"]`. The path
begins in the study's folder, and the file is in that folder or below it. Model files in `~/.config/raidlab/disks`
(`$XDG_CONFIG_HOME/raidlab/disks`) belong to the catalogue: every study can name them as it names built-in models, and
`raidlab disk list` marks them. Their format is that of [data/disks](../data/disks); `raidlab disk show FILE` and
`raidlab disk check FILE` try one.

Labels, claims and `--only` use the `name` in the file, never its path. It differs from that of every built-in model.
The text of the model is stored with the run, and is part of the identity of its cells: a changed file makes other cells,
and another run. A model that contradicts itself (a seek that is shorter than one over fewer cylinders, overlapping zones,
a write cache larger than its segments) is refused with file and line.

## Processor models of your own

A `cpu` with a `/`, or that ends in `.toml`, is a model file in the study's folder or below it, as for disks.
`raidlab cpu measure --name here -o here.toml` writes one of this machine; `raidlab cpu show here.toml` shows it.

";

const TAIL: &str = "\
## fio options

`fio` takes all keys of `io`, and those of its own table in fio's spelling. `fio_file` names a job file with several
sections; each section is a test with the section's name, and each needs a `size` in bytes. Jobs run in parallel
unless `stonewall` separates them. Options that run commands, name other files or devices, or change how time is
measured are refused, as is every option that is in neither table. Values consist of letters, digits and
`. , : / % _ + - =`. Raidlab creates the files, one for each job, before the measurement starts.

## Acts

Acts are done in the order of the file, in the lab, while a workload `io` or `power_cut` runs, by the tools of what keeps
copies or parity: md, LVM, btrfs (level `none` with a profile), ZFS (level `none` with a `pool`) or bcachefs (level `none` with
`replicas`). What cannot be is an error at its place: a disk of RAID 0 that fails, more disks than the level survives, a disk that is not there, a time past the
`runtime`, `replace` without a spare, an act that the manager does not have. Whether a disk has been rebuilt before the next
one fails is seen in the trial only; if it has not, the trial fails and says so.

| act | md | LVM | btrfs | ZFS | bcachefs |
|---|---|---|---|---|---|
| `fail` | `mdadm --fail`; the disk still works | the disk dies | the disk dies | `zpool offline -f`, and the disk dies | the disk dies |
| `replace` | `mdadm --replace`; of a disk that failed, the spare takes over then and not before | `lvconvert --replace`; of a disk that failed, `--repair` | `btrfs replace start -r` | `zpool replace` | `bcachefs device add`; of a disk that failed, `set-state failed`, `data rereplicate`, of another `device evacuate`; `device remove` |
| `check` | `check` to `sync_action` | `lvchange --syncaction check` | `btrfs scrub start -r` | `zpool scrub`, which also repairs | refused |
| `repair` | `repair` to `sync_action` | `lvchange --syncaction repair` | `btrfs scrub start` | `zpool scrub` | refused |
| `slow`, `hang` | yes | yes | yes | yes | yes |
| `corrupt` | sectors of a member | refused | sectors of a file of 64 MiB | likewise | refused |
| `remove`, `add`, `re-add`, `grow` | yes | refused | refused | refused | refused |

A disk that dies answers nothing, as with `hang` for ever: for 30 s the array is `limping`, then the disk fails. It is `degraded`
when its manager has noticed: LVM when dm-raid shows the disk as failed, btrfs and bcachefs with the first error that they
count of a device, ZFS at once. A spare takes over by itself with md only; elsewhere `replace` it. The spares of btrfs, ZFS and
bcachefs are disks that the filesystem does not know; those of dRAID are distributed spares. Without a bitmap md refuses to re-add a disk, and
`re-add` adds it (`mdadm --add`): all of it is rebuilt.

| test | samples |
|---|---|
| `healthy`, `degraded`, `rebuilding`, `rebuilt`, `checking`, `reshaping`, `limping` (a disk is slow or hangs) | `throughput`, `iops` and latencies of the requests that ended in that phase (`throughput_cached` of buffered writes, which end in memory); `phase_duration`, from the first act's clock to the end of the last rebuild |
| `rebuild`, then `rebuild 2`, … | `time_to_rebuild` from the act that began it; `rebuild_rate`, the used size of a member by the time in which it was written, and with btrfs, ZFS and bcachefs, which write what is in use, what was written to the new disk (with dRAID and bcachefs to all disks) by that time; `time_exposed` from the first failure until no member is missing |
| `check`, `repair`, `reshape` | `duration`; of the first two `mismatches` in sectors: md's `mismatch_cnt`, LVM's count, blocks that a scrub of btrfs or ZFS found wrong; with `integrity` also `checksum_errors`, requests that dm-integrity failed, and `corrected_reads`, sectors that md therefore wrote again by its own count (`errors` of its members) |
| `corrupt`, then `corrupt 2`, … | in sectors: `corrupted`; `found` and `not_found`, whether a check or repair since counted mismatches or errors of checksums; `repaired`, as they were in all copies; `repaired_wrongly`, not so after a repair that left them without an error; `served_as_good`, read as other data than before, without an error, just after the act or in the end; `unreadable`, read with an error |

Time is that of md itself, which reports changes of `sync_action`, and of the programs of btrfs, ZFS and bcachefs, which end with what they
do (that of bcachefs asks each second); zpool and dmsetup are asked for the state each second and each quarter of one, which reads no disk. After the last act
and its rebuild, what was written is read back and compared, and md checks all copies and parity (`array-clean`). The guard `act` marks a rebuild that ended
after the work, and acts that came after it. A phase shorter than 1 ms has only its duration.

`slow` makes each access of a disk's media longer by `delay`: each read that the disk's buffer does not answer, and each
write as it goes to the media. `corrupt` writes other data to a disk below what keeps the copies. It needs work that only reads, and with md the levels
1, 5, 6 and 10 with mdadm's layout: what the sectors were is compared with what all disks that have them contain in the end,
and with what the array returns. On btrfs and ZFS, which put data where they like, raidlab writes a file of 64 MiB before the work,
whose sectors say which they are, and finds it on the disk (in its first 16 GiB) by reading it; `offset` counts from its first sector there, and what lies
between, such as parity, is changed as well. In the end the file is read by 1 MiB, and by 4 KiB where that is an error, on btrfs by four threads, which read different
copies. What such a read repairs just after an act is changed again. Mismatches are counted for the whole array: with several `corrupt`, each counts as found if
one was. RAID 1 and 10 count them by 64 KiB, RAID 5 and 6 by 4 KiB of each disk. With `integrity`, `corrupt` changes the sectors where
dm-integrity has them on the disk, and checks that it then fails to read them; copies are read through dm-integrity.

`hang` lets a disk take no request: what it has begun ends, the rest waits. md notices nothing as long as the disk answers
in the end. A disk that never answers again is given up after 30 s, the time limit of a command in Linux's SCSI layer, and
fails; the resets that the SCSI layer tries then take longer on real machines.

`grow` with `level = 6` lets mdadm convert RAID 5 and a spare to RAID 6.

With `power_cut` the power is cut at any instant of the operations, also amid an act and what md does after it: begin
acts `after` a share of the operations. After the cut the array is assembled, by force if it does not start otherwise, all
files are judged, and md has time to end its rebuild or reshape. Then parity is checked and a member taken away, as without
acts; not if a member is missing for good. Power cuts amid acts need md.

On a host (`machine = \"host\"`, `--on host`) acts are done to real disks: `fail`, `remove`, `add`, `re-add` and `replace` on md's
arrays, `check` and `repair` on these, LVM and ZFS. `slow`, `hang`, `corrupt` and `power_cut` need simulated disks; `grow`, `remove`
with dm-integrity or metadata 1.0 and 0.90, and scrubs of btrfs are done in the lab only. A disk that was removed from its array is held until it is added
again; the trial fails if another program took it before that. Programs of the machine see the acts: `mdadm --monitor` reports the
failed member, and moves a spare of another array of the same `POLICY domain` or `spare-group` of mdadm.conf to this one.

bcachefs has a scrub from Linux 6.15 on, but Debian's program has none: `check`, `repair` and `corrupt` are refused there.
Acts on nested RAID are refused.

## Tests of each kind of work

| work | tests | first metric |
|---|---|---|
";

const CLAIMS: &str = "
## In which order, and until when

Before each test all that is dirty is written, the array is idle, the filesystem is unmounted and mounted again, and the
caches are dropped.

| test | what it does, in which order | its clock stops |
|---|---|---|
| `tree`: `write` | directory by directory, the files of each before its subdirectories | when a final `syncfs` has returned. `time_to_last_close` is the time until the last `close` |
| `tree`: `read` | each directory is read to its end (`getdents`), then its entries in the order in which the filesystem gave them, into subdirectories as they come: as `find`, `tar` and `cp -r` do, and not sorted | after the last `close` |
| `tree`: `copy` | reads in that order; each file is written before the next is read | when a final `syncfs` has returned; `time_to_last_close` likewise |
| `tree`: `delete` | in that order; a directory when it is empty | when a final `syncfs` has returned. `time_to_last_unlink` is the time without it |
| `io`, `fio`: reads, direct writes | the pattern's; a random pattern touches each block once before any twice | after the last request; with `end_fsync` after the fsync. What drives hold in their caches is not waited for: `sync_after` says how long that takes |
| `io`, `fio`: buffered writes | likewise | when a sync after the last write has returned: `throughput`, `iops` and `duration` include it. `throughput_cached` is the rate without it, which fio prints |
| `server` | each client its own files, by number | when a final `syncfs` has returned; each operation ends on stable storage |
| `power_cut` | one thread, in the order drawn from the seed | it has no clock: states after power cuts are counted, and each finding is recorded under `power-cut.finding.STATE.NUMBER` with its instant and seed, with which `raidlab power-cut` repeats it |
| `bonnie`, `iozone` | theirs | as they say: Bonnie++ after its own fsync, IOzone with `include_flush` after fsync |

Some samples are marked by a **guard**, with what was seen and what to change, and are in no figure:

| guard | marks |
|---|---|
| `cold-cache` | what was read came from memory |
| `cache-hits` | `io`, `fio`, reads: fewer than 90 % of the bytes, or for random patterns of the requests or (ZFS) of the records, reached the disks. A job went over its files again and found them in memory, or each record of the filesystem (128 KiB on ZFS) was read once and answered several smaller requests. Sequential reads may become larger requests, and requests that the scheduler merged count |
| `written-out` | what was written did not reach the disks |
| `read-modify-write` | `io`, `fio`, random writes of parts of a stripe (RAID 4, 5, 6) or of a record (ZFS) whose files fit the machine's `ram`, or that write 90 % of them or more: the disks read less than 10 % of what read-modify-write needs at the least, one block for each write, because a cache made whole stripes or found the records in memory. Not with `fits_memory`, by which a study says that it means that, nor for filesystems that never overwrite, nor while acts change the array |
| `contents` | it is not there after a remount |
| `long-enough` | the clock cannot tell so short a time |
| `steady` | `io` and `fio` with a `runtime`, reads and direct or synchronous writes: the throughput of the two halves of the time differs by more than 20 % of their average (the bound of SNIA's performance test specification) and by more than four standard errors of it. The detail has the throughput over time, in up to 32 intervals |
| `holes` | what was read had never been written (holes, reserved space): no disk is read for that |
| `compressible` | on a filesystem that compresses: less than 90 % of the bytes of a job on zeros or a pattern passed the disks, or of other bytes that were written; `buffer_compress_percentage` is allowed for. btrfs does not compress what goes into reserved space, as `io` and `fio` reserve it unless `fio` has `fallocate` at `none` |
| `aligned` | a member, a loop device or the array begins within a physical sector of its disks; or direct writes are not of whole physical sectors (512 bytes on a disk with 4 KiB), where they are passed on as they are: no parity, a filesystem that overwrites |
| `slow-member` | of four or more members with 200 requests each, alike in number and size (by 1.5 times), a read takes one more than twice as long as any of the others, or a write, which drives cache, or a read among writes, more than four times, and the others agree by 1.5 times. Only where stripes spread the reads, or for tests of mirrors that hardly read. Not while acts change the array |
| `nearly-full` | more than 90 % of the filesystem are in use after a test |
| `disk-bound` | faster than the models of the disks sustain once their caches are full; or, for `io` and `fio` on disks with platters, more random reads, or direct or synchronous random writes, a second than arms and rotation can serve: D requests in flight (with the full write caches) wait half a turn each on average, D / (half a turn); and a disk moves its arm at least by the shortest seek or head switch between two tracks. 25 % more are allowed, and what the disks' buffers may hold; nothing is said where that is most of the files |
| `finite` | the value is not a number |
| `quiesced` | the disks were not idle before the test |
| `undisturbed` | after the test md was at a resync or a check, on a host a ZFS pool at a scrub or resilver, ext4 was initialising inode tables that a study had not left to it, or discards had come from a trim |
| `array-clean` | copies or parity disagree after the trial or a check |
| `act` | an act or its rebuild was after the work |
| `memory` | on a host: the trial could not be limited to the `ram` of the study |
| `loop-files` | on a host: the files behind loop devices are in memory |

Comparisons between cells are doubtful for other reasons. These warnings stand with the claim, table or ranking that they
concern, or above the verdict if it is the whole run; no figure is left out, but a claim with `comparable` is untestable
unless it names the setting on its sides. In JSON they are `warnings` of the claim, of
the workload, of the table and of the run; `raidlab export` has those of tables and workloads in its own `warnings`.

| warning | says |
|---|---|
| `comparable` | two compared stacks also differ in what decides results: `write_cache`; barriers (`nobarrier`, `barrier=0`, `barrier=none`, on if nothing is said); the journal mode (`journal` or `data=`, `ordered` if nothing is said; filesystems without one differ from `journal` only); caches that are cold for the one and warm for the other (`pre_read` of `fio`, IOzone's `reread` and `freread`). Not if the comparison is about it: the two differ in nothing else, or a further compared stack differs from one of them in that alone, as in a full cross of two axes |
| `loaded` | on a host: during some trials other programs used more than 10 % of all processors (user time of `/proc/stat` less that of the trial), or disks that are not under test moved more than 10 MiB/s (not with loop devices, whose files are on such a disk) |
| `drift` | on a host: from the first to the last trial the samples of all cells moved together. Mann and Kendall's test of the trials of each cell, summed over the cells as in the seasonal Kendall test (Hirsch, Slack and Smith 1982), at 1 % for a run, with each cell's first trial and without it. With 3 trials a cell, drift can be found from 9 cells on. A speed that wanders for some trials raises it more often than that |
| `order` | on a host: the first trial of each cell, or trials directly after one of a certain cell, differ from the others (rank sums over cells, van Elteren 1960), or one cell has a trend of its own. 1 % for all of a run together (Holm). With 10 trials a cell, first trials can be found from 5 cells on |

A trial in the lab knows of no other, so neither drift nor order is tested there.

A processor that is busy for 90 % of a test (with a processor model: all cores, or the busiest task with one of them; on a
host: the threads that make the load) is no reason to leave a figure out, since a study may ask for just that: the
report, `raidlab show` and its `warnings` in JSON name these tests.

`raidlab plan`, `raidlab run` and the report warn of work that fits in memory, in the write caches of the drives, or in a
corner of the disks, of runs that end before the write caches are drained, of one ZFS mirror of four or more disks, and of a
`queue_depth` that the disks' model does not have.

## Claims

`where` selects cells by `AXIS = VALUE`, and samples by `test` (`write`, `read`, `copy`, `delete`, or the `rw` of a
job) and `metric` (`throughput`, `duration`, …). Axes have the names of their keys. Exceptions: the `size` of a tree is
`file_size` and that of a job `io_size`; the keys of `of` are `of_level`, `of_disks`, `of_chunk`, and `data`,
`metadata`, `sync` of a filesystem are `fs_data`, `fs_metadata`, `fs_sync`. `that` compares:

| `that` | holds if |
|---|---|
| `bitmap=none > bitmap=internal` | each cell on the left is faster than its partner on the right. Partners differ only in the axes named |
| `type=xfs < type=ext4` | each cell on the left is slower |
| `level=6, bitmap=none > level=10, bitmap=none by 20%` | the faster is at least 1.2 times the slower; `by 2x`: twice |
| `type=ext3 ~ type=reiserfs within 20%` | partners are equal: the faster is at most 1.2 times the slower; the default is 10 % |
| `type=xfs fastest`, `type=jfs slowest by 50%` | against every other cell of `where` with the same workload |
| `all equal within 20%` | all cells of `where` with the same workload |

Faster means better by the metric: more MiB/s, fewer seconds.

Below each claim stand the ratio of one pair of cells, its interval at 95 %, which is of that pair alone, and the *deciding
interval* with what is claimed of the ratio:

| verdict | if the deciding interval |
|---|---|
| supported | of each pair lies within what is claimed |
| refuted | of one pair lies wholly outside |
| undecided | neither; or there are fewer than three trials |
| untestable | is not asked for: the claim has `untestable` with the reason, something was not measured, or the stacks also differ in a setting of `comparable` that the claim does not name |

It is wider than the one at 95 %, so that the verdicts on all claims of a study together have an error of 5 %: see
[verdicts.md](internals/verdicts.md). The pair that is shown is the one that fits the claim least, of those whose interval
decides: of all if the claim is supported, of those outside if it is refuted, and of those that leave it undecided. In
JSON: `deciding_low`, `deciding_high`, `deciding_confidence`; `claimed_low`, `claimed_high` (null: no upper limit); `low`
and `high` are those at 95 %.
";

const TABLES: &str = r#"
## Custom tables

`raidlab show` and the report print each `[[table]]` of the study before the standard tables. It can show published
figures next to the measured ones, with their ratio:

```toml
[[table]]
title = "RAID 5"
where = { level = 5 }
rows = ["chunk", "block_size"]
unit = "KiB/s"
column = [
    { heading = "Read", where = { test = "read" } },
    { heading = "Write", where = { test = "write" } },
]
source = "The Software-RAID HOWTO, 9.3"
published = [
    { row = ["8K", "1K"], values = [11090, 6874] },
    { row = ["32K", "4K"], values = [18724, "-"] },
]
```

- `rows` names axes. Each combination of their values that occurs in the study is a row, in the study's order.
- `columns = ["workload", "test"]` makes a column of each combination of these axes; `column` defines columns one by one.
- Each place of the table has one figure. If cells differ in another axis, raidlab reports an error that names it.
- `relative_to = ["8K", "1K"]` shows all figures as ratios to those of that row; published figures are then ratios, too.
- Without `metric`, a column shows the test's first metric, which is usually its throughput.
"#;

/// The reference as Markdown.
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    for table in Table::ALL {
        out.push_str(&format!("\n## {}\n\n", heading(table)));
        out.push_str("| key | takes | | if not written | |\n|---|---|---|---|---|\n");
        for key in table.own_keys() {
            let (axis, default) = (axis(key), default(key));
            out.push_str(&format!(
                "| `{}` | {} | {axis} | {default} | {} |\n",
                key.name,
                takes(key),
                key.help()
            ));
        }
    }
    out.push('\n');
    out.push_str(OWN_MODELS);
    out.push_str(TAIL);
    for kind in KINDS {
        out.push_str(&format!(
            "| `{}` | {} | {} |\n",
            kind.key.name, kind.tests, kind.metrics
        ));
    }
    out.push_str(CLAIMS);
    out.push_str(TABLES);
    out
}

fn heading(table: Table) -> String {
    match table.heading().split_once(" of a ") {
        Some((code, parent)) if parent.starts_with('[') => format!("`{code}` of a `{parent}`"),
        Some((code, parent)) => format!("`{code}` of a {parent}"),
        None if table == Table::Top => "The top of the file".to_owned(),
        None => format!("`{}`", table.heading()),
    }
}

const fn axis(key: &Key) -> &'static str {
    match key.axis {
        Axis::Single => "",
        Axis::Listed => "axis",
        Axis::ListedOrDefault => "axis, default",
    }
}

fn default(key: &Key) -> &'static str {
    match (key.default, key.name) {
        ("", name) if key.table == Table::Workload && name != "name" => "one of these is needed",
        ("", _) => "**needed**",
        (default, _) => default,
    }
}

fn takes(key: &Key) -> String {
    match key.takes {
        Takes::Text => "string".to_owned(),
        Takes::Name => "string on one line".to_owned(),
        Takes::Size { min, max } => format!("size, {} to {}", format_size(min), format_size(max)),
        Takes::Spread => "size or table".to_owned(),
        Takes::Count { min, max } => format!("number, {min} to {max}"),
        Takes::Share { above, below } => format!("number above {above} and below {below}"),
        Takes::Time => "time".to_owned(),
        Takes::Percent => "per cent, 0 % to 99 %".to_owned(),
        Takes::Flag => "`true` or `false`".to_owned(),
        Takes::Word(words) => one_of(words),
        Takes::Words(words) => format!("list of {}", one_of(words)),
        Takes::Model => "name or file of a disk model".to_owned(),
        Takes::Processor => "name of a processor".to_owned(),
        Takes::Kernel => "version or name, in quotes".to_owned(),
        Takes::Layout => "layout".to_owned(),
        Takes::Mount => "mount options".to_owned(),
        Takes::Pattern => "pattern".to_owned(),
        Takes::Hex => "bytes in hexadecimal".to_owned(),
        Takes::FioOption => "string, number or flag".to_owned(),
        Takes::GroupName => "name of a group".to_owned(),
        Takes::BusDisks => "list of disks".to_owned(),
        Takes::Filter => "table of axes".to_owned(),
        Takes::Names => "list of axes".to_owned(),
        Takes::Scalars => "list of values".to_owned(),
        Takes::Figures => "list of numbers".to_owned(),
        Takes::One(_) => "table".to_owned(),
        Takes::Many(Table::Array | Table::Filesystem | Table::Bus) => "table or list of tables".to_owned(),
        Takes::Many(_) => "tables".to_owned(),
        Takes::Named(_) => "tables under names of your own".to_owned(),
    }
}

fn one_of(words: &[&[&str]]) -> String {
    let words: Vec<String> = words.iter().map(|spellings| format!("`{}`", spellings[0])).collect();
    words.join(", ")
}
