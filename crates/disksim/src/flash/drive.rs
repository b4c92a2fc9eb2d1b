//! Dies, channels, wires and buffer of a flash drive, with the times at which each is free.

use super::translation::{Location, Translation, Work};
use super::{Flash, Slc};
use crate::hard_disk::Surroundings;
use crate::link::span_ns;
use crate::request::{Op, Request, Status};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// State of a flash drive.
pub struct FlashDrive {
    model: Flash,
    path: Vec<u32>,
    translation: Translation,
    dies: Vec<Die>,
    channels_ns: Vec<u64>,
    controller_ns: u64,
    /// When the wire to, and from, the host is free.
    wire_in_ns: u64,
    wire_out_ns: u64,
    /// Programs in progress: end, and sectors of the buffer that they free.
    programs: VecDeque<(u64, u32)>,
    /// Sectors of the buffer in use, those of `programs` included.
    held: u32,
    /// Units that wait for a full program, and its die.
    open_units: u32,
    open_die: u32,
    /// Moved units that wait for a full program.
    moved_units: u32,
    next_die: u32,
    /// Acknowledged and possibly not programmed: end, first sector, sectors.
    volatile: VecDeque<(u64, u64, u32)>,
    /// The same, not yet part of a program.
    unprogrammed: Vec<(u64, u32)>,
    slc: SlcState,
}

/// Remaining capacity of the SLC cache.
#[derive(Clone, Copy, Default)]
struct SlcState {
    left_units: u64,
    /// End of the last program: from then on the cache drains.
    idle_from_ns: u64,
    /// Mapped units of the drive, and those without data.
    units: u64,
    nothing: u64,
}

#[derive(Clone, Copy, Default)]
struct Die {
    free_ns: u64,
    /// Reads that suspended a program precede its rest.
    read_ns: u64,
    /// The last program and its end: reads of its data come from the buffer.
    program: (u32, u64),
}

impl SlcState {
    fn new(model: &Flash, sectors: u64) -> Self {
        let units = sectors.div_ceil(u64::from(model.unit_sectors)).max(1);
        let mut state = SlcState {
            units,
            nothing: units - model.old_data.count(units),
            ..SlcState::default()
        };
        state.left_units = model.slc.map_or(0, |slc| state.capacity(&slc));
        state
    }

    fn capacity(&self, slc: &Slc) -> u64 {
        let more = u128::from(slc.empty_units - slc.full_units) * u128::from(self.nothing) / u128::from(self.units);
        slc.full_units + more as u64
    }

    /// Puts units into the cache if there is room; returns the time of a program then.
    fn take(&mut self, slc: &Slc, from_ns: u64, units: u32) -> Option<u64> {
        let idle_ns = from_ns.saturating_sub(self.idle_from_ns);
        let regained = idle_ns / slc.refill_unit_ns.max(1);
        self.left_units = (self.left_units + regained).min(self.capacity(slc));
        self.left_units = self.left_units.checked_sub(u64::from(units))?;
        Some(slc.program_ns)
    }
}

impl FlashDrive {
    pub fn new(model: &Flash, sectors: u64, seed: u64, path: &[u32]) -> Self {
        FlashDrive {
            model: model.clone(),
            path: path.to_vec(),
            translation: Translation::new(model, sectors, seed),
            dies: alloc::vec![Die::default(); model.dies() as usize],
            channels_ns: alloc::vec![0; model.channels as usize],
            controller_ns: 0,
            wire_in_ns: 0,
            wire_out_ns: 0,
            programs: VecDeque::new(),
            held: 0,
            open_units: 0,
            open_die: 0,
            moved_units: 0,
            next_die: 1 % model.dies(),
            volatile: VecDeque::new(),
            unprogrammed: Vec::new(),
            slc: SlcState::new(model, sectors),
        }
    }

    /// Controller overhead of a command.
    pub fn command_ns(&self) -> u64 {
        self.model.command_ns
    }

    pub fn arrive(&mut self, now_ns: u64, request: &Request, around: &mut Surroundings) {
        let now_ns = now_ns + around.faults.slowdown_ns(now_ns);
        let command_ns = match request.op {
            Op::Write => self.model.write_command_ns,
            _ => self.model.command_ns,
        };
        self.controller_ns = self.controller_ns.max(now_ns) + command_ns;
        let start_ns = self.controller_ns;
        match request.op {
            Op::Read => self.read(start_ns, request, around),
            Op::Write => self.write(start_ns, request, around),
            Op::Flush => {
                let done_ns = self.flush(start_ns) + self.model.flush_overhead_ns;
                around.finishes.push(done_ns, request.tag, Status::Ok);
            }
            Op::Discard => {
                let (first, past) = self.whole_units(request);
                for unit in first..past {
                    self.slc.nothing += u64::from(self.translation.find(unit) != Location::Nowhere);
                    self.translation.trim(unit);
                }
                around
                    .finishes
                    .push(start_ns + self.model.write_overhead_ns, request.tag, Status::Ok);
            }
        }
    }

    /// No events without requests.
    pub fn next_ns(&self) -> Option<u64> {
        None
    }

