//! The effects of programs on simulated disks, and their output.

mod of_bcache;
mod of_image;
mod of_zfs;

use crate::array::partition_table::first_partition;
use crate::array::zfs::{ZFS, ZPOOL};
use crate::array::{bcache, integrity, luks};
use crate::filesystem::image::ZVOL;
use crate::machine::device_mapper;
use crate::machine::executor::Mounted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use study::event::ToolCall;
use study::stack::FilesystemKind;
use tools::{Invocation, Tool, ToolError};

/// The contents of the disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    arrays: BTreeMap<PathBuf, Array>,
    /// UUIDs of arrays, by member.
    superblocks: BTreeMap<PathBuf, String>,
    /// What blkid would find, by device.
    signatures: BTreeMap<PathBuf, Signature>,
    /// UUIDs of partition tables, by disk.
    tables: BTreeMap<PathBuf, String>,
    /// Physical volumes, with their volume groups.
    volumes: BTreeMap<PathBuf, String>,
    /// Nodes of logical volumes.
    logical: BTreeSet<PathBuf>,
    /// Nodes of dm-integrity devices and LUKS volumes, with the devices below them.
    mapped: Vec<(PathBuf, PathBuf)>,
    /// Sectors of LUKS volumes, by device.
    sector_sizes: BTreeMap<PathBuf, String>,
    /// Lines of `dmsetup table`, by name, of LUKS volumes that are open.
    tables_of_mapper: BTreeMap<String, String>,
    /// The backing device and the set of bcache, while it is up.
    cached: Option<(PathBuf, String)>,
    /// Partitions of pools, by the pool's name.
    pools: BTreeMap<String, Vec<PathBuf>>,
    /// Loop devices of disks that are files.
    loop_disks: usize,
    /// Files behind loop devices that the stack makes.
    images: BTreeMap<PathBuf, PathBuf>,
    zvols: BTreeSet<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Array {
    uuid: String,
    in_sync: bool,
    /// Attributes by their names in `md/`, as set by mdadm's options.
    attributes: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Signature {
    /// Its names in wipefs.
    names: Vec<&'static str>,
    uuid: String,
}

/// The mount that a program makes, if any.
pub(super) fn mounted_by(call: &Invocation) -> Option<Mounted> {
    let mounts = |kind: &FilesystemKind| kind.mounting.program.map(Tool::Filesystem) == Some(call.tool());
    let kind = FilesystemKind::ALL.iter().find(|kind| mounts(kind))?;
    let words = words(call);
    let mut paths = words.iter().filter(|word| word.starts_with('/'));
    Some(Mounted {
        source: paths.next()?.into(),
        mount_point: paths.next()?.into(),
        kind: kind.mount_type().to_owned(),
        options: value_of(&words, "-o").unwrap_or_default().to_owned(),
    })
}

fn journal(kind: &FilesystemKind) -> Option<&'static str> {
    kind.get().journal.as_ref().map(|journal| journal.signature)
}

fn words(call: &Invocation) -> Vec<String> {
    call.argv().split_off(1)
}

/// The word after an option.
fn value_of<'w>(words: &'w [String], option: &str) -> Option<&'w str> {
    let at = words.iter().position(|word| word == option)?;
    words.get(at + 1).map(String::as_str)
}

/// Devices among the words, including those in `logdev=/dev/vdb,size=…`.
fn devices(words: &[String]) -> Vec<PathBuf> {
    words
        .iter()
        .flat_map(|word| word.split([',', '=']))
        .filter(|word| word.starts_with("/dev/"))
        .map(PathBuf::from)
        .collect()
}

fn ended(call: &Invocation, stdout: String) -> Result<ToolCall, ToolError> {
    Ok(ToolCall {
        argv: call.argv(),
        exit: Some(0),
        stdout,
        stderr: String::new(),
        duration_ns: 0,
    })
}

fn failed(call: &Invocation, why: &str) -> ToolError {
    ToolError::Exit {
        call: Box::new(ToolCall {
            argv: call.argv(),
            exit: Some(1),
            stdout: String::new(),
            stderr: why.to_owned(),
            duration_ns: 0,
        }),
        status: 1,
    }
}

