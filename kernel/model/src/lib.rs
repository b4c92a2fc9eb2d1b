//! The disk model as the driver in the lab's kernel sees it: the functions of `driver/raidlab.h`.
//!
//! Called by one thread with interrupts off, so the state is a plain static. Memory is the host's, not the guest's:
//! what the model keeps must not change how much memory the guest has.
#![no_std]

extern crate alloc;

mod copy;
mod host;
mod machine;
mod memory;

use core::ffi::c_void;
use core::slice;
use disksim::request::{Op, Request};
use machine::{COUNTERS, DIGEST_BYTES, DiskInfo, Done, machine, open};

/// See `rl_open` in `driver/raidlab.h`.
///
/// # Safety
/// `description` points at `length` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_open(description: *const c_void, length: u64) -> i32 {
    // SAFETY: the caller's promise.
    let bytes = unsafe { slice::from_raw_parts(description.cast::<u8>(), length as usize) };
    match open(bytes) {
        Ok(disks) => disks as i32,
        Err(message) => {
            host::say(&message);
            -1
        }
    }
}

/// See `rl_restore` in `driver/raidlab.h`.
///
/// # Safety
/// `saved` points at `length` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_restore(saved: *const c_void, length: u64) -> i32 {
    // SAFETY: the caller's promise.
    let bytes = unsafe { slice::from_raw_parts(saved.cast::<u8>(), length as usize) };
    match machine().restore(bytes) {
        Ok(()) => 0,
        Err(message) => {
            host::say(message);
            -1
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_save() -> i32 {
    let mut saved = true;
    machine().contents.save(&mut |piece| saved = saved && host::keep(piece));
    if saved { 0 } else { -1 }
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_expect_power_cut() {
    machine().expect_power_cut();
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_power_cut(seed: u64, now_ns: u64) {
    machine().power_cut(seed, now_ns);
}

/// See `rl_keep_state` in `driver/raidlab.h`.
#[unsafe(no_mangle)]
pub extern "C" fn rl_keep_state(seed: u64, now_ns: u64) -> i32 {
    if machine().keep_state(seed, now_ns) { 0 } else { -1 }
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_delay(disk: u32, access_ns: u64, now_ns: u64) {
    machine().world.delay(disk as usize, now_ns, access_ns);
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_hang(disk: u32, for_ns: u64, dies: u8, now_ns: u64) {
    machine().world.hang(disk as usize, now_ns, for_ns, dies != 0);
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_ignore_flushes(disk: u32, now_ns: u64) {
    machine().world.ignore_flushes(disk as usize, now_ns);
}

/// # Safety
/// `info` points at a `struct rl_disk_info`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_disk_info(disk: u32, info: *mut DiskInfo) {
    // SAFETY: the caller's promise.
    unsafe { info.write(machine().info(disk as usize)) }
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_submit(disk: u32, tag: u32, op: u8, fua: u8, sector: u64, sectors: u32, now_ns: u64) {
    let op = match op {
        0 => Op::Read,
        1 => Op::Write,
        2 => Op::Flush,
        _ => Op::Discard,
    };
    let request = Request { tag, op, sector, sectors, fua: fua != 0 };
    machine().submit(disk as usize, now_ns, request);
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_next_event() -> u64 {
    machine().next_event_ns()
}

/// # Safety
/// `done` has room for `room` completions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_advance(now_ns: u64, done: *mut Done, room: u32) -> u32 {
    // SAFETY: the caller's promise.
    let room = unsafe { slice::from_raw_parts_mut(done, room as usize) };
    machine().advance(now_ns, room)
}

/// # Safety
/// `data` points at `length` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_write(disk: u32, sector: u64, data: *const c_void, length: u32) -> i32 {
    // SAFETY: the caller's promise.
    let data = unsafe { slice::from_raw_parts(data.cast::<u8>(), length as usize) };
    outcome(machine().write(disk as usize, sector, data))
}

/// # Safety
/// `data` points at `length` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_read(disk: u32, sector: u64, data: *mut c_void, length: u32) -> i32 {
    // SAFETY: the caller's promise.
    let data = unsafe { slice::from_raw_parts_mut(data.cast::<u8>(), length as usize) };
    outcome(machine().contents.read(disk as usize, sector, data))
}

#[unsafe(no_mangle)]
pub extern "C" fn rl_discard(disk: u32, sector: u64, sectors: u64) {
    // A discard may be ignored: nothing is lost if there is no memory to carry it out.
    let _ = machine().contents.discard(disk as usize, sector..sector + sectors);
}

/// # Safety
/// `counters` has room for [`COUNTERS`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_counters(disk: u32, counters: *mut u64) {
    // SAFETY: the caller's promise.
    let counters = unsafe { slice::from_raw_parts_mut(counters, COUNTERS) };
    machine().counters(disk as usize, counters);
}

/// # Safety
/// `digest` has room for [`DIGEST_BYTES`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_digest(disk: u32, digest: *mut u8) {
    // SAFETY: the caller's promise.
    let digest = unsafe { slice::from_raw_parts_mut(digest, DIGEST_BYTES) };
    machine().digest(disk as usize, digest);
}

fn outcome(result: Result<(), disksim::contents::Error>) -> i32 {
    if result.is_ok() { 0 } else { -1 }
}
