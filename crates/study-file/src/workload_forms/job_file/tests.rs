use super::*;

fn read(text: &str) -> Result<FioFileSpec, Vec<Refusal>> {
    parse(&JobFile::of(text, &[]), Given::default())
}

fn sized(text: &str, size_bytes: u64) -> FioFileSpec {
    let given = Given {
        size_bytes: Some(size_bytes),
        ..Given::default()
    };
    parse(&JobFile::of(text, &[]), given).expect("sound")
}

fn words(section: &FioSection) -> Vec<String> {
    let options = section.options.iter();
    options.map(|(name, value)| format!("{name}={value}")).collect()
}

const FILE: &str = "\
; a comment
[global]
bs=64k
size=16m
direct=1
description=x $(y) '
[fill]
rw=write
end_fsync

[look]
stonewall
readwrite=randread:8
blocksize=4k
numjobs=2
runtime=1500ms
";

#[test]
fn sections_have_what_global_says_before_them() {
    let sections = read(FILE).expect("sound").sections;
    let [fill, look] = &sections[..] else { panic!("two") };
    assert_eq!(
        (fill.name.as_str(), fill.pattern.name(), fill.block_bytes),
        ("fill", "write", 64 << 10)
    );
    assert!(fill.direct && fill.end_fsync && !look.end_fsync);
    assert_eq!(
        (look.pattern.name(), look.block_bytes, look.jobs),
        ("randread", 4 << 10, 2)
    );
    assert_eq!(look.runtime_ns, Some(1_500_000_000));
    assert_eq!(
        words(look),
        [
            "size=16m",
            "direct=1",
            "stonewall=1",
            "rw=randread:8",
            "bs=4k",
            "numjobs=2",
            "runtime=1500ms"
        ]
    );
}

#[test]
fn what_reaches_outside_is_refused_with_its_line_and_reason() {
    let of = |line: &str| {
        let refused = read(&format!("[a]\nsize=1m\n{line}\n")).expect_err(line);
        let message = refused[0].message.clone();
        assert!(
            message.starts_with("x.fio:3: ") || message.starts_with("x.fio:1: "),
            "{message}"
        );
        assert_eq!(refused.len(), 1, "{refused:?}");
        message
    };
    for (line, word) in [
        ("exec_prerun=rm -rf /", "runs commands"),
        ("ioengine=external:/tmp/x.so", "another program"),
        ("ioengine=net", "not an engine"),
        ("read_iolog=x", "outside the stack"),
        ("filename_format=x.$filenum", "by a pattern"),
        ("opendir=/etc", "adds the files of a folder"),
        ("verify_pattern='/etc/passwd'", "contains `\\'`"),
        ("rate=$ncpus*2", "a property of the machine"),
        ("rate=2*3", "contains `*`"),
        ("bs=`id`", "contains ```"),
        ("some_new_option=1", "must not use the fio option"),
        ("continue_on_error=all", "hides errors"),
        ("mem=mmap:/etc/x", "`mem` cannot be"),
        ("thinktime_spin=5", "virtual time"),
        ("zonemode=zbd", "needs zoned disks"),
        ("rw=trim", "`rw` cannot be"),
        ("size=10x", "not a size"),
        ("size=$(id)", "contains `$`"),
        ("numjobs=0", "not a number"),
        ("filesize=2m", "that differ"),
        ("offset_increment=1m", "its jobs share"),
        ("wait_for=b", "does not exist"),
        ("[b", "no closing bracket"),
    ] {
        let message = of(line);
        assert!(message.contains(word), "{line}: {message}");
    }
    let message = |text: &str| read(text).expect_err("refused")[0].message.clone();
    assert!(message("[global]\nbs=4k\n").contains("no job section"));
    assert!(message("bs=4k\n[a]\nsize=1m\n").contains("before the first section"));
}

/// Issue 39, 12: each of up to four attempts showed one more line.
#[test]
fn every_refused_line_of_a_file_is_reported_at_once() {
    let text = "[global]\nioengine=rbd\nbs=${BS}\n[a]\nrw=trim\nnumjobs=0\n[b]\nopendir=/x\nno_such=1\nsize=1m\n";
    let refused = read(text).expect_err("seven lines");
    let lines: Vec<&str> = refused
        .iter()
        .filter_map(|refusal| refusal.message.split(": ").next())
        .collect();
    assert_eq!(
        lines,
        [
            "x.fio:2", "x.fio:3", "x.fio:8", "x.fio:9", "x.fio:6", "x.fio:4", "x.fio:5"
        ],
        "{refused:?}"
    );
    assert!(refused.iter().all(|refusal| !refusal.help.is_empty()));
    assert!(refused[5].message.contains("no `size`"), "{refused:?}");
}

/// A `size` that is refused must not also be reported as missing.
#[test]
fn a_refused_size_is_not_also_a_missing_one() {
    let refused = read("[a]\nsize=$mb_memory\n").expect_err("a word of fio's");
    assert_eq!(refused.len(), 1, "{refused:?}");
}

