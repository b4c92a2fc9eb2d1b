//! Converts TOML to entries: the tables of a study file with every value parsed according to the table of keys,
//! with positions. Relations between values are checked later.

use crate::Known;
use crate::parse::entry::{Content, Entry, Field, FilterItem, Variable};
use crate::parse::long_text;
use crate::parse::value::{Given, Value, read_value, type_name};
use crate::schema::fio_options::refusal;
use crate::schema::key::{Axis, Key, Table, Takes};
use crate::syntax::diagnostic::{Found, Span, nearest, suggest};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Parses the file's text. `None` after a syntax error: the remaining values are checked individually, but not in
/// relation to each other.
pub(crate) fn read_document(source: &str, known: &Known, found: &mut Found) -> Option<Entry> {
    let (document, errors) = DeTable::parse_recoverable(source);
    let mut reader = Reader {
        known,
        found,
        syntax_is_sound: errors.is_empty(),
    };
    let top = reader.table(Table::Top, document.get_ref(), 0..0);
    if long_text::report(document.get_ref(), found) {
        return None;
    }
    if errors.is_empty() {
        return Some(top);
    }
    let errors = errors.iter().map(|error| {
        let span = error.span().unwrap_or(source.len()..source.len());
        (
            span,
            error.message().lines().map(str::trim).collect::<Vec<_>>().join("; "),
        )
    });
    add_syntax_errors(source, errors.collect(), found);
    None
}

/// One syntax error, such as a missing quote, causes several errors on the following lines, and lines that are
/// misread. The first of each sequence of errors is reported; the others on those lines are dropped.
fn add_syntax_errors(source: &str, mut errors: Vec<(Span, String)>, found: &mut Found) {
    const NEAR_LINES: usize = 2;
    errors.sort_by_key(|(span, _)| span.start);
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let line = |span: &Span| ends.partition_point(|end| *end < span.start);
    let mut runs: Vec<(Span, String, usize)> = Vec::new();
    for (span, message) in errors {
        match runs.last_mut() {
            Some((_, _, last)) if line(&span) <= *last + NEAR_LINES => *last = line(&span),
            _ => runs.push((span.clone(), message, line(&span))),
        }
    }
    let ranges: Vec<_> = runs.iter().map(|(span, _, last)| line(span) + 1..=last + 1).collect();
    found.forget_lines(&ranges);
    for (span, message, _) in runs {
        if message.starts_with("key with no value") {
            found.add_with_help(
                &span,
                message,
                "a study is a TOML file: lines of `key = value` under headings such as [disks]",
            );
        } else {
            found.add(&span, message);
        }
    }
}

struct Reader<'a, 'f> {
    known: &'a Known,
    found: &'a mut Found<'f>,
    syntax_is_sound: bool,
}

impl Reader<'_, '_> {
    fn table(&mut self, table: Table, values: &DeTable, span: Span) -> Entry {
        let mut entry = Entry::absent(table, span);
        for (name, value) in values {
            let key_span = name.span();
            match table.key(name.get_ref()) {
                Some(key) => {
                    let content = self.content(key, value, &key_span);
                    entry.fields.push(Field {
                        key,
                        span: key_span,
                        content,
                    });
                }
                None if matches!(value.get_ref(), DeValue::Table(_)) && table.named().is_some() => {
                    let (key, of) = table.named().expect("was looked at");
                    let DeValue::Table(values) = value.get_ref() else {
                        unreachable!("it is one")
                    };
                    let mut named = self.table(of, values, key_span.clone());
                    named.name = Some(name.get_ref().to_string());
                    entry.add_named(key, named);
                }
                None => {
                    let meant = self.unknown_key(table, name.get_ref(), &key_span);
                    // A probable misspelling must not also be reported as missing.
                    if let Some(key) =
                        meant.filter(|key| entry.fields.iter().all(|field| field.key.name != key.name))
                    {
                        entry.fields.push(Field {
                            key,
                            span: key_span,
                            content: Content::Broken,
                        });
                    }
                }
            }
        }
        // The key itself takes precedence over a misspelling.
        let written: Vec<&str> = entry
            .fields
            .iter()
            .filter(|field| !matches!(field.content, Content::Broken))
            .map(|field| field.key.name)
            .collect();
        entry
            .fields
            .retain(|field| !matches!(field.content, Content::Broken) || !written.contains(&field.key.name));
        self.missing_keys(&entry);
        entry
    }

