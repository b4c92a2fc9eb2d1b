//! The stripe geometry of an array, for filesystems that use it.

use filesystems::Stripes;
use study::stack::{ArraySpec, Level, Members};

/// LVM's default stripe size.
const LVM_CHUNK_BYTES: u64 = 64 << 10;

/// The geometry of an array on this number of disks; `None` without stripes.
pub(crate) fn of(array: &ArraySpec, disks: usize) -> Option<Stripes> {
    let disks = disks as u64 - u64::from(array.spares).min(disks as u64);
    let layout = array.layout.as_deref();
    let Some(of) = array.of.filter(|of| of.disks > 0) else {
        return level(array.level, array.chunk_bytes, layout, disks);
    };
    let inner = level(of.level, of.chunk_bytes, None, u64::from(of.disks));
    let outer = level(array.level, array.chunk_bytes, layout, disks / u64::from(of.disks));
    match (inner, outer) {
        (Some(inner), Some(outer)) => Some(Stripes {
            unit_bytes: inner.unit_bytes,
            data_disks: inner.data_disks * outer.data_disks,
        }),
        (inner, outer) => inner.or(outer),
    }
}

fn level(level: Level, chunk_bytes: Option<u64>, layout: Option<&str>, disks: u64) -> Option<Stripes> {
    if !level.facts().has_chunk {
        return None;
    }
    let data_disks = match level.facts().data {
        Members::One => return None,
        Members::All => disks,
        Members::AllBut(parity) => disks.checked_sub(u64::from(parity))?,
        Members::Halves => disks / 2,
        Members::Copies => {
            // As md reports it to the block layer: near copies are on adjacent members, far and offset ones are
            // not.
            let copies = layout.unwrap_or("n2").strip_prefix('n');
            let near = copies.map_or(1, |copies| copies.parse().unwrap_or(2)).max(1);
            if disks.is_multiple_of(near) {
                disks / near
            } else {
                disks
            }
        }
    };
    let default = if level.is_lvm() {
        LVM_CHUNK_BYTES
    } else {
        ArraySpec::MDADM_CHUNK_BYTES
    };
    Some(Stripes {
        unit_bytes: chunk_bytes.unwrap_or(default),
        data_disks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::stack::InnerArray;

    fn of(array: &ArraySpec, disks: usize) -> Option<(u64, u64)> {
        super::of(array, disks).map(|stripes| (stripes.unit_bytes >> 10, stripes.data_disks))
    }

    fn plain(level: Level) -> ArraySpec {
        ArraySpec {
            level,
            ..ArraySpec::default()
        }
    }

    #[test]
    fn copies_parity_and_spares_hold_no_data() {
        let spare = ArraySpec {
            spares: 1,
            ..plain(Level::Raid5)
        };
        assert_eq!(of(&plain(Level::Raid0), 4), Some((512, 4)));
        assert_eq!(of(&spare, 5), Some((512, 3)));
        assert_eq!(of(&plain(Level::Raid6), 6), Some((512, 4)));
        assert_eq!(of(&plain(Level::Raid1), 2), None);
        assert_eq!(of(&plain(Level::LvmRaid5), 4), Some((64, 3)));
    }

    #[test]
    fn near_copies_lie_side_by_side() {
        let laid = |layout: &str| ArraySpec {
            layout: Some(layout.to_owned()),
            ..plain(Level::Raid10)
        };
        assert_eq!(of(&laid("n2"), 4), Some((512, 2)));
        assert_eq!(of(&laid("f2"), 4), Some((512, 4)));
        assert_eq!(of(&laid("n2"), 3), Some((512, 3)));
    }

    #[test]
    fn an_array_of_arrays_has_the_stripes_of_its_members() {
        let mirror = ArraySpec {
            of: Some(InnerArray {
                level: Level::Raid0,
                disks: 2,
                chunk_bytes: Some(64 << 10),
            }),
            ..plain(Level::Raid1)
        };
        assert_eq!(of(&mirror, 4), Some((64, 2)));
    }

    #[test]
    fn wrong_is_wrong_in_whole_blocks() {
        let stripes = Stripes {
            unit_bytes: 4096,
            data_disks: 3,
        };
        let wrong = stripes.wrong(4096);
        assert_eq!((wrong.unit_bytes, wrong.data_disks), (8192, 4));
    }
}
