//! Rules of LVM.

use crate::rules::impossible::{Impossible, impossible};
use crate::syntax::unit::format_size;
use study::stack::{ArraySpec, Bitmap};

/// LVM's default extent size.
const EXTENT_BYTES: u64 = 4 << 20;

/// All reasons why a volume is impossible, and misuse of LVM's own options.
pub(crate) fn check(array: &ArraySpec) -> Vec<Impossible> {
    let name = array.level.facts().name;
    let mut all = Vec::new();
    if !array.level.is_lvm() {
        if array.extent_bytes.is_some() {
            let reason = format!("{name} has no extents");
            all.extend(impossible(
                &["extent", "level"],
                reason,
                "leave `extent` out, or use an lvm level",
            ));
        }
        return all;
    }
    if array.bitmap != Bitmap::None {
        let reason = format!("{name} always has its own bitmap on each member");
        all.extend(impossible(&["bitmap", "level"], reason, "leave `bitmap` out"));
    }
    if array.of.is_some() {
        let reason = "LVM on md arrays is not supported".to_owned();
        all.extend(impossible(
            &["of_level", "level"],
            reason,
            "leave `of` out, or use an md level",
        ));
    }
    if !array.level.facts().takes_member_size && array.member_size_bytes.is_some() {
        // The rules of md arrays report it.
        return all;
    }
    let extent = array.extent_bytes.unwrap_or(EXTENT_BYTES);
    if let Some(chunk) = array.chunk_bytes.filter(|chunk| *chunk > extent) {
        let reason = format!(
            "the chunk ({}) is larger than the extent ({})",
            format_size(chunk),
            format_size(extent)
        );
        all.extend(impossible(&["chunk", "extent"], reason, "write a smaller chunk"));
    }
    if let Some(size) = array.member_size_bytes.filter(|size| !size.is_multiple_of(extent)) {
        let reason = format!(
            "the member size ({}) is not in whole extents of {}",
            format_size(size),
            format_size(extent)
        );
        all.extend(impossible(
            &["size", "extent"],
            reason,
            "write a multiple of the extent",
        ));
    }
    all
}