    pub fn process(&mut self, _now_ns: u64, _around: &mut Surroundings) {}

    pub fn drop_all(&mut self, _dropped: impl FnMut(u32)) {}

    /// Ranges that were acknowledged and would be lost in a power cut.
    pub fn volatile(&self, now_ns: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        let kept = self.model.power_loss_protection;
        let programming = self
            .volatile
            .iter()
            .filter(move |(done_ns, ..)| *done_ns > now_ns)
            .map(|v| (v.1, v.2));
        programming
            .chain(self.unprogrammed.iter().copied())
            .filter(move |_| !kept)
    }

    fn units(&self, request: &Request) -> (u32, u32) {
        let per = u64::from(self.model.unit_sectors);
        let end = request.sector + u64::from(request.sectors);
        ((request.sector / per) as u32, end.div_ceil(per) as u32)
    }

    /// Only fully covered units can be trimmed.
    fn whole_units(&self, request: &Request) -> (u32, u32) {
        let per = u64::from(self.model.unit_sectors);
        let end = request.sector + u64::from(request.sectors);
        let first = request.sector.div_ceil(per) as u32;
        (first, ((end / per) as u32).max(first))
    }

    fn read(&mut self, start_ns: u64, request: &Request, around: &mut Surroundings) {
        let (first, past) = self.units(request);
        let mut ready_ns = start_ns;
        let mut unit = first;
        while unit < past {
            // Units that one die returns with one read.
            let (row, mut same) = (self.row(unit), 1);
            while unit + same < past && row.is_some() && self.row(unit + same) == row {
                same += 1;
            }
            if let Some(row) = row {
                ready_ns = ready_ns.max(self.read_row(start_ns, row, same));
            }
            unit += same;
        }
        let mut status = Status::Ok;
        if let Some(sector) = around.faults.first_unreadable(request.sector, request.sectors) {
            status = Status::MediumError { sector };
            ready_ns += around.faults.recovery_ns;
        }
        let end_ns = self.wire(ready_ns, request.sectors, true, around);
        around
            .finishes
            .push(end_ns + self.model.read_overhead_ns, request.tag, status);
    }

    /// The row of units that are read and programmed together.
    fn row(&self, unit: u32) -> Option<u32> {
        match self.translation.find(unit) {
            Location::Nowhere => None,
            Location::At(physical) => Some(physical / self.model.program_units),
        }
    }

    fn read_row(&mut self, start_ns: u64, row: u32, units: u32) -> u64 {
        let index = row % self.model.dies();
        let die = &mut self.dies[index as usize];
        if die.program.0 == row && die.program.1 > start_ns {
            return start_ns;
        }
        let begin_ns = match self.model.suspend_ns {
            Some(suspend_ns) if die.free_ns > start_ns => die.read_ns.max(start_ns) + suspend_ns,
            _ => die.free_ns.max(start_ns),
        };
        let is_third = row / self.model.dies() % 3 == 2;
        let end_ns = begin_ns
            + match is_third {
                true => self.model.third_page_read_ns,
                false => self.model.read_ns,
            };
        // A suspended program continues later.
        die.free_ns = if die.free_ns > begin_ns {
            die.free_ns + (end_ns - begin_ns)
        } else {
            end_ns
        };
        die.read_ns = end_ns;
        self.channel(index, end_ns, units)
    }

    fn channel(&mut self, die: u32, from_ns: u64, units: u32) -> u64 {
        let channel = &mut self.channels_ns[(die % self.model.channels) as usize];
        let takes_ns = span_ns(units * self.model.unit_sectors, self.model.channel_sector_ps);
        // Short transfers fit into gaps between the programs' data.
        let start_ns = from_ns.max(channel.saturating_sub(takes_ns));
        *channel = (*channel).max(from_ns) + takes_ns;
        start_ns + takes_ns
    }

    fn write(&mut self, start_ns: u64, request: &Request, around: &mut Surroundings) {
        around.faults.heal(request.sector, request.sectors);
        let room_ns = self.make_room(start_ns, request.sectors);
        let (first, past) = self.units(request);
        let edges = self.read_edges(room_ns, request, first, past);
        let there_ns = self.wire(room_ns, request.sectors, false, around).max(edges);
        let mut work = Work::default();
        self.unprogrammed.push((request.sector, request.sectors));
        self.held += request.sectors;
        for unit in first..past {
            if self.model.slc.is_some() && self.translation.find(unit) == Location::Nowhere {
                self.slc.nothing = self.slc.nothing.saturating_sub(1);
            }
            let physical = self.translation.write(unit, &mut work);
            self.open_die = (physical / self.model.program_units) % self.model.dies();
            self.open_units += 1;
            if self.open_units == self.model.program_units {
                self.program(there_ns, physical / self.model.program_units);
            }
        }
        around.counters.moved_sectors += u64::from(work.moves) * u64::from(self.model.unit_sectors);
        self.make_moves(there_ns, &work);
        let mut done_ns = there_ns;
        if request.fua && !self.model.power_loss_protection {
            done_ns = self.flush(there_ns);
        }
        around.counters.cached_writes += 1;
        around
            .finishes
            .push(done_ns + self.model.write_overhead_ns, request.tag, Status::Ok);
    }

