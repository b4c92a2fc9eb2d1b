//! Seals: digests over everything that is stored of a trial and of a run, so that a value that is changed afterwards, or
//! a trial that is removed, is noticed. There is no key: a seal shows edits, and does not stop a forger.

use crate::merge::TABLES;
use crate::record::{RunId, TrialId};
use crate::sql_types::Stored;
use crate::{Result, Store};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};
use sha2::{Digest, Sha256};
use study::CellId;
use study::plan::Plan;

/// What a trial is.
const TRIAL: &str = "cell_id, idx, seed, origin, status, wall_ns, machine_ns, failure_step, failure_message";

/// What a run is, from its beginning to its end.
const RUN: &str =
    "title, study_source, study_sha256, plan_json, seed, machine, only_json, raidlab_version, devices_json,
                   shard";

type Seal = [u8; 32];

/// What is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// A trial of this cell, with its index.
    Trial(CellId, u32),
    /// The run's study, plan or seed; or trials were added or removed.
    Run,
}

impl Changed {
    /// The change in words, with the names of the plan.
    pub fn words(&self, plan: &Plan) -> String {
        match self {
            Changed::Trial(cell, index) => {
                let key = plan
                    .cell(*cell)
                    .map_or_else(|| cell.to_string(), |cell| cell.key.clone());
                format!("trial {} of `{key}` has another digest than when it ended", index + 1)
            }
            Changed::Run => {
                "its study or the list of its trials has another digest than when it was written".to_owned()
            }
        }
    }
}

impl Store {
    /// Seals a trial that ended, within the caller's transaction.
    pub(crate) fn seal_trial(&self, trial: TrialId) -> rusqlite::Result<()> {
        let seal = self.seal_of_trial(trial.0)?;
        let sql = "UPDATE trial SET seal = ?2 WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .execute((trial.0, hex::encode(seal)))?;
        let (run, before) = self.connection.query_row(
            "SELECT trial.run_id, run_seal.seal FROM trial LEFT JOIN run_seal ON run_seal.run_id = trial.run_id
             WHERE trial.id = ?1",
            [trial.0],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)),
        )?;
        match before.as_deref().and_then(parsed) {
            Some(before) => self.set_run_seal(RunId(run), combined(before, seal)),
            None => Ok(()),
        }
    }

    /// Seals a run, with the trials that it has.
    pub(crate) fn seal_run(&self, run: RunId) -> rusqlite::Result<()> {
        self.set_run_seal(run, self.expected_run_seal(run)?)
    }

    fn set_run_seal(&self, run: RunId, seal: Seal) -> rusqlite::Result<()> {
        let sql = "INSERT INTO run_seal (run_id, seal) VALUES (?1, ?2)
                   ON CONFLICT (run_id) DO UPDATE SET seal = excluded.seal";
        self.connection
            .prepare_cached(sql)?
            .execute((run.0, hex::encode(seal)))
            .map(drop)
    }

    /// What was changed in a run since it was recorded; nothing is known of what earlier versions recorded.
    pub fn changed(&self, run: RunId) -> Result<Option<Changed>> {
        self.checked(self.find_changed(run))
    }

    fn find_changed(&self, run: RunId) -> rusqlite::Result<Option<Changed>> {
        let mut sealed = self.connection.prepare(
            "SELECT id, seal, cell_id, idx FROM trial WHERE seal IS NOT NULL AND (run_id = ?1
               OR id IN (SELECT trial_id FROM reused WHERE reused.run_id = ?1)) ORDER BY id",
        )?;
        let mut rows = sealed.query([run.0])?;
        while let Some(row) = rows.next()? {
            let seal = parsed(row.get_ref(1)?.as_str().unwrap_or_default());
            if seal != Some(self.seal_of_trial(row.get(0)?)?) {
                return Ok(Some(Changed::Trial(row.get::<_, Stored<CellId>>(2)?.0, row.get(3)?)));
            }
        }
        let sql = "SELECT seal FROM run_seal WHERE run_id = ?1";
        let seal: Option<String> = self.connection.query_row(sql, [run.0], |row| row.get(0)).optional()?;
        match seal {
            Some(seal) if parsed(&seal) != Some(self.expected_run_seal(run)?) => Ok(Some(Changed::Run)),
            _ => Ok(None),
        }
    }

    fn seal_of_trial(&self, trial: i64) -> rusqlite::Result<Seal> {
        let mut hash = Sha256::new();
        let all = TABLES.map(|(table, columns)| (table, columns, "trial_id"));
        for (table, columns, key) in std::iter::once(("trial", TRIAL, "id")).chain(all) {
            hash.update(table.as_bytes());
            let sql = format!("SELECT {columns} FROM {table} WHERE {key} = ?1 ORDER BY id");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([trial])?;
            while let Some(row) = rows.next()? {
                add(&mut hash, row)?;
            }
        }
        Ok(hash.finalize().into())
    }

    fn expected_run_seal(&self, run: RunId) -> rusqlite::Result<Seal> {
        let sql = format!("SELECT {RUN} FROM run WHERE id = ?1");
        let own: Seal = self.connection.query_row(&sql, [run.0], |row| {
            let mut hash = Sha256::new();
            add(&mut hash, row)?;
            Ok(hash.finalize().into())
        })?;
        let mut trials = self
            .connection
            .prepare("SELECT seal FROM trial WHERE run_id = ?1 AND seal IS NOT NULL")?;
        let mut seals = trials.query_map([run.0], |row| row.get::<_, String>(0))?;
        seals.try_fold(own, |so_far, seal| {
            Ok(combined(so_far, parsed(&seal?).unwrap_or_default()))
        })
    }
}

/// The same in whatever order trials end.
fn combined(one: Seal, other: Seal) -> Seal {
    std::array::from_fn(|at| one[at] ^ other[at])
}

fn parsed(seal: &str) -> Option<Seal> {
    hex::decode(seal).ok()?.try_into().ok()
}

/// Adds a row's values, each with its type and length.
fn add(hash: &mut Sha256, row: &Row<'_>) -> rusqlite::Result<()> {
    let columns = row.as_ref().column_count();
    hash.update(columns.to_le_bytes());
    for column in 0..columns {
        let (kind, bytes) = match row.get_ref(column)? {
            ValueRef::Null => (0, Vec::new()),
            ValueRef::Integer(value) => (1, value.to_le_bytes().to_vec()),
            ValueRef::Real(value) => (2, value.to_bits().to_le_bytes().to_vec()),
            ValueRef::Text(value) => (3, value.to_vec()),
            ValueRef::Blob(value) => (4, value.to_vec()),
        };
        hash.update([kind]);
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    }
    Ok(())
}
