//! Random arrangements of disks for the test of disk checks, made of loop devices on files in memory.

mod made;
mod random;
mod signatures;
mod system;

use made::{Made, detach_all};
pub use random::Random;
use signatures::{ext4, md, table};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use system::{FOLDER, PARTITIONS_SCANNED, attach_to, child, detach, free_loop, path, run, text, write_at};

const MIB: u64 = 1 << 20;
/// Size of each file.
const BYTES: u64 = 8 * MIB;

/// A disk, its surroundings, and the data that must not change.
pub struct Arrangement {
    pub target: PathBuf,
    /// The user has released its contents.
    pub is_given_up: bool,
    /// Where the target is on the file `a`.
    place: (u64, u64),
    /// The loop device on the file, which is the target or below it.
    disk: PathBuf,
    has_table: bool,
    /// A superblock on it marks it as a member.
    has_member: bool,
    /// Reasons against writing to it, whatever the user says.
    against: Vec<&'static str>,
    /// Contents that the user may release.
    holds: Vec<&'static str>,
    words: Vec<&'static str>,
    made: Vec<Made>,
    /// The contents of the files when we last changed them.
    a: Vec<u8>,
    b: Vec<u8>,
}

impl Arrangement {
    pub fn new(random: &mut Random) -> Arrangement {
        fs::create_dir_all(FOLDER).expect("a folder");
        for name in ["a", "b"] {
            let file = File::create(path(name)).expect("room");
            file.set_len(BYTES).expect("room");
        }
        // A complete filesystem of somebody else.
        write_at("b", &ext4(), 0);
        write_at("b", &[0x5a; 8192], 5 * MIB);
        let mut new = Arrangement {
            target: PathBuf::new(),
            is_given_up: random.one_in(2),
            place: (0, BYTES),
            disk: PathBuf::new(),
            has_table: false,
            has_member: false,
            against: Vec::new(),
            holds: Vec::new(),
            words: Vec::new(),
            made: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
        };
        new.base(random);
        for _ in 0..random.of(&[0, 0, 1, 1, 1, 2]) {
            new.add(random);
        }
        new.remember();
        new
    }

    fn attach(&mut self, backing: &Path, offset: u64, limit: u64, flags: u32) -> PathBuf {
        let node = free_loop();
        assert!(attach_to(&node, backing, offset, limit, flags), "{}", node.display());
        self.made.push(Made::Loop(node.clone()));
        node
    }

    /// The disk itself: a loop device, one on another, a partition, or a volume.
    fn base(&mut self, random: &mut Random) {
        let (file, kind) = (path("a"), random.below(7));
        let start = random.of(&[0, MIB, 2 * MIB]);
        match kind {
            0 => {
                self.disk = self.attach(&file, 0, 0, 0);
                self.target = self.disk.clone();
                self.words.push("loop");
            }
            1 | 2 => {
                self.disk = self.attach(&file, 0, 0, 0);
                let (start, bytes) = if kind == 1 { (0, BYTES) } else { (start, 4 * MIB) };
                self.place = (start, bytes);
                let below = self.disk.clone();
                self.target = self.attach(&below, start, if kind == 1 { 0 } else { bytes }, 0);
                self.words.push("loop on loop");
            }
            3 => {
                write_at("a", &table(), 0);
                self.disk = self.attach(&file, 0, 0, PARTITIONS_SCANNED);
                self.target = PathBuf::from(format!("{}p1", self.disk.display()));
                self.place = (MIB, 3 * MIB);
                assert!(self.target.exists(), "no partitions of loop devices");
                self.words.push("partition");
            }
            4 => {
                write_at("a", &table(), 0);
                self.disk = self.attach(&file, 0, 0, 0);
                self.target = self.disk.clone();
                self.has_table = true;
                self.holds.push("partition table");
                self.words.push("table not scanned");
            }
            5 => {
                self.disk = self.attach(&file, 0, 0, 0);
                self.place = (start, 4 * MIB);
                let table = format!("0 {} linear {} {}", 4 * MIB / 512, self.disk.display(), start / 512);
                self.target = self.map("target", &table).expect("device mapper");
                self.words.push("dm");
            }
            _ => {
                self.place = (start, 5 * MIB);
                self.disk = self.attach(&file, start, 5 * MIB, 0);
                self.target = self.disk.clone();
                self.words.push("loop at an offset");
            }
        }
    }

