//! The program that a guest runs as its first process, and how it is loaded.
//!
//! raidlab's own program is loaded into memory that the workload does not compete for ([`Init::in_own_memory`]). If it
//! were read through hostfs like any other program, its pages would be in the guest's page cache. Then the number of
//! its pages would determine the available memory, from which dirty limits follow, and the addresses of later kernel
//! allocations; figures would depend on the version of raidlab.
//!
//! The kernel executes the loader below, which is the same in every build. It maps the memory that the driver
//! (`kernel/driver/init.c`) filled from the image made here, and jumps to the program's entry.

use super::{StartError, starting};
use crate::protocol::{HEAP_BYTES, LOADER_ADDRESS, MEMORY_ADDRESS, MEMORY_BYTES};
use elf::ElfStream;
use elf::abi::{ET_DYN, PF_W, PT_GNU_RELRO, PT_INTERP, PT_LOAD, PT_PHDR, SHF_ALLOC};
use elf::endian::LittleEndian;
use elf::segment::ProgramHeader;
use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes at the end of that memory that are reserved for the stack.
const STACK_BYTES: u64 = 8 << 20;

const PAGE_BYTES: u64 = 4096;

/// Bytes at the start of that memory for the loader's parameters, four words, and the driver's (`ENTRY_OFFSET`).
const START_BYTES: u64 = PAGE_BYTES;

/// Memory of a guest in addition to its machine's RAM: used before any work is done.
pub(super) const RESERVED_BYTES: u64 = MEMORY_BYTES + HEAP_BYTES;

/// A guest's first program.
#[derive(Debug)]
pub struct Init {
    /// File 107, executed by the kernel.
    executable: OwnedFd,
    /// File 108, loaded by the driver.
    image: Option<OwnedFd>,
}

impl Init {
    /// A program that must not affect what is measured: raidlab itself.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a static, position-independent x86-64 program that fits.
    pub fn in_own_memory(program: &Path) -> Result<Init, StartError> {
        let image = image(program).map_err(starting("cannot load the program that is the guest's init"))?;
        let loader = write_memfd("loader", &loader(), MemfdFlags::EXEC)
            // Kernels before 6.3 do not know the flag and make every memfd executable.
            .or_else(|_| write_memfd("loader", &loader(), MemfdFlags::empty()))
            .map_err(starting("cannot write the loader of the guest's init"))?;
        Ok(Init {
            executable: loader,
            image: Some(image),
        })
    }

    /// Any program or script, executed from its file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn from_file(program: &Path) -> Result<Init, StartError> {
        let file = File::open(program).map_err(starting("cannot open the program that is the guest's init"))?;
        Ok(Init {
            executable: file.into(),
            image: None,
        })
    }

    /// The guest's ends.
    pub(super) fn ends(&self) -> Result<Vec<(i32, OwnedFd)>, StartError> {
        let failed = "cannot duplicate the descriptor of the guest's init";
        let clone = |fd: &OwnedFd| fd.try_clone().map_err(starting(failed));
        let mut ends = vec![(107, clone(&self.executable)?)];
        if let Some(image) = &self.image {
            ends.push((108, clone(image)?));
        }
        Ok(ends)
    }
}