    fn unknown_key(&mut self, table: Table, name: &str, span: &Span) -> Option<&'static Key> {
        if let (Table::Fio | Table::Io, Some(reason)) = (table, refusal(name)) {
            self.found.add(span, reason);
            return None;
        }
        let is_word = |key: &&Key| !matches!(key.takes, Takes::Named(_));
        let here: Vec<&str> = table.keys().filter(is_word).map(|key| key.name).collect();
        let message = format!("unknown key `{name}` in {}", table.heading());
        let meant = meant_by(table, name);
        let close = nearest(name, here.iter().copied()).filter(|_| meant.is_none());
        let help = match (close, place_of(name, table)) {
            _ if meant.is_some() => format!("write {}", meant.unwrap_or_default()),
            (None, Some(place)) => format!("`{name}` belongs in {place}"),
            _ => suggest(name, &here),
        };
        self.found.add_with_help(span, message, help);
        close.and_then(|close| table.key(close))
    }

    fn missing_keys(&mut self, entry: &Entry) {
        // A missing key may be one that could not be parsed.
        if !self.syntax_is_sound {
            return;
        }
        let needed = entry
            .table
            .keys()
            .filter(|key| key.default.is_empty() && !is_choice(key));
        for key in needed.filter(|key| entry.field(key.name).is_none()) {
            let what = entry.table.heading();
            let message = match entry.table {
                Table::Top => "a study needs at least one workload".to_owned(),
                _ => format!("`{}` is missing in {what}", key.name),
            };
            let help = match entry.table {
                Table::Top => "add [[workload]] with `name` and the kind of work, such as `io = { … }`".to_owned(),
                _ => format!("`{}`: {}", key.name, key.help()),
            };
            self.found.add_with_help(&entry.span, message, help);
        }
    }

    fn content(&mut self, key: &'static Key, value: &Spanned<DeValue>, key_span: &Span) -> Content {
        match (key.takes, value.get_ref()) {
            (Takes::Variables, DeValue::Table(values)) => Content::Variables(self.variables(key, values)),
            (Takes::Variables, other) => {
                let message = format!("`{}` must be a table, not {}", key.name, type_name(other));
                let help = "write vars = { BS = [\"4k\", \"64k\"] }";
                self.found.add_with_help(&value.span(), message, help);
                Content::Broken
            }
            (Takes::One(table) | Takes::NameOr(table), DeValue::Table(values)) => {
                Content::Tables(vec![self.table(table, values, header_or(key_span, &value.span()))])
            }
            (Takes::One(table), DeValue::Array(_)) => {
                let help = format!("write {}", table.heading());
                self.found
                    .add_with_help(key_span, format!("`{}` must be one table, not a list", key.name), help);
                Content::Tables(vec![broken(table, value.span())])
            }
            (Takes::Many(table), DeValue::Array(list)) => self.tables(key, table, list, key_span),
            (Takes::Many(table), DeValue::Table(values))
                if matches!(
                    table,
                    Table::Array
                        | Table::Partition
                        | Table::Cache
                        | Table::Luks
                        | Table::Volume
                        | Table::Image
                        | Table::Filesystem
                        | Table::Bus
                ) =>
            {
                Content::Tables(vec![self.table(table, values, value.span())])
            }
            (Takes::Many(table), DeValue::Table(_)) => {
                let message = format!("`{}` must be a list of tables", key.name);
                self.found.add_with_help(
                    key_span,
                    message,
                    format!("write {} with two brackets", table.heading()),
                );
                Content::Tables(vec![broken(table, value.span())])
            }
            (Takes::One(table) | Takes::Many(table) | Takes::Named(table), other) => {
                let message = format!("`{}` must be a table, not {}", key.name, type_name(other));
                self.found.add_with_help(&value.span(), message, as_table(table, other));
                Content::Tables(vec![broken(table, value.span())])
            }
            (Takes::Filter, DeValue::Table(values)) => self.filter(values),
            (Takes::Filter, other) => {
                let message = format!("`where` must be a table, not {}", type_name(other));
                self.found
                    .add_with_help(&value.span(), message, "write where = { level = 6, workload = \"…\" }");
                Content::Broken
            }
            (
                Takes::Words(_) | Takes::Names | Takes::Scalars | Takes::Figures | Takes::BusDisks,
                DeValue::Array(list),
            ) => self.values(key, list, key_span),
            (Takes::Names | Takes::Scalars | Takes::Figures, other) => {
                let message = format!("`{}` must be a list, not {}", key.name, type_name(other));
                self.found
                    .add_with_help(&value.span(), message, format!("write {} = [ … ]", key.name));
                Content::Broken
            }
            (_, DeValue::Array(list)) if key.axis != Axis::Single => self.values(key, list, key_span),
            (_, DeValue::Array(_)) => {
                self.found
                    .add(&value.span(), format!("`{}` takes one value, not a list", key.name));
                Content::Broken
            }
            _ => match self.value(key, value) {
                Some(given) => Content::Values(vec![given]),
                None => Content::Broken,
            },
        }
    }

    fn tables(&mut self, key: &'static Key, table: Table, list: &DeArray, key_span: &Span) -> Content {
        let mut entries = Vec::new();
        for value in list.iter() {
            if let DeValue::Table(values) = value.get_ref() {
                entries.push(self.table(table, values, value.span()));
            } else {
                let message = format!(
                    "`{}` must be a list of tables, not of {}",
                    key.name,
                    type_name(value.get_ref())
                );
                self.found
                    .add_with_help(&value.span(), message, as_table(table, value.get_ref()));
                entries.push(broken(table, value.span()));
            }
        }
        if entries.is_empty() {
            self.found.add(key_span, format!("`{}` is an empty list", key.name));
            entries.push(broken(table, key_span.clone()));
        }
        Content::Tables(entries)
    }

    fn values(&mut self, key: &'static Key, list: &DeArray, key_span: &Span) -> Content {
        if list.is_empty() {
            let help = "give it at least one value, or leave the key out";
            self.found
                .add_with_help(key_span, format!("`{}` is an empty list", key.name), help);
        }
        let mut all: Vec<Given> = Vec::new();
        for value in list.iter() {
            let Some(given) = self.value(key, value) else { continue };
            let may_repeat = matches!(key.takes, Takes::Scalars | Takes::Figures);
            if !may_repeat && all.iter().any(|other| other.value == given.value) {
                let message = format!("`{}` is in the list of `{}` twice", given.value.word(), key.name);
                self.found
                    .add_with_help(&given.span, message, "leave one of the two out");
            } else {
                all.push(given);
            }
        }
        Content::Values(all)
    }

    fn variables(&mut self, key: &'static Key, values: &DeTable) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (name, value) in values {
            let list = match value.get_ref() {
                DeValue::Array(list) => self.values(key, list, &name.span()),
                _ => Content::Values(self.value(key, value).into_iter().collect()),
            };
            if let Content::Values(values) = list {
                variables.push(Variable {
                    name: name.get_ref().to_string(),
                    span: name.span(),
                    values,
                });
            }
        }
        variables
    }

    fn value(&mut self, key: &'static Key, value: &Spanned<DeValue>) -> Option<Given> {
        let span = value.span();
        if let (Takes::Spread, DeValue::Table(values)) = (key.takes, value.get_ref()) {
            let entry = self.table(Table::FileSize, values, span.clone());
            return self.spread(&entry).map(|value| Given { value, span });
        }
        match read_value(key, value.get_ref(), self.known) {
            Ok(value) => Some(Given { value, span }),
            Err(wrong) => {
                self.found.push(&span, wrong.message, wrong.help);
                None
            }
        }
    }

    fn spread(&mut self, entry: &Entry) -> Option<Value> {
        let size = |name| entry.value(name).and_then(|given| given.value.count());
        let (min, median, max) = (size("min")?, size("median")?, size("max")?);
        if min > median || median > max {
            let message = "`min`, `median` and `max` must be in ascending order";
            self.found.add_with_help(&entry.span, message, "min ≤ median ≤ max");
            return None;
        }
        Some(Value::Spread { min, median, max })
    }

    fn filter(&mut self, values: &DeTable) -> Content {
        let mut items = Vec::new();
        for (name, value) in values {
            let word = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.as_str().to_owned(),
                DeValue::Float(number) => number.as_str().to_owned(),
                DeValue::Boolean(flag) => flag.to_string(),
                other => {
                    let message = format!("`{}` takes one value here, not {}", name.get_ref(), type_name(other));
                    self.found
                        .add_with_help(&value.span(), message, "write a claim, or a table, for each value");
                    continue;
                }
            };
            items.push(FilterItem {
                axis: name.get_ref().to_string(),
                axis_span: name.span(),
                value: word,
                value_span: value.span(),
            });
        }
        Content::Filter(items)
    }
}

