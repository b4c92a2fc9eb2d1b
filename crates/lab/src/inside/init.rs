//! The first process of a guest: mounts the filesystems that programs expect, reads the job, runs it, reports events
//! and powers the machine off.

mod calls;
mod memory;

use super::cpu_time::{Account, Watch};
use super::raidlab_device::Channel;
use super::{shell, stack_bench};
use crate::processor::Cost;
use crate::processor::measure::OperationBlocks;
use crate::processor::operation::{KernelOperation, OperationFiles};
use crate::protocol::carried;
use crate::protocol::job::{GuestJob, ProgramJob, ToJudge};
use crate::protocol::setting::{FOLDER, PATH, device};
use rustix::mount::{MountFlags, mount};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use study::event::{Event, Failure};
use study::plan::Trial;
use study::{DiskCounter, DiskCounters};
use trial::{CARRIED, MemoryLedger, NoDiskCheck, Safety, TrialSetting};

/// Filesystems mounted over the root, which may be the host's and read-only; the kernel mounts /dev itself.
const MOUNTS: &[(&str, &str, &str)] = &[
    ("proc", "proc", "/proc"),
    ("sysfs", "sysfs", "/sys"),
    ("tmpfs", "tmpfs", "/tmp"),
    ("tmpfs", "tmpfs", "/run"),
    ("tmpfs", "tmpfs", "/var/tmp"),
];

/// Runs as process 1; never returns.
pub fn main() -> ! {
    let mut channel = match calls::take_entry()
        .and_then(|()| memory::take_heap())
        .and_then(|()| prepare())
        .and_then(|()| Channel::open())
    {
        Ok(channel) => channel,
        Err(error) => {
            // Only the console can report this error; exit makes the kernel panic, and the lab reports this message.
            eprintln!("raidlab: the guest cannot be prepared: {error}");
            std::process::exit(1)
        }
    };
    if let Err(error) = work(&mut channel) {
        eprintln!("raidlab: {error}");
        let failure = Failure {
            step: "guest".to_owned(),
            message: error.to_string(),
        };
        let _ = channel.say(&Event::Failed(failure));
    }
    channel.power_off()
}

fn prepare() -> io::Result<()> {
    for (source, kind, target) in MOUNTS {
        if !Path::new(target).is_dir() {
            continue;
        }
        mount_on(source, target, kind)?;
    }
    // mdadm writes the host name into superblocks; it must not be the host's.
    rustix::system::sethostname(b"raidlab")?;
    fs::create_dir_all(FOLDER)
}

fn mount_on(source: &str, target: &str, kind: &str) -> io::Result<()> {
    mount(source, target, kind, MountFlags::empty(), None::<&std::ffi::CStr>)
        .map_err(|error| io::Error::other(format!("cannot mount {kind} on {target}: {error}")))
}

fn work(channel: &mut Channel) -> io::Result<()> {
    let (job, files) = channel.job()?;
    if !files.is_empty() {
        mount_on("tmpfs", tools::CARRIED_MOUNT, "tmpfs")?;
        carried::lay(&files, Path::new(CARRIED))?;
    }
    match job {
        GuestJob::Trial(trial) => run_trial(channel, &trial),
        GuestJob::Create(trial) => create_stack(channel, &trial),
        GuestJob::Judge(trial, cuts) => judge(channel, &trial, &cuts),
        GuestJob::Shell(shell) => shell::run(channel, &shell),
        GuestJob::Program(program) => run_program(channel, &program),
        GuestJob::Operations => count_operations(channel),
        GuestJob::Bench(bench) => stack_bench::run(channel, &bench),
    }
}

