//! Channels of IDE, which allow one command at a time for all their disks.

use crate::description::Description;
use crate::request::Request;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Owner of each channel, and the requests that wait for it.
pub struct Channels {
    /// By disk: its channel, if any.
    of_disk: Vec<Option<usize>>,
    channels: Vec<Channel>,
}

#[derive(Default)]
struct Channel {
    taken: bool,
    waiting: VecDeque<(usize, Request)>,
}

impl Channels {
    pub fn new(description: &Description) -> Self {
        let one_command = |&&link: &&u32| description.links.get(link as usize).is_some_and(|l| l.one_command);
        let of_disk = description
            .disks
            .iter()
            .map(|d| d.links.iter().find(one_command).map(|&l| l as usize));
        Channels {
            of_disk: of_disk.collect(),
            channels: description.links.iter().map(|_| Channel::default()).collect(),
        }
    }

    /// Takes the disk's channel for a request, or queues the request until the channel is free.
    pub fn claim(&mut self, disk: usize, request: Request) -> Option<Request> {
        let Some(index) = self.of_disk.get(disk).copied().flatten() else {
            return Some(request);
        };
        let Some(channel) = self.channels.get_mut(index) else {
            return Some(request);
        };
        if channel.taken {
            channel.waiting.push_back((disk, request));
            return None;
        }
        channel.taken = true;
        Some(request)
    }

    /// Called when a command of this disk ended; returns the next one that may start, if any.
    pub fn release(&mut self, disk: usize) -> Option<(usize, Request)> {
        let index = self.of_disk.get(disk).copied().flatten()?;
        let channel = self.channels.get_mut(index)?;
        let next = channel.waiting.pop_front();
        channel.taken = next.is_some();
        next
    }
}
