//! The lines of a job file, as fio reads them: without comments, with the files that it includes.

use super::Refusal;
use crate::Known;
use crate::syntax::named_file::{self, FileKind};
use std::path::Path;

const BYTES_MAX: u64 = 256 << 10;
const INCLUDES_MAX: usize = 16;
const KIND: FileKind = FileKind {
    words: "a job file",
    bytes_max: BYTES_MAX,
    help: "name a job file in the folder of the study",
};

/// Reads the file of a name; an error has its message and what would be right.
type Include<'a> = dyn FnMut(&str) -> Result<String, (String, String)> + 'a;

/// A job file and what it includes.
#[derive(Debug, Default)]
pub(crate) struct JobFile {
    pub path: String,
    /// The text with that of included files after the line that includes them.
    pub text: String,
    pub(super) lines: Vec<Line>,
}

/// A line that is not empty without its comment.
#[derive(Debug)]
pub(super) struct Line {
    /// `x.fio:12`
    pub at: String,
    pub text: String,
    /// From an included file, which cannot begin a section.
    pub included: bool,
}

impl JobFile {
    /// Reads the file that a study names, from the study's folder.
    pub fn read(path: &str, known: &Known) -> Result<Self, Vec<Refusal>> {
        let text =
            named_file::read(path, known, &KIND).map_err(|(message, help)| vec![Refusal { message, help }])?;
        let mut file = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        let mut refused = Vec::new();
        let mut opened = vec![path.to_owned()];
        let mut include = |name: &str| {
            if opened.iter().any(|other| other == name) || opened.len() > INCLUDES_MAX {
                return Err((
                    format!("`{name}` is included twice, or more than {INCLUDES_MAX} files are"),
                    "include each file once".to_owned(),
                ));
            }
            opened.push(name.to_owned());
            named_file::read(name, known, &KIND)
        };
        file.add(path, &text, &mut include, &mut refused);
        if refused.is_empty() { Ok(file) } else { Err(refused) }
    }

    /// Appends the lines of a text.
    fn add(&mut self, path: &str, text: &str, include: &mut Include<'_>, refused: &mut Vec<Refusal>) {
        let included = path != self.path;
        // A byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        for (number, line) in (1..).zip(text.lines()) {
            self.text.push_str(line);
            self.text.push('\n');
            let at = format!("{path}:{number}");
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            let Some(name) = included_name(line) else {
                self.lines.push(Line {
                    at,
                    text: line.to_owned(),
                    included,
                });
                continue;
            };
            let name = below(path, name);
            match include(&name) {
                Ok(_) if (self.text.len() as u64) > BYTES_MAX => refused.push(Refusal::at(
                    &at,
                    format!("with `{name}`, the job file is too large"),
                    "include fewer files",
                )),
                Ok(text) => self.add(&name, &text, include, refused),
                Err((message, help)) => refused.push(Refusal::at(&at, message, help)),
            }
        }
    }
}

/// fio ends a line at its first `;` and at its first `#`, also within a value.
fn without_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim()
}

/// The file of `include NAME` or `include=NAME`.
fn included_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("include")?;
    name.starts_with([' ', '\t', '=']).then(|| name[1..].trim())
}

/// A name in the folder of the file that includes it.
fn below(path: &str, name: &str) -> String {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    folder.join(name).to_string_lossy().into_owned()
}

#[cfg(test)]
impl JobFile {
    /// A file in memory, with others that it may include.
    pub(super) fn of(text: &str, others: &[(&str, &str)]) -> Self {
        let mut file = Self {
            path: "x.fio".to_owned(),
            ..Self::default()
        };
        let mut include = |name: &str| {
            let found = others.iter().find(|(other, _)| *other == name);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(Default::default)
        };
        let mut refused = Vec::new();
        file.add("x.fio", text, &mut include, &mut refused);
        assert!(refused.is_empty());
        file
    }
}
