//! Additional fio options in studies: which are permitted, and why others are rejected.
//!
//! Only listed options are passed to fio: an option of a later fio could run a command or name a file.

use super::fio_ranges::wrong_number;
use crate::schema::key::{Axis, Key, Table, Takes, key};

const fn option(name: &'static str, help: &'static str) -> Key {
    key(Table::Fio, name, Takes::FioOption, Axis::Listed, "fio's", help)
}

/// fio options that raidlab's own engine does not have, in the order of fio's manual.
#[rustfmt::skip]
pub(crate) static FIO_OPTIONS: &[Key] = &[
    option("ioengine", "`sync`, `psync`, `vsync`, `pvsync`, `pvsync2`, `libaio`, `posixaio`, `io_uring`, `mmap` or `splice`; otherwise `psync`, or `io_uring` where `iodepth` is above 1"),
    option("iodepth_batch", "requests to submit at once"),
    option("iodepth_batch_complete_min", "minimum number of completions to wait for"),
    option("iodepth_batch_complete_max", "maximum number of completions to reap"),
    option("iodepth_low", "queue depth at which new requests are submitted again"),
    option("serialize_overlap", "no overlapping requests in flight"),
    option("io_submit_mode", "`inline` or `offload`"),
    option("registerfiles", "io_uring: register files"),
    option("fixedbufs", "io_uring: register buffers"),
    option("nonvectored", "io_uring: plain reads and writes"),
    option("force_async", "io_uring: every Nth request by a worker"),
    option("nowait", "fail rather than wait for a request"),
    option("bsrange", "range of block sizes: `4k-16k`"),
    option("bssplit", "mix of block sizes: `4k/60:64k/40`"),
    option("bs_unaligned", "block sizes of any length"),
    option("blockalign", "alignment of random offsets"),
    option("io_size", "bytes to read and write, if different from `size`").on_axis("fio_io_size"),
    option("number_ios", "end after this number of requests"),
    option("loops", "number of repetitions"),
    option("nrfiles", "files of each job, which `size` is spread over"),
    option("openfiles", "files open at the same time"),
    option("file_service_type", "order in which files are used: `random`, `roundrobin`, `sequential`, `zipf:1.2`, …"),
    option("percentage_random", "share of random offsets, per cent"),
    option("random_distribution", "`random`, `zipf:1.2`, `pareto:0.9`, `normal:20`, `zoned:…`"),
    option("random_generator", "`tausworthe`, `lfsr` or `tausworthe64`"),
    option("norandommap", "random offsets may repeat"),
    option("softrandommap", "continue if there is no memory for the map"),
    option("randrepeat", "the same random offsets in every job"),
    option("allrandrepeat", "the same random numbers for everything in every job"),
    option("rw_sequencer", "`sequential` or `identical`"),
    option("rwmixwrite", "share of writes, per cent"),
    option("fadvise_hint", "tell the kernel the pattern"),
    option("fallocate", "`none`, `posix`, `keep`, `truncate`, `native`"),
    option("overwrite", "create the file first, so that writes overwrite it"),
    option("fsync_on_close", "fsync when a file is closed"),
    option("sync_file_range", "`wait_before:8`, `write:8`, …"),
    option("write_barrier", "every Nth write a barrier"),
    option("write_hint", "expected lifetime of the data"),
    option("invalidate", "drop the file's cached pages before the job"),
    option("pre_read", "read the files before the measurement starts"),
    option("lockfile", "`none`, `exclusive`, `readwrite`"),
    option("startdelay", "start delay"),
    option("thinktime_blocks_type", "`complete` or `issue`"),
    option("thinktime_iotime", "working time between waits"),
    option("rate_min", "minimum bandwidth; the job ends if it is slower"),
    option("rate_iops_min", "minimum IOPS; the job ends if it is slower"),
    option("rate_cycle", "window over which a rate is averaged, in ms"),
    option("rate_process", "`linear` or `poisson`"),
    option("rate_ignore_thinktime", "catch up after waits"),
    option("max_latency", "maximum latency; the job ends if a request takes longer"),
    option("latency_target", "find the highest queue depth that meets this latency"),
    option("latency_window", "time for which each depth is tried"),
    option("latency_percentile", "share of requests that must meet the latency"),
    option("latency_run", "continue with the depth found"),
    option("steadystate", "end when steady: `iops:2%`"),
    option("steadystate_duration", "time for which the result must be steady"),
    option("steadystate_ramp_time", "time before the check starts"),
    option("mem", "`malloc`, `shm` or `mmap`"),
    option("iomem_align", "alignment of buffers"),
    option("lockmem", "memory to lock (mlock)"),
    option("refill_buffers", "new bytes for every write"),
    option("scramble_buffers", "change a few bytes of every write"),
    option("buffer_compress_chunk", "size of the compressible pieces of a buffer"),
    option("dedupe_mode", "`repeat` or `working_set`"),
    option("dedupe_working_set_percentage", "share of the file that is the source of duplicates, per cent"),
    option("dedupe_global", "jobs share the source of duplicates"),
    option("do_verify", "read back and compare after writing"),
    option("verify_interval", "bytes covered by one checksum"),
    option("verify_offset", "offset of the header"),
    option("verify_pattern", "pattern that is written and compared"),
    option("verify_fatal", "end at the first difference"),
    option("verify_async", "number of threads that compare"),
    option("verify_backlog", "compare after this number of writes"),
    option("verify_backlog_batch", "number of blocks that each comparison covers"),
    option("nice", "niceness"),
    option("prio", "I/O priority, 0 to 7"),
    option("prioclass", "I/O priority class"),
    option("cpumask", "processors, as a mask"),
    option("cpus_allowed", "processors, as a list"),
    option("cpus_allowed_policy", "`shared` or `split`"),
    option("zonemode", "`none`, `strided` or `zbd`"),
    option("zonesize", "bytes of a zone"),
    option("zonerange", "bytes from zone to zone"),
    option("zoneskip", "bytes between zones"),
];

