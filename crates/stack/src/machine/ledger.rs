//! The ledger: each object is recorded before it is created.

use crate::machine::undo::Undo;
use std::io;

/// The line of one act in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub entry: u64,
    pub undo: Undo,
}

/// Keeps the undo of every act until it is undone.
pub trait Ledger {
    /// Called before the act. When it returns, the entry must survive a kill of this process; if it fails, the act
    /// is not done.
    fn intend(&mut self, undo: &Undo) -> io::Result<u64>;

    /// Called after the act, before others can use its result. If the entry does not contain an identity, it is
    /// read back now. From then on only an object with that identity is undone.
    fn made(&mut self, entry: u64, undo: &Undo) -> io::Result<()> {
        let _ = (entry, undo);
        Ok(())
    }

    /// Called when the act has been undone.
    fn undone(&mut self, entry: u64) -> io::Result<()>;
}

/// A ledger for machines that end with the trial, and for tests.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    /// Acts that are not undone yet, in order of time.
    pub open: Vec<LedgerEntry>,
    entries: u64,
}

impl Ledger for MemoryLedger {
    fn intend(&mut self, undo: &Undo) -> io::Result<u64> {
        self.entries += 1;
        self.open.push(LedgerEntry {
            entry: self.entries,
            undo: undo.clone(),
        });
        Ok(self.entries)
    }

    fn undone(&mut self, entry: u64) -> io::Result<()> {
        self.open.retain(|act| act.entry != entry);
        Ok(())
    }
}