#[test]
fn a_value_ends_at_its_comment() {
    let spec =
        read("[a]   ; first\nrw=read\t# not write\nsize=1m ; one\n# bs=8k\n  ;x\nnumjobs=4\t; jobs # more\n");
    let sections = spec.expect("sound").sections;
    assert_eq!(sections[0].name, "a");
    assert_eq!(words(&sections[0]), ["rw=read", "size=1m", "numjobs=4"]);
}

/// Options that decide nothing here must not stop a file, and must not vanish silently.
#[test]
fn what_names_places_and_logs_is_noted_once_and_not_passed_to_fio() {
    let text = "[global]\ndirectory=/mnt\nthread\nwrite_bw_log=/x/y\nlog_avg_msec=250\nper_job_logs=0\nname=z\n\
                [a]\nsize=1m\nwrite_bw_log=b\nfill_device=1\n[b]\nsize=1m\n";
    let spec = read(text).expect("sound");
    assert!(
        spec.sections.iter().all(|section| words(section) == ["size=1m"]),
        "{spec:?}"
    );
    assert_eq!(
        spec.notes,
        [
            "x.fio: `directory` has no effect: files are on the stack",
            "x.fio: `fill_device` has no effect: a file ends at its `size`, not when the device is full",
            "x.fio: `per_job_logs`, `thread` have no effect: jobs are threads of one fio, and those of a section are \
             summed",
            "x.fio: `log_avg_msec`, `write_bw_log` have no effect: raidlab records histograms and throughput over \
             time itself",
            "x.fio: `name` has no effect: tests have the names of the sections",
        ]
    );
}

#[test]
fn sections_that_name_a_file_share_it_and_others_do_not() {
    let text = "[global]\nsize=8m\n[w]\nfilename=/dev/nvme0n1\nrw=write\n[r]\nfilename=/dev/nvme0n1:/tmp/x\n\
                [own]\n[folder]\ndirectory=/a\nfilename=x\n[other]\ndirectory=/b\nfilename=x\n";
    let spec = read(text).expect("sound");
    let shared: Vec<&[u32]> = spec.sections.iter().map(|section| &section.shared[..]).collect();
    assert_eq!(shared, [&[0][..], &[0, 1], &[], &[2], &[3]]);
    let files = spec.shared_files();
    // [w] needs 8 MiB of the first file, [r] half of that in each of two.
    assert_eq!([0, 1, 2].map(|number| files[&number].bytes >> 20), [8, 8, 8]);
    assert!(files[&0].is_read, "by [r]");
    assert!(
        spec.notes[0].contains("`filename=/dev/nvme0n1` is a file on the stack, of [w] [r]"),
        "{:?}",
        spec.notes
    );
    let escaped = read("[a]\nfilename=/dev/disk\\:1\nsize=1m\n").expect("one file");
    assert_eq!(escaped.sections[0].shared, [0]);
}

/// A device has a size, a file on a stack has not: it is asked for, never guessed.
#[test]
fn sections_written_for_a_device_get_the_size_of_the_study() {
    let text = "[global]\nfilename=/dev/sda\n[all]\n[half]\nsize=50%\noffset=50%\n[begin]\noffset=1m\n";
    let refused = read(text).expect_err("no size");
    assert_eq!(refused.len(), 3);
    assert!(
        refused[0]
            .help
            .contains("fio_file = { path = \"x.fio\", size = \"4G\" }"),
        "{refused:?}"
    );
    let spec = sized(text, 8 << 20);
    let sizes: Vec<(u64, Option<u64>)> = spec
        .sections
        .iter()
        .map(|section| (section.size_bytes >> 20, section.file_bytes.map(|bytes| bytes >> 20)))
        .collect();
    assert_eq!(sizes, [(8, None), (4, Some(8)), (7, Some(8))]);
    assert_eq!(words(&spec.sections[1]), ["size=4194304", "offset=4194304"]);
    assert_eq!(spec.sections[1].as_io().offset_bytes, 4 << 20);
    assert_eq!(spec.sections[2].as_io().offset_bytes, 1 << 20);
}

/// fio's `size` begins at `offset`: the file that was prepared ended before, and fio made it longer in the measurement.
#[test]
fn a_file_holds_what_its_jobs_skip() {
    let of = |text: &str| {
        let spec = read(text).expect("sound");
        let section = &spec.sections[0];
        (section.size_bytes >> 20, section.each_file_bytes() >> 20)
    };
    assert_eq!(of("[a]\nsize=4m\noffset=2m\n"), (4, 6));
    assert_eq!(
        of("[a]\nfilename=x\nsize=4m\noffset=1m\noffset_increment=8m\nnumjobs=3\n"),
        (4, 21)
    );
    assert_eq!(of("[a]\nfilesize=4m\nnrfiles=3\n"), (12, 4));
}

#[test]
fn a_study_size_that_no_section_needs_is_an_error() {
    let given = Given {
        size_bytes: Some(1 << 20),
        ..Given::default()
    };
    let refused = parse(&JobFile::of("[a]\nsize=1m\n", &[]), given).expect_err("not used");
    assert!(refused[0].message.contains("every section has one"), "{refused:?}");
}

