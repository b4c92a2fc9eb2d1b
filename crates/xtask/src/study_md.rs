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

`raidlab disk sensitivity` moves one figure at a time. With `[precision] models = true` every trial has disks of a drawn model: a figure is multiplied by a factor, which is between 1 / (1 + x) and
1 + x with a probability of 95 %. Without `within`, x follows from the kind of the figure and `sure`: 0.03, 0.06 and 0.12 for a rate that is
measured, from a data sheet or unverified, 0.05, 0.15 and 0.2 for seek times, 0.1, 0.5 and 1 for command times and sizes of buffers, 0.05,
0.15 and 0.3 for times of flash. `within = 0.3` next to `sure` sets x of a figure, `within = 0` makes it exact.

## Processor models of your own

A `cpu` with a `/`, or that ends in `.toml`, is a model file in the study's folder or below it, as for disks.
`raidlab cpu measure --name here -o here.toml` writes a model of this machine; `raidlab cpu show here.toml` shows it.

With `[precision] models = true` processors are drawn as well: the time of code, calls, faults and wake-ups, and the rates of copies,
parity, checksums and compression, each kind by a factor of its own. x is 0.25 for the time of code where it was measured and 0.5 elsewhere,
0.1 for other measured figures, 1 for guesses, and 0.5 for what is derived, which also follows the time of code.

";

const TAIL: &str = "\
## Members, layers and a new array

From the disks up: partitions of members, LUKS on members, the array, its partition, its cache, LUKS on it, its volume, LUKS on the
volume, the image, the filesystem.

```toml
ram = \"1G\"
cpu = \"n100\"                      # encryption takes its time

[disks]                           # the group `data`
model = \"wd-wd40efrx\"
count = 2

[disks.ssd]
model = \"samsung-870-evo-500gb\"

[disks.cache]                     # the group of `cache`
model = \"samsung-870-evo-500gb\"

[[stack]]                         # a solid-state drive and a hard disk; the last member is write-mostly
array = { level = 1, size = \"16G\", members = \"ssd,data:1\", write_mostly = [0, 1] }

[[stack]]                         # LUKS below the array, on it, and nowhere
array = { level = 1, size = \"16G\" }
luks = { on = [\"none\", \"members\", \"array\"] }

[[stack]]                         # a cache, encrypted above
array = { level = 1, size = \"16G\" }
cache = { type = \"dm-cache\", mode = \"writeback\", size = \"4G\" }
luks = { on = \"array\" }

[[stack]]                         # a thin LV, without a snapshot and with four, on partitions
array = { level = 1, size = \"16G\" }
partition = { on = \"members\" }
volume = { type = \"thin\" }
snapshots = [0, 4]

[[stack]]                         # the first day
array = { level = 1, size = \"16G\", initial_resync = \"during\" }

[[workload]]
name = \"random reads\"
io = { rw = \"randread\", bs = \"4K\", size = \"1G\", iodepth = 8, direct = true, ramp_time = \"5s\", runtime = \"10s\" }
```

The smallest member decides the size of an array, but for levels 0 and linear. LUKS2 uses aes-xts-plain64 with a key of 512 bits and
cryptsetup's header of 16 MiB. What each costs: [layers.md](layers.md).

## fio options

`fio` takes all keys of `io`, and those of its own table in fio's spelling. Every option that is in neither table is refused.
Values consist of letters, digits and `. , : / % _ + - =`.

## fio job files

`fio_file` names a job file with several sections; each section is a test with the section's name. The reads and the writes of
a section that does both are tests as well: `mix read` and `mix write` of `[mix]`, `read` and `write` if the file has no other
section. Jobs run in parallel unless `stonewall` separates them. The file is read as fio reads it: `;` and `#` end a line, also after a value, `[global]` may come
several times, and `include FILE` adds the options of a file in the same folder.

- Raidlab creates the files on the stack before the measurement starts: one for each job, or one for all jobs and sections with
  the same `filename`, whatever path or device it names. As in fio, a file that some section reads is written first.
- A device has a size, a file has not: sections without `size` or `filesize` in bytes (also `size=50%`) get the `size` of the
  study, `fio_file = { path = \"x.fio\", size = \"4G\" }`.
