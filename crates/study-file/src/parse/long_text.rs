//! Refuses long strings before a study is expanded: every cell has a copy of its values.

use crate::syntax::diagnostic::{Found, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The longest string in raidlab's own studies, apart from descriptions, has 221 bytes.
const BYTES_MAX: usize = 4096;
const DESCRIPTION_BYTES_MAX: usize = 64 << 10;

/// Whether there is a string that is too long; all of them are reported.
pub(crate) fn report(table: &DeTable, found: &mut Found) -> bool {
    let mut is_long = false;
    for (key, value) in table {
        let name = key.get_ref();
        is_long |= check("a key", name.len(), BYTES_MAX, &key.span(), found);
        let most = match name.as_ref() {
            "description" => DESCRIPTION_BYTES_MAX,
            _ => BYTES_MAX,
        };
        is_long |= of_value(name.as_ref(), value, most, found);
    }
    is_long
}

fn of_value(name: &str, value: &Spanned<DeValue>, most: usize, found: &mut Found) -> bool {
    match value.get_ref() {
        DeValue::String(text) => check(&format!("`{name}`"), text.len(), most, &value.span(), found),
        DeValue::Integer(number) => check(&format!("`{name}`"), number.as_str().len(), most, &value.span(), found),
        DeValue::Float(number) => check(&format!("`{name}`"), number.as_str().len(), most, &value.span(), found),
        DeValue::Array(values) => values
            .iter()
            .fold(false, |is_long, value| of_value(name, value, most, found) | is_long),
        DeValue::Table(table) => report(table, found),
        _ => false,
    }
}

fn check(what: &str, bytes: usize, most: usize, span: &Span, found: &mut Found) -> bool {
    if bytes <= most {
        return false;
    }
    let what = if what.len() > 80 { "the key" } else { what };
    found.add_with_help(
        span,
        format!("{what} has {bytes} bytes"),
        format!("at most {most} bytes are possible"),
    );
    true
}
