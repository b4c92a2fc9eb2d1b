//! Migrates older schemas step by step to the newest.

use rusqlite::{Transaction, params};
use study::plan::Plan;

/// A migration from one schema version to the next.
enum Step {
    Sql(&'static str),
    Code(fn(&Transaction<'_>) -> rusqlite::Result<()>),
}

/// Starting with the empty file.
const STEPS: [Step; 10] = [
    Step::Sql(include_str!("schema/1.sql")),
    Step::Sql(include_str!("schema/2.sql")),
    Step::Sql(include_str!("schema/3.sql")),
    Step::Code(key_trials_by_cell),
    Step::Sql(include_str!("schema/5.sql")),
    Step::Sql(include_str!("schema/6.sql")),
    Step::Sql(include_str!("schema/7.sql")),
    Step::Sql(include_str!("schema/8.sql")),
    Step::Sql(include_str!("schema/9.sql")),
    Step::Sql(include_str!("schema/10.sql")),
];

/// The texts that define the views: SQLite executes whatever stands in a file in their place.
pub(crate) const OF_VIEWS: [&str; 2] = [include_str!("schema/1.sql"), include_str!("schema/4-after.sql")];

/// The newest schema's number.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Migrates a store of schema `version` to the newest.
pub(crate) fn migrate(transaction: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        match step {
            Step::Sql(batch) => transaction.execute_batch(batch)?,
            Step::Code(code) => code(transaction)?,
        }
    }
    Ok(())
}

/// Schema 4: before it, trials used the cell's label as key.
fn key_trials_by_cell(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(include_str!("schema/4.sql"))?;
    let runs: Vec<(i64, String)> = transaction
        .prepare("SELECT id, plan_json FROM run")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (run, plan) in runs {
        let mut plan: Plan = serde_json::from_str(&plan).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error))
        })?;
        plan.identify();
        for cell in &plan.cells {
            transaction.execute(
                "UPDATE trial SET cell_id = ?3 WHERE run_id = ?1 AND cell_key = ?2",
                params![run, cell.key, cell.id.to_string()],
            )?;
        }
        let text = serde_json::to_string(&plan).expect("a plan is plain data");
        transaction.execute("UPDATE run SET plan_json = ?2 WHERE id = ?1", params![run, text])?;
    }
    transaction.execute_batch(include_str!("schema/4-after.sql"))
}
