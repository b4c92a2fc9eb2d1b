//! Makes output safe for a terminal: labels of disks, names of processes and descriptions of studies are untrusted
//! text.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether colour sequences are kept: only if the text contains our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    Kept,
    Shown,
}

/// The text with control characters made visible; newlines and tabs stay.
pub fn sanitize(text: &str, colours: Colours) -> Cow<'_, str> {
    if !text.chars().any(is_order) {
        return Cow::Borrowed(text);
    }
    let mut sanitized = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = match colours {
            Colours::Kept => colour(rest).unwrap_or(0),
            Colours::Shown => 0,
        };
        if length > 0 {
            sanitized.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        match is_order(next) {
            true => drop(write!(sanitized, "\\u{{{:x}}}", u32::from(next))),
            false => sanitized.push(next),
        }
        rest = &rest[next.len_utf8()..];
    }
    Cow::Owned(sanitized)
}

/// JSON with the characters that [`sanitize`] shows as escapes of JSON, so that it stays JSON. They can only be in its strings.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_order) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_order(c) {
            // All are in the basic plane.
            true => drop(write!(escaped, "\\u{:04x}", u32::from(c))),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Length of the colour sequence (`SGR` of ECMA-48) at the start of a text, if there is one.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

/// Control characters of either set, and those that change the writing direction.
fn is_order(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_orders() {
        let shown = |text| sanitize(text, Colours::Shown).into_owned();
        assert!(matches!(
            sanitize("ext4, labelled `photos`\n\tµs", Colours::Shown),
            Cow::Borrowed(_)
        ));
        assert_eq!(shown("a\x1b]0;x\x07b"), "a\\u{1b}]0;x\\u{7}b");
        assert_eq!(shown("a\rb\u{9b}2J\u{202e}c"), "a\\u{d}b\\u{9b}2J\\u{202e}c");
        assert_eq!(shown("\x1b[1m"), "\\u{1b}[1m");
    }

    #[test]
    fn of_a_text_in_colours_only_the_colours_stay() {
        let text = "\x1b[1;38;5;9ma\x1b[0m\x1b[2J\x1b[";
        assert_eq!(
            sanitize(text, Colours::Kept),
            "\x1b[1;38;5;9ma\x1b[0m\\u{1b}[2J\\u{1b}["
        );
    }
}
