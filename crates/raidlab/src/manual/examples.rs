//! The examples of the man pages.

/// A command line and its description.
type Example = (&'static str, &'static str);

/// By command. A test checks that raidlab accepts each of them.
pub const ALL: &[(&str, &[Example])] = &[
    (
        "raidlab",
        &[
            (
                "raidlab run /usr/share/raidlab/studies/first-look.toml",
                "Runs a study in the lab. The results go into raidlab.db in the current folder.",
            ),
            ("raidlab show", "Prints the table of the last run."),
            (
                "raidlab report -o first-look.html",
                "Writes the report of the last run.",
            ),
        ],
    ),
    (
        "raidlab run",
        &[
            (
                "raidlab run my.toml --store my.db",
                "Runs a study in the lab. After Ctrl-C, the same command continues it.",
            ),
            (
                "raidlab run my.toml --only type=ext4,type=xfs",
                "Runs the cells of two filesystems.",
            ),
            (
                "sudo raidlab run my.toml --on host --loop 8x20G",
                "Runs it with the kernel of this machine, on sparse files behind loop devices.",
            ),
            (
                "sudo raidlab run my.toml --on host --devices /dev/sdb,/dev/sdc --dry-run",
                "Prints the commands that a run on these two disks would execute.",
            ),
        ],
    ),
    (
        "raidlab disk sensitivity",
        &[(
            "raidlab disk sensitivity my.toml --store sensitivity.db",
            "Shows which figures of the disks' models decide a study: those to measure on your own disks.",
        )],
    ),
    (
        "raidlab plan",
        &[(
            "raidlab plan my.toml --format json",
            "Prints the cells of a study for a script.",
        )],
    ),
    (
        "raidlab report",
        &[(
            "raidlab report --store my.db -o my.html",
            "Writes the report of the last run.",
        )],
    ),
    (
        "raidlab runs",
        &[("raidlab runs --store my.db", "Lists the runs of a store.")],
    ),
    (
        "raidlab show",
        &[(
            "raidlab show --store my.db --run 2",
            "Prints the table of the second run.",
        )],
    ),
    (
        "raidlab export",
        &[("raidlab export --format csv -o my.csv", "Writes every sample as CSV.")],
    ),
    (
        "raidlab digest",
        &[
            ("raidlab digest my.db", "Prints the digest of the last run."),
            ("raidlab digest one.db two.db", "Shows where two runs first differ."),
        ],
    ),
    (
        "raidlab import",
        &[(
            "raidlab import fio.json --stack server --workload randwrite",
            "Imports fio results that were measured elsewhere.",
        )],
    ),
    (
        "raidlab submit",
        &[
            (
                "raidlab submit my.toml --slurm --partition batch --nodes 8 --time 12:00:00",
                "Submits a study to Slurm: an array job of one guest per core, and a job that merges its stores.",
            ),
            (
                "raidlab submit my.toml --slurm --dry-run",
                "Prints the scripts without submitting them.",
            ),
        ],
    ),
    (
        "raidlab merge",
        &[(
            "raidlab merge all.db part-1.db part-2.db",
            "Merges the stores of a study's shards into one.",
        )],
    ),
    (
        "raidlab status",
        &[(
            "raidlab status my-seed1.job",
            "Shows the progress of a submitted study.",
        )],
    ),
    (
        "raidlab compare",
        &[
            ("raidlab compare one.db two.db", "Compares the last runs of two stores."),
            (
                "raidlab compare my.db@kernel=5.10 my.db@kernel=6.12 --format html -o kernels.html",
                "Writes a page that compares two kernels of a run.",
            ),
        ],
    ),
    ("raidlab disk list", &[("raidlab disk list", "Lists the disk models.")]),
    (
        "raidlab disk show",
        &[("raidlab disk show seagate-ironwolf-12tb", "Shows a disk model.")],
    ),
    (
        "raidlab disk check",
        &[
            (
                "raidlab disk check seagate-ironwolf-12tb",
                "Compares a model with published figures of its disk.",
            ),
            (
                "raidlab disk check --draws 12",
                "Also shows how far the figures of each model are known, and how often real ones are in that range.",
            ),
        ],
    ),
    (
        "raidlab disk replay",
        &[(
            "raidlab disk replay seagate-cheetah-9lp trace.txt",
            "Replays measured requests on a model.",
        )],
    ),
    (
        "raidlab disk measure",
        &[
            (
                "raidlab disk measure /dev/sdb -o my-disk.toml",
                "Reads a disk for half an hour and writes a model of it.",
            ),
            (
                "raidlab disk measure /dev/nvme1n1 -o my-ssd.toml --destroy S4EVNX0R123456",
                "Fills an SSD, and also measures its writes; all of its data is lost.",
            ),
        ],
    ),
    (
        "raidlab disk import",
        &[(
            "raidlab disk import cheetah.diskspecs",
            "Converts a DiskSim parameter file.",
        )],
    ),
    (
        "raidlab trace show",
        &[(
            "raidlab trace show traces/1.trace --disk 0",
            "Prints the requests of the first disk.",
        )],
    ),
    (
        "raidlab trace export",
        &[(
            "raidlab trace export traces/1.trace --format fio -o disk.iolog",
            "Writes an iolog for fio.",
        )],
    ),
    (
        "raidlab cpu list",
        &[("raidlab cpu list", "Lists the processor models.")],
    ),
    (
        "raidlab cpu show",
        &[(
            "raidlab cpu show xeon-e5-2650v4",
            "Shows a processor model with its sources.",
        )],
    ),
    (
        "raidlab cpu measure",
        &[(
            "raidlab cpu measure --name mine -o mine.toml",
            "Writes a model of this machine's processor.",
        )],
    ),
    (
        "raidlab risk",
        &[
            (
                "raidlab risk --disks 8 --level 6",
                "Prints how many arrays of this kind lose data in 5 years, with published rates of failures.",
            ),
            (
                "raidlab risk --disks 8 --level 5 --afr 0.8%..2% --rebuild 10h..2d --scrub never",
                "The same of an array that is never scrubbed, with what is not known of its disks.",
            ),
        ],
    ),
    (
        "raidlab kernel build",
        &[
            (
                "raidlab kernel build 6.12+more",
                "Builds the kernel with LVM and more filesystems.",
            ),
            (
                "raidlab kernel build /home/me/linux --name mine",
                "Builds your own tree, for kernel = \"mine\" in a study.",
            ),
        ],
    ),
    ("raidlab kernel list", &[("raidlab kernel list", "Lists the kernels.")]),
    (
        "raidlab cache list",
        &[("raidlab cache list", "Lists what the cache has, with sizes.")],
    ),
    (
        "raidlab cache drop",
        &[(
            "raidlab cache drop --unused",
            "Deletes kernels and stacks of other versions, and what only makes builds quicker.",
        )],
    ),
    (
        "raidlab doctor",
        &[
            ("raidlab doctor", "Shows what is missing on this machine."),
            (
                "raidlab doctor --install --all",
                "Installs it, with the packages that only some studies need.",
            ),
        ],
    ),
    (
        "raidlab shell",
        &[
            (
                "raidlab shell my.toml --cell 3",
                "Opens a shell in a guest with the third cell's stack.",
            ),
            ("raidlab shell my.toml -- df -h", "Runs one command in that guest."),
        ],
    ),
    (
        "raidlab power-cut",
        &[(
            "raidlab power-cut studies/powercut.toml --cell 1 --at 678351400 --cut-seed 6192094826424632905",
            "Repeats one state of the first cell, and lists the operations before the cut.",
        )],
    ),
    (
        "raidlab soak",
        &[
            (
                "raidlab soak --minutes 60 --seed 7",
                "Tests random stacks with random operations and power cuts for an hour.",
            ),
            (
                "raidlab soak --seed 7 --history 12 --print",
                "Prints the study file of one of them.",
            ),
        ],
    ),
    (
        "raidlab clean",
        &[("sudo raidlab clean", "Undoes what a killed run left on this machine.")],
    ),
    (
        "raidlab bench",
        &[(
            "raidlab bench -o bench.json",
            "Measures the lab's overhead, which takes ten minutes.",
        )],
    ),
];

/// The examples of a command, by the name of its man page.
pub fn of(page: &str) -> &'static [Example] {
    ALL.iter()
        .find(|(name, _)| name.replace(' ', "-") == page)
        .map_or(&[], |(_, examples)| examples)
}