- `${NAME}` gets its values from the study, `vars = { NAME = [\"4k\", \"64k\"] }`, and is an axis. Without a value it is an error.
- Options that name places (`directory`, `name`), logs (`write_bw_log`, `log_avg_msec`, …), fio's report, its clock and its
  threads have no effect. `raidlab plan` and `raidlab run` say so in a note, and what holds instead.
- Engines that create, look up or delete files (`filecreate`, `filestat`, `filedelete`, `dircreate`, `dirstat`, `dirdelete`)
  have files per second as their figure.
- Refused, all lines at once, each with its reason: options that run commands, read other files, hide errors or keep a processor
  spinning; trims; engines that reach anything but the files of the stack; `zonemode=zbd`; `atomic`; fio's `$ncpus`, `$pagesize`
  and `$mb_memory`; and every option that is in no table. An option that the installed fio does not know fails the trial.

The warnings and guards of `io` hold for every kind of workload. A section of a job file measures the same as an `io` with the
same keys; where the two differ, fio's defaults do. fio stops after `size`, unless the file says `time_based` (`io` does with a
`runtime`), and its engine `psync` keeps one request in flight, whatever `iodepth` says, as does `libaio` without `direct`.

## Acts

Acts are done in the order of the file while a workload runs, with the tools of the layer that keeps
copies or parity: md, LVM, btrfs (level `none` with a profile), ZFS (level `none` with a `pool`) or bcachefs (level `none`
with `replicas`). Impossible acts are reported as errors at their place in the file: a disk of RAID 0 that fails, more failed
disks than the level survives, a disk that does not exist, a time past the `runtime`, `replace` without a spare, an act that
the manager does not support. Only the trial shows whether a disk has been rebuilt before the next one fails; if it has not,
the trial fails with a message.

| act | md | LVM | btrfs | ZFS | bcachefs |
|---|---|---|---|---|---|
| `fail` | `mdadm --fail`; the disk still works | the disk dies | the disk dies | `zpool offline -f`, and the disk dies | the disk dies |
| `replace` | `mdadm --replace`; of a disk that failed, the spare takes over then and not before | `lvconvert --replace`; of a disk that failed, `--repair` | `btrfs replace start -r` | `zpool replace` | `bcachefs device add`; of a disk that failed, `set-state failed`, `data rereplicate`, of another `device evacuate`; `device remove` |
| `check` | `check` to `sync_action` | `lvchange --syncaction check` | `btrfs scrub start -r` | `zpool scrub`, which also repairs | refused |
| `repair` | `repair` to `sync_action` | `lvchange --syncaction repair` | `btrfs scrub start` | `zpool scrub` | refused |
| `slow`, `hang` | yes | yes | yes | yes | yes |
| `corrupt` | sectors of a member | refused | sectors of a file of 64 MiB | likewise | refused |
| `remove`, `add`, `re-add`, `grow` | yes | refused | refused | refused | refused |
| `fstrim` | ext4, XFS, JFS and others, also without redundancy | likewise | `fstrim` | refused | refused |

A disk that dies does not respond, as with `hang` without an end: for 30 s the array is `limping`, then the disk fails. The
array is `degraded` once its manager has noticed: LVM when dm-raid shows the disk as failed, btrfs and bcachefs at the first
error that they count on a device, ZFS at once. Only with md does a spare take over automatically; elsewhere use `replace`.
Spares of btrfs, ZFS and bcachefs are disks that the filesystem does not know; those of dRAID are distributed spares. Without
a bitmap md refuses to re-add a disk; `re-add` then adds it (`mdadm --add`), and it is rebuilt completely.

A workload with several tests (`tree`, `server`, `iozone`) has one clock, which starts with its first test. Acts and rebuilds go on
from test to test: meanwhile data is written back and caches are dropped, but the array does not come to rest and the filesystem
stays mounted. The guard `act` of each test says in which phases of the array it ran, and for how long; Bonnie++ has one for all of
its tests. Only `io`, `fio` and job files, whose throughput over time is known, have figures of each phase: those of fio are from
its log, in intervals of 100 ms or less, without latencies, and of a job file all sections together. An act that comes after the
work excludes what it was to begin, and of several tests the last one alone.

