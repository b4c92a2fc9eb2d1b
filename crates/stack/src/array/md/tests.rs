use super::*;
use study::stack::InnerArray;

const LEVELS: [Level; 7] = [
    Level::Linear,
    Level::Raid0,
    Level::Raid1,
    Level::Raid4,
    Level::Raid5,
    Level::Raid6,
    Level::Raid10,
];

fn plain(level: Level) -> ArraySpec {
    ArraySpec {
        level,
        bitmap: Bitmap::None,
        ..ArraySpec::default()
    }
}

fn disks(count: usize) -> Vec<PathBuf> {
    (0..count)
        .map(|index| PathBuf::from(format!("/dev/vd{}", char::from(b'a' + index as u8))))
        .collect()
}

/// The arguments that differ between arrays.
fn own_arguments(spec: &ArraySpec, count: usize, zeroed: bool) -> Result<String, Cause> {
    let members = disks(count);
    let node = Path::new("/dev/md100");
    let creation = Creation {
        spec,
        node,
        name: "NAME",
        uuid: "UUID",
        members: &members,
        journal: None,
        bitmap_file: None,
        in_sync: zeroed,
    };
    let line = creation.invocation()?.to_string();
    let common = "mdadm --create /dev/md100 --config=none --homehost=<none> --name=NAME --uuid=UUID --run ";
    Ok(line.strip_prefix(common).expect("begins so").to_owned())
}

