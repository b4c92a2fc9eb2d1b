//! The tables of a study file with every value parsed, and their positions.

use crate::parse::value::Given;
use crate::schema::key::{Key, Table};
use crate::syntax::diagnostic::Span;

/// A table of the file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub table: Table,
    pub span: Span,
    /// Name given by the user, for named tables.
    pub name: Option<String>,
    pub fields: Vec<Field>,
    /// It is not a table: none of its keys is known.
    pub broken: bool,
}

/// A key of a table with its values.
#[derive(Debug)]
pub(crate) struct Field {
    pub key: &'static Key,
    pub span: Span,
    pub content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Values(Vec<Given>),
    Tables(Vec<Entry>),
    Filter(Vec<FilterItem>),
    Variables(Vec<Variable>),
    /// Invalid; already reported.
    Broken,
}

/// `NAME = VALUES` of the variables of a job file.
#[derive(Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub span: Span,
    pub values: Vec<Given>,
}

/// `AXIS = VALUE` of a claim's `where`.
#[derive(Debug)]
pub(crate) struct FilterItem {
    pub axis: String,
    pub axis_span: Span,
    pub value: String,
    pub value_span: Span,
}

impl Entry {
    /// A table that is not in the file: all keys have their defaults.
    pub fn absent(table: Table, span: Span) -> Self {
        Self {
            table,
            span,
            name: None,
            fields: Vec::new(),
            broken: false,
        }
    }

    pub fn field(&self, name: &str) -> Option<&Field> {
        debug_assert!(
            self.table.keys().any(|key| key.name == name),
            "no key {name} in {:?}",
            self.table
        );
        self.fields.iter().find(|field| field.key.name == name)
    }

    /// Whether the key's value could not be read.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken
            || self.field(name).is_some_and(|field| match &field.content {
                Content::Broken => true,
                Content::Values(values) => values.is_empty(),
                Content::Variables(variables) => variables.iter().any(|variable| variable.values.is_empty()),
                _ => false,
            })
    }

    /// The value of a key with a single value.
    pub fn value(&self, name: &str) -> Option<&Given> {
        self.values(name).first()
    }

    pub fn values(&self, name: &str) -> &[Given] {
        match self.field(name).map(|field| &field.content) {
            Some(Content::Values(values)) => values,
            _ => &[],
        }
    }

    pub fn tables(&self, name: &str) -> &[Entry] {
        match self.field(name).map(|field| &field.content) {
            Some(Content::Tables(entries)) => entries,
            _ => &[],
        }
    }

    pub fn variables(&self, name: &str) -> &[Variable] {
        match self.field(name).map(|field| &field.content) {
            Some(Content::Variables(variables)) => variables,
            _ => &[],
        }
    }

    pub fn values_mut(&mut self, name: &str) -> &mut [Given] {
        match self.content_mut(name) {
            Some(Content::Values(values)) => values,
            _ => &mut [],
        }
    }

    pub fn tables_mut(&mut self, name: &str) -> &mut [Entry] {
        match self.content_mut(name) {
            Some(Content::Tables(entries)) => entries,
            _ => &mut [],
        }
    }

    fn content_mut(&mut self, name: &str) -> Option<&mut Content> {
        let field = self.fields.iter_mut().find(|field| field.key.name == name)?;
        Some(&mut field.content)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(|given| given.value.word())
    }

    /// Adds a table with a name given by the user.
    pub fn add_named(&mut self, key: &'static Key, named: Entry) {
        let tables = self.fields.iter_mut().find_map(|field| match &mut field.content {
            Content::Tables(entries) if std::ptr::eq(field.key, key) => Some(entries),
            _ => None,
        });
        match tables {
            Some(entries) => entries.push(named),
            None => self.fields.push(Field {
                key,
                span: named.span.clone(),
                content: Content::Tables(vec![named]),
            }),
        }
    }
}
