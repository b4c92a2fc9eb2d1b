//! Inventories: which disks of which nodes a study may overwrite (`run --inventory`).

use crate::parse::value::type_name;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The nodes of a cluster with their disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// In the order of the file.
    pub nodes: Vec<InventoryNode>,
}

/// What a study may use on a node: disks, or files behind loop devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InventoryNode {
    pub name: String,
    /// Serial numbers of disks that may be overwritten, in the order in which they are used.
    pub destroy: Vec<String>,
    /// Files instead of disks, as for `run --loop`: `8x20G`.
    pub loop_files: Option<String>,
    /// The folder of these files.
    pub loop_folder: Option<String>,
}

impl Inventory {
    /// Reads an inventory.
    ///
    /// # Errors
    /// The problem, with its line.
    pub fn parse(text: &str) -> Result<Inventory, String> {
        let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let at_line = |at: usize, words: String| format!("line {}: {words}", line_of(at));
        let root = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            at_line(at, error.message().to_owned())
        })?;
        let mut inventory = Inventory::default();
        for (key, value) in root.get_ref() {
            let at = key.span().start;
            if key.get_ref() != "node" {
                return Err(at_line(
                    at,
                    format!("unknown key `{}`: nodes are `[node.NAME]`", key.get_ref()),
                ));
            }
            let nodes = value
                .get_ref()
                .as_table()
                .ok_or_else(|| at_line(at, "nodes are `[node.NAME]`".to_owned()))?;
            for (name, node) in nodes {
                let at = name.span().start;
                let node = node_of(name.get_ref(), node).map_err(|words| at_line(at, words))?;
                inventory.nodes.push(node);
            }
        }
        match inventory.nodes.is_empty() {
            true => Err("it names no node: write `[node.NAME]` with `destroy = [\"SERIAL\", …]`".to_owned()),
            false => Ok(inventory),
        }
    }

    /// A node by its name.
    pub fn node(&self, name: &str) -> Option<&InventoryNode> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

fn node_of(name: &str, value: &Spanned<DeValue<'_>>) -> Result<InventoryNode, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_plain) {
        return Err(format!("`{name}` cannot be the name of a node"));
    }
    let table = value.get_ref().as_table();
    let table =
        table.ok_or_else(|| format!("node `{name}` is {}: write `[node.{name}]`", type_name(value.get_ref())))?;
    let mut node = InventoryNode {
        name: name.to_owned(),
        ..InventoryNode::default()
    };
    let text = |key: &str, value: &DeValue<'_>| match value.as_str() {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("node `{name}`: `{key}` must be text in quotes")),
    };
    for (key, value) in table {
        let value = value.get_ref();
        match key.get_ref().as_ref() {
            "destroy" => {
                let serials = value.as_array().ok_or_else(|| {
                    format!("node `{name}`: `destroy` must be a list of serial numbers: [\"SERIAL\", …]")
                })?;
                node.destroy = serials
                    .iter()
                    .map(|serial| text("destroy", serial.get_ref()))
                    .collect::<Result<_, _>>()?;
            }
            "loop" => node.loop_files = Some(text("loop", value)?),
            "loop_folder" => node.loop_folder = Some(text("loop_folder", value)?),
            other => {
                return Err(format!(
                    "node `{name}`: unknown key `{other}`; the keys are `destroy`, `loop` and `loop_folder`"
                ));
            }
        }
    }
    if let Some(serial) = first_repeated(&node.destroy) {
        return Err(format!("node `{name}`: `destroy` names the disk `{serial}` twice"));
    }
    match (node.destroy.is_empty(), node.loop_files.is_none()) {
        (true, true) => Err(format!(
            "node `{name}` has neither `destroy` nor `loop`: no disk may be used there"
        )),
        (false, false) => Err(format!("node `{name}` has both `destroy` and `loop`: choose one")),
        _ => Ok(node),
    }
}

fn first_repeated(serials: &[String]) -> Option<&String> {
    let mut places = serials.iter().enumerate();
    places
        .find(|(place, serial)| serials[..*place].contains(serial))
        .map(|(_, serial)| serial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_disks_or_files() {
        let text =
            "[node.n2]\ndestroy = [\"WD-1\", \"WD-2\"]\n[node.n1]\nloop = \"2x1G\"\nloop_folder = \"/scratch\"\n";
        let inventory = Inventory::parse(text).expect("an inventory");
        let names: Vec<&str> = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n2", "n1"]);
        assert_eq!(inventory.nodes[0].destroy, ["WD-1", "WD-2"]);
        assert_eq!(
            inventory.node("n1").and_then(|node| node.loop_files.as_deref()),
            Some("2x1G")
        );
        assert_eq!(inventory.node("n3"), None);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, words) in [
            ("", "names no node"),
            ("[nodes.n1]\n", "line 1: unknown key `nodes`"),
            ("node = 1\n", "line 1: nodes are `[node.NAME]`"),
            ("\n[node.n1]\n", "line 2: node `n1` has neither"),
            ("[node.n1]\ndestroy = \"WD-1\"\n", "must be a list of serial numbers"),
            ("[node.n1]\ndestroy = [1]\n", "must be text in quotes"),
            ("[node.n1]\ndestroy = [\"a\", \"a\"]\n", "names the disk `a` twice"),
            ("[node.n1]\ndestroy = [\"a\"]\nloop = \"1x1G\"\n", "has both"),
            ("[node.n1]\ndevices = [\"a\"]\n", "unknown key `devices`"),
            ("[node.\"../x\"]\nloop = \"1x1G\"\n", "cannot be the name of a node"),
            ("[node.n1\n", "line 1: "),
        ] {
            let error = Inventory::parse(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