#[test]
fn headings_that_cannot_name_tests_get_names_of_their_own() {
    let text = "[global]\nsize=1m\n[punch hole 50%]\n[punch-hole-50-]\n[x]\nwait_for=punch hole 50%\n[x]\n[../y]\n";
    let spec = read(text).expect("sound");
    let names: Vec<&str> = spec.sections.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(names, ["punch-hole-50-", "punch-hole-50--2", "x", "x-2", "-y"]);
    assert!(words(&spec.sections[2]).contains(&"wait_for=punch-hole-50-".to_owned()));
    assert!(
        spec.notes
            .contains(&"x.fio: [punch hole 50%] is the test `punch-hole-50-`".to_owned())
    );
}

#[test]
fn variables_are_replaced_and_missing_ones_are_named() {
    let file = JobFile::of("[a]\nbs=${BS}\nbsrange=${BS}-${MAX}\nsize=1m\n", &[]);
    let variables = [("BS", "4k"), ("MAX", "8k")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let with = |variables: &[(String, String)]| {
        let given = Given {
            variables,
            ..Given::default()
        };
        parse(&file, given)
    };
    let spec = with(&variables).expect("sound");
    assert_eq!(words(&spec.sections[0]), ["bs=4k", "bsrange=4k-8k", "size=1m"]);
    let refused = with(&variables[..1]).expect_err("one is missing");
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].message, "x.fio:3: `${MAX}` has no value");
    assert!(refused[0].help.contains("vars = { MAX = [\"…\"] }"));
    assert!(uses(&file, "BS") && !uses(&file, "B"));
    let hostile = [("BS", "$(id)"), ("MAX", "8k")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert!(
        with(&hostile).expect_err("a command")[0]
            .message
            .contains("contains `$`")
    );
}

#[test]
fn included_files_give_options_and_keep_their_lines() {
    let others = [
        ("y/common.inc", "bs=8k ; eight\ninclude more.inc\n"),
        ("y/more.inc", "numjobs=2\n"),
    ];
    let spec = parse(
        &JobFile::of("[a]\nsize=1m\ninclude y/common.inc\n", &others),
        Given::default(),
    );
    let spec = spec.expect("sound");
    assert_eq!(words(&spec.sections[0]), ["size=1m", "bs=8k", "numjobs=2"]);
    let others = [("c.inc", "\n[b]\n")];
    let refused = parse(&JobFile::of("[a]\nsize=1m\ninclude=c.inc\n", &others), Given::default());
    let refused = refused.expect_err("a section");
    assert!(
        refused[0].message.starts_with("c.inc:2: an included file begins"),
        "{refused:?}"
    );
}

/// 180 KB with 1,000 sections became hundreds of megabytes: each repeats `[global]`.
#[test]
fn what_sections_repeat_of_global_is_limited() {
    let sections: String = (0..1000).map(|number| format!("[j{number}]\n")).collect();
    let text = |value: usize| format!("[global]\nsize=1m\nverify_pattern=0x{}\n{sections}", "0".repeat(value));
    assert!(read(&text(4 << 10)).is_ok());
    let refused = read(&text(180 << 10)).expect_err("180 MB");
    assert!(
        refused[0].message.contains("repeat more than 16 MiB of [global]"),
        "{}",
        refused[0].message
    );
}

/// `plan` accepted them, and every trial failed. `bs=1e400` is 0 for fio, which then never ended.
#[test]
fn a_number_that_fio_refuses_is_refused_before_a_trial() {
    for (line, help) in [
        ("bs=0", "write a size from 1B to 1G"),
        ("bs=4k,0", "write a size from 1B to 1G"),
        ("bs=1e400", "write a size from 1B to 1G"),
        ("blocksize=1e3", "write a size from 1B to 1G"),
        ("bsrange=0-4k", "write a size from 1B to 1G"),
        ("bssplit=4k/50:0/50", "write a size from 1B to 1G"),
        ("rate=1e400", "write a size up to 1P"),
        ("iodepth=0", "write a number from 1 to 32768"),
        ("iodepth=x", "write a number from 1 to 32768"),
        ("iodepth=-1", "write a number from 1 to 32768"),
        ("rwmixread=101", "write a number from 0 to 100"),
        ("percentage_random=101", "write a number from 0 to 100"),
        ("number_ios=x", "write a number from 0 to 2147483648"),
        ("direct=2", "write a number from 0 to 1"),
        ("prio=9", "write a number from 0 to 7"),
        ("runtime=1e400", "write a time up to ten years, such as 30s"),
        ("thinktime=x", "write a time up to ten years, such as 30s"),
    ] {
        let refused = read(&format!("[a]\nsize=1m\n{line}\n")).expect_err(line);
        let [refusal] = &refused[..] else {
            panic!("{line}: {refused:?}")
        };
        assert!(refusal.message.starts_with("x.fio:3: `"), "{}", refusal.message);
        assert_eq!(refusal.help, help, "{line}");
    }
}
