//! An error in a value of the study file.

use crate::syntax::unit::WrongUnit;

/// An error in a value, with a suggestion.
#[derive(Debug)]
pub(crate) struct WrongValue {
    pub message: String,
    pub help: Option<String>,
}

impl From<WrongUnit> for WrongValue {
    fn from(unit: WrongUnit) -> Self {
        Self {
            message: unit.message,
            help: Some(unit.help),
        }
    }
}

pub(super) fn wrong<T>(message: String, help: impl Into<String>) -> Result<T, WrongValue> {
    Err(WrongValue {
        message,
        help: Some(help.into()),
    })
}
