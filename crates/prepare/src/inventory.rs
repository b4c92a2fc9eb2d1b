//! Inventories: the disks of this node, from a file for all nodes of a cluster.

use crate::{Error, LoopFiles};
use files::read_file;
use std::path::{Path, PathBuf};
use study_file::Inventory;

/// An inventory has a line for each disk.
const BYTES_MAX: u64 = 4 << 20;

pub fn read(path: &Path) -> Result<Inventory, Error> {
    let advice = "; name an inventory of the nodes with --inventory";
    let text = read_file::read(path, BYTES_MAX).map_err(|error| error.of(path, advice))?;
    Inventory::parse(&text).map_err(|error| Error::Inventory(format!("`{}`: {error}", path.display())))
}

/// An inventory's entry for this node.
pub struct NodeDisks {
    /// The node's.
    pub name: String,
    pub devices: Vec<PathBuf>,
    pub destroy: Vec<String>,
    pub loops: Option<LoopFiles>,
    pub loop_folder: Option<PathBuf>,
}

/// Only reads.
pub fn of_this_node(path: &Path) -> Result<NodeDisks, Error> {
    let inventory = read(path)?;
    let name = node_name();
    let refused = |words: String| Error::Inventory(format!("`{}`: {words}", path.display()));
    let node = inventory.node(&name).ok_or_else(|| {
        let names: Vec<&str> = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
        refused(format!(
            "this machine is `{name}`, which is not in the inventory; its nodes are {}",
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
    let loops = loops
        .transpose()
        .map_err(|words| refused(format!("node `{name}`: `loop`: {words}")))?;
    Ok(NodeDisks {
        devices,
        destroy: node.destroy.clone(),
        loops,
        loop_folder: node.loop_folder.as_ref().map(PathBuf::from),
        name,
    })
}

/// Slurm's name of this node, or else the host name without its domain.
fn node_name() -> String {
    let of_slurm = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
    of_slurm.unwrap_or_else(|| {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        name.split('.').next().unwrap_or_default().to_owned()
    })
}
