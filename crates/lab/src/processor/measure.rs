//! A model of this machine's processor.
//!
//! Rates per byte are timed with the instructions that the kernel uses ([`rate`]). The kernel itself is timed by a
//! few operations on a tmpfs; the same operations are counted in a guest in basic blocks. The time of a block
//! follows from both.

use super::file::{Figure, ModelFile, Sure};
use super::operation::{self, KernelOperation};
use super::{Cost, CostUnit, rate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of basic blocks of an operation, as a guest counts them. The guest writes one on a line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OperationBlocks {
    pub operation: KernelOperation,
    pub blocks: f64,
}

const SOURCE: &str = "raidlab cpu measure";

/// Measurements on this machine.
pub struct Timed {
    /// Nanoseconds per operation.
    pub operations: Vec<(KernelOperation, f64)>,
    /// Nanoseconds per read of the clock.
    pub clock_ns: f64,
    /// Megabytes per second.
    pub rates: Vec<(Cost, f64)>,
    pub copying: rate::Copying,
    /// Nanoseconds until an idle core runs a task; `None` if there is only one core.
    pub wakeup_ns: Option<f64>,
    /// Nanoseconds of fio's own code per read or write, if fio is installed.
    pub fio_ns: Option<f64>,
}

impl Timed {
    /// Each figure half way, by ratio, to that of another measurement.
    #[must_use]
    pub fn half_way_to(&self, other: &Timed) -> Timed {
        let mean = |a: f64, b: f64| (a * b).sqrt();
        let of_both = |a: Option<f64>, b: Option<f64>| Some(mean(a?, b?));
        let operations = self.operations.iter().zip(&other.operations);
        let rates = self.rates.iter().zip(&other.rates);
        Timed {
            operations: operations.map(|(a, b)| (a.0, mean(a.1, b.1))).collect(),
            clock_ns: mean(self.clock_ns, other.clock_ns),
            rates: rates.map(|(a, b)| (a.0, mean(a.1, b.1))).collect(),
            copying: rate::Copying {
                copy: mean(self.copying.copy, other.copying.copy),
                memory: mean(self.copying.memory, other.copying.memory),
                memory_read: mean(self.copying.memory_read, other.copying.memory_read),
                memory_write: mean(self.copying.memory_write, other.copying.memory_write),
                zero: mean(self.copying.zero, other.copying.zero),
            },
            wakeup_ns: of_both(self.wakeup_ns, other.wakeup_ns),
            fio_ns: of_both(self.fio_ns, other.fio_ns),
        }
    }
}

/// Measures everything that needs no guest, in a few seconds.
///
/// # Errors
/// If the folder, which should be in memory, cannot be written.
pub fn time(folder: &Path) -> std::io::Result<Timed> {
    let clock_s = rate::seconds(20_000, || {
        std::hint::black_box(std::time::Instant::now());
    });
    let operations = operation::time_all(folder)?;
    let ping = operations
        .iter()
        .find(|(operation, _)| *operation == KernelOperation::PingPong);
    let one_way_ns = ping.map_or(0.0, |(_, ns)| ns / 2.0);
    Ok(Timed {
        wakeup_ns: operation::time_wakeup(one_way_ns)?,
        operations,
        clock_ns: clock_s * 1e9,
        rates: rate::measure(),
        copying: rate::copying(),
        fio_ns: fio_ns(folder),
    })
}

/// fio's own code per read: its user time while it reads from the page cache, minus that of a run with one read.
fn fio_ns(folder: &Path) -> Option<f64> {
    const MANY: u32 = 2_000_000;
    let file = folder.join("fio");
    std::fs::write(&file, vec![7; 1 << 20]).ok()?;
    let run = |requests: u32| -> Option<f64> {
        let begin = children_user_seconds();
        let output = tools::host_program("fio")
            .args(["--name=a", "--ioengine=psync", "--rw=randread", "--bs=4k", "--size=1m"])
            .args([
                "--norandommap",
                "--thread",
                "--lat_percentiles=1",
                "--output-format=json+",
            ])
            .arg(format!("--filename={}", file.display()))
            .arg(format!("--io_size={}", u64::from(requests) * 4096))
            .stdin(std::process::Stdio::null())
            .output()
            .ok()?;
        output.status.success().then(|| children_user_seconds() - begin)
    };
    let rounds = (0..3).map(|_| Some((run(MANY)? - run(1)?) * 1e9 / f64::from(MANY)));
    let best = rounds
        .collect::<Option<Vec<f64>>>()?
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    (best > 1.0).then_some(best)
}

/// User time of child processes that have exited.
fn children_user_seconds() -> f64 {
    // SAFETY: it fills in the structure.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
}

/// Figures of an operation: nanoseconds on this machine, blocks in a guest.
fn of(timed: &Timed, blocks: &[(KernelOperation, f64)], operation: KernelOperation) -> (f64, f64) {
    let find = |list: &[(KernelOperation, f64)]| {
        list.iter()
            .find(|(o, _)| *o == operation)
            .map_or(0.0, |(_, value)| *value)
    };
    (find(&timed.operations), find(blocks))
}

/// The model as the text of a file.
///
/// # Errors
/// If the measurements are inconsistent: an operation took less time than its system calls.
pub fn model(
    name: &str,
    title: &str,
    cores: u32,
    ghz: f64,
    timed: &Timed,
    blocks: &[(KernelOperation, f64)],
) -> Result<String, String> {
    let at = |operation| of(timed, blocks, operation);
    let block_ns = block_time(timed, blocks)?;
    let (null_ns, null_blocks) = at(KernelOperation::Null);
    let call_ns = (null_ns - null_blocks * block_ns).max(1.0);
    let calls_ns = |operation: KernelOperation| f64::from(operation.calls()) * call_ns;
    let (fault, fault_blocks) = at(KernelOperation::Fault);
    // A new page is zeroed, which is charged by the byte.
    let fault_ns = (fault - fault_blocks * block_ns - 4096.0 / timed.copying.zero * 1e3).max(1.0);
    let (ping, ping_blocks) = at(KernelOperation::PingPong);
    let switch_ns = ((ping - ping_blocks * block_ns - calls_ns(KernelOperation::PingPong)) / 2.0).max(1.0);
    let measured = |is: f64, how: &str| Figure {
        is: rounded(is),
        sure: Sure::Measured,
        source: format!("{SOURCE}: {how}"),
    };
    let mut time_ns = BTreeMap::new();
    let mut rate_mb_s = BTreeMap::new();
    let block_how =
        "nine operations on tmpfs, three of them larger than the caches, fitted to the blocks and bytes of each";
    for (cost, is, how) in [
        (Cost::Block, block_ns, block_how),
        (Cost::Call, call_ns, "getppid()"),
        (Cost::Clock, timed.clock_ns, "clock_gettime()"),
        (Cost::Fault, fault_ns, "fresh pages touched"),
        (Cost::Switch, switch_ns, "two threads on one processor, by pipes"),
    ] {
        time_ns.insert(cost.name().to_owned(), measured(is, how));
    }
    for (cost, is, how) in [
        (
            Cost::Wakeup,
            timed.wakeup_ns,
            "two threads on two processors, by pipes, less their processor time",
        ),
        (
            Cost::Fio,
            timed.fio_ns,
            "fio 4 KiB reads from the page cache, time outside of the kernel",
        ),
    ] {
        if let Some(is) = is {
            time_ns.insert(cost.name().to_owned(), measured(is, how));
        }
    }
    for (cost, is, how) in [
        (Cost::Copy, timed.copying.copy, "1 MiB by the page, rep movsb"),
        (Cost::Memory, timed.copying.memory, "256 MiB to 256 MiB, by the page"),
        (
            Cost::MemoryRead,
            timed.copying.memory_read,
            "256 MiB to 1 MiB, by the page",
        ),
        (
            Cost::MemoryWrite,
            timed.copying.memory_write,
            "1 MiB to 256 MiB, by the page",
        ),
        (Cost::Zero, timed.copying.zero, "a page, rep stosb"),
    ] {
        rate_mb_s.insert(cost.name().to_owned(), measured(is, how));
    }
    for (cost, is) in &timed.rates {
        rate_mb_s.insert(cost.name().to_owned(), measured(*is, "on data in the caches"));
    }
    let file = ModelFile {
        name: name.to_owned(),
        title: title.to_owned(),
        cores: measured(f64::from(cores), "sched_getaffinity()"),
        ghz: measured(ghz, "/proc/cpuinfo"),
        cache_kib: cache_kib().map(|is| measured(is, "/sys/devices/system/cpu/cpu0/cache")),
        time_ns,
        rate_mb_s,
    };
    file.check()?;
    debug_assert!(Cost::Copy.unit() == CostUnit::MegabytesPerSecond);
    toml::to_string(&file).map_err(|error| error.to_string())
}

/// Time of a block: the median of the values from the operations, after subtracting their calls and copied bytes.
///
/// They differ by a factor of more than two. On an EPYC of 2022, loops over a few pages or names in the caches take
/// 1.4 to 1.8 ns per block; creating and removing files, and reading and writing many pages, 3.4 to 3.9 ns. Storage
/// does both.
fn block_time(timed: &Timed, blocks: &[(KernelOperation, f64)]) -> Result<f64, String> {
    let (null_ns, null_blocks) = of(timed, blocks, KernelOperation::Null);
    let mut each: Vec<f64> = [
        (KernelOperation::Stat, timed.copying.copy),
        (KernelOperation::OpenClose, timed.copying.copy),
        (KernelOperation::CreateRemove, timed.copying.copy),
        (KernelOperation::Read4k, timed.copying.copy),
        (KernelOperation::Write4k, timed.copying.copy),
        (KernelOperation::Read1m, timed.copying.copy),
        (KernelOperation::Tree, timed.copying.copy),
        (KernelOperation::Fill, timed.copying.memory_write),
        (KernelOperation::Scattered, timed.copying.memory_read),
    ]
    .into_iter()
    .map(|(operation, copy_mb_s)| {
        let (ns, counted) = of(timed, blocks, operation);
        let calls = f64::from(operation.calls());
        let copied_ns = f64::from(operation.bytes()) * 1e3 / copy_mb_s;
        (ns - calls * null_ns - copied_ns) / (counted - calls * null_blocks)
    })
    .collect();
    each.sort_by(f64::total_cmp);
    let middle = each[each.len() / 2];
    match middle > 0.0 && middle.is_finite() {
        true => Ok(middle),
        false => Err(format!(
            "a basic block of the kernel was measured as {middle} ns: repeat this on an idle machine"
        )),
    }
}

/// The largest of a core's caches.
fn cache_kib() -> Option<f64> {
    let caches = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let size = |cache: std::fs::DirEntry| {
        let text = std::fs::read_to_string(cache.path().join("size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<f64>().ok()
    };
    caches.flatten().filter_map(size).reduce(f64::max)
}

/// Rounded to three significant digits; no figure is more precise.
fn rounded(value: f64) -> f64 {
    let scale = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations with 100 ns per call, 2 ns per block and 10 GB/s must give these values back.
    #[test]
    fn what_was_put_in_comes_out() {
        let blocks = |operation: KernelOperation| match operation {
            KernelOperation::Null => 10.0,
            KernelOperation::Read1m => 3000.0,
            _ => 150.0,
        };
        let time = |operation: KernelOperation| {
            let bytes_ns = match operation {
                KernelOperation::Fault => 4096.0 / 10.0 + 300.0,
                KernelOperation::PingPong => 2.0 * 700.0,
                KernelOperation::Fill => 4096.0 / 8.0,
                KernelOperation::Scattered => 4096.0 / 9.0,
                _ => f64::from(operation.bytes()) / 10.0,
            };
            f64::from(operation.calls()) * 100.0 + 2.0 * blocks(operation) + bytes_ns
        };
        let timed = Timed {
            operations: KernelOperation::ALL
                .map(|operation| (operation, time(operation)))
                .into(),
            clock_ns: 20.0,
            rates: vec![(Cost::Crc32, 10_000.0)],
            copying: rate::Copying {
                copy: 10_000.0,
                memory: 4_000.0,
                memory_read: 9_000.0,
                memory_write: 8_000.0,
                zero: 10_000.0,
            },
            wakeup_ns: Some(3_000.0),
            fio_ns: None,
        };
        let counted = KernelOperation::ALL.map(|operation| (operation, blocks(operation)));
        let text = model("a", "a", 2, 3.0, &timed, &counted).expect("it is a model");
        let model = super::super::parse("a", &text).expect("it can be read");
        let near = |cost: Cost, wanted: f64| {
            let is = model.value(cost);
            assert!((is / wanted - 1.0).abs() < 0.02, "{}: {is}, not {wanted}", cost.name());
        };
        near(Cost::Block, 2.0);
        near(Cost::Call, 100.0);
        near(Cost::Copy, 10_000.0);
        near(Cost::Fault, 300.0);
        near(Cost::Switch, 700.0);
        near(Cost::Wakeup, 3_000.0);
        near(Cost::MemoryRead, 9_000.0);
    }

    #[test]
    fn half_way_is_by_ratio() {
        let timed = |factor: f64| Timed {
            operations: vec![(KernelOperation::Stat, 100.0 * factor)],
            clock_ns: 20.0 * factor,
            rates: vec![(Cost::Crc32, 1_000.0 * factor)],
            copying: rate::Copying {
                copy: 10.0 * factor,
                memory: 4.0 * factor,
                memory_read: 9.0 * factor,
                memory_write: 8.0 * factor,
                zero: 7.0 * factor,
            },
            wakeup_ns: Some(3.0 * factor),
            fio_ns: None,
        };
        let half_way = timed(1.0).half_way_to(&timed(4.0));
        let near = |is: f64, wanted: f64| assert!((is / wanted - 1.0).abs() < 1e-9, "{is}, not {wanted}");
        near(half_way.operations[0].1, 200.0);
        near(half_way.clock_ns, 40.0);
        near(half_way.rates[0].1, 2_000.0);
        near(half_way.copying.memory_write, 16.0);
        near(half_way.wakeup_ns.expect("both have it"), 6.0);
        assert_eq!(half_way.fio_ns, None);
    }
}