/// Attributes set by the options of `mdadm --create` for the bitmap, the size and the members. `kernel_name` is
/// that of a node.
fn attributes_of_array(
    words: &[String],
    kernel_name: impl Fn(&Path) -> Option<String>,
) -> BTreeMap<String, String> {
    let mut attributes = BTreeMap::new();
    let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let chunk = option("--bitmap-chunk=").and_then(|chunk| chunk.strip_suffix('K'));
    if let Some(kibibytes) = chunk.and_then(|chunk| chunk.parse::<u64>().ok()) {
        attributes.insert("bitmap/chunksize".to_owned(), (kibibytes * 1024).to_string());
    }
    if let Some(writes) = option("--write-behind=") {
        attributes.insert("bitmap/backlog".to_owned(), writes.to_owned());
    }
    let mut state = "in_sync";
    for word in words {
        let node = Path::new(word);
        match kernel_name(node) {
            Some(name) if node.starts_with("/dev") => {
                attributes.insert(format!("dev-{name}/state"), state.to_owned());
                attributes.insert(format!("dev-{name}/offset"), "2048".to_owned());
            }
            _ if word == "--write-mostly" => state = "in_sync,write_mostly",
            _ => {}
        }
    }
    let size = option("--size=").and_then(|size| size.strip_suffix('K'));
    attributes.insert("component_size".to_owned(), size.unwrap_or("1046528").to_owned());
    attributes
}

impl Contents {
    pub(super) fn has_node(&self, path: &Path) -> bool {
        let disk_of = |disk: &PathBuf| {
            let kernel_name = disk.file_name().unwrap_or_default().to_string_lossy();
            first_partition(&kernel_name) == path
        };
        let is_mapped = self.of_mapper().any(|node| self.mapped(node).as_deref() == Some(path));
        let is_named = self.of_mapper().any(|node| node == path);
        let is_cached = self.cached.is_some() && path == Path::new(of_bcache::NODE);
        let is_image = self.images.contains_key(path) || self.zvols.contains(path);
        is_image || self.is_array(path) || is_cached || is_mapped || is_named || self.tables.keys().any(disk_of)
    }

    /// Nodes of device mapper.
    fn of_mapper(&self) -> impl Iterator<Item = &PathBuf> {
        self.logical.iter().chain(self.mapped.iter().map(|(node, _)| node))
    }

    /// The device-mapper name of one of them.
    pub(super) fn mapped(&self, node: &Path) -> Option<PathBuf> {
        let number = self.of_mapper().position(|other| other == node)?;
        Some(PathBuf::from(format!("/dev/dm-{number}")))
    }

    pub(super) fn is_array(&self, path: &Path) -> bool {
        self.arrays.contains_key(path)
    }

    /// The value of an array's attribute that an option of mdadm sets.
    pub(super) fn made_by_mdadm(&self, array: &Path, attribute: &str) -> Option<String> {
        self.arrays.get(array)?.attributes.get(attribute).cloned()
    }

    pub(super) fn is_in_sync(&self, array: &Path) -> bool {
        self.arrays.get(array).is_some_and(|array| array.in_sync)
    }

    pub(super) fn bring_in_sync(&mut self, array: &Path) {
        if let Some(array) = self.arrays.get_mut(array) {
            array.in_sync = true;
        }
    }

    /// The folder of a volume group in /dev.
    pub(super) fn is_group(&self, path: &Path) -> bool {
        let name = path.strip_prefix("/dev").ok().and_then(Path::to_str);
        name.is_some_and(|name| self.volumes.values().any(|group| group == name))
    }

    /// A folder in /sys/fs/btrfs for each filesystem.
    pub(super) fn btrfs_folders(&self) -> Vec<PathBuf> {
        let btrfs = self
            .signatures
            .values()
            .filter(|signature| signature.names.contains(&"btrfs"));
        let uuids: BTreeSet<&str> = btrfs.map(|signature| signature.uuid.as_str()).collect();
        uuids
            .into_iter()
            .map(|uuid| Path::new("/sys/fs/btrfs").join(uuid))
            .collect()
    }

