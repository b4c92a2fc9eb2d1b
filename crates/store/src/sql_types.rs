//! Database encoding of plain types.

use crate::record::TrialStatus;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Type, ValueRef};
use study::metric::Metric;
use study::stack::MachineKind;
use study::{CellId, Shard};

/// Reads a column of one of these types.
pub(crate) struct Stored<T>(pub T);

impl FromSql for Stored<CellId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value
            .as_str()?
            .parse()
            .map(Stored)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl FromSql for Stored<MachineKind> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        [MachineKind::Lab, MachineKind::Host, MachineKind::Foreign]
            .into_iter()
            .find(|&machine| value.as_str() == Ok(machine_word(machine)))
            .map(Stored)
            .ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for Stored<TrialStatus> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        [
            TrialStatus::Running,
            TrialStatus::Done,
            TrialStatus::Failed,
            TrialStatus::Interrupted,
        ]
        .into_iter()
        .find(|&status| value.as_str() == Ok(status.name()))
        .map(Stored)
        .ok_or(FromSqlError::InvalidType)
    }
}

/// Numbers that use all 64 bits: stored as decimal text.
impl FromSql for Stored<u64> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value
            .as_str()?
            .parse()
            .map(Stored)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A shard, or all trials if the text is empty.
impl FromSql for Stored<Option<Shard>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "" => Ok(Stored(None)),
            text => text
                .parse()
                .map(|shard| Stored(Some(shard)))
                .map_err(|error: String| FromSqlError::Other(error.into())),
        }
    }
}

/// JSON in a text column.
pub(crate) struct Json<T>(pub T);

impl<T: serde::de::DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Json)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

pub(crate) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain types with string keys have a JSON form")
}

/// The metric in three columns starting at `first`: name, unit, direction.
pub(crate) fn metric(row: &Row<'_>, first: usize) -> rusqlite::Result<Metric> {
    let word = |place: usize| row.get::<_, String>(first + place);
    Metric::of_words(&word(0)?, &word(1)?, &word(2)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(first, Type::Text, Box::new(error)))
}

pub(crate) const fn machine_word(machine: MachineKind) -> &'static str {
    match machine {
        MachineKind::Lab => "lab",
        MachineKind::Host => "host",
        MachineKind::Foreign => "foreign",
    }
}

/// Inverse of reading a shard's column.
pub(crate) fn shard_word(shard: Option<Shard>) -> String {
    shard.map_or_else(String::new, |shard| shard.to_string())
}

/// Times and counts as SQLite's signed integers. Nanoseconds reach the limit after 292 years.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
