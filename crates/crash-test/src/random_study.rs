//! Random studies, the histories of a soak: each has one cell with power cuts and is generated from a seed.

use study::trial_seed;

/// Minimum number of operations after shrinking.
const OPERATIONS_MIN: u32 = 4;

/// Levels with the number of their members.
const ARRAYS: [(&str, u32); 13] = [
    ("single", 1),
    ("0", 2),
    ("1", 2),
    ("1", 3),
    ("5", 3),
    ("5", 4),
    ("5", 5),
    ("6", 4),
    ("6", 5),
    ("6", 6),
    ("10", 4),
    ("10", 4),
    ("10", 6),
];

/// Two hard disks with NCQ, one with TCQ, a SATA and an NVMe drive.
const MODELS: [&str; 5] = [
    "wd-500gb-2007",
    "samsung-f1-1tb",
    SMALL_MODEL,
    "samsung-860-pro-512gb",
    "samsung-970-evo-500gb",
];

/// Drives whose write cache can be switched off: those with platters.
const WITH_PLATTERS: [&str; 3] = ["wd-500gb-2007", "samsung-f1-1tb", SMALL_MODEL];

/// 9 GB: arrays without `size` are as large as their members.
const SMALL_MODEL: &str = "seagate-cheetah-9lp";

/// Filesystems: type, options in `fs`, smallest size in MiB, and whether it has the mount option `nobarrier`.
const FILESYSTEMS: [(&str, &str, u32, bool); 6] = [
    ("ext4", "", 64, true),
    ("ext4", ", journal = \"journal\"", 64, true),
    ("ext4", ", block_size = \"1K\"", 64, true),
    ("ext3", "", 64, true),
    ("xfs", "", 520, false),
    ("btrfs", "", 256, true),
];

/// Acts on the array during the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acts {
    None,
    /// A disk fails.
    Fail,
    /// A disk fails, is removed and is added again, with a bitmap as its former member.
    Rebuild,
    /// A spare becomes a member.
    Grow,
    /// A spare becomes the second parity of a RAID 5.
    ToRaid6,
    /// All copies and parity are compared.
    Check,
    /// A disk becomes slow.
    Slow,
}

/// The guarantee of a stack after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Everything that was acknowledged survives.
    Kept,
    /// Not everything survives, for this reason.
    NotKept(&'static str),
}

/// One study, and the seed of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    pub number: u32,
    pub seed: u64,
    pub operations: u32,
    pub level: &'static str,
    pub members: u32,
    pub filesystem: &'static str,
    pub has_ppl: bool,
    kernel: String,
    model: &'static str,
    chunk: &'static str,
    bitmap: &'static str,
    filesystem_options: &'static str,
    size_mib: u32,
    has_barriers: bool,
    has_write_cache: bool,
    pub has_write_behind: bool,
    points: u32,
    subsets: u32,
    is_missing_member: bool,
    is_of_names: bool,
    acts: Acts,
    /// The disk of the acts, counted from 1.
    disk: u32,
    /// Percentage of the operations after which the acts start.
    after: u32,
}

impl History {
    /// The history with this number, counted from 1.
    pub fn draw(seed: u64, number: u32, kernel: &str) -> Self {
        let seed = trial_seed(seed, number);
        let mut draws = Draws { seed, drawn: 0 };
        let (level, members) = draws.one(&ARRAYS);
        let (filesystem, filesystem_options, size_mib, has_nobarrier) = draws.one(&FILESYSTEMS);
        let is_redundant = !matches!(level, "single" | "0");
        let drawn = draws.one(&MODELS);
        let model = if is_redundant { drawn } else { SMALL_MODEL };
        let has_ppl = level == "5" && draws.chance(40);
        let has_write_behind = level == "1" && draws.chance(40);
        let bitmap = draws.one(&["none", "internal"]);
        let history = Self {
            number,
            seed,
            operations: 10 + draws.below(90),
            level,
            members,
            filesystem,
            has_ppl,
            kernel: kernel.to_owned(),
            model,
            chunk: draws.one(&["4K", "16K", "64K", "512K"]),
            bitmap: match (has_ppl, has_write_behind) {
                (true, _) => "none",
                (_, true) => "internal",
                _ => bitmap,
            },
            has_write_behind,
            filesystem_options,
            size_mib,
            has_barriers: !(has_nobarrier && draws.chance(10)),
            has_write_cache: !(WITH_PLATTERS.contains(&model) && draws.chance(20)),
            points: 6 + draws.below(7),
            subsets: 1 + draws.below(2),
            is_missing_member: is_redundant && draws.chance(30),
            is_of_names: draws.chance(30),
            acts: Acts::None,
            disk: 1,
            after: 0,
        };
        history.with_acts(&mut draws)
    }

