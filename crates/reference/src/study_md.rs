//! The reference of the study file, written from the table of keys.

use study_file::format_size;
use study_file::key::{Axis, Key, Table, Takes};
use study_file::workload::KINDS;

const HEAD: &str = "\
# The study file

A study says what is to be measured: disks, what is built on them, the work that is done there, what the results
should show, and how sure they should be. It is TOML. The text below is written by raidlab from the same table by
which it reads studies.

## How it is read

- **A list on an axis multiplies**: `level = [5, 6]` and `type = [\"ext4\", \"xfs\"]` are four stacks. Keys marked
  *axis* take a value or a list. `fs` and `array` take a table or a list of tables, each with its own axes; several
  `[[stack]]` stand side by side.
- Keys marked *axis, default* know the value `\"default\"`, too, which leaves the matter to mdadm, mkfs or the
  kernel, as does a key that is not there.
- **Combinations that cannot be** (JFS with 1 KiB blocks, a bitmap on RAID 0) are left out, and `raidlab plan` lists
  them with the reason. A table or a workload of which no combination can be is a mistake.
- **Sizes** have a unit: `512K`, `4MiB`, `\"200 GiB\"`, `4096B`. `K` and `KiB` are 1024 bytes. `KB`, `MB`, `GB` are
  refused, because they are 1000 to some and 1024 to others. **Times** have one, too: `500ms`, `30s`, `5min`, `1h`.
- A mistake is shown at its line and column with what would be right; all mistakes are shown at once, and nothing is
  touched.
- A **cell** is a stack with a workload. Its key is `STACK | WORKLOAD`, where the stack is named by what
  distinguishes it from the plan's other stacks: `ext3 1K | small files`. If a workload has lists, their values
  follow its name: `async write bs=1M`.
";

const TAIL: &str = "\
## What fio may be told

`fio` takes all keys of `io`, and those of its own table in fio's spelling. `fio_file` names a job file of several
sections; each is a test of its name, and each needs a `size` in bytes. Its jobs run side by side unless `stonewall`
keeps them apart. Options that run commands, name other files or devices, or change how time is taken are refused, as
is everything that is in neither table. Values are letters, digits and `. , : / % _ + - =`. The files are raidlab's,
one for each job, and laid out before the clock starts.

## Tests of each kind of work

| work | tests | first metric |
|---|---|---|
";

const CLAIMS: &str = "
## Claims

`where` picks cells by `AXIS = VALUE`, and samples by `test` (`write`, `read`, `copy`, `delete`, or the `rw` of a
job) and `metric` (`throughput`, `duration`, …). Axes bear the names of their keys; the `size` of a tree is
`file_size` and that of a job `io_size`; the keys of `of` are `of_level`, `of_disks`, `of_chunk`, and `data`,
`metadata`, `sync` of a filesystem are `fs_data`, `fs_metadata`, `fs_sync`. `that` compares:

| `that` | holds if |
|---|---|
| `bitmap=none > bitmap=internal` | each cell of the left is faster than its partner of the right. Partners differ in the axes named, and in no other |
| `type=xfs < type=ext4` | each of the left is slower |
| `level=6, bitmap=none > level=10, bitmap=none by 20%` | the faster is at least 1.2 times the slower; `by 2x`: twice |
| `type=ext3 ~ type=reiserfs within 20%` | partners are equal: the faster is at most 1.2 times the slower; 10 % if nothing is said |
| `type=xfs fastest`, `type=jfs slowest by 50%` | against every other cell of `where` with the same workload |
| `all equal within 20%` | all cells of `where` that have their workload in common |

Faster means better in the sample's own sense: more MiB/s, fewer seconds.
";

const TABLES: &str = r#"
## Tables of one's own

`raidlab show` and the report print a `[[table]]` as it is laid out in the study, before the tables that every study
has. What was published can stand in it, beside what was measured, with the ratio of the two:

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

- `rows` names axes; each point on them that the study's cells have is a row, in the study's order.
- `columns = ["workload", "test"]` makes a column of each point of these axes; `column` says each of them.
- A place of the table has one figure: if cells differ in another axis, raidlab says in which.
- `relative_to = ["8K", "1K"]` shows all figures as ratios to those of that row; what was published is a ratio, then.
- A metric that is not named is the one that stands for the test, which is its throughput mostly.
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
                key.help
            ));
        }
    }
    out.push('\n');
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
        Takes::Text => "text".to_owned(),
        Takes::Name => "text on one line".to_owned(),
        Takes::Size { min, max } => format!("size, {} to {}", format_size(min), format_size(max)),
        Takes::Spread => "size or table".to_owned(),
        Takes::Count { min, max } => format!("number, {min} to {max}"),
        Takes::Share { above, below } => format!("number above {above} and below {below}"),
        Takes::Time => "time".to_owned(),
        Takes::Flag => "`true` or `false`".to_owned(),
        Takes::Word(words) => one_of(words),
        Takes::Words(words) => format!("list of {}", one_of(words)),
        Takes::Model => "name of a disk model".to_owned(),
        Takes::Kernel => "version or name, in quotes".to_owned(),
        Takes::Layout => "layout".to_owned(),
        Takes::Mount => "mount options".to_owned(),
        Takes::Pattern => "pattern".to_owned(),
        Takes::Hex => "bytes in hexadecimal".to_owned(),
        Takes::FioOption => "text, number or flag".to_owned(),
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