    fn map(&mut self, name: &str, table: &str) -> Option<PathBuf> {
        let is_made = run(
            "dmsetup",
            &["create", "--noudevsync", "--verifyudev", name, "--table", table],
        ) || run("dmsetup", &["create", name, "--table", table]);
        is_made.then(|| {
            self.made.push(Made::Mapped(name.to_owned()));
            let node = Path::new("/dev/mapper").join(name);
            node.canonicalize().unwrap_or(node)
        })
    }

    /// Adds something on or around the disk.
    fn add(&mut self, random: &mut Random) {
        match random.below(11) {
            0 | 1 => self.md(random),
            2 => self.signed(random),
            3 => self.noise(random),
            4 => self.mounted(random),
            5 | 6 => self.opened(random),
            7 => self.mapped(random),
            8 => self.array(random),
            9 => self.swap(),
            _ => self.filesystem(random),
        }
    }

    /// Adds a recognisable signature at the start of the target, which the user may release. If the disk below
    /// starts at the same byte and is larger, the signature is recognised there as well, and must be released under
    /// that disk's own name.
    fn holds(&mut self, word: &'static str) {
        self.holds.push(word);
        if self.target != self.disk && self.place.0 == 0 && self.place.1 < BYTES {
            self.against.push(word);
        }
    }

    fn against(&mut self, word: &'static str) {
        self.against.push(word);
        self.words.push(word);
    }

    /// A member of an array: the disk, or the whole disk if it is a partition.
    fn md(&mut self, random: &mut Random) {
        self.has_member = true;
        let version = random.of(&["0.90", "1.0", "1.1", "1.2"]);
        let is_partition = self.words[0] == "partition";
        if is_partition && random.one_in(2) {
            let version = random.of(&["0.90", "1.0"]);
            let (block, at) = md(version, BYTES);
            write_at("a", &block, at);
            return self.against("md on the whole disk");
        }
        if self.has_table {
            let (block, at) = md(version, 3 * MIB);
            write_at("a", &block, 4 * MIB + at);
            return self.against("md in an unscanned partition");
        }
        let (block, at) = md(version, self.place.1);
        write_at("a", &block, self.place.0 + at);
        self.against(match version {
            "0.90" => "md 0.90",
            "1.0" => "md 1.0",
            "1.1" => "md 1.1",
            _ => "md 1.2",
        });
    }

    /// The signature of another kind of member, at its usual offset or at any whole MiB.
    fn signed(&mut self, random: &mut Random) {
        // Inside a filesystem it may belong to a file.
        if !self.holds.is_empty() && !self.has_table {
            return;
        }
        self.has_member = true;
        let start = match self.has_table {
            true => random.of(&[MIB, 4 * MIB]),
            false => self.place.0 + random.below(self.place.1 / MIB) * MIB,
        };
        match random.below(4) {
            0 => {
                write_at("a", b"LABELONE\x01", start + 512);
                write_at("a", b"LVM2 001", start + 512 + 24);
                self.against("lvm");
            }
            1 => {
                for index in 0..6 {
                    write_at("a", &0x00ba_b10c_u64.to_le_bytes(), start + (128 << 10) + index * 1024);
                }
                self.against("zfs");
            }
            2 => {
                write_at("a", b"!Stra0tis\x86\xff\x02^\x41rh", start + 512 + 4);
                self.against("stratis");
            }
            _ => {
                write_at("a", b"bluestore block device", start);
                self.against("ceph");
            }
        }
    }

    fn noise(&mut self, random: &mut Random) {
        // It would overwrite the member's superblock.
        if self.has_member {
            return;
        }
        let at = self.place.0 + random.below(self.place.1 - 8192);
        let bytes: Vec<u8> = (0..4096).map(|_| (random.next() | 1) as u8).collect();
        write_at("a", &bytes, at);
        self.holds.push("noise");
        self.words.push("noise");
    }