| test | samples |
|---|---|
| `healthy`, `degraded`, `rebuilding`, `rebuilt`, `checking`, `reshaping`, `limping` (a disk is slow or hangs), `trimming` | `throughput`, `iops` and latencies of the requests that ended in that phase (for buffered writes, which complete in memory, `throughput_cached`); `phase_duration`, from the first act's clock to the end of the last rebuild |
| `rebuild`, then `rebuild 2`, … | in the lab `time_to_rebuild_disk`, the hours that the whole disk would take, at the measured share of the rate of each zone; `time_to_rebuild` of the member of the study, from the act that started it; `rebuild_rate`, the used size of a member divided by the time in which it was written; with btrfs, ZFS and bcachefs, which rebuild only data in use, the data written to the new disk (with dRAID and bcachefs to all disks) divided by that time; `time_exposed` from the first failure until no member is missing |
| `check`, `repair`, `reshape` | `duration`; for the first two also `mismatches` in sectors: md's `mismatch_cnt`, LVM's count, blocks that a scrub of btrfs or ZFS found to be wrong; with `integrity` also `checksum_errors`, requests that dm-integrity failed, and `corrected_reads`, sectors that md rewrote because of that, by its own count (`errors` of its members) |
| `fstrim` | `duration`; `trimmed`, what fstrim says, and `discarded`, what reached the member disks, in MiB |
| `corrupt`, then `corrupt 2`, … | in sectors: `corrupted`; `found` and `not_found`, whether a later check or repair counted mismatches or checksum errors; `repaired`, original data in all copies; `repaired_wrongly`, wrong data after a repair that reported no error; `served_as_good`, wrong data returned by a read without an error, right after the act or at the end; `unreadable`, an error on reading |

Rebuilds and checks are timed by md's own notifications (changes of `sync_action`), and by the end of the programs of btrfs, ZFS
and bcachefs (bcachefs polls every second). `zpool` is polled every second and `dmsetup` four times a second, which reads no
disk. After the last act and its rebuild, the written data is read back and compared, and md checks all copies and parity
(`array-clean`). The guard `act` marks a rebuild that ended after the work, and acts that came after it. A phase shorter than
1 ms has only its duration.

`slow` adds `delay` to each access of a disk's media: to each read that misses the disk's buffer, and to each write when it
goes to the media.

`corrupt` writes wrong data to a disk below the layer that keeps the copies. It needs a read-only workload, and with md the
levels 1, 5, 6 and 10 with mdadm's default layout. At the end, the original data is compared with all copies on the disks and
with what the array returns. btrfs and ZFS choose their own block locations: raidlab writes a file of 64 MiB before the
workload, each sector of which contains its own number, and locates it by reading the disk (the first 16 GiB). `offset` counts
from the first sector of the file on the disk, and everything in the range is changed, including parity. At the end the file is
read in requests of 1 MiB, and of 4 KiB after an error; on btrfs by four threads, which read different copies. What such a read
repairs right after an act is corrupted again. Mismatches are counted for the whole array: with several `corrupt`, each counts
as found if there was any mismatch. RAID 1 and 10 count mismatches in units of 64 KiB, RAID 5 and 6 in 4 KiB of each disk. With
`integrity`, `corrupt` changes the sectors at their location below dm-integrity, and checks that dm-integrity then fails to read
them; copies are read through dm-integrity.

`hang` makes a disk accept no requests: those in progress complete, the others wait. md does not notice if the disk responds in
the end. A disk that never responds again fails after 30 s, the command timeout of Linux's SCSI layer; on real machines the
resets that the SCSI layer tries first take longer.

`grow` with `level = 6` lets mdadm convert RAID 5 and a spare to RAID 6.

`fstrim` (or `trim`) discards the free space of the mounted filesystem while the work goes on, on any filesystem that fstrim(8)
supports. What reaches the disks depends on the layers: md passes no discards on for RAID 4, 5 and 6, nor LVM for its RAID 5 and 6, unless
`raid456.devices_handle_discard_safely` is set, dm-crypt none without `--allow-discards`, dm-integrity none, and hard disks have none.
A thin LV gives whole chunks back to its pool in any case.
Where the device takes none, fstrim is not run and the guard `trim` fails. `raidlab plan` warns of it, and of the mount option
`discard` there. In the lab each discard takes a drive as
long as a short write, whatever its length, and its garbage collection has the blocks; on real drives long ones may take more. ZFS
has `zpool trim` instead, which is not an act yet.