/// The init's memory before its first instruction, up to the end of its data.
fn image(program: &Path) -> io::Result<OwnedFd> {
    let invalid = |what: &str| io::Error::other(format!("{}: {what}", program.display()));
    let file = File::open(program)?;
    let elf = ElfStream::<LittleEndian, _>::open_stream(&file).map_err(|error| invalid(&error.to_string()))?;
    let segments = elf.segments();
    let is_static = segments.iter().all(|segment| segment.p_type != PT_INTERP);
    if elf.ehdr.e_type != ET_DYN || !is_static {
        return Err(invalid("not a static, position-independent program"));
    }
    let loads: Vec<&ProgramHeader> = segments.iter().filter(|segment| segment.p_type == PT_LOAD).collect();
    let end = |segment: &ProgramHeader| segment.p_vaddr.checked_add(segment.p_memsz);
    let align = elf
        .section_headers()
        .iter()
        .filter(|section| section.sh_flags & u64::from(SHF_ALLOC) != 0);
    // A program without section headers does not say what its data need, and is loaded at a whole page.
    let align = align.map(|section| section.sh_addralign).max().unwrap_or(PAGE_BYTES);
    let data = loads.iter().filter(|load| load.p_flags & PF_W != 0);
    let data_end = data.filter_map(|load| end(load)).max().unwrap_or(0);
    let base = base(data_end, align);
    let bytes = loads.iter().try_fold(0, |most, load| Some(end(load)?.max(most)));
    let bytes = bytes.and_then(|bytes| bytes.checked_add(base)?.checked_next_multiple_of(PAGE_BYTES));
    let Some(bytes) = bytes.filter(|bytes| *bytes <= MEMORY_BYTES - STACK_BYTES) else {
        return Err(invalid("larger than the memory that guests reserve for their init"));
    };
    let headers = segments.iter().find(|segment| segment.p_type == PT_PHDR);
    let headers = headers.ok_or_else(|| invalid("it has no PT_PHDR program header"))?;

    let image = File::from(memfd("init", MemfdFlags::NOEXEC_SEAL).or_else(|_| memfd("init", MemfdFlags::empty()))?);
    image.set_len(bytes)?;
    for load in &loads {
        let mut contents = vec![0; usize::try_from(load.p_filesz).map_err(io::Error::other)?];
        file.read_exact_at(&mut contents, load.p_offset)?;
        image.write_all_at(&contents, base + load.p_vaddr)?;
    }
    // The C library would make relocated data read-only and split the mapping at a place that depends on the build.
    let size = headers.p_memsz / segments.len().max(1) as u64;
    for (number, _) in segments
        .iter()
        .enumerate()
        .filter(|(_, segment)| segment.p_type == PT_GNU_RELRO)
    {
        let unused = elf::abi::PT_NULL.to_le_bytes();
        image.write_all_at(&unused, base + headers.p_vaddr + number as u64 * size)?;
    }
    let address = |offset: u64| MEMORY_ADDRESS + base + offset;
    let words = [
        address(elf.ehdr.e_entry),
        address(headers.p_vaddr),
        segments.len() as u64,
        MEMORY_ADDRESS + MEMORY_BYTES,
    ];
    image.write_all_at(&words.map(u64::to_le_bytes).concat(), 0)?;
    // All guests of a session share the image.
    rustix::fs::fcntl_add_seals(
        &image,
        SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL,
    )?;
    Ok(image.into())
}

/// Where a program is loaded in its memory.
///
/// Its data always end near the start of a page. Before there is a heap, glibc takes what it needs (a copy of
/// GLIBC_TUNABLES) from the rest of the last page, and calls mmap(2) if that is too small: one page more of the guest's memory
/// would be in use, or not, depending on the length of the program's data.
fn base(data_end: u64, align: u64) -> u64 {
    let align = align.max(64);
    let mut bases = (0..=PAGE_BYTES / align).map(|step| START_BYTES.next_multiple_of(align) + step * align);
    let fits = |base: &u64| (1..PAGE_BYTES / 8).contains(&((base + data_end) % PAGE_BYTES));
    bases.find(fits).unwrap_or(START_BYTES.next_multiple_of(align))
}

/// The name by which the kernel starts the init (`0008-init-by-number.patch`; in a guest's own root a file).
pub(super) const NAME: &str = "/raidlab-init";