    fn filesystem(&mut self, random: &mut Random) {
        // It would overwrite the member's superblock.
        if self.has_member {
            return;
        }
        if self.words[0] == "partition" && random.one_in(2) {
            // After the partition table, which precedes its superblock. Nobody has released the whole disk.
            write_at("a", &ext4()[1024..], 1024);
            return self.against("ext4 on the whole disk");
        }
        if !self.has_table {
            write_at("a", &ext4(), self.place.0);
            self.words.push("ext4");
            self.holds("ext4");
        }
    }

    /// A mounted filesystem: on the disk, below it, or through another loop device on the same bytes; visible to
    /// us, or only in another mount namespace.
    fn mounted(&mut self, random: &mut Random) {
        // It would overwrite the member's superblock.
        if self.has_member {
            return;
        }
        if self.has_table {
            return;
        }
        write_at("a", &ext4(), self.place.0);
        let device = match random.below(3) {
            0 => self.target.clone(),
            1 if self.place.0 == 0 => self.disk.clone(),
            _ => self.attach(&path("a"), self.place.0, 2 * MIB, 0),
        };
        let folder = path("mnt");
        fs::create_dir_all(&folder).expect("a folder");
        let (device, at, kind) = (text(&device), text(&folder), c"ext4");
        let mount = || {
            // SAFETY: NUL-terminated strings, and no data.
            unsafe {
                libc::mount(
                    device.as_ptr(),
                    at.as_ptr(),
                    kind.as_ptr(),
                    libc::MS_RDONLY,
                    std::ptr::null(),
                ) == 0
            }
        };
        if random.one_in(2) {
            if mount() {
                self.made.push(Made::Mount(folder));
                self.against("mounted");
            } else {
                self.holds("ext4");
            }
            return;
        }
        let apart = child(|| {
            // SAFETY: affects only this process; NUL-terminated strings.
            let is_apart = unsafe {
                libc::unshare(libc::CLONE_NEWNS) == 0
                    && libc::mount(
                        std::ptr::null(),
                        c"/".as_ptr(),
                        std::ptr::null(),
                        libc::MS_REC | libc::MS_PRIVATE,
                        std::ptr::null(),
                    ) == 0
            };
            is_apart && mount()
        });
        match apart {
            Some(pid) => {
                self.made.push(Made::Child(pid));
                self.against("mounted in another namespace");
            }
            None => self.holds("ext4"),
        }
    }

    /// A process that has the disk open, or writes to the device below it: through its node or another one, in our
    /// root or its own.
    fn opened(&mut self, random: &mut Random) {
        let device = match random.below(3) {
            0 => self.target.clone(),
            1 => self.disk.clone(),
            _ => path("a"),
        };
        let is_node = device.starts_with("/dev");
        let is_below = device != self.target;
        let writes = is_below || random.one_in(2);
        let name = if is_node { path("node") } else { device.clone() };
        if is_node {
            let _ = fs::remove_file(&name);
            let rdev = fs::metadata(&device).expect("a node").rdev();
            // SAFETY: a NUL-terminated string.
            assert!(unsafe { libc::mknod(text(&name).as_ptr(), libc::S_IFBLK | 0o600, rdev) } == 0);
        }
        let in_root = random.one_in(2);
        let inside = Path::new("/").join(name.file_name().expect("it has one"));
        let (root, name) = (text(Path::new(FOLDER)), text(if in_root { &inside } else { &name }));
        let flags = if writes { libc::O_RDWR } else { libc::O_RDONLY };
        let opener = child(|| {
            // SAFETY: NUL-terminated strings.
            unsafe { (!in_root || libc::chroot(root.as_ptr()) == 0) && libc::open(name.as_ptr(), flags) >= 0 }
        });
        if let Some(pid) = opener {
            self.made.push(Made::Child(pid));
            self.against(if in_root { "open in a chroot" } else { "open" });
        }
    }

    /// A device-mapper volume on the disk, or on the device below it.
    fn mapped(&mut self, random: &mut Random) {
        let below = if random.one_in(2) {
            self.target.clone()
        } else {
            self.disk.clone()
        };
        let at = if below == self.target { 0 } else { self.place.0 / 512 };
        if below == self.disk && self.words[0] == "loop at an offset" {
            return;
        }
        let table = format!("0 2048 linear {} {at}", below.display());
        if self.map("holder", &table).is_some() {
            self.against("below dm");
        }
    }