/// Where a key belongs: in the tables within this one that have it, otherwise in the first one that has.
fn place_of(name: &str, table: Table) -> Option<String> {
    let having = || Table::ALL.into_iter().filter(|other| other.key(name).is_some());
    let within = format!(" of a {}", table.heading());
    let inner: Vec<&str> = having()
        .filter_map(|other| other.heading().strip_suffix(&within))
        .collect();
    match inner.as_slice() {
        [] => having().next().map(|other| other.heading().to_owned()),
        [only] => Some(format!("{only}{within}")),
        [first @ .., last] => Some(format!("{} or {last}{within}", first.join(", "))),
    }
}

/// What is written here for a key that has another name or place elsewhere.
fn meant_by(table: Table, name: &str) -> Option<&'static str> {
    const LUKS: &str = "`luks = { on = \"members\" }` or `luks = { on = \"array\" }` in [[stack]]";
    const VOLUME: &str = "`volume = { type = \"thin\" }` or `volume = { type = \"linear\" }` in [[stack]]";
    const CACHE: &str = "`cache = { type = \"dm-cache\" }` in [[stack]], and add [disks.cache]";
    match (table, name) {
        (Table::Stack, "raid" | "raid_level") => Some("`array = { level = … }`"),
        (Table::Stack, "filesystem" | "fstype") => Some("`fs = { type = \"…\" }`"),
        (Table::Stack | Table::Array, "crypt" | "encryption" | "dm-crypt") | (Table::Array, "luks") => Some(LUKS),
        (Table::Array, "cache") | (Table::Stack, "lvmcache" | "bcache") => Some(CACHE),
        (Table::Stack | Table::Array, "lvm" | "thin" | "lvm_thin") | (Table::Array, "volume" | "over") => {
            Some(VOLUME)
        }
        (Table::Array, "snapshot" | "snapshots") | (Table::Stack | Table::Filesystem, "snapshot") => Some(
            "`snapshots = 1` in [[stack]], with `volume = { type = \"thin\" }` unless the filesystem takes them",
        ),
        (Table::Stack | Table::Array, "partitions" | "gpt") => {
            Some("`partition = { on = \"members\" }` in [[stack]]")
        }
        (Table::Stack | Table::Array, "layers") => {
            Some("`partition`, `cache`, `luks`, `volume` and `image` = { … } in [[stack]]")
        }
        (Table::Stack | Table::Filesystem, "zvol" | "vm" | "loop") | (Table::Filesystem, "image") => {
            Some("`image = { on = \"zfs\" }` (a zvol) or `image = { on = \"ext4\" }` (a file) in [[stack]]")
        }
        (Table::Array, "disks" | "devices") => Some("`members = \"data:1,ssd:1\"`, with [disks.ssd]"),
        (Table::Workload, "aged" | "ageing" | "aging" | "fill") | (Table::Filesystem | Table::Stack, "age") => {
            Some("`age = { fill = \"90 %\" }` in [[workload]]")
        }
        (Table::Array, "assume_clean") => Some("`initial_resync = \"assume-clean\"`"),
        _ => None,
    }
}

