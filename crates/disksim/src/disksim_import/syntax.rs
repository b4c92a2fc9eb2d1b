//! The syntax of DiskSim's parameter files (its `libparam`): blocks of `key = value`, lists, and comments that begin
//! with `#`.

use super::{Diagnostic, Files};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Maximum nesting of blocks; DiskSim's own files use four levels.
const DEPTH_MAX: usize = 16;

/// Maximum number of parameters of a block, each of which is compared with all before it; DiskSim's own have fifty.
const PARAMETERS_MAX: usize = 1_000;

/// A position in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    pub at: At,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Number(f64),
    Word(String),
    List(Vec<Node>),
    Block(Block),
    /// The first block of another file.
    Source(String),
}

/// `kind name { key = value, … }`.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub kind: String,
    pub at: At,
    pub entries: Vec<(String, Node)>,
}

impl Block {
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, node)| node)
    }
}

/// The files of an import and the errors found.
pub struct Sources<'f, 'g> {
    files: &'f mut Files<'g>,
    pub errors: Vec<Diagnostic>,
}

impl<'f, 'g> Sources<'f, 'g> {
    pub fn new(files: &'f mut Files<'g>) -> Self {
        Sources {
            files,
            errors: Vec::new(),
        }
    }

    pub fn error(&mut self, at: &At, message: impl Into<String>) {
        let message = message.into();
        self.errors.push(Diagnostic {
            file: at.file.clone(),
            line: at.line,
            column: at.column,
            message,
        });
    }

    /// The text of a file if it exists; a missing file is not an error.
    pub fn optional(&mut self, name: &str) -> Option<String> {
        (self.files)(name).ok()
    }

    /// The text of a file that is named at a position.
    pub fn text(&mut self, name: &str, named_at: &At) -> Option<String> {
        match (self.files)(name) {
            Ok(text) => Some(text),
            Err(reason) => {
                self.error(named_at, format!("cannot read `{name}`: {reason}"));
                None
            }
        }
    }

    /// All top-level blocks of a text.
    pub fn parse(&mut self, name: &str, text: &str) -> Vec<Block> {
        let mut parser = Parser::new(name, text);
        match parser.file() {
            Ok(blocks) => blocks,
            Err(error) => {
                self.errors.push(error);
                Vec::new()
            }
        }
    }
}

