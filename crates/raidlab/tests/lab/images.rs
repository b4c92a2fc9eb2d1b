//! Filesystems in files and on zvols.

use crate::laboratory::Laboratory;
use lab::kernel::KernelName;

/// A guest's synchronous writes over old data go to the disk once, whatever file they are in; first writes to a sparse file make the
/// filesystem below allocate, and wait for its journal as well.
#[test]
fn a_sparse_image_is_slow_until_it_has_been_written() {
    let Some(laboratory) = Laboratory::open() else {
        return;
    };
    let results = laboratory.run(
        r#"
        ram = "512M"
        [disks]
        model = "samsung-pm883-480gb"
        [[stack]]
        array = { level = "single" }
        image = { on = ["none", "xfs"] }
        fs = { type = "ext4" }
        [[workload]]
        name = "w"
        io = { rw = "randwrite", bs = "4K", size = "64M", sync = "dsync", direct = true, overwrite = [false, true], runtime = "500ms" }
        [precision]
        trials = 1
        "#,
    );
    let of = |image: &str, overwrite: &str| {
        results.sample_of(&format!("{image} | w overwrite={overwrite}"), "randwrite", "iops")
    };
    let (plain, in_file) = (of("ext4", "true"), of("ext4 in file on xfs", "true"));
    let (first, first_in_file) = (of("ext4", "false"), of("ext4 in file on xfs", "false"));
    println!("writes a second: {plain} and {first} when new; in a file {in_file} and {first_in_file}");
    assert!(in_file > 0.9 * plain && in_file <= plain, "{in_file} {plain}");
    assert!(first_in_file < 0.8 * first, "{first_in_file} {first}");
}

#[test]
#[ignore = "test-all"]
fn images_survive_power_cuts() {
    for (kernel, array, image) in [
        (
            "6.12",
            "level = 5, size = \"512M\"",
            "on = [\"ext4\", \"xfs\", \"btrfs\"]",
        ),
        ("6.12", "level = 5, size = \"512M\"", "on = \"xfs\", preallocate = true"),
        ("6.12+zfs", "level = \"none\"", "on = \"zfs\", pool = \"raidz1\""),
    ] {
        let Some(laboratory) = Laboratory::open_with(&KernelName::parse(kernel)) else {
            continue;
        };
        let results = laboratory.run(&format!(
            "ram = \"512M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 3\n[precision]\ntrials = 1\n[[stack]]\n\
             array = {{ {array} }}\nimage = {{ {image} }}\nfs = {{ type = \"ext4\" }}\n\
             [[workload]]\nname = \"cuts\"\npower_cut = {{ operations = 30, points = 4, subsets = 2 }}\n"
        ));
        for cell in results.cells() {
            for (test, metric) in [
                ("lost", "acknowledged_lost"),
                ("wrong data", "wrong_data"),
                ("not mountable", "not_mountable"),
            ] {
                assert_eq!(results.sample_of(cell, test, metric), 0.0, "{cell}: {test}");
            }
        }
    }
}