/// Engines that only read and write the files under test.
pub(crate) const ENGINES: &[&str] = &[
    "sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap", "splice",
];

/// Options of logs.
pub(super) const LOGS: &[&str] = &[
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_window_value",
    "log_offset",
    "log_prio",
    "log_issue_time",
    "log_compression",
    "log_compression_cpus",
    "log_store_compressed",
    "log_unix_epoch",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_entries",
    "bwavgtime",
    "iopsavgtime",
];

const LOGS_OUTSIDE: &str =
    "writes logs outside the stack: raidlab records histograms and throughput over time itself";

/// Options of how time is measured.
pub(super) const CLOCKS: &[&str] = &[
    "clocksource",
    "gtod_cpu",
    "gtod_reduce",
    "disable_lat",
    "disable_clat",
    "disable_slat",
];

/// Reasons for rejecting options, each with an alternative.
const REFUSED: &[(&[&str], &str)] = &[
    (
        &["exec_prerun", "exec_postrun", "profile"],
        "runs commands, which a study must not do",
    ),
    (
        &["filename", "directory", "opendir", "filename_format", "unique_filename"],
        "names files or devices: raidlab names the files of a stack",
    ),
    (
        &[
            "write_iolog",
            "read_iolog",
            "read_iolog_chunked",
            "replay_redirect",
            "replay_no_stall",
            "replay_scale",
            "replay_align",
            "replay_time_scale",
            "replay_skip",
            "merge_blktrace_file",
            "merge_blktrace_scalars",
            "merge_blktrace_iters",
            "verify_state_load",
            "verify_state_save",
            "verify_dump",
        ],
        "names files outside the stack",
    ),
    (LOGS, LOGS_OUTSIDE),
    (&["per_job_logs"], LOGS_OUTSIDE),
    (&["ioscheduler"], "changes a device: write `scheduler` in the [[stack]]"),
    (
        &["cgroup", "cgroup_weight", "cgroup_nodelete", "uid", "gid"],
        "changes fio's user: it runs as raidlab's user",
    ),
    (
        CLOCKS,
        "changes how time is measured: raidlab sets that, and needs the latencies",
    ),
    (
        &[
            "lat_percentiles",
            "clat_percentiles",
            "slat_percentiles",
            "percentile_list",
            "unified_rw_reporting",
            "significant_figures",
            "kb_base",
            "unit_base",
            "disable_bw_measurement",
            "stats",
            "disk_util",
            "block_error_percentiles",
            "output",
            "output-format",
        ],
        "changes fio's report, which raidlab reads: leave it out",
    ),
    (
        &[
            "allow_mounted_write",
            "allow_file_create",
            "create_only",
            "unlink",
            "unlink_each_loop",
        ],
        "is done by raidlab: files are prepared before the test and removed with the stack",
    ),
    (&["randseed", "thread", "name"], "is set by raidlab: leave it out"),
    (
        &["filesize", "fill_device", "file_append"],
        "leaves the amount of data undefined: write `size`",
    ),
    (
        &["continue_on_error", "ignore_error", "error_dump", "exitall_on_error"],
        "hides errors, and a failed request must fail the trial",
    ),
    (
        &["hipri", "sqthread_poll", "sqthread_poll_cpu", "thinktime_spin"],
        "keeps a processor spinning, which stops virtual time: leave it out",
    ),
    (
        &[
            "include",
            "client",
            "server",
            "remote-config",
            "trigger",
            "trigger-file",
            "daemonize",
            "aux-path",
        ],
        "affects more than the study: leave it out",
    ),
    (
        &[
            "trim_percentage",
            "trim_verify_zero",
            "trim_backlog",
            "trim_backlog_batch",
        ],
        "discards blocks, which raidlab does not measure: leave it out",
    ),
];