With `power_cut` the power is cut at any instant of the operations, also during an act and the rebuild or reshape that follows:
give acts a time `after` a share of the operations. After the cut the array is assembled, by force if necessary, all files are
checked, and md gets time to finish its rebuild or reshape. Then, unless a member is missing permanently, parity is checked and
a member is removed, as without acts. Power cuts with acts need md.

On a host (`machine = \"host\"`, `--on host`) acts affect real disks. `fail`, `remove`, `add`, `re-add` and `replace` are
supported on md arrays, `check` and `repair` on md arrays, LVM and ZFS. `slow`, `hang`, `corrupt` and `power_cut` need simulated
disks; `grow`, `remove` with dm-integrity or metadata 1.0 and 0.90, and scrubs of btrfs are supported in the lab only. A disk
that was removed from its array is reserved until it is added again; the trial fails if another program took it before that.
Other programs on the machine see the acts: `mdadm --monitor` reports the failed member, and moves a spare to this array from
another one with the same `POLICY domain` or `spare-group` in mdadm.conf.

bcachefs has a scrub from Linux 6.15 on, but Debian's program has none: `check`, `repair` and `corrupt` are refused there.
Acts on nested RAID are refused.

## Tests of each kind of work

| work | tests | first metric |
|---|---|---|
";

const CLAIMS: &str = "
## Order of operations, and end of the measured time

Before each test all dirty data is written back, the array is idle, the filesystem is remounted, and the caches are dropped.

