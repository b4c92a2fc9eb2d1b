//! Migrates older schemas step by step to the newest.

use rusqlite::{Connection, Row, Transaction, params};
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

/// The newest schema's number.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// A table, an index, a view or a trigger of a database.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub kind: String,
    pub name: String,
    /// To which it belongs.
    pub table: String,
    sql: String,
}

/// All definitions of a database.
pub(crate) fn definitions_in(connection: &Connection) -> rusqlite::Result<Vec<Definition>> {
    // SQLite's own indexes have no text.
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let read = |row: &Row<'_>| {
        Ok(Definition {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            sql: row.get(3)?,
        })
    };
    connection.prepare(sql)?.query_map([], read)?.collect()
}

/// Those of a store of schema `version`, from a database in memory.
pub(crate) fn definitions(version: i64) -> rusqlite::Result<Vec<Definition>> {
    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    run(&transaction, 0, version)?;
    definitions_in(&transaction)
}

/// Migrates a store of schema `version` to the newest.
pub(crate) fn migrate(transaction: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    run(transaction, version, VERSION)
}

fn run(transaction: &Transaction<'_>, from: i64, to: i64) -> rusqlite::Result<()> {
    let [from, to] = [from, to].map(|version| usize::try_from(version).unwrap_or(0));
    for step in STEPS.iter().take(to).skip(from) {
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