fn run_trial(channel: &mut Channel, trial: &Trial) -> io::Result<()> {
    memory::take_pages(trial.seed, trial.cell.machine.ram_bytes)?;
    let mut lost = None;
    let mut end = None;
    // Without a processor model nothing may differ: even a failing call takes virtual time.
    let account = match trial.cell.machine.processor {
        Some(_) => Some(Account::open()?),
        None => None,
    };
    let mut watch = account.as_ref().map(Watch::new);
    let setting = TrialSetting {
        created: trial.cell.machine.create_once,
        ..channel.setting(&trial.cell.machine)?
    };
    let safety = Safety {
        ledger: &mut MemoryLedger::default(),
        check: &mut NoDiskCheck,
    };
    trial::run(trial, &setting, safety, &mut |event| {
        // The disks' counters are written before the final event.
        if matches!(event, Event::Done { .. }) {
            end = Some(event);
        } else if let Err(error) = say_with_processor(channel, watch.as_mut(), &event) {
            lost = Some(error);
        }
    });
    if let Some(error) = lost {
        return Err(error);
    }
    let Some(end) = end else { return Ok(()) };
    if let Some(account) = &account {
        channel.say(&account.charged()?.event())?;
    }
    say_disks(channel)?;
    channel.say(&end)
}

fn create_stack(channel: &mut Channel, trial: &Trial) -> io::Result<()> {
    memory::take_pages(trial.seed, trial.cell.machine.ram_bytes)?;
    let setting = channel.setting(&trial.cell.machine)?;
    let mut lost = None;
    trial::create(trial, &setting, &mut |event| {
        if let Err(error) = channel.say(&event) {
            lost = Some(error);
        }
    });
    lost.map_or(Ok(()), Err)
}

/// Reports each verdict on one line, and ends early if the machine would not be clean for the next state. No digests of
/// the disks: this guest is the last one that uses them.
fn judge(channel: &mut Channel, trial: &Trial, cuts: &[ToJudge]) -> io::Result<()> {
    let setting = channel.setting(&trial.cell.machine)?;
    for to_judge in cuts {
        if let Some(state) = to_judge.state {
            channel.take_state(state)?;
        }
        match trial::power_cut::judge(trial, &setting, to_judge.cut, &mut |_| {}) {
            Ok(judgement) => {
                channel.write_line(&judgement.verdict)?;
                if !judgement.is_clean {
                    return Ok(());
                }
            }
            Err(failure) => return channel.say(&Event::Failed(failure)),
        }
    }
    Ok(())
}

/// Writes an event, preceded by the processor's figures for the test that it ends.
fn say_with_processor(channel: &mut Channel, watch: Option<&mut Watch>, event: &Event) -> io::Result<()> {
    if let Some(watch) = watch {
        for said in watch.before(event)? {
            channel.say(&said)?;
        }
    }
    channel.say(event)
}

fn run_program(channel: &mut Channel, program: &ProgramJob) -> io::Result<()> {
    let began = Instant::now();
    let status = Command::new(&program.path)
        .args(&program.arguments)
        .current_dir(FOLDER)
        .env_clear()
        .envs(tools::GUEST_ENVIRONMENT)
        .env("PATH", PATH)
        .env("HOME", FOLDER)
        .stdin(Stdio::null())
        .status()?;
    say_disks(channel)?;
    channel.say(&match status.success() {
        true => Event::Done {
            at_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        },
        false => Event::Failed(Failure {
            step: "program".to_owned(),
            message: status.to_string(),
        }),
    })
}

/// Reports the number of kernel basic blocks of each operation, one on a line.
fn count_operations(channel: &mut Channel) -> io::Result<()> {
    let account = Account::open()?;
    let mut place = OperationFiles::new(Path::new(FOLDER))?;
    for operation in KernelOperation::ALL {
        // The first round allocates; the second finds everything allocated.
        place.round(operation)?;
        let before = account.charged()?;
        place.round(operation)?;
        let after = account.charged()?;
        let blocks = after.counts[Cost::Block as usize] - before.counts[Cost::Block as usize];
        channel.write_line(&OperationBlocks {
            operation,
            blocks: blocks as f64 / f64::from(operation.round()),
        })?;
    }
    channel.say(&Event::Done { at_ns: 0 })
}

/// Reports the counters of the simulated disks and a digest of their contents.
fn say_disks(channel: &mut Channel) -> io::Result<()> {
    // Dirty pages belong to the contents of the disks.
    rustix::fs::sync();
    for disk in 0..channel.disks()? {
        let name = device(disk);
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        channel.say(&Event::DiskCounters(DiskCounters {
            disk: name,
            counts: DiskCounter::ALL.into_iter().zip(channel.counters(disk)?).collect(),
            contents: Some(hex::encode(channel.digest(disk)?)),
        }))?;
    }
    Ok(())
}