    /// `/sys/fs/btrfs/UUID/devices/NAME`
    pub(super) fn is_of_btrfs(&self, path: &Path) -> bool {
        let Ok(rest) = path.strip_prefix("/sys/fs/btrfs") else {
            return false;
        };
        let parts: Vec<_> = rest.iter().collect();
        let is_it = |(device, signature): (&PathBuf, &Signature)| {
            parts.first().is_some_and(|uuid| *uuid == signature.uuid.as_str())
                && parts.last().copied() == device.file_name()
        };
        parts.len() == 3 && self.signatures.iter().any(is_it)
    }

    /// The output of a program that only reads.
    pub(super) fn answer(&self, call: &Invocation) -> Result<ToolCall, ToolError> {
        let words = words(call);
        let first = words.first().map_or("", String::as_str);
        let device = devices(&words).pop().unwrap_or_default();
        match (call.tool(), first) {
            (Tool::Mdadm, "--detail") => match self.arrays.get(&device) {
                Some(array) => ended(call, format!("MD_UUID={}\n", array.uuid)),
                None => Err(failed(call, "no such array")),
            },
            (Tool::Mdadm, "--examine") => match self.superblocks.get(&device) {
                Some(uuid) => ended(call, format!("MD_UUID={uuid}\n")),
                None => Err(failed(call, "no md superblock")),
            },
            (Tool::Wipefs, _) => {
                let found = self.signatures.get(&device);
                ended(call, found.map(|signature| signature.uuid.clone()).unwrap_or_default())
            }
            (Tool::Dmsetup, "ls") => {
                let names = self.mapped.iter().filter_map(|(node, _)| node.file_name());
                ended(
                    call,
                    names.map(|name| format!("{}\t(254:0)\n", name.display())).collect(),
                )
            }
            (Tool::Dmsetup, "table") => {
                let name = words.last().map(String::as_str).unwrap_or_default();
                ended(call, self.tables_of_mapper.get(name).cloned().unwrap_or_default())
            }
            (Tool::Dmsetup, _) => {
                let node = words
                    .last()
                    .map(|name| device_mapper::node_of(name))
                    .unwrap_or_default();
                let disk = self
                    .mapped
                    .iter()
                    .find(|(other, _)| *other == node)
                    .map(|(_, disk)| disk);
                let disk = disk.map(|disk| self.mapped(disk).unwrap_or_else(|| disk.clone()));
                let disk = disk.as_ref().and_then(|disk| disk.file_name()).unwrap_or_default();
                ended(call, format!("1 dependencies\t: ({})\n", disk.display()))
            }
            (Tool::Sfdisk, _) => match self.tables.get(&device) {
                Some(uuid) => ended(call, format!("{uuid}\n")),
                None => Err(failed(call, "no partition table")),
            },
            (Tool::Lvm, "pvs") => {
                let line = |(device, group): (&PathBuf, &String)| format!("  {}|{group}\n", device.display());
                ended(call, self.volumes.iter().map(line).collect())
            }
            (Tool::Lvm, "lvs") if words.iter().any(|word| word == "lv_size") => ended(call, "  SIZE\n".to_owned()),
            (Tool::BcacheSuperShow, _) => match self.signatures.get(&device) {
                Some(found) if found.names == [bcache::SIGNATURE] => {
                    ended(call, format!("cset.uuid\t\t{}\n", found.uuid))
                }
                _ => Err(failed(call, "Bad magic")),
            },
            (Tool::Df, _) => ended(call, "Avail\nSIZE\n".to_owned()),
            (Tool::Losetup, _) => ended(call, self.listed_by_losetup()),
            (Tool::Lvm, _) => ended(call, "  idle 100.00\n".to_owned()),
            (ZPOOL, "list") => ended(call, self.pools.keys().map(|name| format!("{name}\n")).collect()),
            (ZPOOL, _) => {
                let pool = words.last().and_then(|name| self.pools.get(name));
                let line = |partition: &PathBuf| format!("\t    {}  ONLINE\n", partition.display());
                ended(call, pool.into_iter().flatten().map(line).collect())
            }
            _ => ended(call, String::new()),
        }
    }

