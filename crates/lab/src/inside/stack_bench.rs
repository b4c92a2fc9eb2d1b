//! The guest's side of `raidlab bench`: jobs on several stacks in turn, with a line before and after each job, so
//! that the program outside can read the wall clock; the guest's clock is virtual.

use super::raidlab_device::Channel;
use crate::protocol::job::{BenchJob, BenchLine, BenchStack, Piece, PieceWork};
use crate::protocol::setting::setting_on;
use rustix::fs::{Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;
use study::event::Event;
use trial::{BareJob, Disks, Target};

pub(crate) fn run(channel: &mut Channel, bench: &BenchJob) -> io::Result<()> {
    let began = Instant::now();
    with_all_up(&bench.stacks, &mut Vec::new(), &mut |devices| {
        for (number, piece) in bench.pieces.iter().enumerate() {
            run_piece(channel, number, piece, &devices[piece.stack], began)?;
        }
        Ok(())
    })?;
    channel.say(&Event::Done { at_ns: since(began) })
}

/// Sets up the stacks one after the other and passes their devices to `act`.
fn with_all_up(
    stacks: &[BenchStack],
    up: &mut Vec<PathBuf>,
    act: &mut dyn FnMut(&[PathBuf]) -> io::Result<()>,
) -> io::Result<()> {
    let Some((next, rest)) = stacks.split_first() else {
        return act(up);
    };
    let mut outcome = Ok(());
    let setting = setting_on(Disks::data(&next.devices));
    trial::with_stack_up(&next.spec, &setting, &mut |_| {}, &mut |stack| {
        up.push(stack.block_device.clone());
        outcome = with_all_up(rest, up, act);
    })
    .map_err(|failure| io::Error::other(format!("{}: {}", failure.step, failure.message)))?;
    outcome
}

fn run_piece(channel: &mut Channel, number: usize, piece: &Piece, device: &Path, began: Instant) -> io::Result<()> {
    let mut timed = |work: &mut dyn FnMut() -> io::Result<u64>| {
        channel.write_line(&BenchLine::Began {
            piece: number,
            at_ns: since(began),
        })?;
        let requests = work()?;
        channel.write_line(&BenchLine::Ended { at_ns: since(began) })?;
        Ok(requests)
    };
    let requests: io::Result<u64> = match &piece.work {
        PieceWork::Io(spec) => {
            let target = Target {
                mount_point: None,
                block_device: device,
            };
            let job = BareJob::prepare(spec, &target, piece.seed).map_err(io::Error::other)?;
            timed(&mut || job.run().map_err(io::Error::other))
        }
        PieceWork::Distinct { bytes } => {
            let mut writer = DistinctWriter::new(device, piece.seed)?;
            timed(&mut || writer.write(*bytes))
        }
    };
    channel.write_line(&BenchLine::Done {
        piece: number,
        requests: requests?,
    })
}

/// Writes blocks that are all different.
struct DistinctWriter {
    device: OwnedFd,
    buffer: &'static mut [u8],
    stamp: u64,
}

impl DistinctWriter {
    const REQUEST_BYTES: usize = 1 << 20;
    const BLOCK_BYTES: usize = 4096;

    fn new(device: &Path, seed: u64) -> io::Result<DistinctWriter> {
        let device = rustix::fs::open(device, OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty())?;
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping of this length, at an address that the kernel chooses; it is never unmapped.
        let buffer = unsafe {
            let start = rustix::mm::mmap_anonymous(std::ptr::null_mut(), Self::REQUEST_BYTES, access, kind)?;
            std::slice::from_raw_parts_mut(start.cast::<u8>(), Self::REQUEST_BYTES)
        };
        for (number, byte) in buffer.iter_mut().enumerate() {
            *byte = (number ^ number >> 8) as u8;
        }
        Ok(DistinctWriter {
            device,
            buffer,
            stamp: seed << 40,
        })
    }

    fn write(&mut self, bytes: u64) -> io::Result<u64> {
        let requests = bytes / Self::REQUEST_BYTES as u64;
        for request in 0..requests {
            for block in self.buffer.chunks_exact_mut(Self::BLOCK_BYTES) {
                self.stamp += 1;
                block[..8].copy_from_slice(&self.stamp.to_le_bytes());
            }
            let offset = request * Self::REQUEST_BYTES as u64;
            let written = rustix::io::pwrite(&self.device, &*self.buffer, offset)?;
            if written < Self::REQUEST_BYTES {
                return Err(io::Error::other("a write came back short"));
            }
        }
        Ok(requests)
    }
}

fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
