//! Measures the wall time of a guest's system call on several kernels, alternately: `cargo run --release -p lab
//! --example system_calls -- 6.12 7.3`. All of them must have been built.

use lab::guest::{self, Config, Init, LIMITS};
use lab::job::{self, GuestJob, ProgramJob};
use lab::kernel::{Cache, Kernel, KernelName};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trial::ProcessEnd;

/// `dd` makes two calls per block, a read and a write; no disk is involved.
const CALLS_A_BLOCK: u32 = 2;
const BLOCKS: u32 = 100_000;
const PAIRS: usize = 5;

fn main() {
    if std::process::id() == 1 {
        lab::init::main();
    }
    let cache = Cache::of_user();
    let kernels: Vec<Kernel> = std::env::args()
        .skip(1)
        .map(|name| match cache.find(&KernelName::parse(&name)) {
            Ok(Ok(kernel)) => kernel,
            Ok(Err(_)) => panic!("`raidlab kernel build {name}` first"),
            Err(error) => panic!("{error}"),
        })
        .collect();
    let mut seen = vec![Vec::new(); kernels.len()];
    for _ in 0..PAIRS {
        for (kernel, seen) in kernels.iter().zip(&mut seen) {
            // Subtract the start of the guest.
            let calls = wall(kernel, BLOCKS).saturating_sub(wall(kernel, 1));
            seen.push(calls / (CALLS_A_BLOCK * (BLOCKS - 1)));
        }
    }
    for (kernel, seen) in kernels.iter().zip(&mut seen) {
        seen.sort();
        println!("{}: {:?} a call, median of {seen:?}", kernel.name, seen[PAIRS / 2]);
    }
    if let [first, second] = &seen[..] {
        let ratio = first[PAIRS / 2].as_secs_f64() / second[PAIRS / 2].as_secs_f64();
        println!("ratio {ratio:.2}");
    }
}

fn wall(kernel: &Kernel, blocks: u32) -> Duration {
    let job = GuestJob::Program(ProgramJob {
        path: "/bin/dd".into(),
        arguments: vec![
            "if=/dev/zero".to_owned(),
            "of=/dev/null".to_owned(),
            "bs=1".to_owned(),
            format!("count={blocks}"),
            "status=none".to_owned(),
        ],
    });
    let folder = tempfile::tempdir().expect("a folder");
    let disks = disksim::description::Description {
        links: Vec::new(),
        disks: Vec::new(),
    };
    let program = std::env::current_exe().expect("this program has a file");
    let init = Init::in_own_memory(&program).expect("it is linked as raidlab is");
    let ended = guest::run(
        &Config {
            kernel: &kernel.path,
            init: &init,
            root: None,
            ram_bytes: 128 << 20,
            seed: 1,
            disks: &postcard::to_allocvec(&disks).expect("plain data"),
            job: &job::encode(&job, &[]),
            memory_budget_bytes: 1 << 20,
            contents: None,
            power_cut: None,
            states: None,
            spare: &guest::SpareMemory::default(),
            folder: folder.path(),
            trace: None,
            processor: guest::processors().last().copied(),
            kernel_arguments: &kernel.arguments(),
            limits: LIMITS,
        },
        &AtomicBool::new(false),
        &mut |_| {},
        &mut |_| {},
    )
    .expect("the guest starts");
    assert_eq!(ended.end, ProcessEnd::Exited, "{}", ended.console);
    ended.wall
}