    /// Applies the effects of a program.
    pub(super) fn change(&mut self, call: &Invocation) -> Result<ToolCall, ToolError> {
        let words = words(call);
        let first = words.first().map_or("", String::as_str);
        match (call.tool(), first) {
            (Tool::Mdadm, "--create") => self.create_array(&words),
            (Tool::Mdadm, "--stop") => drop(devices(&words).pop().and_then(|node| self.arrays.remove(&node))),
            (Tool::Mdadm, _) => devices(&words)
                .iter()
                .for_each(|device| drop(self.superblocks.remove(device))),
            (Tool::Wipefs, _) => self.wipe(&words),
            (Tool::Sfdisk, _) => self.partition(call, &words),
            (Tool::Integritysetup, command) => self.integrity(command, &words),
            (Tool::Cryptsetup, command) => self.luks(command, &words),
            (Tool::MakeBcache, _) => self.make_bcache(&words),
            (Tool::Blkdiscard | Tool::Truncate | Tool::Fallocate, _) => {}
            (Tool::Losetup, _) => return ended(call, self.losetup(&words)),
            (ZFS, _) => drop(self.zvols.insert(PathBuf::from(ZVOL))),
            (Tool::Lvm, command) => self.lvm(command, &words),
            (ZPOOL, command) => self.zpool(command, &words),
            (tool, _) => self.mkfs(tool, &words),
        }
        ended(call, String::new())
    }

    fn create_array(&mut self, words: &[String]) {
        let option = |name: &str| {
            words
                .iter()
                .find_map(|word| word.strip_prefix(name))
                .unwrap_or_default()
        };
        let uuid = option("--uuid=").to_owned();
        let has_copies = !matches!(option("--level="), "linear" | "raid0");
        let bitmap_file = value_of(words, "--bitmap").map(Path::new);
        let mut all = devices(words).into_iter();
        let Some(node) = all.next() else { return };
        let members = all.filter(|device| Some(device.as_path()) != bitmap_file);
        self.superblocks.extend(members.map(|member| (member, uuid.clone())));
        let in_sync = !has_copies || words.iter().any(|word| word == "--assume-clean");
        let attributes = attributes_of_array(words, |node| {
            let node = self.mapped(node).unwrap_or_else(|| node.to_owned());
            Some(node.file_name()?.to_str()?.to_owned())
        });
        let array = Array {
            uuid,
            in_sync,
            attributes,
        };
        self.arrays.insert(node, array);
    }

    fn mkfs(&mut self, tool: Tool, words: &[String]) {
        let Some(kind) = FilesystemKind::ALL
            .iter()
            .find(|kind| kind.maker().map(Tool::Filesystem) == Some(tool))
        else {
            return;
        };
        // libblkid does not recognise a ReiserFS with an external journal, nor does wipefs.
        if words.iter().any(|word| word == "-j") && kind.signatures == ["reiserfs"] {
            return;
        }
        let in_option = words.iter().find_map(|word| word.strip_prefix("uuid="));
        let uuid = value_of(words, "-U").or(value_of(words, "-u")).or(in_option);
        let uuid = uuid.unwrap_or("11111111-2222-4333-a444-555555555555");
        let mut names = kind.signatures.to_vec();
        names.extend(
            FilesystemKind::ALL
                .iter()
                .filter(|other| other.maker() == kind.maker())
                .filter_map(journal),
        );
        // A journal that already exists is only referenced.
        let words = words.iter().filter(|word| !word.starts_with("device="));
        for device in words.flat_map(|word| devices(std::slice::from_ref(word))) {
            let signature = Signature {
                names: names.clone(),
                uuid: uuid.to_owned(),
            };
            self.signatures.insert(device, signature);
        }
    }