struct Parser<'t> {
    file: &'t str,
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    column: usize,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'t> Parser<'t> {
    fn new(file: &'t str, text: &'t str) -> Self {
        Parser {
            file,
            rest: text.chars().peekable(),
            line: 1,
            column: 1,
        }
    }

    fn at(&self) -> At {
        At {
            file: self.file.to_string(),
            line: self.line,
            column: self.column,
        }
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Diagnostic {
            file: self.file.to_string(),
            line: self.line,
            column: self.column,
            message: message.into(),
        })
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    /// Skips white space and comments and returns the next character.
    fn peek(&mut self) -> Option<char> {
        loop {
            match self.rest.peek().copied() {
                Some('#') => while self.bump().is_some_and(|c| c != '\n') {},
                Some(c) if c.is_whitespace() => {
                    self.bump();
                }
                other => return other,
            }
        }
    }

    fn expect(&mut self, wanted: char, why: &str) -> Parsed<()> {
        match self.peek() {
            Some(c) if c == wanted => {
                self.bump();
                Ok(())
            }
            Some(c) => self.wrong(format!("`{wanted}` expected {why}, not `{c}`")),
            None => self.wrong(format!("`{wanted}` expected {why}, but the file ends")),
        }
    }

    /// Characters up to the end of a word, key or number.
    fn word(&mut self, ends: &[char]) -> String {
        let mut word = String::new();
        self.peek();
        while let Some(&c) = self.rest.peek() {
            if ends.contains(&c) || c == '#' {
                break;
            }
            word.push(c);
            self.bump();
        }
        word.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Blocks, and statements that connect components; only blocks matter.
    fn file(&mut self) -> Parsed<Vec<Block>> {
        let mut blocks = Vec::new();
        while self.peek().is_some() {
            let at = self.at();
            let head = self.word(&['{', '[', ']', '}', '\n', '=', ',']);
            match head.split(' ').next() {
                Some("source" | "as") if head.contains(' ') => continue,
                Some("instantiate" | "topology") => {
                    self.skip_brackets()?;
                    continue;
                }
                _ => {}
            }
            match self.peek() {
                Some('{') => blocks.push(self.block(head, at, 0)?),
                Some(c) => return self.wrong(format!("a block expected, not `{c}` after `{head}`")),
                None => return self.wrong(format!("the file ends after `{head}`")),
            }
        }
        Ok(blocks)
    }

    fn skip_brackets(&mut self) -> Parsed<()> {
        let mut depth = 0;
        while let Some(c) = self.peek() {
            self.bump();
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 && c == ']' {
                return Ok(());
            }
        }
        self.wrong("`]` expected, but the file ends")
    }

    fn block(&mut self, head: String, at: At, depth: usize) -> Parsed<Block> {
        if depth > DEPTH_MAX {
            return self.wrong("blocks nest too deep");
        }
        self.expect('{', "to open a block")?;
        let kind = head.split(' ').next().unwrap_or_default().to_string();
        let mut block = Block {
            kind,
            at,
            entries: Vec::new(),
        };
        loop {
            match self.peek() {
                None => return self.wrong(format!("`}}` expected to close `{}`, but the file ends", block.kind)),
                Some('}') => {
                    self.bump();
                    return Ok(block);
                }
                Some(',') => {
                    self.bump();
                }
                Some(_) => {
                    let place = self.at();
                    let key = self.word(&['=', '{', '}', '[', ']', ',', '\n']);
                    if key.is_empty() {
                        return self.wrong("a parameter's name expected");
                    }
                    self.expect('=', &format!("after `{key}`"))?;
                    let node = self.value(depth)?;
                    if block.get(&key).is_some() {
                        let At { file, line, column } = place;
                        return Err(Diagnostic {
                            file,
                            line,
                            column,
                            message: format!("`{key}` is given twice"),
                        });
                    }
                    if block.entries.len() == PARAMETERS_MAX {
                        return self.wrong(format!("`{}` has more than {PARAMETERS_MAX} parameters", block.kind));
                    }
                    block.entries.push((key, node));
                }
            }
        }
    }

    fn value(&mut self, depth: usize) -> Parsed<Node> {
        let first = self.peek();
        let at = self.at();
        let value = match first {
            None => return self.wrong("a value expected, but the file ends"),
            Some('[') => Value::List(self.list(depth)?),
            Some(_) => {
                let word = self.word(&[',', '{', '}', '[', ']', '\n']);
                if self.peek() == Some('{') && !word.is_empty() {
                    Value::Block(self.block(word, at.clone(), depth + 1)?)
                } else if let Some(name) = word.strip_prefix("source ") {
                    Value::Source(name.to_string())
                } else if word.is_empty() {
                    return self.wrong("a value expected");
                } else {
                    match word.parse::<f64>() {
                        Ok(number) if number.is_finite() => Value::Number(number),
                        _ => Value::Word(word),
                    }
                }
            }
        };
        Ok(Node { at, value })
    }

    fn list(&mut self, depth: usize) -> Parsed<Vec<Node>> {
        if depth > DEPTH_MAX {
            return self.wrong("lists nest too deep");
        }
        self.expect('[', "to open a list")?;
        let mut nodes = Vec::new();
        loop {
            match self.peek() {
                None => return self.wrong("`]` expected to close a list, but the file ends"),
                Some(']') => {
                    self.bump();
                    return Ok(nodes);
                }
                Some(',') => {
                    self.bump();
                }
                Some(_) => nodes.push(self.value(depth + 1)?),
            }
        }
    }
}
