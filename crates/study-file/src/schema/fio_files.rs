//! fio options in job files: those that concern several jobs, and those that decide nothing in a study.

use super::fio_options::{CLOCKS, LOGS};

/// Options for job files only.
const OF_FILES: &[&str] = &[
    "stonewall",
    "new_group",
    "wait_for",
    "exitall",
    "exit_what",
    "flow",
    "flow_sleep",
    "filesize",
    "offset_increment",
    "create_on_open",
    "cmdprio",
    "cmdprio_class",
    "cmdprio_percentage",
    "cmdprio_bssplit",
    "verify_write_sequence",
    "verify_header_seed",
    "steadystate_check_interval",
    "random_sequence_stride",
];

/// Also the reason of `directory`.
pub(crate) const ON_THE_STACK: &str = "files are on the stack";

const RECORDED: &str = "raidlab records histograms and throughput over time itself";

/// Options that only name places, logs and forms of reports, each with what holds instead.
const IGNORED: &[(&[&str], &str)] = &[
    (
        &["unique_filename", "allow_mounted_write", "allow_file_create"],
        ON_THE_STACK,
    ),
    (&["name"], "tests have the names of the sections"),
    (
        &["thread", "per_job_logs", "nodisk_util"],
        "jobs are threads of one fio, and those of a section are summed",
    ),
    (&["randseed"], "fio gets the seed of the trial"),
    (LOGS, RECORDED),
    (&["write_iolog"], RECORDED),
    (
        &[
            "lat_percentiles",
            "clat_percentiles",
            "slat_percentiles",
            "percentile_list",
            "unified_rw_reporting",
            "significant_figures",
            "unit_base",
            "disable_bw_measurement",
            "disk_util",
            "block_error_percentiles",
        ],
        "raidlab reads fio's report itself",
    ),
    (CLOCKS, "raidlab sets how time is measured, and needs the latencies"),
    (
        &["create_serialize", "create_fsync", "unlink"],
        "files are prepared before the measurement and removed with the stack",
    ),
    (
        &["fill_device"],
        "a file ends at its `size`, not when the device is full",
    ),
    (
        &["error_dump", "verify_dump", "verify_state_save"],
        "only raidlab's own records are kept",
    ),
    (&["exitall_on_error"], "every failed request fails the trial"),
    (
        &["numa_cpu_nodes", "numa_mem_policy"],
        "the kernel chooses the processors' nodes and the memory",
    ),
];

/// Options that are refused in job files with more than their name.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "filename_format",
        "names files by a pattern",
        "take the line out for a file for each job, or write `filename` where sections share one",
    ),
    (
        "opendir",
        "adds the files of a folder",
        "take the line out and write `nrfiles` and `size`",
    ),
    (
        "atomic",
        "needs a device that promises atomic writes, which files on a stack do not have",
        "take the line out",
    ),
];

/// Whether it is permitted in a job file, in addition to the options of the `fio` table.
pub(crate) fn is_of_files(name: &str) -> bool {
    OF_FILES.contains(&name)
}

/// What holds instead of an option that a job file may have without effect.
pub(crate) fn ignored(name: &str) -> Option<&'static str> {
    let found = IGNORED.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, reason)| *reason)
}

/// The error in an option of a job file, if only job files can have it.
pub(crate) fn wrong_in_files(name: &str, value: &str) -> Option<(String, String)> {
    if let Some((_, reason, help)) = WRONG.iter().find(|(wrong, ..)| *wrong == name) {
        return Some((format!("`{name}` {reason}"), (*help).to_owned()));
    }
    match (name, value) {
        (_, value)
            if ["$ncpus", "$pagesize", "$mb_memory"]
                .iter()
                .any(|word| value.contains(word)) =>
        {
            Some((
                format!("`{name}` contains a word that fio replaces by a property of the machine"),
                "write the number, or a ${VARIABLE} with values in the study".to_owned(),
            ))
        }
        ("zonemode", "zbd") => Some((
            "`zonemode=zbd` needs zoned disks, and files on a stack have no zones".to_owned(),
            "write `zonemode=strided`, or take the line out".to_owned(),
        )),
        _ => None,
    }
}
