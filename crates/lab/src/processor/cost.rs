//! Operations that take processor time: their names in model files and in the guest's kernel.

/// In the order of `enum raidlab_cpu_cost` (`kernel/cpu/raidlab-cpu.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    Call,
    User,
    Fio,
    Clock,
    Fault,
    Switch,
    Wakeup,
    Interrupt,
    Request,
    Block,
    Memory,
    MemoryRead,
    MemoryWrite,
    Copy,
    Zero,
    Scan,
    Xor,
    Pq,
    PqRecover,
    Crc32,
    Sha256,
    Xxhash,
    Blake2b,
    Zstd,
    Unzstd,
    Lz4,
    Unlz4,
    Zlib,
    Unzlib,
    Lzo,
    Unlzo,
    Aes,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostUnit {
    Nanoseconds,
    /// 10⁶ bytes a second.
    MegabytesPerSecond,
    Kibibytes,
}

impl Cost {
    pub const ALL: [Cost; 32] = [
        Cost::Call,
        Cost::User,
        Cost::Fio,
        Cost::Clock,
        Cost::Fault,
        Cost::Switch,
        Cost::Wakeup,
        Cost::Interrupt,
        Cost::Request,
        Cost::Block,
        Cost::Memory,
        Cost::MemoryRead,
        Cost::MemoryWrite,
        Cost::Copy,
        Cost::Zero,
        Cost::Scan,
        Cost::Xor,
        Cost::Pq,
        Cost::PqRecover,
        Cost::Crc32,
        Cost::Sha256,
        Cost::Xxhash,
        Cost::Blake2b,
        Cost::Zstd,
        Cost::Unzstd,
        Cost::Lz4,
        Cost::Unlz4,
        Cost::Zlib,
        Cost::Unzlib,
        Cost::Lzo,
        Cost::Unlzo,
        Cost::Aes,
    ];

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    pub const fn unit(self) -> CostUnit {
        match self {
            Cost::Call
            | Cost::User
            | Cost::Fio
            | Cost::Clock
            | Cost::Fault
            | Cost::Switch
            | Cost::Wakeup
            | Cost::Interrupt
            | Cost::Request
            | Cost::Block => CostUnit::Nanoseconds,
            _ => CostUnit::MegabytesPerSecond,
        }
    }

    /// Basic blocks that zstd executes per byte of the text that defines its rates (docs/internals/processor.md);
    /// the kernel charges these blocks, because other data has more or fewer of them. Everything else is charged
    /// per byte.
    pub const fn blocks_per_byte(self) -> f64 {
        match self {
            Cost::Zstd => 3.19,
            Cost::Unzstd => 1.51,
            _ => 1.0,
        }
    }

    /// Meaning in a few words.
    pub const fn meaning(self) -> &'static str {
        self.row().1
    }

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Cost::Call => ("call", "entry and exit of a system call"),
            Cost::User => ("user", "a program's own work from one system call to the next"),
            Cost::Fio => ("fio", "fio's own work from one read or write to the next"),
            Cost::Clock => ("clock", "a read of the clock"),
            Cost::Fault => ("fault", "entry and exit of a page fault"),
            Cost::Switch => ("switch", "going to sleep and being woken"),
            Cost::Wakeup => ("wakeup", "until an idle core runs the task that it is woken for"),
            Cost::Interrupt => ("interrupt", "an interrupt"),
            Cost::Request => ("request", "a disk driver's work for a request"),
            Cost::Block => ("block", "a basic block of kernel code"),
            Cost::Memory => ("memory", "copying from memory to memory"),
            Cost::MemoryRead => ("memory_read", "copying from memory to a cache"),
            Cost::MemoryWrite => ("memory_write", "copying from a cache to memory"),
            Cost::Copy => ("copy", "copying, in the caches"),
            Cost::Zero => ("zero", "zeroing, in the caches"),
            Cost::Scan => ("scan", "comparing words"),
            Cost::Xor => ("xor", "XOR, bytes of each source"),
            Cost::Pq => ("pq", "RAID 6 syndrome, bytes of data"),
            Cost::PqRecover => ("pq_recover", "RAID 6 recovery, bytes recovered"),
            Cost::Crc32 => ("crc32", "CRC-32C"),
            Cost::Sha256 => ("sha256", "SHA-256"),
            Cost::Xxhash => ("xxhash", "XXH64"),
            Cost::Blake2b => ("blake2b", "BLAKE2b"),
            Cost::Zstd => ("zstd", "zstd, level 3"),
            Cost::Unzstd => ("unzstd", "zstd, decompressing"),
            Cost::Lz4 => ("lz4", "LZ4"),
            Cost::Unlz4 => ("unlz4", "LZ4, decompressing"),
            Cost::Zlib => ("zlib", "zlib, level 3"),
            Cost::Unzlib => ("unzlib", "zlib, decompressing"),
            Cost::Lzo => ("lzo", "LZO"),
            Cost::Unlzo => ("unlzo", "LZO, decompressing"),
            Cost::Aes => ("aes", "AES-XTS with a key of 512 bits (dm-crypt)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel has the same names in the same order.
    #[test]
    fn the_kernel_knows_the_names() {
        let source = include_str!("../../../../kernel/cpu/setup.c");
        let begin = source
            .find("raidlab_cpu_names[RAIDLAB_CPU_COSTS] = {")
            .expect("the table");
        let table = &source[begin..begin + source[begin..].find('}').expect("its end")];
        let names: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
        assert_eq!(names, Cost::ALL.map(Cost::name));
        for (index, cost) in Cost::ALL.into_iter().enumerate() {
            assert_eq!(cost as usize, index);
        }
    }
}
