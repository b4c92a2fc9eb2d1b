//! A key of the study file: where it belongs, what it takes, and its description.

use filesystems::Filesystem;

/// A table of the study file, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Top,
    Disks,
    Group,
    /// `state` of disks.
    State,
    Bus,
    Stack,
    Array,
    Inner,
    Partition,
    Cache,
    Luks,
    Volume,
    Image,
    Filesystem,
    Workload,
    /// `age` of a workload.
    Age,
    Tree,
    FileSize,
    /// Keys that fio and raidlab's own engine share.
    Io,
    /// Additional keys of fio.
    Fio,
    FioFile,
    Bonnie,
    Iozone,
    Server,
    PowerCut,
    Act,
    Claim,
    /// A custom table of results.
    Shown,
    Column,
    Published,
    Precision,
}

impl Table {
    pub const ALL: [Self; 31] = [
        Self::Top,
        Self::Disks,
        Self::Group,
        Self::State,
        Self::Bus,
        Self::Stack,
        Self::Array,
        Self::Inner,
        Self::Partition,
        Self::Cache,
        Self::Luks,
        Self::Volume,
        Self::Image,
        Self::Filesystem,
        Self::Workload,
        Self::Age,
        Self::Tree,
        Self::FileSize,
        Self::Io,
        Self::Fio,
        Self::FioFile,
        Self::Bonnie,
        Self::Iozone,
        Self::Server,
        Self::PowerCut,
        Self::Act,
        Self::Claim,
        Self::Shown,
        Self::Column,
        Self::Published,
        Self::Precision,
    ];

    /// Its name in messages and in the reference.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Top => "the top of the file",
            Self::Disks => "[disks]",
            Self::Group => "[disks.NAME]",
            Self::State => "state = { … } of [disks]",
            Self::Bus => "bus = [{ … }] of [disks]",
            Self::Stack => "[[stack]]",
            Self::Array => "array = { … } of a [[stack]]",
            Self::Inner => "of = { … } of an array",
            Self::Partition => "partition = { … } of a [[stack]]",
            Self::Cache => "cache = { … } of a [[stack]]",
            Self::Luks => "luks = { … } of a [[stack]]",
            Self::Volume => "volume = { … } of a [[stack]]",
            Self::Image => "image = { … } of a [[stack]]",
            Self::Filesystem => "fs = { … } of a [[stack]]",
            Self::Workload => "[[workload]]",
            Self::Age => "age = { … } of a [[workload]]",
            Self::Tree => "tree = { … } of a [[workload]]",
            Self::FileSize => "size = { … } of a tree",
            Self::Io => "io = { … } of a [[workload]]",
            Self::Fio => "fio = { … } of a [[workload]]",
            Self::FioFile => "fio_file = { … } of a [[workload]]",
            Self::Bonnie => "bonnie = { … } of a [[workload]]",
            Self::Iozone => "iozone = { … } of a [[workload]]",
            Self::Server => "server = { … } of a [[workload]]",
            Self::PowerCut => "power_cut = { … } of a [[workload]]",
            Self::Act => "[[act]]",
            Self::Claim => "[[claim]]",
            Self::Shown => "[[table]]",
            Self::Column => "[[table.column]]",
            Self::Published => "published = [{ … }] of a [[table]]",
            Self::Precision => "[precision]",
        }
    }
}

/// A key of the study file.
#[derive(Debug)]
pub struct Key {
    pub table: Table,
    pub name: &'static str,
    /// The name of its axis: its own name, unless two tables have a key with that name.
    pub axis_name: &'static str,
    pub takes: Takes,
    pub axis: Axis,
    /// Default value; empty if the key is required.
    pub default: &'static str,
    /// The filesystems that support it, if not all.
    of: Option<fn(&Filesystem) -> bool>,
    help: &'static str,
}

impl Key {
    /// Its description, with the names of the filesystems that support it.
    pub fn help(&self) -> String {
        self.of.map_or_else(
            || self.help.to_owned(),
            |knows| format!("{}: {}", filesystems::names(knows), self.help),
        )
    }

    /// Restricts it to the matching filesystems.
    pub(super) const fn of(self, knows: fn(&Filesystem) -> bool) -> Self {
        Self {
            of: Some(knows),
            ..self
        }
    }

    /// Gives its axis another name.
    pub(crate) const fn on_axis(self, axis_name: &'static str) -> Self {
        Self { axis_name, ..self }
    }
}

/// Whether the key takes a list of values as an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One value, no axis.
    Single,
    /// One value or a list of them.
    Listed,
    /// The same; `"default"` is also a value, and leaves the choice to mdadm, mkfs or the kernel.
    ListedOrDefault,
}

/// Type of a key's value, with bounds.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Any text.
    Text,
    /// Text on one line, not empty.
    Name,
    /// `512K`, `4 MiB`.
    Size {
        min: u64,
        max: u64,
    },
    /// A size, or a distribution of sizes.
    Spread,
    /// A whole number.
    Count {
        min: u64,
        max: u64,
    },
    /// A number between the bounds, exclusive.
    Share {
        above: f64,
        below: f64,
    },
    /// `30s`, `5min`.
    Time,
    /// `50 %`, up to this.
    Percent {
        max: u64,
    },
    Flag,
    /// One of these; the first word of each row is canonical, the others are aliases.
    Word(&'static [&'static [&'static str]]),
    /// A list of names without duplicates that is not an axis.
    Names,
    /// A list of values of some axes.
    Scalars,
    /// A list of numbers; `"-"` for a missing one.
    Figures,
    /// A list of these words without duplicates that is not an axis.
    Words(&'static [&'static [&'static str]]),
    /// A list of disks: numbers of `data`, names of groups, `GROUP:NUMBER`.
    BusDisks,
    /// Disks of groups in one order, separated by commas: `GROUP` or `GROUP:NUMBER`.
    Members,
    /// Name or file of a disk model.
    Model,
    /// A kernel available in the lab.
    Kernel,
    /// A processor of the catalogue, or a file.
    Processor,
    /// `n2`, `left-symmetric`, …
    Layout,
    /// Mount options separated by commas.
    Mount,
    /// An fio pattern, with an optional suffix after a colon.
    Pattern,
    /// `0xdeadbeef`
    Hex,
    /// A value that fio accepts.
    FioOption,
    /// A group of disks other than those under test.
    GroupName,
    /// Axis = value, …
    Filter,
    /// Names given by the user, each with a value that fio accepts or a list of them.
    Variables,
    /// A table, or only a name.
    NameOr(Table),
    /// A table.
    One(Table),
    /// A table, or a list of them.
    Many(Table),
    /// Tables with names given by the user.
    Named(Table),
}

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const TIB: u64 = 1 << 40;
pub(crate) const PIB: u64 = 1 << 50;

pub(crate) const fn key(
    table: Table,
    name: &'static str,
    takes: Takes,
    axis: Axis,
    default: &'static str,
    help: &'static str,
) -> Key {
    Key {
        table,
        name,
        axis_name: name,
        takes,
        axis,
        default,
        of: None,
        help,
    }
}
