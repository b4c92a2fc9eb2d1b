//! One noun, one thing: no two crates offer types of the same name.

use super::tree::root;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names that several crates may have, with the reason.
const SHARED: &[(&str, &str)] = &[("Error", "Rust's usual name of a crate's only error type")];

/// Crates whose names do not count, with the reason.
const NOT_COUNTED: &[(&str, &str)] = &[(
    "disksim",
    "its sources identify the cached kernels: a new name would have all of them built again",
)];

/// The types that a crate offers: those in public modules, and those that public modules name in `pub use`.
struct Offered {
    types: Regex,
    modules: Regex,
    uses: Regex,
    words: Regex,
    found: BTreeSet<String>,
}

impl Offered {
    fn of(library: &Path) -> BTreeSet<String> {
        let regex = |pattern| Regex::new(pattern).expect("a pattern");
        let mut offered = Offered {
            types: regex(r"(?m)^pub (?:struct|enum|trait|type|union) (\w+)"),
            modules: regex(r"(?m)^pub mod (\w+);"),
            uses: regex(r"(?m)^pub use ((?:\w+::)+)(\{[^}]*\}|\w+);"),
            words: regex(r"\w+"),
            found: BTreeSet::new(),
        };
        offered.module(library, library.parent().expect("a folder"));
        offered.found
    }

    /// `folder`: where the files of its modules are.
    fn module(&mut self, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let types = self.types.captures_iter(text).map(|found| found[1].to_owned());
        self.found.extend(types);
        let mut modules: Vec<PathBuf> = self
            .modules
            .captures_iter(text)
            .map(|found| folder.join(&found[1]))
            .collect();
        for found in self.uses.captures_iter(text) {
            let from = folder.join(found[1].replace("::", "/"));
            // No file has the name of a function or constant.
            for name in self.words.find_iter(&found[2]).map(|name| name.as_str()) {
                let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
                if !is_type {
                    modules.push(from.join(name));
                } else if is_ours(folder, &found[1]) {
                    self.found.insert(name.to_owned());
                }
            }
        }
        for module in modules {
            for file in [module.with_extension("rs"), module.join("mod.rs")] {
                if file.exists() {
                    self.module(&file, &module);
                }
            }
        }
    }
}

/// Whether a path of `pub use` begins with a module next to the file, not with another crate.
fn is_ours(folder: &Path, path: &str) -> bool {
    let first = path.split("::").next().unwrap_or_default();
    ["crate", "self", "super"].contains(&first)
        || folder.join(first).with_extension("rs").exists()
        || folder.join(first).join("mod.rs").exists()
}

#[test]
fn no_two_crates_offer_types_of_one_name() {
    let mut crates_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in fs::read_dir(root().join("crates")).expect("our crates").flatten() {
        let library = folder.path().join("src/lib.rs");
        let name = folder.file_name().to_string_lossy().into_owned();
        if library.exists() && NOT_COUNTED.iter().all(|(crate_name, _)| *crate_name != name) {
            for offered in Offered::of(&library) {
                crates_of.entry(offered).or_default().push(name.clone());
            }
        }
    }
    assert!(crates_of.len() > 300, "these are not all types: {crates_of:?}");
    crates_of.retain(|name, crates| crates.len() > 1 && SHARED.iter().all(|(shared, _)| shared != name));
    assert!(
        crates_of.is_empty(),
        "name the types after what they are (docs/internals/glossary.md): {crates_of:#?}"
    );
}
