//! The files of a tree: names, sizes, directories, all from the seed.

use crate::WorkloadError;
use crate::random::{Random, SizeDistribution};
use std::ffi::CString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use study::workload::TreeSpec;

/// Specification of a file tree. File and directory numbers are indices into `files` and `directories`.
///
/// Directory 0 is the root of the tree; every other one is in a random earlier one, which gives the depth of a
/// source tree (it grows with the logarithm of their number). Each file is in a random directory.
#[derive(Debug)]
pub struct Collection {
    pub directories: Vec<Directory>,
    /// Sorted by directory, so that files of one directory are adjacent.
    pub files: Vec<File>,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Directory {
    /// Absent for the root.
    pub parent: Option<u32>,
    /// Without a full stop, unlike file names, so that directories are recognised without a system call on
    /// filesystems without types in directory entries (ReiserFS, JFS). Empty for the root.
    pub name: CString,
    pub files: Range<u32>,
    pub children: Vec<u32>,
}

#[derive(Debug)]
pub struct File {
    pub directory: u32,
    /// `word-number.ext`, the number in base 36.
    pub name: CString,
    pub size: u64,
}

const SYLLABLES: [&str; 16] = [
    "ba", "ker", "do", "lin", "fu", "sta", "me", "ron", "pi", "vel", "cha", "no", "tri", "gus", "ha", "zo",
];
const EXTENSIONS: [&str; 8] = ["c", "c", "c", "h", "h", "txt", "o", "rst"];
const LETTERS: u64 = 36;

impl Collection {
    pub fn new(spec: &TreeSpec, seed: u64) -> Result<Self, WorkloadError> {
        let size = &spec.size;
        if !(size.min_bytes <= size.median_bytes && size.median_bytes <= size.max_bytes) {
            return Err(WorkloadError::Spec(format!(
                "file sizes must be in the order min ≤ median ≤ max, but are {}, {}, {}",
                size.min_bytes, size.median_bytes, size.max_bytes
            )));
        }
        if spec.files == 0 {
            return Err(WorkloadError::Spec("a tree needs at least one file".to_owned()));
        }
        let directory_count = spec.directories.max(1);
        let mut directories = directories(directory_count, seed);

        let mut placing = Random::new(seed, u64::from_le_bytes(*b"placing."));
        let mut homes: Vec<u32> = (0..spec.files)
            .map(|_| placing.below(u64::from(directory_count)) as u32)
            .collect();
        homes.sort_unstable();

        let sizes = SizeDistribution::new(size.min_bytes, size.median_bytes, size.max_bytes);
        let mut sizing = Random::new(seed, u64::from_le_bytes(*b"sizing.."));
        let mut naming = Random::new(seed, u64::from_le_bytes(*b"naming.."));
        let files: Vec<File> = (0..)
            .zip(homes)
            .map(|(number, directory)| File {
                directory,
                name: file_name(number, &mut naming),
                size: sizes.draw(&mut sizing),
            })
            .collect();

        for (number, file) in (0..).zip(&files) {
            let range = &mut directories[file.directory as usize].files;
            if range.start == range.end {
                range.start = number;
            }
            range.end = number + 1;
        }
        let bytes = files.iter().map(|file| file.size).sum();
        Ok(Self {
            directories,
            files,
            bytes,
        })
    }

    /// Path of a file relative to the root of the tree.
    pub fn path(&self, file: u32) -> PathBuf {
        let file = &self.files[file as usize];
        let mut path = as_path(&file.name).to_owned();
        let mut directory = &self.directories[file.directory as usize];
        while let Some(parent) = directory.parent {
            path = as_path(&directory.name).join(path);
            directory = &self.directories[parent as usize];
        }
        path
    }

    /// Path of a directory relative to the root of the tree; its ancestors have smaller numbers.
    pub(crate) fn directory_path(&self, number: u32) -> PathBuf {
        let mut directory = &self.directories[number as usize];
        let mut path = PathBuf::new();
        while let Some(parent) = directory.parent {
            path = as_path(&directory.name).join(path);
            directory = &self.directories[parent as usize];
        }
        path
    }

    /// The number of the file with this name, if it belongs to the collection.
    pub(crate) fn file_number(&self, name: &[u8]) -> Option<u32> {
        let digits = name
            .split(|&byte| byte == b'-')
            .nth(1)?
            .split(|&byte| byte == b'.')
            .next()?;
        let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, LETTERS as u32).ok()?;
        let file = self.files.get(number as usize)?;
        (file.name.as_bytes() == name).then_some(number)
    }
}

fn directories(count: u32, seed: u64) -> Vec<Directory> {
    let mut random = Random::new(seed, u64::from_le_bytes(*b"nesting."));
    let mut directories: Vec<Directory> = Vec::with_capacity(count as usize);
    for number in 0..count {
        let parent = (number > 0).then(|| random.below(u64::from(number)) as u32);
        let name = match parent {
            None => CString::default(),
            Some(parent) => {
                directories[parent as usize].children.push(number);
                cstring(format!("{}{}", word(&mut random), base36(number)))
            }
        };
        directories.push(Directory {
            parent,
            name,
            files: 0..0,
            children: Vec::new(),
        });
    }
    directories
}

fn file_name(number: u32, random: &mut Random) -> CString {
    let word = word(random);
    let extension = EXTENSIONS[random.below(EXTENSIONS.len() as u64) as usize];
    cstring(format!("{word}-{}.{extension}", base36(number)))
}

/// Two to four syllables.
fn word(random: &mut Random) -> String {
    let syllables = 2 + random.below(3);
    (0..syllables)
        .map(|_| SYLLABLES[random.below(SYLLABLES.len() as u64) as usize])
        .collect()
}

fn base36(number: u32) -> String {
    let mut rest = u64::from(number);
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((rest % LETTERS) as u32, LETTERS as u32).expect("a digit below its radix"));
        rest /= LETTERS;
        if rest == 0 {
            return digits.iter().rev().collect();
        }
    }
}

fn cstring(name: String) -> CString {
    CString::new(name).expect("syllables and digits hold no NUL")
}

pub(crate) fn as_path(name: &std::ffi::CStr) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()))
}
