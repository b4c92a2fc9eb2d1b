//! The ledger of a trial: what was made on a disk is identified as soon as it exists, so that only that is undone.

use crate::ledger::DiskLedger;
use crate::signature;
use crate::undo::Undo;
use std::io;
use std::path::PathBuf;
use tools::Tools;

/// Writes what provisioning does to the ledger on disk.
#[derive(Debug)]
pub(crate) struct TrialLedger<'a> {
    pub(crate) ledger: &'a mut DiskLedger,
    pub(crate) tools: Tools,
    /// What is being made; it exists when the next act starts.
    pub(crate) pending: Vec<(u64, PathBuf)>,
}

impl TrialLedger<'_> {
    /// What an act makes exists at the latest when another act starts or is undone.
    fn identify(&mut self) -> io::Result<()> {
        for (entry, device) in std::mem::take(&mut self.pending) {
            // Of what cannot be identified, it stays unknown whose it is.
            if let Ok(identity) = signature::identity(&device, &self.tools) {
                self.ledger.identified(entry, &identity)?;
            }
        }
        Ok(())
    }
}

/// The device that carries what an act makes, if nothing else identifies it.
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
        // Several acts may be written down before the program that does them all.
        let is_mount = !matches!(undo, stack::Undo::Filesystem { .. } | stack::Undo::Signatures { .. });
        if is_mount {
            self.identify()?;
        }
        let entry = self.ledger.intend(&Undo::Stack(undo.clone()))?;
        self.pending.extend(carrier(undo).map(|device| (entry, device.clone())));
        Ok(entry)
    }

    fn made(&mut self, entry: u64, undo: &stack::Undo) -> io::Result<()> {
        self.ledger.made(entry, &Undo::Stack(undo.clone()))
    }

    fn undone(&mut self, entry: u64) -> io::Result<()> {
        self.pending.retain(|(pending, _)| *pending != entry);
        self.ledger.undone(entry)
    }
}