    /// A write of part of a unit reads the rest of it.
    fn read_edges(&mut self, start_ns: u64, request: &Request, first: u32, past: u32) -> u64 {
        let per = u64::from(self.model.unit_sectors);
        let end = request.sector + u64::from(request.sectors);
        let mut ready_ns = start_ns;
        for (partial, unit) in [
            (!request.sector.is_multiple_of(per), first),
            (!end.is_multiple_of(per), past - 1),
        ] {
            if let (true, Some(row)) = (partial, self.row(unit)) {
                ready_ns = ready_ns.max(self.read_row(start_ns, row, 1));
            }
        }
        ready_ns
    }

    /// Time at which the buffer has room for a write.
    fn make_room(&mut self, start_ns: u64, sectors: u32) -> u64 {
        while let Some(&(done_ns, ..)) = self.volatile.front() {
            if done_ns > start_ns {
                break;
            }
            self.volatile.pop_front();
        }
        let mut room_ns = start_ns;
        while let Some(&(done_ns, freed)) = self.programs.front() {
            let fits = self.held.saturating_add(sectors) <= self.model.buffer_sectors;
            if done_ns > room_ns && fits {
                break;
            }
            room_ns = room_ns.max(done_ns);
            self.held = self.held.saturating_sub(freed);
            self.programs.pop_front();
        }
        room_ns
    }

    /// Programs the collected units.
    fn program(&mut self, from_ns: u64, row: u32) {
        let index = self.open_die;
        let quick = self
            .model
            .slc
            .and_then(|slc| self.slc.take(&slc, from_ns, self.open_units));
        let program_ns = quick.unwrap_or(self.model.program_ns);
        let done_ns = self.occupy(index, from_ns, self.model.program_units, program_ns);
        self.slc.idle_from_ns = self.slc.idle_from_ns.max(done_ns);
        self.dies[index as usize].program = (row, done_ns);
        // Dies finish out of order; the buffer frees its space in order.
        let done_ns = self
            .programs
            .back()
            .map_or(done_ns, |(last_ns, _)| done_ns.max(*last_ns));
        self.programs
            .push_back((done_ns, self.open_units * self.model.unit_sectors));
        self.open_units = 0;
        for (sector, sectors) in self.unprogrammed.drain(..) {
            self.volatile.push_back((done_ns, sector, sectors));
        }
    }

    fn occupy(&mut self, die: u32, from_ns: u64, units: u32, takes_ns: u64) -> u64 {
        let data_ns = self.channel(die, from_ns, units);
        let die = &mut self.dies[die as usize];
        die.free_ns = die.free_ns.max(data_ns) + takes_ns;
        die.free_ns
    }

    /// Moves and erases of the translation layer use dies as well.
    fn make_moves(&mut self, from_ns: u64, work: &Work) {
        self.moved_units += work.moves;
        let together = self.model.program_units * self.model.move_programs;
        let programs = self.moved_units / together * self.model.move_programs;
        self.moved_units %= together;
        for _ in 0..programs {
            // The valid units of a random pattern are in as many rows as there are units; drives read several rows of a
            // block at once, which about halves the number of reads.
            let reads = (self.model.program_units / 2).max(1);
            for _ in 0..reads {
                let die = self.take_die();
                self.dies[die as usize].free_ns = self.dies[die as usize].free_ns.max(from_ns) + self.model.read_ns;
            }
            let die = self.take_die();
            self.occupy(die, from_ns, self.model.program_units, self.model.program_ns);
        }
        for _ in 0..work.erases {
            for die in &mut self.dies {
                die.free_ns = die.free_ns.max(from_ns) + self.model.erase_ns;
            }
        }
    }

    fn take_die(&mut self) -> u32 {
        let die = self.next_die;
        self.next_die = (die + 1) % self.model.dies();
        die
    }

    /// Time at which all accepted data is in the flash.
    fn flush(&mut self, start_ns: u64) -> u64 {
        if self.model.power_loss_protection {
            return start_ns;
        }
        if self.open_units > 0 {
            // The rest of the program is padding.
            self.program(start_ns, u32::MAX);
        }
        self.programs
            .back()
            .map_or(start_ns, |(done_ns, _)| start_ns.max(*done_ns))
    }

    fn wire(&mut self, from_ns: u64, sectors: u32, out: bool, around: &mut Surroundings) -> u64 {
        let ps = if out {
            self.model.interface.read_sector_ps
        } else {
            self.model.interface.write_sector_ps
        };
        let wire_ns = if out || self.model.half_duplex {
            &mut self.wire_out_ns
        } else {
            &mut self.wire_in_ns
        };
        let mut end_ns = from_ns.max(*wire_ns) + span_ns(sectors, ps);
        if !self.path.is_empty() {
            end_ns = end_ns.max(around.links.transfer(&self.path, from_ns, sectors));
        }
        *wire_ns = end_ns;
        end_ns
    }
}
