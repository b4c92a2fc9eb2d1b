//! Kernel flavours: options that few studies use are in a separate kernel, so that other studies need not wait for
//! its build.

use filesystems::{FilesystemKind, Flavour};
use std::fmt;
use study::stack::{ArraySpec, MachineSpec, StackSpec};

/// The purpose of a flavour, in a few words.
pub fn purpose(flavour: Flavour) -> String {
    match flavour {
        Flavour::Base => format!("md; {}", filesystems_of(flavour)),
        Flavour::More => format!("LVM, LUKS, dm-integrity; {}", filesystems_of(flavour)),
        Flavour::Zfs => "OpenZFS".to_owned(),
    }
}

/// The filesystems that a flavour adds; removed ones last, with the last version that has them.
fn filesystems_of(flavour: Flavour) -> String {
    let all = FilesystemKind::ALL.iter().map(|kind| kind.get());
    let (removed, kept): (Vec<_>, Vec<_>) = all
        .filter(|filesystem| filesystem.kernel.flavour == flavour && !filesystem.is_raw())
        .partition(|filesystem| filesystem.kernel.last.is_some());
    let mut names: Vec<&str> = kept.iter().map(|filesystem| filesystem.name).collect();
    names.dedup();
    let mut words = names.join(", ");
    for filesystem in removed {
        let (major, minor) = filesystem.kernel.last.unwrap_or_default();
        words.push_str(&format!("; up to {major}.{minor} {}", filesystem.name));
    }
    words
}

/// The smallest flavour that supports the stack.
pub fn needed_by(stack: &StackSpec) -> Flavour {
    let of_groups = stack.group_stacks.iter().map(|other| &other.array);
    let of_arrays = std::iter::once(&stack.array).chain(of_groups).map(of_array);
    let of_filesystems = stack.filesystem_kinds().map(|kind| kind.kernel.flavour);
    let all = of_arrays.chain(of_filesystems).max();
    all.unwrap_or_default().max(of_layers(stack))
}

/// Layers are targets of device mapper.
const fn of_layers(stack: &StackSpec) -> Flavour {
    match stack.member_layers.is_empty() && stack.layers.is_empty() {
        true => Flavour::Base,
        false => Flavour::More,
    }
}

/// LVM and dm-integrity need device mapper.
const fn of_array(array: &ArraySpec) -> Flavour {
    match array.level.is_lvm() || array.integrity.is_some() {
        true => Flavour::More,
        false => Flavour::Base,
    }
}

/// Suffix of a kernel's name with a processor model.
const PROCESSOR: &str = "+cpu";

/// Everything that determines how a source is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub flavour: Flavour,
    /// Code takes virtual time (`kernel/cpu`). A separate kernel, so that kernels without it are unchanged.
    pub processor: bool,
}

/// Name of a kernel: `6.12`, `6.12+more`, `6.12+cpu`, `mine`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelName {
    /// Name in a study: Debian's version, or the name of a developer's tree.
    pub source: String,
    pub flavour: Flavour,
    /// Whether it has a processor model.
    pub processor: bool,
}

impl KernelName {
    /// The kernel for a stack on a machine.
    pub fn of(machine: &MachineSpec, stack: &StackSpec) -> KernelName {
        KernelName {
            source: machine.kernel.clone(),
            flavour: needed_by(stack),
            processor: machine.processor.is_some(),
        }
    }

    pub const fn parts(&self) -> Parts {
        Parts {
            flavour: self.flavour,
            processor: self.processor,
        }
    }

    /// Parses a name; a name without a flavour's suffix is that of a source.
    pub fn parse(name: &str) -> KernelName {
        let (name, processor) = match name.strip_suffix(PROCESSOR) {
            Some(name) => (name, true),
            None => (name, false),
        };
        let named = |flavour: Flavour| Some((name.strip_suffix(flavour.suffix())?, flavour));
        // The first flavour, the base, has no suffix and matches everything.
        let (source, flavour) = Flavour::ALL.into_iter().rev().find_map(named).unwrap_or_default();
        KernelName {
            source: source.to_owned(),
            flavour,
            processor,
        }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processor = if self.processor { PROCESSOR } else { "" };
        f.pad(&format!("{}{}{processor}", self.source, self.flavour.suffix()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::stack::{FilesystemSpec, GroupStack, Integrity, Level};

    #[test]
    fn names_read_back() {
        for (name, source, flavour) in [
            ("6.12", "6.12", Flavour::Base),
            ("6.12+more", "6.12", Flavour::More),
            ("mine+more", "mine", Flavour::More),
            ("6.12+zfs", "6.12", Flavour::Zfs),
            ("6.12+less", "6.12+less", Flavour::Base),
        ] {
            let read = KernelName::parse(name);
            assert_eq!((read.source.as_str(), read.flavour), (source, flavour));
            assert!(!read.processor);
            assert_eq!(read.to_string(), name);
            let charged = KernelName::parse(&format!("{name}+cpu"));
            assert_eq!(charged.to_string(), format!("{name}+cpu"));
            assert_eq!(
                charged,
                KernelName {
                    processor: true,
                    ..read
                }
            );
        }
    }

    #[test]
    fn a_stack_gets_the_smallest_that_has_all_of_it() {
        let mut stack = StackSpec::default();
        assert_eq!(needed_by(&stack), Flavour::Base);
        stack.array.level = Level::LvmRaid5;
        assert_eq!(needed_by(&stack), Flavour::More);
        stack.array.level = Level::Raid5;
        assert_eq!(needed_by(&stack), Flavour::Base);
        stack.array.integrity = Some(Integrity::default());
        assert_eq!(needed_by(&stack), Flavour::More);
        let source = GroupStack {
            group: "source".to_owned(),
            array: ArraySpec::default(),
            filesystem: FilesystemSpec {
                kind: FilesystemKind::F2fs,
                ..FilesystemSpec::default()
            },
            mount_options: Vec::new(),
        };
        stack = StackSpec {
            group_stacks: vec![source],
            ..StackSpec::default()
        };
        assert_eq!(needed_by(&stack), Flavour::More, "what is copied from counts too");
    }
}