    /// The same with acts, if some are drawn: for arrays with copies or parity that are complete after the cut. md
    /// adds no disk to mirrors, to RAID 10 or to an array with PPL.
    fn with_acts(self, draws: &mut Draws) -> Self {
        let may_act = !matches!(self.level, "single" | "0") && !self.is_missing_member && !self.has_write_behind;
        if !may_act || !draws.chance(50) {
            return self;
        }
        let mut possible = vec![Acts::Fail, Acts::Rebuild, Acts::Check, Acts::Slow];
        if matches!(self.level, "5" | "6") && !self.has_ppl {
            possible.push(Acts::Grow);
        }
        if self.level == "5" && !self.has_ppl {
            possible.push(Acts::ToRaid6);
        }
        Self {
            acts: draws.one(&possible),
            disk: 1 + draws.below(self.members),
            after: 5 + draws.below(60),
            ..self
        }
    }

    /// The study file.
    pub fn study(&self) -> String {
        let mut mount = String::new();
        if !self.has_barriers {
            mount = "mount = \"nobarrier\"\n".to_owned();
        }
        if !self.has_write_cache {
            mount.push_str("write_cache = false\n");
        }
        format!(
            "title = \"Soak, history {number}\"\n\
             description = \"With `--seed {seed}`.\"\n\
             machine = \"lab\"\n\
             kernel = \"{kernel}\"\n\
             ram = \"128 MiB\"\n\n\
             [disks]\n\
             model = \"{model}\"\n\
             count = {disks}\n\n\
             [[stack]]\n\
             array = {{ {array} }}\n\
             fs = {{ type = \"{filesystem}\"{options} }}\n\
             {mount}\n\
             [[workload]]\n\
             name = \"power cuts\"\n\
             power_cut = {{ operations = {operations}, points = {points}, subsets = {subsets}, \
             missing_member = {missing}{names} }}\n\n\
             {acts}\
             [precision]\n\
             trials = 1\n",
            number = self.number,
            seed = self.seed,
            kernel = self.kernel,
            model = self.model,
            disks = self.members + u32::from(self.has_spare()),
            array = self.array(),
            filesystem = self.filesystem,
            options = self.filesystem_options,
            operations = self.operations,
            points = self.points,
            subsets = self.subsets,
            missing = self.is_missing_member,
            names = if self.is_of_names { ", namespace = true" } else { "" },
            acts = self.act_tables(),
        )
    }

    fn act_tables(&self) -> String {
        let table = |later: u32, what: &str| format!("[[act]]\nafter = \"{} %\"\n{what}\n\n", self.after + later);
        let of_disk = |later, what| table(later, &format!("do = \"{what}\"\ndisk = {}", self.disk));
        match self.acts {
            Acts::None => String::new(),
            Acts::Fail => of_disk(0, "fail"),
            Acts::Rebuild => {
                let back = if self.bitmap == "internal" { "re-add" } else { "add" };
                of_disk(0, "fail") + &of_disk(5, "remove") + &of_disk(10, back)
            }
            Acts::Grow => table(0, "do = \"grow\""),
            Acts::ToRaid6 => table(0, "do = \"grow\"\nlevel = 6"),
            Acts::Check => table(0, "do = \"check\""),
            Acts::Slow => of_disk(0, "slow\"\ndelay = \"50ms"),
        }
    }

    fn array(&self) -> String {
        let level = match self.level {
            "single" => return "level = \"single\"".to_owned(),
            "1" => "level = 1".to_owned(),
            level => format!("level = {level}, chunk = \"{}\"", self.chunk),
        };
        if self.level == "0" {
            return level;
        }
        let size = self.size_mib.div_ceil(self.data_members()).max(64);
        let option = match (self.has_ppl, self.has_write_behind) {
            (true, _) => ", ppl = true",
            (_, true) => ", write_mostly = 1, write_behind = 256",
            _ => "",
        };
        let spare = if self.has_spare() { ", spares = 1" } else { "" };
        format!(
            "{level}, size = \"{size} MiB\", bitmap = \"{}\"{option}{spare}",
            self.bitmap
        )
    }

    const fn has_spare(&self) -> bool {
        matches!(self.acts, Acts::Grow | Acts::ToRaid6)
    }

    fn data_members(&self) -> u32 {
        match self.level {
            "1" => 1,
            "5" => self.members - 1,
            "6" => self.members - 2,
            "10" => self.members / 2,
            _ => self.members,
        }
    }

    /// Disks with write caches lose cached data if the filesystem does not flush them. RAID 5 and 6 without a
    /// partial parity log have the write hole if a member is missing.
    pub fn promise(&self) -> Promise {
        if !self.has_barriers && self.has_write_cache {
            return Promise::NotKept("nobarrier on disks that cache writes");
        }
        if matches!(self.level, "5" | "6") && self.is_missing_member && !self.has_ppl {
            return Promise::NotKept("a member is missing after the cut: the write hole");
        }
        if matches!(self.level, "5" | "6") && matches!(self.acts, Acts::Fail | Acts::Rebuild) && !self.has_ppl {
            return Promise::NotKept("a disk failed before the cut: the write hole");
        }
        Promise::Kept
    }