/// One of several keys of which exactly one is required: checked where they are used.
fn is_choice(key: &Key) -> bool {
    key.table == Table::Workload && key.name != "name"
}

/// Help for a value where its table must be: `"ext4"` instead of `{ type = "ext4" }`.
fn as_table(table: Table, value: &DeValue) -> String {
    let level = |word: &str| {
        let number = word
            .to_lowercase()
            .trim_start_matches("raid")
            .trim()
            .parse::<u8>()
            .ok()?;
        Some(format!("array = {{ level = {number} }}"))
    };
    let inner = match (table, value) {
        (Table::Filesystem, DeValue::String(word)) => Some(format!("fs = {{ type = {word:?} }}")),
        (Table::Luks, DeValue::String(word)) => Some(format!("luks = {{ on = {word:?} }}")),
        (Table::Cache, DeValue::String(word)) => Some(format!("cache = {{ type = {word:?} }}")),
        (Table::Volume, DeValue::String(word)) => Some(format!("volume = {{ type = {word:?} }}")),
        (Table::Volume, DeValue::Boolean(true)) => Some("volume = { type = \"linear\" }".to_owned()),
        (Table::Image, DeValue::String(word)) => Some(format!("image = {{ on = {word:?} }}")),
        (Table::Image, DeValue::Boolean(true)) => Some("image = { on = \"ext4\" }".to_owned()),
        (Table::Partition, DeValue::String(word)) => Some(format!("partition = {{ on = {word:?} }}")),
        (Table::Partition, DeValue::Integer(start)) => {
            Some(format!("partition = {{ on = \"members\", start = {start} }}"))
        }
        (Table::Partition, DeValue::Boolean(true)) => Some("partition = { on = \"members\" }".to_owned()),
        (Table::Luks, DeValue::Boolean(true)) => Some("luks = { on = \"array\" }".to_owned()),
        (Table::Age, DeValue::String(_) | DeValue::Boolean(_) | DeValue::Integer(_)) => {
            Some("age = { fill = \"90 %\" }".to_owned())
        }
        (Table::Array, DeValue::String(word)) => level(word),
        (Table::Array, DeValue::Integer(number)) => level(number.as_str()),
        _ => None,
    };
    inner.map_or_else(
        || format!("write {}", table.heading()),
        |table| format!("write `{table}`"),
    )
}

fn broken(table: Table, span: Span) -> Entry {
    Entry {
        table,
        span,
        name: None,
        fields: Vec::new(),
        broken: true,
    }
}

/// A table with a header is marked at its name, an inline one as a whole.
fn header_or(key_span: &Span, span: &Span) -> Span {
    if span.is_empty() {
        key_span.clone()
    } else {
        span.clone()
    }
}
