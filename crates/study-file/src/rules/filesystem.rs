//! Options of each filesystem, and where they are possible.

use crate::rules::consistency::group_is_there;
use crate::rules::impossible::{Impossible, PAGE_BYTES, impossible};
use crate::rules::md_geometry;
use crate::syntax::diagnostic;
use crate::syntax::unit::{describe_size, format_size};
use filesystems::BlockSizes;
use study::stack::{
    Align, BITMAP, Bitmap, DATA, FilesystemKind, FilesystemSpec, JOURNAL, JournalMode, MachineKind, MachineSpec,
    StackSpec,
};

const MIB: u64 = 1 << 20;

pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    all.extend(block_size(&stack.filesystem, machine.kind));
    all.extend(journal(stack));
    all.extend(journal_size(&stack.filesystem));
    all.extend(journal_on(machine, stack));
    all.extend(align(stack));
    all.extend(of_one_kind(stack));
    all.extend(kernel(machine, stack.filesystem.kind));
    all.extend(stack.mount_options.iter().find_map(|option| panics(option)));
    let unknown = |option: &String| unknown_mount_option(option, machine, stack.filesystem.kind);
    all.extend(stack.mount_options.iter().filter_map(unknown));
    if stack.filesystem.kind.is_raw() && !stack.mount_options.is_empty() {
        all.extend(impossible(
            &["mount", "type"],
            "a raw device is not mounted".to_owned(),
            "leave `mount` out",
        ));
    }
    all
}

/// For example `errors=panic`, `fatal_errors=panic`: on a host a panic would stop everything else, and in the lab
/// the kernel's error message is more useful.
fn panics(option: &str) -> Option<Impossible> {
    if !option.to_ascii_lowercase().contains("panic") {
        return None;
    }
    let reason = format!("the mount option `{option}` makes the kernel panic on an error");
    impossible(&["mount"], reason, "leave it out, or write errors=remount-ro")
}

/// The kernel whose mount options are known. Others may have more: there only what is nearly one of them is an error.
const KERNEL_OF_OPTIONS: &str = "6.12";

/// A name that the filesystem's driver does not know, or that a study must not use: every trial would fail.
fn unknown_mount_option(option: &str, machine: &MachineSpec, kind: FilesystemKind) -> Option<Impossible> {
    let option = option.trim();
    // One that panics has an error of its own.
    if let Some(why) = filesystems::refused_mount_option(option).filter(|_| panics(option).is_none()) {
        let reason = format!("the mount option `{option}` is refused: {why}");
        return impossible(&["mount"], reason, "leave it out");
    }
    let name = option.split('=').next().unwrap_or_default();
    let known: Vec<&str> = kind.get().mount_option_names()?.collect();
    let is_known = |name: &str| known.contains(&name);
    if name.is_empty() || name.starts_with("x-") || is_known(name) || name.strip_prefix("no").is_some_and(is_known)
    {
        return None;
    }
    let negated: Vec<String> = known.iter().map(|name| format!("no{name}")).collect();
    let all: Vec<&str> = known
        .iter()
        .copied()
        .chain(negated.iter().map(String::as_str))
        .collect();
    let near = diagnostic::nearest(name, all.iter().copied());
    if near.is_none() && machine.kernel != KERNEL_OF_OPTIONS {
        return None;
    }
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "mount(8) and the filesystem's manual page list them".to_owned(),
    };
    let reason = format!("{} has no mount option `{name}`", kind.name);
    impossible(&["mount", "type"], reason, help)
}

fn block_size(filesystem: &FilesystemSpec, machine: MachineKind) -> Option<Impossible> {
    const ABOUT: &[&str] = &["block_size", "type"];
    let block = filesystem.block_size_bytes?;
    let kind = filesystem.kind.get();
    let (least, larger_on_host) = match kind.block_sizes {
        BlockSizes::None { reason, instead } => return impossible(ABOUT, reason.to_owned(), instead),
        BlockSizes::Page { reason } if block != PAGE_BYTES => {
            return impossible(ABOUT, reason.to_owned(), "write block_size = \"4K\"");
        }
        BlockSizes::Page { .. } | BlockSizes::Clusters => return None,
        BlockSizes::UpToPage {
            least_bytes,
            larger_on_host,
        } => (least_bytes, larger_on_host),
    };
    if block < least {
        let reason = format!("{} has no blocks smaller than {}", kind.name, describe_size(least));
        return impossible(ABOUT, reason, "write \"1K\", \"2K\" or \"4K\"");
    }
    if block > PAGE_BYTES && !(larger_on_host && machine == MachineKind::Host) {
        let reason = format!(
            "{} cannot be mounted with blocks of {}: a page is 4 KiB",
            kind.name,
            describe_size(block)
        );
        return impossible(ABOUT, reason, "write \"1K\", \"2K\" or \"4K\"");
    }
    None
}

fn journal(stack: &StackSpec) -> Option<Impossible> {
    let filesystem = &stack.filesystem;
    let mode: JournalMode = filesystem.journal_mode?;
    if !filesystem.kind.has_journal_modes {
        let reason = format!("{} has no selectable journal mode", filesystem.kind.name);
        let help = "leave `journal` out, or add \"default\" to its values";
        return impossible(&["journal", "type"], reason, help);
    }
    if stack.mount_options.iter().any(|option| option.starts_with("data=")) {
        let reason = format!(
            "the journal mode is given twice, as journal = \"{}\" and in `mount`",
            mode.word()
        );
        return impossible(&["mount", "journal"], reason, "leave `data=` out of `mount`");
    }
    None
}

