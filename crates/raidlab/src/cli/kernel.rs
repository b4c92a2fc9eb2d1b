//! The lab's kernels.

use super::Format;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Build a kernel from a version of Debian's linux-source packages or from your own tree
    Build {
        /// `6.12` (the default), `6.12+more`, `6.12+zfs`, `7.3`, `7.3+more`, or the path of a kernel tree
        what: Option<String>,
        /// Name of a tree's kernel in studies (default: the folder's name)
        #[arg(long)]
        name: Option<String>,
    },
    /// List the kernels that are built
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}
