use super::{Geometry, Place};
use crate::description::{Layout, Mapping, Sparing, Zone};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

const HEADS: u32 = 3;
const REVOLUTION_NS: u64 = 10_000_000;

fn zone(first_cylinder: u32, track_sectors: u32, slips: &[u64], defects: &[(u64, u64)]) -> Zone {
    Zone {
        first_cylinder,
        last_cylinder: first_cylinder + 11,
        track_sectors,
        offset_angle: 0,
        track_skew_angle: u64::MAX / 10,
        cylinder_skew_angle: u64::MAX / 5,
        reserved_sectors: 0,
        spares: 4,
        slips: slips.to_vec(),
        defects: defects.to_vec(),
    }
}

fn geometry(mapping: Mapping, sparing: Sparing, slips: &[u64], defects: &[(u64, u64)]) -> Geometry {
    let zones = vec![zone(0, 20, slips, defects), zone(20, 16, slips, defects)];
    Geometry::new(
        &Layout {
            mapping,
            sparing,
            zones,
        },
        HEADS,
        REVOLUTION_NS,
    )
}

fn schemes() -> Vec<(Sparing, &'static [u64])> {
    let slips: &[u64] = &[3, 7, 8, 61, 119, 121, 400];
    // Schemes with spares in each unit cannot slip more sectors than the unit has spares.
    vec![
        (Sparing::None, &[]),
        (Sparing::Tracks, &[1, 5]),
        (Sparing::PerTrack, slips),
        (Sparing::PerCylinder, slips),
        (Sparing::PerCylinderFront, slips),
        (Sparing::PerRange { cylinders: 3 }, &[3, 7, 61, 119, 400]),
        (Sparing::PerZone, &[3, 61, 121]),
        (Sparing::PerZoneSlipToEnd, slips),
        (Sparing::PerCylinderSlipToEnd, slips),
        (Sparing::PerCylinderFrontSlipToEnd, slips),
        (Sparing::EndOfDisk, slips),
    ]
}

#[test]
fn every_sector_has_a_place_of_its_own_and_runs_are_true() {
    for mapping in [Mapping::Cylinders, Mapping::SerpentineByZone, Mapping::Serpentine] {
        for (sparing, slips) in schemes() {
            let geometry = geometry(mapping, sparing, slips, &[]);
            let mut taken = BTreeMap::new();
            let mut left = 0;
            let mut expected: Option<(Place, u32)> = None;
            for lbn in 0..geometry.capacity() {
                let spot = geometry.locate(lbn);
                let what = (mapping, sparing, lbn);
                assert_eq!(
                    taken.insert((spot.place.cylinder, spot.place.head, spot.sector), lbn),
                    None,
                    "{what:?}"
                );
                if left > 0 {
                    assert_eq!(Some((spot.place, spot.sector)), expected, "{what:?}: a run has no gaps");
                } else {
                    left = spot.run;
                }
                assert_eq!(spot.run, left, "{what:?}: the rest of the run");
                left -= 1;
                expected = Some((spot.place, spot.sector + 1));
                let (first, past) = geometry.track_bounds(lbn);
                assert!(first <= lbn && lbn < past, "{what:?}: {first}..{past}");
                for other in [first, past - 1] {
                    assert_eq!(geometry.locate(other).place, spot.place, "{what:?}: {first}..{past}");
                }
                assert!(geometry.cylinder_end(lbn) >= past);
            }
        }
    }
}

#[test]
fn slipped_sectors_are_never_used() {
    let geometry = geometry(Mapping::Cylinders, Sparing::PerZone, &[3, 61, 121], &[]);
    for lbn in 0..200 {
        let spot = geometry.locate(lbn);
        let physical = (spot.place.cylinder * HEADS + spot.place.head) * 20 + spot.sector;
        assert!(![3, 61, 121].contains(&physical), "{lbn}");
    }
    assert_eq!((geometry.locate(2).sector, geometry.locate(3).sector), (2, 4));
    assert_eq!(geometry.capacity(), 12 * 3 * (20 + 16) - 2 * 4);
}

#[test]
fn a_moved_sector_is_found_elsewhere() {
    let geometry = geometry(Mapping::Cylinders, Sparing::PerZone, &[], &[(5, 718)]);
    assert_eq!(geometry.locate(4).run, 1, "a run ends before it");
    let moved = geometry.locate(5);
    assert_eq!(
        (moved.place, moved.sector, moved.run),
        (Place { cylinder: 11, head: 2 }, 18, 1)
    );
    assert_eq!(geometry.locate(6).sector, 6);
}

#[test]
fn skews_turn_the_start_of_each_track() {
    let geometry = geometry(Mapping::Cylinders, Sparing::None, &[], &[]);
    let start = |lbn: u64| geometry.locate(lbn).angle_ns;
    let near = |a: u64, b: u64| assert!(a.abs_diff(b) < 3, "{a} {b}");
    near(start(0), 0);
    near(start(20), REVOLUTION_NS / 10);
    near(start(40), REVOLUTION_NS / 5);
    // A cylinder switch has its own skew, from the last track on.
    near(start(60), REVOLUTION_NS * 2 / 5);
    near(start(61) - start(60), REVOLUTION_NS / 20);
}

#[test]
fn a_serpentine_keeps_the_head_between_cylinders() {
    let geometry = geometry(Mapping::Serpentine, Sparing::None, &[], &[]);
    let heads: Vec<u32> = (0..7).map(|track| geometry.locate(track * 20).place.head).collect();
    assert_eq!(heads, [0, 1, 2, 2, 1, 0, 0]);
}
