//! Diagnostics of a study file: every error with its position and a suggestion, in the style of a compiler.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::collections::HashSet;
use std::fmt;
use std::ops::{Range, RangeInclusive};

/// Maximum number of errors shown: a file with more is probably not a study.
const SHOWN_MAX: usize = 100;

/// Byte range of the source.
pub(crate) type Span = Range<usize>;

/// One error in a study file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The text at that position.
    pub snippet: String,
    /// The problem: lower case, no full stop.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    span: Span,
}

/// All errors of a study file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    file_name: String,
    source: String,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// In the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Number of errors.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Never true for the result of [`read`](crate::read).
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// As `Display`, with terminal colours.
    pub fn to_string_in_colour(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let mut out = String::new();
        for diagnostic in self.list.iter().take(SHOWN_MAX) {
            let mut group = Level::ERROR.primary_title(&diagnostic.message).element(
                Snippet::source(&self.source)
                    .path(&self.file_name)
                    .annotation(AnnotationKind::Primary.span(diagnostic.span.clone())),
            );
            if let Some(help) = &diagnostic.help {
                group = group.element(Level::HELP.message(help));
            }
            out.push_str(&renderer.render(&[group]));
            out.push_str("\n\n");
        }
        let many = if self.list.len() == 1 { "error" } else { "errors" };
        out.push_str(&format!("{} {many} in {}", self.list.len(), self.file_name));
        if self.list.len() > SHOWN_MAX {
            out.push_str(&format!(", of which the first {SHOWN_MAX} are shown"));
        }
        out
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

impl std::error::Error for Diagnostics {}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Collects errors while a file is read.
pub(crate) struct Found<'a> {
    source: &'a str,
    list: Vec<Diagnostic>,
    known: HashSet<(usize, usize, String)>,
    /// Start of each line.
    lines: Vec<usize>,
}

impl<'a> Found<'a> {
    pub fn new(source: &'a str) -> Self {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            source,
            list: Vec::new(),
            known: HashSet::new(),
            lines: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect(),
        }
    }

    pub fn add(&mut self, span: &Span, message: impl Into<String>) {
        self.push(span, message.into(), None);
    }

    pub fn add_with_help(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.push(span, message.into(), Some(help.into()));
    }

    /// An error may occur for every combination that it affects, but is reported once.
    pub fn push(&mut self, span: &Span, message: String, help: Option<String>) {
        let span = self.on_boundaries(span);
        if !self.known.insert((span.start, span.end, message.clone())) {
            return;
        }
        let line = self.lines.partition_point(|begin| *begin <= span.start);
        self.list.push(Diagnostic {
            line,
            column: self.source[self.lines[line - 1]..span.start].chars().count() + 1,
            snippet: self.source[span.clone()].to_owned(),
            message,
            help,
            span,
        });
    }

    /// The span, limited to the source and to character boundaries, which the parser does not guarantee. An empty span
    /// is extended to the next character, so that there is something to point at.
    fn on_boundaries(&self, span: &Span) -> Span {
        let boundary = |at: usize| {
            (0..=at.min(self.source.len()))
                .rev()
                .find(|at| self.source.is_char_boundary(*at))
        };
        let start = boundary(span.start).unwrap_or(0);
        let end = boundary(span.end).unwrap_or(0).max(start);
        let next = self.source[start..]
            .chars()
            .next()
            .filter(|next| end == start && !next.is_control());
        start..end + next.map_or(0, char::len_utf8)
    }

    /// Ranges of lines, in their order.
    pub fn forget_lines(&mut self, ranges: &[RangeInclusive<usize>]) {
        let known = &mut self.known;
        self.list.retain(|diagnostic| {
            let at = ranges.partition_point(|range| *range.end() < diagnostic.line);
            let is_kept = ranges.get(at).is_none_or(|range| !range.contains(&diagnostic.line));
            if !is_kept {
                known.remove(&(diagnostic.span.start, diagnostic.span.end, diagnostic.message.clone()));
            }
            is_kept
        });
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn into_diagnostics(mut self, file_name: &str) -> Diagnostics {
        self.list.sort_by_key(|diagnostic| diagnostic.span.start);
        Diagnostics {
            file_name: file_name.to_owned(),
            source: self.source.to_owned(),
            list: self.list,
        }
    }
}

/// The most similar one of `words`, if it is similar enough; else the only one that has all parts of the word, as
/// `seagate-ironwolf-12tb` has those of `ironwolf 12TB`.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let words: Vec<&str> = words.into_iter().collect();
    let most = (word.chars().count() / 3).max(1);
    let similar = words
        .iter()
        .map(|known| (strsim::osa_distance(&word, &known.to_lowercase()), *known))
        .filter(|(distance, known)| *distance <= most && *distance < known.chars().count())
        .min_by_key(|(distance, _)| *distance);
    similar.map(|(_, known)| known).or_else(|| with_parts(&word, &words))
}

/// The only one of `words` that has all parts of a word of at least four letters.
fn with_parts<'a>(word: &str, words: &[&'a str]) -> Option<&'a str> {
    const LETTERS_MIN: usize = 4;
    let parts: Vec<&str> = word
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    if parts.iter().map(|part| part.chars().count()).sum::<usize>() < LETTERS_MIN {
        return None;
    }
    let has_all = |known: &&&str| parts.iter().all(|part| known.to_lowercase().contains(part));
    let mut found = words.iter().filter(has_all);
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// The same, with the command that shows all of them.
pub fn suggest_and_show(word: &str, words: &[&str], command: &str) -> String {
    /// More words are not read.
    const LISTED_MAX: usize = 12;
    if words.len() > LISTED_MAX && nearest(word, words.iter().copied()).is_none() {
        return command.to_owned();
    }
    let help = suggest(word, words);
    let joint = if help.ends_with('?') { " " } else { "; " };
    format!("{help}{joint}{command}")
}

/// `did you mean …`, or the possible words.
pub fn suggest(word: &str, words: &[&str]) -> String {
    match nearest(word, words.iter().copied()) {
        Some(known) => format!("did you mean `{known}`?"),
        None => enumerate(words),
    }
}

/// `` it is one of `a`, `b` or `c` ``
pub fn enumerate(words: &[&str]) -> String {
    match words {
        [] => "there is none".to_owned(),
        [only] => format!("it is `{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|word| format!("`{word}`")).collect();
            format!("it is one of {} or `{last}`", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_the_parts_of_one_other_is_taken_for_it() {
        let words = ["seagate-ironwolf-12tb", "seagate-ironwolf-4tb", "wd-red-4tb"];
        let of = |word: &str| nearest(word, words);
        assert_eq!(of("ironwolf 12TB"), Some("seagate-ironwolf-12tb"));
        assert_eq!(of("ironwolf"), None, "two have it");
        assert_eq!(of("wd 4tb"), Some("wd-red-4tb"));
        assert_eq!(of("red"), None, "too short");
    }
}
