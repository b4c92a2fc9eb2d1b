//! The ledger of a trial: everything made on a disk is identified as soon as it exists, so that only that is undone.

use crate::ledger::ledger_file::DiskLedger;
use crate::ledger::undo::HostUndo;
use crate::safety::signature;
use std::io;
use std::path::PathBuf;
use tools::Tools;

/// Writes the acts of provisioning to the ledger on disk.
#[derive(Debug)]
pub(crate) struct TrialLedger<'a> {
    pub(crate) ledger: &'a mut DiskLedger,
    pub(crate) tools: Tools,
}

/// The device on which an act makes something, if nothing else identifies it.
pub(crate) fn carrier(undo: &stack::Undo) -> Option<&PathBuf> {
    match undo {
        stack::Undo::Filesystem {
            device,
            array_uuid: None,
            uuid: None,
            ..
        }
        | stack::Undo::Signatures { device, .. } => Some(device),
        _ => None,
    }
}

impl stack::Ledger for TrialLedger<'_> {
    fn intend(&mut self, undo: &stack::Undo) -> io::Result<u64> {
        self.ledger.intend(&HostUndo::Stack(undo.clone()))
    }

    fn made(&mut self, entry: u64, undo: &stack::Undo) -> io::Result<()> {
        // Without an identity, the owner of the contents stays unknown.
        match carrier(undo).map(|device| signature::identity(device, &self.tools)) {
            Some(Ok(identity)) => self.ledger.identified(entry, &identity),
            _ => Ok(()),
        }
    }

    fn undone(&mut self, entry: u64) -> io::Result<()> {
        self.ledger.undone(entry)
    }
}
