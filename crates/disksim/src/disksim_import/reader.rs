//! Reads values from a block, with errors for missing or invalid ones.

use super::syntax::{At, Block, Node, Sources, Value};
use std::format;
use std::string::String;
use std::vec::Vec;

/// Reads values from a block and records missing or invalid ones.
pub struct Reader<'a, 'f, 'g> {
    pub block: &'a Block,
    pub sources: &'a mut Sources<'f, 'g>,
}

impl Reader<'_, '_, '_> {
    fn node(&mut self, key: &str) -> Option<Node> {
        let node = self.block.get(key).cloned();
        if node.is_none() {
            let message = format!("`{key}` is missing in `{}`", self.block.kind);
            self.sources.error(&self.block.at, message);
        }
        node
    }

    /// Records an error at a key, or at its block if the key is missing.
    pub fn error_at(&mut self, key: &str, message: impl Into<String>) {
        let at = self.block.get(key).map_or(&self.block.at, |n| &n.at).clone();
        self.sources.error(&at, message);
    }

    pub fn number(&mut self, key: &str, low: f64, high: f64) -> f64 {
        let Some(node) = self.node(key) else { return low };
        match node.value {
            Value::Number(n) if (low..=high).contains(&n) => n,
            Value::Number(n) => {
                self.sources
                    .error(&node.at, format!("`{key}` is {n}: between {low} and {high}"));
                low
            }
            _ => {
                self.sources.error(&node.at, format!("`{key}` needs a number"));
                low
            }
        }
    }

    pub fn whole(&mut self, key: &str, low: u32, high: u32) -> u32 {
        let number = self.number(key, f64::from(low), f64::from(high));
        if number.fract() != 0.0 {
            self.error_at(key, format!("`{key}` is {number}: a whole number is needed"));
        }
        number as u32
    }

    pub fn flag(&mut self, key: &str) -> bool {
        self.whole(key, 0, 2) > 0
    }

    pub fn ms(&mut self, key: &str) -> f64 {
        self.number(key, 0.0, 60_000.0)
    }

    pub fn optional_ms(&mut self, key: &str) -> f64 {
        if self.block.get(key).is_some() {
            self.ms(key)
        } else {
            0.0
        }
    }

    pub fn word(&mut self, key: &str) -> Option<(String, At)> {
        let node = self.node(key)?;
        match node.value {
            Value::Word(word) => Some((word, node.at)),
            _ => {
                self.sources.error(&node.at, format!("`{key}` needs a word"));
                None
            }
        }
    }

    pub fn block(&mut self, key: &str) -> Option<Block> {
        let node = self.node(key)?;
        match node.value {
            Value::Block(block) => Some(block),
            Value::Source(name) => {
                let text = self.sources.text(&name, &node.at)?;
                let first = self.sources.parse(&name, &text).into_iter().next();
                if first.is_none() && self.sources.errors.is_empty() {
                    self.sources.error(&node.at, format!("`{name}` has no block"));
                }
                first
            }
            _ => {
                self.sources.error(&node.at, format!("`{key}` needs a block"));
                None
            }
        }
    }

    pub fn list(&mut self, key: &str) -> Vec<Node> {
        let Some(node) = self.node(key) else { return Vec::new() };
        match node.value {
            Value::List(nodes) => nodes,
            _ => {
                self.sources.error(&node.at, format!("`{key}` needs a list"));
                Vec::new()
            }
        }
    }

    pub fn numbers(&mut self, key: &str) -> Vec<f64> {
        let nodes = self.list(key);
        nodes
            .into_iter()
            .filter_map(|node| match node.value {
                Value::Number(n) => Some(n),
                _ => {
                    self.sources.error(&node.at, format!("`{key}` needs numbers"));
                    None
                }
            })
            .collect()
    }

    pub fn sectors(&mut self, key: &str) -> Vec<u64> {
        if self.block.get(key).is_none() {
            return Vec::new();
        }
        let numbers = self.numbers(key);
        if numbers.iter().any(|n| *n < 0.0 || n.fract() != 0.0 || *n >= 1e12) {
            self.error_at(key, format!("`{key}` needs sector numbers"));
        }
        numbers.into_iter().map(|n| n as u64).collect()
    }
}