#[test]
fn mdadm_for_every_level() {
    let lines = LEVELS.map(|level| {
        let zeroed = own_arguments(&plain(level), 4, true).expect("is possible");
        let used = own_arguments(&plain(level), 4, false).expect("is possible");
        format!("{zeroed}\n    on used disks: {used}")
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn mdadm_with_everything_said() {
    let raid5 = ArraySpec {
        chunk_bytes: Some(64 << 10),
        bitmap: Bitmap::Internal,
        spares: 1,
        member_size_bytes: Some(100 << 20),
        layout: Some("left-symmetric".into()),
        metadata: Some("1.0".into()),
        ..plain(Level::Raid5)
    };
    insta::assert_snapshot!(own_arguments(&raid5, 5, false).expect("is possible"), @"--level=raid5 --raid-devices=4 --spare-devices=1 --metadata=1.0 --chunk=64K --layout=left-symmetric --size=102400K --bitmap=internal /dev/vda /dev/vdb /dev/vdc /dev/vdd /dev/vde");
    let raid10 = ArraySpec {
        layout: Some("f2".into()),
        ..plain(Level::Raid10)
    };
    insta::assert_snapshot!(own_arguments(&raid10, 2, true).expect("is possible"), @"--level=raid10 --raid-devices=2 --layout=f2 --bitmap=none --assume-clean /dev/vda /dev/vdb");
}

#[test]
fn mdadm_with_write_mostly_members_and_a_bitmap_chunk() {
    let mirror = ArraySpec {
        bitmap: Bitmap::Internal,
        bitmap_chunk_bytes: Some(1 << 20),
        write_mostly: Some(2),
        write_behind: Some(512),
        ..plain(Level::Raid1)
    };
    insta::assert_snapshot!(own_arguments(&mirror, 3, true).expect("is possible"), @"--level=raid1 --raid-devices=3 --bitmap=internal --bitmap-chunk=1024K --write-behind=512 --assume-clean /dev/vda --write-mostly /dev/vdb /dev/vdc");
    let without_bitmap = ArraySpec {
        write_mostly: Some(1),
        ..plain(Level::Raid1)
    };
    insta::assert_snapshot!(own_arguments(&without_bitmap, 2, true).expect("is possible"), @"--level=raid1 --raid-devices=2 --bitmap=none --assume-clean /dev/vda --write-mostly /dev/vdb");
}

#[test]
fn settings_of_a_nested_array_are_those_of_its_redundant_arrays() {
    let striped_mirrors = ArraySpec {
        of: Some(InnerArray {
            level: Level::Raid1,
            disks: 2,
            chunk_bytes: None,
        }),
        bitmap: Bitmap::Internal,
        bitmap_chunk_bytes: Some(1 << 20),
        sync_speed_max: Some(5000),
        ..plain(Level::Raid0)
    };
    let settings = |spec: &ArraySpec| (spec.bitmap, spec.bitmap_chunk_bytes, spec.sync_speed_max);
    let set = (Bitmap::Internal, Some(1 << 20), Some(5000));
    let none = (Bitmap::None, None, None);
    let of_each = |spec: &ArraySpec| settings(&inner(spec).expect("is nested"));
    assert_eq!(
        (of_each(&striped_mirrors), settings(&outer(&striped_mirrors))),
        (set, none)
    );
    let mirrored_stripes = ArraySpec {
        level: Level::Raid1,
        of: Some(InnerArray {
            level: Level::Raid0,
            disks: 2,
            chunk_bytes: None,
        }),
        ..striped_mirrors
    };
    assert_eq!(
        (of_each(&mirrored_stripes), settings(&outer(&mirrored_stripes))),
        (none, set)
    );
}

#[test]
fn write_mostly_members_that_cannot_be_are_refused() {
    let mirror = |write_mostly, write_behind, bitmap| ArraySpec {
        bitmap,
        write_mostly: Some(write_mostly),
        write_behind,
        ..plain(Level::Raid1)
    };
    check(&mirror(1, None, Bitmap::None), 2).expect("one is left for reads");
    check(&mirror(1, Some(256), Bitmap::Internal), 2).expect("has a bitmap");
    let refused = [
        check(&mirror(2, None, Bitmap::None), 2),
        check(&mirror(3, None, Bitmap::None), 2),
        check(
            &ArraySpec {
                spares: 1,
                ..mirror(1, None, Bitmap::None)
            },
            3,
        ),
        check(&mirror(1, Some(256), Bitmap::None), 2),
        check(&mirror(0, Some(256), Bitmap::Internal), 2),
        check(
            &ArraySpec {
                level: Level::Raid10,
                ..mirror(1, None, Bitmap::None)
            },
            4,
        ),
    ];
    for result in refused {
        assert!(matches!(result, Err(Cause::Impossible(_))), "{result:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_touched() {
    let raid1 = plain(Level::Raid1);
    let single = plain(Level::Single);
    let refused = [
        check(
            &ArraySpec {
                spares: 3,
                ..raid1.clone()
            },
            2,
        ),
        check(
            &ArraySpec {
                spares: 2,
                ..raid1.clone()
            },
            3,
        ),
        check(
            &ArraySpec {
                chunk_bytes: Some(4096),
                ..raid1
            },
            2,
        ),
        check(
            &ArraySpec {
                spares: 1,
                ..plain(Level::Raid0)
            },
            3,
        ),
        check(
            &ArraySpec {
                bitmap: Bitmap::Internal,
                ..plain(Level::Linear)
            },
            3,
        ),
        check(&plain(Level::Raid6), 3),
        check(&single, 0),
        check(
            &ArraySpec {
                layout: Some("n2".into()),
                ..single
            },
            1,
        ),
        own_arguments(
            &ArraySpec {
                chunk_bytes: Some(1000),
                ..plain(Level::Raid0)
            },
            2,
            true,
        )
        .map(drop),
        own_arguments(
            &ArraySpec {
                member_size_bytes: Some(0),
                ..plain(Level::Raid5)
            },
            3,
            true,
        )
        .map(drop),
    ];
    let reasons = refused.map(|result| match result {
        Err(Cause::Impossible(reason)) => reason,
        other => panic!("{other:?}"),
    });
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn what_can_be_is_not_refused() {
    for level in LEVELS {
        check(&plain(level), 4).expect("4 disks suffice for every level");
    }
    check(&plain(Level::Single), 1).expect("one disk");
    check(
        &ArraySpec {
            spares: 2,
            ..plain(Level::Raid6)
        },
        6,
    )
    .expect("4 and 2 spares");
}
