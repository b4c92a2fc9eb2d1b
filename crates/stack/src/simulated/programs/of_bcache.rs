//! bcache, as far as a stack sees it.

use super::{Contents, Signature, value_of};
use crate::array::bcache;
use std::path::Path;

/// The only device of bcache.
pub(super) const NODE: &str = "/dev/bcache0";

impl Contents {
    pub(super) fn make_bcache(&mut self, words: &[String]) {
        let of = |option| value_of(words, option).unwrap_or_default();
        let (backing, set) = (of("--bdev"), of("--cset-uuid"));
        for device in [backing, of("--cache")] {
            let signature = Signature {
                names: vec![bcache::SIGNATURE],
                uuid: set.to_owned(),
            };
            self.signatures.insert(device.into(), signature);
        }
        self.cached = Some((backing.into(), set.to_owned()));
    }

    /// The value of a file or folder in /sys while it is up.
    pub(crate) fn of_bcache(&self, attribute: &Path) -> Option<String> {
        let (backing, set) = self.cached.as_ref()?;
        if let Ok(rest) = attribute.strip_prefix("/sys/fs/bcache") {
            let is_there = rest == Path::new("register_quiet") || rest.starts_with(set);
            return is_there.then(String::new);
        }
        let (folder, name) = attribute.to_str()?.split_once("/bcache")?;
        let backing = self.mapped(backing).unwrap_or_else(|| backing.clone());
        let is_backing = backing.file_name() == Path::new(folder).file_name();
        is_backing.then(|| match name {
            "/dev/uevent" => "DEVNAME=bcache0".to_owned(),
            "/cache_mode" => "[writethrough] writeback writearound none".to_owned(),
            _ => String::new(),
        })
    }

    /// Whether a file is one that bcache only takes orders from.
    pub(crate) fn order_to_bcache(&mut self, attribute: &Path) -> bool {
        let stops = attribute.ends_with("stop") && self.of_bcache(attribute).is_some();
        if stops {
            self.cached = None;
        }
        stops || attribute == Path::new(bcache::REGISTER)
    }
}