/// Why an fio option is rejected in studies, if the reason is known.
pub(crate) fn refusal(name: &str) -> Option<String> {
    let (_, reason) = REFUSED.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!("`{name}` {reason}"))
}

/// The error in an option's value, if any.
///
/// fio passes values with arithmetic to a shell, reads files named in quotes, and replaces `$words`: so only
/// numbers, words and the characters between them are permitted.
pub(crate) fn wrong_value(name: &str, value: &str) -> Option<(String, String)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " .,:/%_+-=".contains(c);
    if let Some(sign) = value.chars().find(|c| !is_plain(*c)) {
        return Some((
            format!("`{name}` contains `{}`", sign.escape_default()),
            "write letters, digits and . , : / % _ + - = only".to_owned(),
        ));
    }
    if name == "ioengine" && !ENGINES.contains(&value) {
        let message = if value.starts_with("external") {
            "an external engine is another program, which a study must not run".to_owned()
        } else {
            format!("`{value}` is not an engine that reads and writes the files of a stack")
        };
        return Some((message, crate::syntax::diagnostic::enumerate(ENGINES)));
    }
    if name == "mem" && !["malloc", "shm", "mmap"].contains(&value) {
        return Some((
            format!("`mem` cannot be `{value}`"),
            "write \"malloc\", \"shm\" or \"mmap\"".to_owned(),
        ));
    }
    wrong_number(name, value)
}

/// Maps fio's aliases of an option to the name used in this file and in the table of keys.
pub(crate) fn canonical(name: &str) -> &str {
    match name {
        "blocksize" => "bs",
        "readwrite" => "rw",
        "iodepth_batch_submit" => "iodepth_batch",
        "iodepth_batch_complete" => "iodepth_batch_complete_min",
        "blocksize_range" => "bsrange",
        "blocksize_unaligned" => "bs_unaligned",
        "ba" => "blockalign",
        "nr_files" => "nrfiles",
        "timeout" => "runtime",
        "iomem" => "mem",
        "mem_align" => "iomem_align",
        "lockmem_size" => "lockmem",
        "ratemin" => "rate_min",
        "ratecycle" => "rate_cycle",
        "start_delay" => "startdelay",
        "wait_for_previous" => "stonewall",
        "threads" => "thread",
        "ss" => "steadystate",
        "ss_dur" => "steadystate_duration",
        "ss_ramp" => "steadystate_ramp_time",
        "ss_interval" => "steadystate_check_interval",
        "fill_fs" => "fill_device",
        other => other,
    }
}
