//! Measurements do not depend on raidlab's own program: its length, its text, the order of its functions, its
//! optimisation. A guest counts neither its memory nor its execution.

use crate::guest::{Guest, example, trials};
use elf::ElfBytes;
use elf::abi::{PT_LOAD, PT_NOTE};
use elf::endian::LittleEndian;
use lab::job::GuestJob;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of twice the guest's memory, so that dirty limits and reclaim are involved; XFS logs kernel addresses, so
/// that the contents of the disks depend on where allocations are; threads and external programs.
const STUDY: &str = "ram = \"64M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 3\n\
    [[stack]]\narray = { level = 5, size = \"2G\" }\nfs = { type = \"xfs\" }\n\
    [[workload]]\nname = \"tree\"\n\
    tree = { files = 64, size = \"2M\", directories = 4, tests = [\"write\", \"copy\", \"delete\"] }\n\
    [[workload]]\nname = \"jobs\"\n\
    io = { rw = \"randrw\", bs = \"4K\", size = \"4M\", numjobs = 3, end_fsync = true }\n";

/// If code takes time, each page of a buffer's location could matter.
const ON_A_PROCESSOR: &str = "ram = \"64M\"\ncpu = \"xeon-gold-6430\"\ncores = 2\n[disks]\nmodel = \"ram\"\ncount = 3\n\
    [[stack]]\narray = { level = 5, size = \"512M\" }\nfs = { type = \"xfs\" }\n\
    [[workload]]\nname = \"tree\"\n\
    tree = { files = 200, size = { min = \"64B\", median = \"8K\", max = \"1M\" }, directories = 10 }\n\
    [[workload]]\nname = \"jobs\"\n\
    io = { rw = \"randrw\", bs = \"4K\", size = \"4M\", numjobs = 3, end_fsync = true }\n";

/// Size of an ELF program header.
const SEGMENT_HEADER_BYTES: usize = 56;

#[test]
fn another_build_gives_the_same_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    let raidlab = Path::new(env!("CARGO_BIN_EXE_raidlab"));
    let made = |name: &str, contents: Vec<u8>| -> (&str, PathBuf) {
        let path = folder.path().join(name.replace(' ', "-"));
        fs::write(&path, contents).expect("a program is written");
        let name = name.to_owned().leak();
        (name, path)
    };
    let program = fs::read(raidlab).expect("raidlab can be read");
    let others = [
        made("1 MiB appended", [&program[..], &[0; 1 << 20]].concat()),
        made("40 kB more text", with_more_text(program.clone(), 40_000)),
        made("200 kB more text", with_more_text(program, 200_000)),
    ];
    let others = others
        .into_iter()
        .chain(another_program().map(|path| ("another program", path)));
    let others: Vec<_> = others.collect();
    for trial in [STUDY, ON_A_PROCESSOR].into_iter().flat_map(trials) {
        let run = |init: Option<PathBuf>| {
            let guest = Guest::for_job(&GuestJob::Trial(Box::new(trial.clone())), &trial)?;
            Some(Guest { program: init, ..guest }.run().words())
        };
        let Some(expected) = run(None) else { return };
        assert!(
            expected.iter().any(|line| line.contains("\"disk\":\"vdc\"")),
            "{expected:#?}"
        );
        for (what, init) in &others {
            let seen = run(Some(init.clone())).expect("there is a kernel");
            let differing = expected.iter().zip(&seen).find(|(a, b)| a != b);
            assert_eq!(differing, None, "{what}, {}", trial.cell.key);
            assert_eq!(expected.len(), seen.len(), "{what}, {}", trial.cell.key);
        }
    }
}

/// `lab`'s example, a guest's init like raidlab but different in everything else: other functions in another order.
fn another_program() -> Option<PathBuf> {
    example("system_calls", &["", "../kernel"])
        .map_err(requirements::skip_part)
        .ok()
}

/// The same program with more to load: an unused note becomes a segment of text at the end.
fn with_more_text(mut program: Vec<u8>, bytes: usize) -> Vec<u8> {
    let elf = ElfBytes::<LittleEndian>::minimal_parse(&program).expect("raidlab is an ELF file");
    let segments: Vec<_> = elf.segments().expect("with segments").iter().collect();
    let note = segments
        .iter()
        .position(|segment| segment.p_type == PT_NOTE)
        .expect("with a note");
    let end = segments
        .iter()
        .map(|segment| segment.p_vaddr + segment.p_memsz)
        .max()
        .expect("some");
    let header = elf.ehdr.e_phoff as usize + note * SEGMENT_HEADER_BYTES;
    let offset = program.len().next_multiple_of(4096);
    let address = end.next_multiple_of(4096);
    program.resize(offset, 0);
    program.resize(offset + bytes, 0x90);
    let readable_executable = 5;
    let kind = u64::from(PT_LOAD) | readable_executable << 32;
    let words = [kind, offset as u64, address, address, bytes as u64, bytes as u64, 4096];
    program[header..][..SEGMENT_HEADER_BYTES].copy_from_slice(&words.map(u64::to_le_bytes).concat());
    program
}