fn journal_size(filesystem: &FilesystemSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["journal_size", "type", "block_size"];
    let size = filesystem.journal_size_bytes?;
    let block = filesystem.block_size_bytes.unwrap_or(PAGE_BYTES);
    let name = filesystem.kind.name;
    let Some(journal) = &filesystem.kind.get().journal else {
        let help = "leave `journal_size` out, or add \"default\" to its values";
        return impossible(ABOUT, format!("{name} has no configurable journal size"), help);
    };
    let (least, most) = (journal.least.bytes(block), journal.most.bytes(block));
    let whole = !journal.is_in_mib || size.is_multiple_of(MIB);
    if size < least || size > most || !whole {
        let reason = format!("{name} cannot have a journal of {}", describe_size(size));
        let unit = if whole { "" } else { ", in whole MiB" };
        return impossible(
            ABOUT,
            reason,
            format!("from {} to {}{unit}", format_size(least), format_size(most)),
        );
    }
    None
}

fn journal_on(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["journal_on", "type", "write_journal"];
    let group = stack.filesystem.journal_on.as_deref()?;
    let name = stack.filesystem.kind.name;
    if stack.filesystem.kind.journal.is_none() {
        let reason = format!("{name} cannot have an external journal");
        let help = "leave `journal_on` out, or add \"default\" to its values";
        return impossible(ABOUT, reason, help);
    }
    if group == DATA {
        let reason = "the group `data` is the array itself, where the journal is by default".to_owned();
        return impossible(ABOUT, reason, "leave `journal_on` out, or name another group");
    }
    let taken = (stack.array.write_journal && group == JOURNAL, "md's write journal");
    let bitmap = (stack.array.bitmap == Bitmap::External && group == BITMAP, "md's bitmap");
    if let Some((_, what)) = [taken, bitmap].into_iter().find(|(taken, _)| *taken) {
        let reason = format!("the first disk of `{group}` is already used for {what}");
        return impossible(ABOUT, reason, "use another group for the filesystem's journal");
    }
    let what = format!("the journal of {name}");
    group_is_there(machine, group, ABOUT, &what)
}

fn align(stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["align", "type", "level", "of_level"];
    let filesystem = &stack.filesystem;
    if filesystem.align == Align::Right {
        return None;
    }
    if !filesystem.kind.aligns {
        let others = filesystems::names(|other| other.aligns);
        let reason = format!("{} does not align to stripes: {others} do", filesystem.kind.name);
        return impossible(ABOUT, reason, "leave `align` out");
    }
    if md_geometry::is_striped(&stack.array) {
        return None;
    }
    let reason = format!("{} has no stripes to align to", stack.array.level.facts().name);
    impossible(ABOUT, reason, "leave `align` out, or use a level with stripes")
}

/// Rules of options that only one filesystem has.
fn of_one_kind(stack: &StackSpec) -> Vec<Impossible> {
    let filesystem = &stack.filesystem;
    let name = filesystem.kind.name;
    let mut all = Vec::new();
    if filesystem.lazy_init && !filesystem.kind.initialises_lazily {
        let others = filesystems::names(|other| other.initialises_lazily);
        let reason = format!("{name} has no lazy initialisation: {others} can have it");
        all.extend(impossible(&["lazy_init", "type"], reason, "leave `lazy_init` out"));
    }
    let buffers = [
        (
            filesystem.log_buffers.is_some(),
            &["log_buffers", "type", "mount"] as &'static [_],
            "logbufs",
        ),
        (
            filesystem.log_buffer_size_bytes.is_some(),
            &["log_buffer_size", "type", "mount"],
            "logbsize",
        ),
    ];
    for (_, about, option) in buffers.into_iter().filter(|(given, ..)| *given) {
        let twice = |word: &String| word.split('=').next() == Some(option);
        if !filesystem.kind.has_log_buffers {
            let others = filesystems::names(|other| other.has_log_buffers);
            let reason = format!("{name} has no log buffers: {others} has");
            let help = "leave it out, or add \"default\" to its values";
            all.extend(impossible(about, reason, help));
        } else if stack.mount_options.iter().any(twice) {
            let reason = format!("`{option}` is given twice, by `{}` and in `mount`", about[0]);
            all.extend(impossible(about, reason, format!("leave `{option}=` out of `mount`")));
        }
    }
    all
}

fn kernel(machine: &MachineSpec, kind: FilesystemKind) -> Option<Impossible> {
    if machine.kind != MachineKind::Lab {
        return None;
    }
    let mut parts = machine.kernel.split('.').map(|part| part.parse::<u32>().ok());
    let version = (parts.next()??, parts.next()??);
    let (name, kernel) = (kind.name, &kind.get().kernel);
    let reason = match (kernel.since, kernel.last, kernel.release) {
        (_, Some((major, minor)), _) if version > (major, minor) => {
            format!("{name} was removed from Linux in {major}.{}", minor + 1)
        }
        (Some((major, minor)), _, _) if version < (major, minor) => {
            format!("{name} was added to Linux in {major}.{minor}")
        }
        (_, _, Some((release, (major, minor)))) if version > (major, minor) => {
            format!("{name} {release} supports Linux up to {major}.{minor}")
        }
        _ => return None,
    };
    let reason = format!("{reason}, and the kernel is {}", machine.kernel);
    impossible(&["type", "kernel"], reason, "write kernel = \"6.12\"")
}