| test | operations and their order | end of the measured time |
|---|---|---|
| `tree`: `write` | directory by directory, the files of each before its subdirectories | when a final `syncfs` has returned. `time_to_last_close` is the time until the last `close` |
| `tree`: `read` | each directory is read to its end (`getdents`), then its entries are visited in the order of the filesystem, descending into subdirectories as they occur, as `find`, `tar` and `cp -r` do; nothing is sorted. ext3 and ext4 list names in the order of their hashes (`dir_index`), which scatters reads of files that were written one after the other ([experiment](notes/answers-2026-11-30.md#photos-on-ext4)) | after the last `close` |
| `tree`: `copy` | reads in the same order; each file is written before the next is read | when a final `syncfs` has returned; `time_to_last_close` likewise |
| `tree`: `delete` | in the same order; a directory once it is empty | when a final `syncfs` has returned. `time_to_last_unlink` is the time without it |
| `io`, `fio`: reads, direct writes | that of the pattern; a random pattern accesses every block once before any block twice | after the last request; with `end_fsync` after the fsync. Data in the caches of drives is not included: `sync_after` is the time to flush it |
| `io`, `fio`: buffered writes | likewise | when a sync after the last write has returned: `throughput`, `iops` and `duration` include it. `throughput_cached` is the rate without it, which fio prints |
| `server` | each client works on its own files, by number | when a final `syncfs` has returned; each operation ends on stable storage |
| `power_cut` | one thread, in the order drawn from the seed | not timed: states after power cuts are counted, and each finding is recorded under `power-cut.finding.STATE.NUMBER` with its instant and seed, with which `raidlab power-cut` repeats it |
| `bonnie`, `iozone` | that of the program | that of the program: Bonnie++ after its own fsync, IOzone with `include_flush` after fsync |

A failed **guard** excludes samples from all figures, and reports the observation and a correction:

| guard | fails if |
|---|---|
| `cold-cache` | the data was read from memory |
| `cache-hits` | `io`, `fio`, reads: fewer than 90 % of the bytes, or for random patterns of the requests or (ZFS) of the records, reached the disks. Typical reasons: a job read its files repeatedly and found them in memory, or each record of the filesystem (128 KiB on ZFS) was read once and served several smaller requests. Sequential reads may become larger requests, and requests that the scheduler merged count |
| `written-out` | written data did not reach the disks |
| `read-modify-write` | `io`, `fio`, random writes of parts of a stripe (RAID 4, 5, 6) or of a record (ZFS) whose files fit the machine's `ram`, or that write 90 % of them or more: the disks read less than 10 % of the minimum for read-modify-write, one block for each write, because a cache assembled full stripes or found the records in memory. Not checked with `fits_memory`, which declares this as intended, for filesystems that never overwrite, and while acts change the array |
| `contents` | the data differs from what was written after a remount |
| `long-enough` | the test was too short for the resolution of the clock |
| `steady` | `io`, `fio` and sections of a job file with a `runtime`, reads and direct or synchronous writes: the throughput of the two halves of the time differs by more than 20 % of their average (the bound of SNIA's performance test specification) and by more than four standard errors of it. The detail shows the throughput over time, in up to 32 intervals |
| `holes` | the data had never been written (holes, reserved space), so reading it accesses no disk |
| `compressible` | on a filesystem with compression, less than 90 % of the bytes reached the disks: of a job on zeros or a pattern, or of other written data; `buffer_compress_percentage` is taken into account. btrfs does not compress data in reserved space, which `io` and `fio` use unless `fio` has `fallocate = \"none\"` |
| `aligned` | a member, a loop device or the array begins within a physical sector of its disks; or direct writes do not cover whole physical sectors (512 bytes on a disk with 4 KiB sectors) and reach the disks unchanged (no parity, a filesystem that overwrites in place) |
| `slow-member` | one of four or more members with at least 200 requests each, similar in number and size (within a factor of 1.5), takes more than twice as long for a read as any other member, or more than four times as long for a write (which drives cache) or for a read among writes, while the others agree within a factor of 1.5. Checked only if stripes distribute the reads, or for tests of mirrors with hardly any reads. Not checked while acts change the array; never fails in the lab, whose disks are free of defects |
| `nearly-full` | more than 90 % of the filesystem is in use after a test, and the workload has no `age` |
| `aged` | before a workload with an `age`, more or less of the filesystem is in use than its `fill` by more than 1 % of its size ([ageing.md](ageing.md)) |
| `disk-bound` | the test is faster than the disk models sustain with full caches; or, for `io`, `fio` and sections of a job file on disks with platters, there are more random reads, or direct or synchronous random writes, per second than seeks and rotation allow: each of D requests in flight (including the full write caches) waits for half a revolution on average, so at most D / (half a revolution) complete per second; and moving between two tracks takes at least the shortest seek or head switch. An excess of 25 % is allowed, and the capacity of the disks' buffers; not checked if the buffers hold most of the files |
| `finite` | the value is not a number |
| `quiesced` | the disks were not idle before the test |
| `undisturbed` | after the test md was resyncing or checking, on a host a ZFS pool was being scrubbed or resilvered, ext4 was initialising inode tables without `lazy_init`, or something had trimmed the filesystem |
| `array-clean` | copies or parity disagree after the trial or a check |
| `scrub` | a check or a repair that an act asked for did not finish |
| `act` | an act or its rebuild ended after the workload |
| `trim` | an act `fstrim` was not run, because the device takes no discards; or it trimmed nothing, or nothing of it reached a disk |
| `snapshots` | a snapshot of a linear LV was lost before the test ended, because its `snapshot_size` was full. Writes of a full thin pool fail, and with them the trial |
| `as-asked` | after the tests the kernel has another value than the study asked for: md's attributes (chunk, layout, bitmap, consistency policy, `stripe_cache_size`, speeds, …), scheduler, write cache and read-ahead, mount options in /proc/self/mounts, the mode of dm-cache; or the mount option `discard` is on a device that takes no discards. The detail names options that the kernel does not show, such as defaults. While acts change the array its shape and disks are not compared. Not of ZFS properties |
| `memory` | on a host: the trial could not be limited to the `ram` of the study |
| `loop-files` | on a host: the files behind loop devices are in memory |

**Warnings** concern comparisons between cells. They are shown with the claim, table or ranking, or above the verdict if they
concern the whole run. They exclude no figure, but a claim with the warning `comparable` is untestable unless it names the
setting on its sides. In JSON they are `warnings` of the claim, workload, table or run; `raidlab export` has those of tables and
workloads in its own `warnings`.

| warning | given if |
|---|---|
| `comparable` | two compared stacks also differ in a setting that decides results: `write_cache`; barriers (`nobarrier`, `barrier=0`, `barrier=none`; on by default); the journal mode (`journal` or `data=`, `ordered` by default; filesystems without journal modes differ from `journal` only); cold caches for one and warm caches for the other (`pre_read` of `fio`, IOzone's `reread` and `freread`). Not if the comparison is about the setting: the two differ in nothing else, or another compared stack differs from one of them only in this setting, as in a full cross of two axes |
| `loaded` | on a host: during some trials other programs used more than 10 % of all processors (user time of `/proc/stat` less that of the trial), or disks that are not under test moved more than 10 MiB/s (not with loop devices, whose files are on such a disk) |
| `drift` | on a host: the samples of all cells have a common trend from the first to the last trial. Mann and Kendall's test of the trials of each cell, summed over the cells as in the seasonal Kendall test (Hirsch, Slack and Smith 1982), at 1 % for a run, with each cell's first trial and without it. With 3 trials a cell, drift can be found from 9 cells on. A speed that varies slowly over some trials causes false alarms more often than that |
| `order` | on a host: the first trial of each cell, or trials directly after one of a certain cell, differ from the others (rank sums over cells, van Elteren 1960), or one cell has its own trend. 1 % for all tests of a run together (Holm). With 10 trials a cell, first trials can be found from 5 cells on |

Trials in the lab cannot affect each other, so drift and order are tested on hosts only.

A processor that is busy for 90 % of a test (with a processor model: all cores, or one core by the busiest task; on a
host: the threads that generate the load) excludes no figure, because a study may intend that; the report, `raidlab show` and
its `warnings` in JSON list these tests.

Likewise buffered sequential writes (of files of 1 MiB or more) to an array with parity during which the disks read 5 % or more of the written bytes: md
wrote partial stripes and read their rest to compute parity. A larger `stripe_cache` or a smaller `chunk` may avoid this.

And direct reads of `io`, `fio` and sections of a job file that were split: the members were read by requests of less than half of what
each read asks of a member. That is the smallest of `bs`, the chunk and 64 KiB: with `bs` of 64K and a chunk of 512K requests of
less than 32 KiB on average. Not of ZFS, filesystems that compress and dm-integrity, and not while acts change the array. On RAID 4, 5
and 6 io_uring causes it (`io` with an `iodepth` above 1): its reads must not wait (REQ_NOWAIT), a member whose queue is full refuses
them, and Linux 6.12 reads them again through the stripe cache, page by page. libaio (`ioengine` of `fio`) shows what programs
without io_uring get. RAID 1 and 10 do not pass the flag on.

`raidlab plan`, `raidlab run` and the report warn about workloads that fit in memory, in the write caches of the drives, or in a
small part of the disks, runs that end before the write caches are drained, a single ZFS mirror of four or more disks, and a
`queue_depth` that the disk model does not support.

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

Below each claim are the ratio of one pair of cells, its 95 % interval for that pair alone, and the *deciding interval* with the
claimed range of the ratio:

| verdict | if the deciding interval |
|---|---|
| supported | of each pair lies within the claimed range |
| refuted | of one pair lies completely outside |
| undecided | neither; or there are fewer than three trials |
| untestable | is not evaluated: the claim has `untestable` with the reason, something was not measured, or the stacks also differ in a setting of `comparable` that the claim does not name |

The deciding interval is wider than the 95 % interval, so that the verdicts on all claims of a study together have an error of 5 %: see
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
        Takes::Percent { max } => format!("per cent, 0 % to {max} %"),
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
        Takes::Members => "disks, separated by commas".to_owned(),
        Takes::Filter => "table of axes".to_owned(),
        Takes::Names => "list of axes".to_owned(),
        Takes::Scalars => "list of values".to_owned(),
        Takes::Figures => "list of numbers".to_owned(),
        Takes::Variables => "table of values".to_owned(),
        Takes::NameOr(_) => "string on one line, or table".to_owned(),
        Takes::One(_) => "table".to_owned(),
        Takes::Many(Table::Array | Table::Cache | Table::Luks | Table::Filesystem | Table::Bus) => {
            "table or list of tables".to_owned()
        }
        Takes::Many(_) => "tables".to_owned(),
        Takes::Named(_) => "tables under names of your own".to_owned(),
    }
}

fn one_of(words: &[&[&str]]) -> String {
    let words: Vec<String> = words.iter().map(|spellings| format!("`{}`", spellings[0])).collect();
    words.join(", ")
}
