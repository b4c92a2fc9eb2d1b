//! Pools of ZFS.

use super::{Contents, Signature, devices};

impl Contents {
    pub(super) fn zpool(&mut self, command: &str, words: &[String]) {
        match command {
            "create" => {
                let values_of_options = |at: usize| at > 0 && matches!(words[at - 1].as_str(), "-o" | "-O");
                let mut plain =
                    (1..words.len()).filter(|&at| !words[at].starts_with('-') && !values_of_options(at));
                let name = plain.next().map(|at| words[at].clone()).unwrap_or_default();
                let partitions = devices(words);
                for partition in &partitions {
                    let (names, uuid) = (vec!["zfs_member"], name.clone());
                    self.signatures.insert(partition.clone(), Signature { names, uuid });
                }
                self.pools.insert(name, partitions);
            }
            "destroy" => {
                self.zvols.clear();
                drop(words.last().and_then(|name| self.pools.remove(name)));
            }
            _ => {}
        }
    }
}