    pub const fn acts(&self) -> Acts {
        self.acts
    }

    /// Whether the disks have write caches.
    pub const fn has_write_cache(&self) -> bool {
        self.has_write_cache
    }

    /// Whether it uses the distribution's Linux 6.12.
    pub fn is_of_6_12(&self) -> bool {
        self.kernel.starts_with("6.12")
    }

    /// The same with this number of operations.
    pub fn with_operations(&self, operations: u32) -> Self {
        Self {
            operations,
            ..self.clone()
        }
    }

    /// The same with fewer operations and correspondingly more instants; `None` if there are too few.
    pub fn smaller(&self) -> Option<Self> {
        let operations = self.operations / 2;
        (operations >= OPERATIONS_MIN).then(|| self.with_operations(operations))
    }

    /// Its distinguishing properties, in one line.
    pub fn describe(&self) -> String {
        let mut words = vec![
            match self.level {
                "single" => format!("one {}", self.model),
                level => format!("RAID {level} of {} {}", self.members, self.model),
            },
            format!(
                "{}{}",
                self.filesystem,
                self.filesystem_options.replace(", ", " ").replace(" = ", " ")
            ),
        ];
        let traits = [
            (self.has_ppl, "PPL"),
            (self.has_write_behind, "write-behind"),
            (
                self.bitmap == "internal" && !matches!(self.level, "single" | "0"),
                "bitmap",
            ),
            (!self.has_barriers, "nobarrier"),
            (!self.has_write_cache, "no write cache"),
            (self.is_missing_member, "a member missing after the cut"),
            (self.is_of_names, "operations on names"),
            (self.acts == Acts::Fail, "a disk fails"),
            (self.acts == Acts::Rebuild, "a disk fails and comes back"),
            (self.acts == Acts::Grow, "a disk is added"),
            (self.acts == Acts::ToRaid6, "RAID 5 becomes RAID 6"),
            (self.acts == Acts::Check, "check"),
            (self.acts == Acts::Slow, "a disk becomes slow"),
        ];
        words.extend(traits.iter().filter(|(is, _)| *is).map(|(_, what)| (*what).to_owned()));
        words.push(format!("{} operations", self.operations));
        words.join(", ").replace('"', "")
    }
}

/// The random numbers of one history.
struct Draws {
    seed: u64,
    drawn: u32,
}

impl Draws {
    fn below(&mut self, end: u32) -> u32 {
        self.drawn += 1;
        (trial_seed(self.seed, self.drawn) % u64::from(end)) as u32
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u32 = 500;

    fn histories() -> impl Iterator<Item = History> {
        (1..=MANY).map(|number| History::draw(7, number, "6.12"))
    }

    #[test]
    fn one_seed_decides_all() {
        assert!(histories().eq(histories()));
        assert_ne!(History::draw(7, 1, "6.12"), History::draw(8, 1, "6.12"));
    }

    #[test]
    fn every_history_is_a_study_of_one_cell() {
        for history in histories() {
            let source = history.study();
            let plan = study_file::read(&source, "soak", &study_file::Known::default());
            let plan = plan.unwrap_or_else(|errors| panic!("{errors}\n{source}"));
            assert_eq!(plan.cells.len(), 1, "{:?}\n{source}", plan.left_out);
        }
    }

    #[test]
    fn every_level_and_filesystem_is_drawn_with_both_promises() {
        for (level, _) in ARRAYS {
            assert!(histories().any(|history| history.level == level && history.promise() == Promise::Kept));
        }
        for (filesystem, ..) in FILESYSTEMS {
            let of = |history: &History| history.filesystem == filesystem;
            assert!(histories().filter(of).any(|history| history.promise() == Promise::Kept));
            assert!(histories().filter(of).any(|history| history.promise() != Promise::Kept));
        }
    }

    #[test]
    fn every_act_is_drawn() {
        let all = [
            Acts::None,
            Acts::Fail,
            Acts::Rebuild,
            Acts::Grow,
            Acts::ToRaid6,
            Acts::Check,
            Acts::Slow,
        ];
        for acts in all {
            assert!(histories().any(|history| history.acts == acts), "{acts:?}");
        }
    }

    #[test]
    fn a_smaller_history_differs_in_its_operations_alone() {
        let history = History::draw(7, 3, "6.12");
        let smaller = history.smaller().expect("ten operations at least");
        assert_eq!(smaller.operations, history.operations / 2);
        assert_eq!(smaller.with_operations(history.operations), history);
        assert_eq!(history.with_operations(5).smaller(), None);
    }
}