    fn array(&mut self, random: &mut Random) {
        let node = Path::new("/dev/md77");
        let below = if random.one_in(2) { &self.target } else { &self.disk };
        let member = below.to_str().expect("UTF-8");
        let build = [
            "--build",
            "/dev/md77",
            "--quiet",
            "--level=linear",
            "--force",
            "--raid-devices=1",
            member,
        ];
        if run("mdadm", &build) {
            self.made.push(Made::Array(node.to_owned()));
            self.against("below md");
        }
    }

    fn swap(&mut self) {
        if self.has_table || self.has_member {
            return;
        }
        write_at("a", &signatures::swap(), self.place.0);
        // SAFETY: a NUL-terminated string.
        if unsafe { libc::swapon(text(&self.target).as_ptr(), 0) } == 0 {
            self.made.push(Made::Swap(self.target.clone()));
            self.against("swap");
        } else {
            self.holds("swap");
        }
    }

    /// A change by somebody else between two checks of the disk.
    pub fn change(&mut self, random: &mut Random) {
        self.words.push("then");
        match random.below(4) {
            0 if self.target == self.disk => {
                // Another disk under the same name.
                if detach(&self.disk) && attach_to(&self.disk, &path("b"), 0, 0, 0) {
                    self.against("another disk");
                }
            }
            0 if self.words[0] == "dm" => {
                let other = self.attach(&path("b"), 0, 0, 0);
                let table = format!("0 {} linear {} 0", self.place.1 / 512, other.display());
                let name = "target";
                if run("dmsetup", &["reload", name, "--table", &table]) && run("dmsetup", &["resume", name]) {
                    self.against("another table");
                }
            }
            1 => {
                write_at(
                    "a",
                    b"mine, since",
                    self.place.0 + random.below(self.place.1 / 4096) * 4096,
                );
                self.against("data since");
            }
            _ => {
                let before = (self.holds.len(), self.against.len());
                self.add(random);
                // Nobody has released what was added since.
                if (self.holds.len(), self.against.len()) != before {
                    self.against("since");
                }
            }
        }
        self.remember();
    }

    fn remember(&mut self) {
        // SAFETY: has no arguments.
        unsafe { libc::sync() };
        (self.a, self.b) = (fs::read(path("a")).expect("ours"), fs::read(path("b")).expect("ours"));
    }

    pub fn words(&self) -> Vec<&'static str> {
        self.words.clone()
    }

    /// The kernel's name of the target, which has no serial number.
    pub fn kernel_name(&self) -> String {
        let number = fs::metadata(&self.target).expect("a node").rdev();
        let link = format!("/sys/dev/block/{}:{}", libc::major(number), libc::minor(number));
        let folder = fs::canonicalize(link).expect("the kernel has it");
        folder
            .file_name()
            .expect("it has a name")
            .to_string_lossy()
            .into_owned()
    }

    pub fn target_bytes(&self) -> u64 {
        self.place.1
    }

    pub fn is_protected(&self) -> bool {
        !self.against.is_empty() || (!self.holds.is_empty() && !self.is_given_up)
    }

    /// Position of the first changed byte that must not change, if any.
    pub fn first_change(&self) -> Option<String> {
        // SAFETY: has no arguments.
        unsafe { libc::sync() };
        let (a, b) = (fs::read(path("a")).expect("ours"), fs::read(path("b")).expect("ours"));
        let may_change = |at: u64| {
            let (start, bytes) = self.place;
            !self.is_protected() && (start..start + bytes).contains(&at)
        };
        let differs = |(at, (was, is)): &(usize, (&u8, &u8))| was != is && !may_change(*at as u64);
        let in_a = self.a.iter().zip(&a).enumerate().find(differs);
        let in_b = self.b.iter().zip(&b).position(|(was, is)| was != is);
        let in_a = in_a.map(|(at, _)| format!("byte {at} of its file"));
        in_a.or_else(|| in_b.map(|at| format!("byte {at} of another file")))
    }
}

impl Drop for Arrangement {
    fn drop(&mut self) {
        self.made.drain(..).rev().for_each(Made::undo);
        detach_all();
    }
}
