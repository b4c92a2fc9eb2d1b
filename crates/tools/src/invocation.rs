//! The description of a call.

use crate::Tool;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A program, its arguments and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub(crate) tool: Tool,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) limit: Duration,
    pub(crate) output_bytes_max: usize,
    pub(crate) folder: PathBuf,
    /// Its standard input.
    pub(crate) input: String,
}

impl Invocation {
    /// A call without arguments, limited to 10 minutes and 1 MiB for each stream, in the root folder.
    pub fn new(tool: Tool) -> Self {
        Self {
            tool,
            arguments: Vec::new(),
            limit: Duration::from_secs(600),
            output_bytes_max: 1 << 20,
            folder: PathBuf::from("/"),
            input: String::new(),
        }
    }

    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments
            .extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Time limit, by the machine's own clock.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Bytes kept of each stream; more is cut out of the middle, with a mark.
    #[must_use]
    pub fn output_bytes_max(mut self, bytes: usize) -> Self {
        self.output_bytes_max = bytes;
        self
    }

    /// The working directory: programs such as fio leave files there.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Its standard input; empty by default.
    #[must_use]
    pub fn input(mut self, text: impl Into<String>) -> Self {
        self.input = text.into();
        self
    }

    /// The command line for a shell.
    pub fn shell_line(&self) -> String {
        let words: Vec<String> = self.argv().iter().map(|word| shell_word(word)).collect();
        let line = words.join(" ");
        if self.input.is_empty() {
            return line;
        }
        let input: Vec<String> = self.input.lines().map(shell_word).collect();
        format!("printf '%s\\n' {} | {line}", input.join(" "))
    }

    pub fn tool(&self) -> Tool {
        self.tool
    }

    /// The program's name and its arguments.
    pub fn argv(&self) -> Vec<String> {
        let arguments = self
            .arguments
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned());
        std::iter::once(self.tool.program().to_owned())
            .chain(arguments)
            .collect()
    }

    /// Its standard input.
    pub fn input_text(&self) -> &str {
        &self.input
    }
}

/// The command line for reading, not for a shell.
impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tool.program())?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
    }
}

/// A word, quoted if a shell requires it.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        let call = Invocation::new(Tool::Mdadm).args(["--create", "/dev/md100", "--homehost=<none>", "it's"]);
        assert_eq!(
            call.shell_line(),
            r"mdadm --create /dev/md100 '--homehost=<none>' 'it'\''s'"
        );
        let call = Invocation::new(Tool::Sfdisk)
            .arg("/dev/sda")
            .input("label: gpt\ntype=83\n");
        assert_eq!(
            call.shell_line(),
            r"printf '%s\n' 'label: gpt' type=83 | sfdisk /dev/sda"
        );
    }
}
