//! Inventories: the disks of this node, from a file for all nodes of a cluster.

use super::text;
use crate::cli::{LoopFiles, On, RunArguments};
use crate::expected::ExpectedError;
use std::path::{Path, PathBuf};
use study_file::Inventory;

/// An inventory has a line for each disk.
const BYTES_MAX: u64 = 4 << 20;

pub fn read(path: &Path) -> Result<Inventory, ExpectedError> {
    let text = text::read(path, BYTES_MAX).map_err(|source| ExpectedError::File {
        path: path.to_owned(),
        source,
        advice: "; name an inventory of the nodes with --inventory",
    })?;
    Inventory::parse(&text).map_err(|error| ExpectedError::Inventory(format!("`{}`: {error}", path.display())))
}

/// The arguments with what the inventory says of this node. Only reads.
pub fn on_this_node(arguments: &RunArguments) -> Result<RunArguments, ExpectedError> {
    let mut arguments = arguments.clone();
    let Some(path) = &arguments.inventory else {
        return Ok(arguments);
    };
    if arguments.on != Some(On::Host) {
        return Err(ExpectedError::OptionOfHost { option: "--inventory" });
    }
    let inventory = read(path)?;
    let name = node_name();
    let refused = |words: String| ExpectedError::Inventory(format!("`{}`: {words}", path.display()));
    let node = inventory.node(&name).ok_or_else(|| {
        let names: Vec<&str> = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
        refused(format!(
            "this machine is `{name}`, of which it says nothing; its nodes are {}",
            names.join(", ")
        ))
    })?;
    let (mut devices, mut against) = (Vec::new(), Vec::new());
    for serial in &node.destroy {
        match host::disks_of_serial(serial).as_slice() {
            [disk] => devices.push(disk.by_id.clone().unwrap_or_else(|| disk.node.clone())),
            [] => against.push(format!("no disk of node `{name}` has the serial number {serial}")),
            several => {
                let nodes: Vec<String> = several.iter().map(|disk| disk.node.display().to_string()).collect();
                against.push(format!("{} have the same serial number {serial}", nodes.join(" and ")));
            }
        }
    }
    if !against.is_empty() {
        let advice = "`lsblk -o PATH,MODEL,SERIAL,SIZE` lists the disks";
        return Err(refused(format!("{}: {advice}", against.join("; "))));
    }
    let loops = node.loop_files.as_ref().map(|files| files.parse::<LoopFiles>());
    arguments.loops = loops
        .transpose()
        .map_err(|words| refused(format!("node `{name}`: `loop`: {words}")))?;
    arguments.loop_folder = node.loop_folder.as_ref().map(PathBuf::from);
    arguments.destroy.clone_from(&node.destroy);
    arguments.devices = devices;
    // A run of its own in the merged store, by which it is compared with other nodes.
    arguments.name.get_or_insert(name);
    Ok(arguments)
}

/// As Slurm calls this node, or else the host name without its domain.
fn node_name() -> String {
    let of_slurm = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
    of_slurm.unwrap_or_else(|| {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        name.split('.').next().unwrap_or_default().to_owned()
    })
}