    fn wipe(&mut self, words: &[String]) {
        let types: Vec<&str> = value_of(words, "--types").unwrap_or_default().split(',').collect();
        for device in devices(words) {
            if types.contains(&"gpt") {
                self.tables.remove(&device);
            }
            let is_it =
                |signature: &Signature| types == [""] || signature.names.iter().any(|name| types.contains(name));
            if self.signatures.get(&device).is_some_and(is_it) {
                self.signatures.remove(&device);
                self.sector_sizes.remove(&device);
            }
        }
    }

    fn partition(&mut self, call: &Invocation, words: &[String]) {
        let uuid = call
            .input_text()
            .lines()
            .find_map(|line| line.strip_prefix("label-id: "));
        for device in devices(words) {
            self.tables.insert(device, uuid.unwrap_or_default().to_owned());
        }
    }

    fn integrity(&mut self, command: &str, words: &[String]) {
        let disk = devices(words).pop();
        let node = words.last().map(|name| device_mapper::node_of(name));
        match (command, disk, node) {
            ("format", Some(disk), _) => {
                let signature = Signature {
                    names: vec![integrity::SIGNATURE],
                    uuid: String::new(),
                };
                drop(self.signatures.insert(disk, signature));
            }
            ("open", Some(disk), Some(node)) => self.mapped.push((node, disk)),
            ("close", _, Some(node)) => self.mapped.retain(|(other, _)| *other != node),
            _ => {}
        }
    }

    fn luks(&mut self, command: &str, words: &[String]) {
        let device = devices(words).pop();
        let name = words.last().cloned().unwrap_or_default();
        match (command, device) {
            ("luksFormat", Some(device)) => {
                let signature = Signature {
                    names: vec![luks::SIGNATURE],
                    uuid: value_of(words, "--uuid").unwrap_or_default().to_owned(),
                };
                self.sector_sizes.insert(
                    device.clone(),
                    value_of(words, "--sector-size").unwrap_or("4096").to_owned(),
                );
                drop(self.signatures.insert(device, signature));
            }
            ("open", Some(device)) => {
                let sector_size = self.sector_sizes.get(&device).cloned().unwrap_or_default();
                let settings = words.iter().filter_map(|word| word.strip_prefix("--perf-"));
                let settings: Vec<&str> = settings.collect();
                let table = format!(
                    "0 1 crypt aes-xts-plain64 :64: 0 0:0 32768 sector_size:{sector_size} {}\n",
                    settings.join(" ")
                );
                self.tables_of_mapper.insert(name.clone(), table);
                self.mapped.push((device_mapper::node_of(&name), device));
            }
            ("close", _) => {
                self.tables_of_mapper.remove(&name);
                self.mapped.retain(|(other, _)| *other != device_mapper::node_of(&name));
            }
            _ => {}
        }
    }

    fn lvm(&mut self, command: &str, words: &[String]) {
        match command {
            "vgcreate" => {
                let is_name = |word: &&String| word.starts_with("vg-");
                let group = words.iter().find(is_name).cloned().unwrap_or_default();
                self.volumes
                    .extend(devices(words).into_iter().map(|device| (device, group.clone())));
            }
            "lvcreate" => {
                let is_group = |word: &&String| word.starts_with("vg-");
                let group = words.iter().find(is_group).cloned().unwrap_or_default();
                let volume = value_of(words, "--name").unwrap_or_default();
                self.logical.insert(Path::new("/dev").join(group).join(volume));
            }
            "lvconvert" | "vgchange" | "lvremove" => {}
            "vgremove" => {
                let name = words.last().cloned().unwrap_or_default();
                self.logical
                    .retain(|node| !node.starts_with(Path::new("/dev").join(&name)));
                let of_group = self.volumes.values_mut().filter(|group| **group == name);
                of_group.for_each(String::clear);
            }
            _ => devices(words)
                .iter()
                .for_each(|device| drop(self.volumes.remove(device))),
        }
    }
}