/// The loader as an ELF file with one segment, itself.
pub(super) fn loader() -> Vec<u8> {
    const HEADERS: u64 = 64 + 56;
    // SAFETY: the assembly below defines both symbols, the end after the start, around bytes that are never written.
    let code = unsafe {
        let (start, end) = (&raw const raidlab_loader, &raw const raidlab_loader_end);
        std::slice::from_raw_parts(start, end.offset_from_unsigned(start))
    };
    let length = HEADERS + code.len() as u64;
    let mut file = Vec::from(*b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // ET_EXEC for x86-64: entry, program headers, no sections.
    file.extend([2_u16, 62].map(u16::to_le_bytes).concat());
    file.extend(1_u32.to_le_bytes());
    file.extend([LOADER_ADDRESS + HEADERS, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(0_u32.to_le_bytes());
    file.extend([64_u16, 56, 1, 64, 0, 0].map(u16::to_le_bytes).concat());
    // PT_LOAD, readable and executable.
    file.extend([1_u32, 5].map(u32::to_le_bytes).concat());
    file.extend(
        [0, LOADER_ADDRESS, LOADER_ADDRESS, length, length, 4096]
            .map(u64::to_le_bytes)
            .concat(),
    );
    file.extend(code);
    file
}

unsafe extern "C" {
    static raidlab_loader: u8;
    static raidlab_loader_end: u8;
}

// Maps the init's memory, corrects the auxiliary vector (the kernel described the loader), copies argc, argv, envp and
// the auxiliary vector to the program's own stack, and jumps to its entry.
std::arch::global_asm!(
    ".pushsection .rodata.raidlab_loader, \"a\", @progbits",
    "raidlab_loader:",
    // open("/dev/raidlab", O_RDWR)
    "mov eax, 2",
    "lea rdi, [rip + 90f]",
    "mov esi, 2",
    "xor edx, edx",
    "syscall",
    "test eax, eax",
    "js 80f",
    "mov r12d, eax",
    // mmap(address, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_FIXED, device, 0)
    "mov eax, 9",
    "movabs rdi, {address}",
    "mov esi, {bytes}",
    "mov edx, 7",
    "mov r10d, 0x11",
    "mov r8d, r12d",
    "xor r9d, r9d",
    "syscall",
    "movabs rbx, {address}",
    "cmp rax, rbx",
    "jne 80f",
    // close(device)
    "mov eax, 3",
    "mov edi, r12d",
    "syscall",
    // Past argc, argv and envp.
    "mov rsi, [rsp]",
    "lea rsi, [rsp + rsi * 8 + 16]",
    "20:",
    "add rsi, 8",
    "cmp qword ptr [rsi - 8], 0",
    "jne 20b",
    // The auxiliary vector: AT_PHDR, AT_PHNUM, AT_ENTRY.
    "30:",
    "mov rax, [rsi]",
    "mov rdx, [rsi + 8]",
    "cmp rax, 3",
    "cmove rdx, [rbx + 8]",
    "cmp rax, 5",
    "cmove rdx, [rbx + 16]",
    "cmp rax, 9",
    "cmove rdx, [rbx]",
    "mov [rsi + 8], rdx",
    "add rsi, 16",
    "test rax, rax",
    "jne 30b",
    // From here on, the stack is the program's own.
    "mov rcx, rsi",
    "sub rcx, rsp",
    "mov rdi, [rbx + 24]",
    "sub rdi, rcx",
    "and rdi, -16",
    "mov rsi, rsp",
    "mov rsp, rdi",
    "rep movsb",
    "xor edx, edx",
    "xor ebp, ebp",
    "jmp qword ptr [rbx]",
    // exit_group(1): the kernel panics, and the lab shows the message.
    "80:",
    "mov eax, 231",
    "mov edi, 1",
    "syscall",
    "90:",
    ".asciz \"/dev/raidlab\"",
    "raidlab_loader_end:",
    ".popsection",
    address = const MEMORY_ADDRESS,
    bytes = const MEMORY_BYTES,
);

fn write_memfd(name: &str, contents: &[u8], flags: MemfdFlags) -> io::Result<OwnedFd> {
    let file = File::from(memfd(name, flags)?);
    file.write_all_at(contents, 0)?;
    Ok(file.into())
}

fn memfd(name: &str, flags: MemfdFlags) -> io::Result<OwnedFd> {
    let flags = flags | MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(rustix::fs::memfd_create(name, flags)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_is_a_program_that_the_kernel_takes() {
        use std::os::fd::AsRawFd;
        use std::process::Command;
        let init = Init::in_own_memory(&std::env::current_exe().expect("a test has a file")).expect("it is loaded");
        let path = format!("/proc/self/fd/{}", init.executable.as_raw_fd());
        // There is no /dev/raidlab here: the loader exits with the status for that.
        let status = Command::new(path).status().expect("it is executed");
        assert_eq!(status.code(), Some(1));
    }

    #[test]
    fn the_data_of_a_program_of_any_length_end_at_the_start_of_a_page() {
        for data_end in 0x0065_bfe8..0x0065_d000 {
            for align in [1, 64, 128, 256] {
                let base = base(data_end, align);
                assert_eq!(base % align, 0);
                let used = (base + data_end) % PAGE_BYTES;
                assert!((1..512).contains(&used), "{data_end:#x}, {align}: {used}");
            }
            assert_eq!(base(data_end, PAGE_BYTES) % PAGE_BYTES, 0);
        }
    }

    #[test]
    fn a_program_that_needs_others_is_refused() {
        let error = Init::in_own_memory(Path::new("/bin/sh")).expect_err("it has an interpreter");
        assert!(error.to_string().contains("not a static"), "{error}");
    }
}
