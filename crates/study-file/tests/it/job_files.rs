//! `fio_file`: what the study adds to a job file, and job files in the forms that people have.

use study::plan::Plan;
use study::workload::Work;
use study_file::{Diagnostics, Known, read};

/// A study of a job file, with this after `path`.
fn study(job: &str, rest: &str) -> Result<Plan, Diagnostics> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("x.fio"), job).expect("written");
    let known = Known {
        folder: Some(folder.path().to_owned()),
        ..Known::default()
    };
    let source = format!("[[workload]]\nname = \"w\"\nfio_file = {{ path = \"x.fio\"{rest} }}\n");
    read(&source, "a.toml", &known)
}

fn messages(wrong: &Diagnostics) -> Vec<&str> {
    wrong.iter().map(|diagnostic| diagnostic.message.as_str()).collect()
}

/// The value of an option in each cell.
fn values(plan: &Plan, option: &str) -> Vec<String> {
    let of_work = |work: &Work| match work {
        Work::FioFile(spec) => {
            let found = spec.sections[0].options.iter().find(|(name, _)| name == option);
            found.map_or_else(String::new, |(_, value)| value.clone())
        }
        _ => unreachable!("the study has a job file"),
    };
    plan.cells.iter().map(|cell| of_work(&cell.workload.work)).collect()
}

const VARIABLES: &str = "[a]\nrw=${RW}\nbs=${BS}\nsize=${size}\n";

#[test]
fn variables_of_a_job_file_are_axes() {
    let vars = ", vars = { BS = [\"4k\", \"64k\"], RW = \"randread\", size = [\"1m\", \"2m\"] }";
    let plan = study(VARIABLES, vars).expect("sound");
    assert_eq!(values(&plan, "bs"), ["4k", "4k", "64k", "64k"]);
    assert_eq!(values(&plan, "size"), ["1m", "2m", "1m", "2m"]);
    let axes = |axis: &str| -> Vec<String> {
        let of_cell = |cell: &study::plan::Cell| {
            let found = cell.axes.iter().find(|(name, _)| name == axis);
            found.map_or_else(String::new, |(_, value)| value.clone())
        };
        plan.cells.iter().map(of_cell).collect()
    };
    assert_eq!(axes("BS"), ["4k", "4k", "64k", "64k"]);
    assert_eq!(
        axes("fio_size"),
        ["1m", "2m", "1m", "2m"],
        "`size` is a key of the study"
    );
    assert!(plan.cells[3].key.contains("BS=64k"), "{}", plan.cells[3].key);
    let mut ids: Vec<_> = plan.cells.iter().map(|cell| cell.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn variables_without_values_and_values_without_variables_are_errors() {
    let wrong =
        study(VARIABLES, ", vars = { BS = \"4k\", DEPTH = 3 }").expect_err("two are missing, one is too much");
    assert_eq!(
        messages(&wrong),
        [
            "x.fio:2: `${RW}` has no value",
            "x.fio:4: `${size}` has no value",
            "x.fio has no `${DEPTH}`",
        ]
    );
    let wrong = study("[a]\nrw=read\n", "").expect_err("no size").to_string();
    assert!(wrong.contains("size = \"4G\""), "{wrong}");
}

#[test]
fn the_size_of_a_study_is_an_axis() {
    let plan = study("[a]\nfilename=/dev/sda\n", ", size = [\"1M\", \"8M\"]").expect("sound");
    assert_eq!(values(&plan, "size"), ["1048576", "8388608"]);
}

/// A small file must not become gigabytes: each combination repeats it.
#[test]
fn a_job_file_that_multiplies_is_refused_before_it_does() {
    let values: Vec<String> = (0..70).map(|number| format!("\"{}k\"", number + 1)).collect();
    let list = values.join(", ");
    let vars = format!(", vars = {{ A = [{list}], B = [{list}] }}");
    let wrong = study("[a]\nsize=1m\nbs=${A}\nrate=${B}\n", &vars).expect_err("4900 combinations");
    assert_eq!(messages(&wrong), ["there are 4900 combinations of `size` and `vars`"]);
}

/// Notes are for people: a cell with other notes is the same cell.
#[test]
fn ignored_options_do_not_make_another_cell() {
    let ids = |job: &str| -> Vec<_> {
        let plan = study(job, "").expect("sound");
        plan.cells.iter().map(|cell| cell.id).collect()
    };
    assert_eq!(
        ids("[a]\nsize=1m\n"),
        ids("[a]\nsize=1m ; one\nwrite_bw_log=x\nthread\n")
    );
}

/// Issue 39, 12: of 17 public job files, 15 were refused. Each of these has the options of some of them, in other words.
#[test]
fn options_of_public_job_files_are_accepted() {
    let with_size = [
        "[global]\ndirectory=t\nrate=1250\nratemin=1024\nsize=1m\n[a]\nstartdelay=0\n[b]\nstartdelay=4",
        "[global]\nioengine=libaio\nbuffered=0\nsize=1m\ndirectory=/d\n[a]\niodepth=4\n[b]\niodepth=32",
        "[back]\nrw=read:-8k\nfilename=128m\nsize=1m",
        "[a]\nioengine=libaio\niodepth=256\nsize=1m\ndedupe_mode=working_set\ndedupe_global=1\ndedupe_percentage=50\n\
         dedupe_working_set_percentage=50\nbuffer_compress_percentage=50\nrw=write",
        "[global]\nfilename=f\nname=n\nrw=randrw\nrwmixread=60\nrwmixwrite=40\nnumjobs=4\ntime_based\nruntime=9\n[a]\nsize=1m",
        "[a]\nsize=1m\nio_submit_mode=offload\nrate_iops=50\nrate_process=poisson\nioengine=libaio\niodepth=32",
        "[global]\nthread\nflow_sleep=1000\nfilename=/tmp/x\nsize=1m\n[a]\nflow=1\nrw=write\n[b]\nflow=8\nrw=randread",
        "[a]\nbssplit=512/10:1k/5:4k/85\nrw=randrw\nrwmixread=80\ndirect=1\nsize=1m",
        "[a]\nsize=1m\nnorandommap\nrandom_distribution=zoned:50/5:30/15:20/",
        "[global]\nbsrange=4k-4k\ntimeout=60\nsize=1m\nnumjobs=4\t; four\n[a]\nrw=write\n[b]\nstonewall\nrw=read",
        "[global]\nthreads=1\nfilename=/tmp/x\nfilesize=1m\n[w]\nrw=write\nruntime=10\n[r]\nnew_group\nwait_for=w",
        "[global]\nsize=1m\ntime_based\nthreads=1\n[a]\nfilename=/dev/null\nruntime=5m\nss=iops:10%\nss_dur=30s\nss_ramp=10s",
        "[global]\nfilename=/tmp/x\nfilesize=1m\nexitall=1\n[a]\nexit_what=stonewall\n[b]\nrate=300,300,300",
        "[global]\nrw=randread\nsize=1m\nallow_file_create=0\nthread=1\n[default]\n[other]\niodepth=4",
        "[global]\nioengine=filecreate\ncreate_on_open=1\nnrfiles=30\nfallocate=none\nfilesize=4k\nopenfiles=1\n[t]",
        "[global]\nioengine=filedelete\nfilesize=4k\nnrfiles=200\nunlink=0\n[t]",
        "[a]\nsteadystate=lat:5%  # stop\nwrite_lat_log=l\nlog_avg_msec=10 # ms\nfilename=/dev/nvme3n1\nsize=1m",
        "[a]\nfilename=/dev/sdb1\nsize=1m\nnuma_cpu_nodes=0\nnuma_mem_policy=bind:0",
    ];
    let without_size = [
        "[a]\nrw=randwrite\nverify=crc32c\nfilename=/dev/x",
        "[global]\nfilename=/tmp/x\ndirect=1\n[f]\nrw=read\nflow=2\n[b]\nrw=read:-8k\nflow=2\n#offset=50%",
        "[global]\nfilename=/dev/sda\nwrite_lat_log=l\nlog_prio=1\nioengine=libaio\n[a]\ncmdprio_percentage=20\n\
         cmdprio_class=1\nprioclass=3\n[b]\nstonewall\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2",
        "[a]\nfilename=/dev/sdb\nzonemode=strided\nzonesize=256m\nzoneskip=2g\nwrite_bw_log\nlog_offset=1",
        "[a]\nrandom_generator=lfsr\nlatency_target=500000\nlatency_window=5000000\nlatency_percentile=99.9\n\
         filename=/dev/sda",
        "[w]\nfilename=d.tmp ; or a disk\nrw=write\nfill_device=1\ndo_verify=0\nverify=meta\nverify_pattern=0xaa\n\
         [v]\nstonewall\ncreate_serialize=0\nfilename=d.tmp\nrw=read\nverify=meta",
        "[a]\nrw=write:112k\nbs=16k\nfilename=/dev/n\noffset=120k\noffset_increment=1m\nio_size=1m\nnumjobs=3\nloops=2\n\
         verify=crc32c\nverify_backlog=1\nverify_dump=1",
    ];
    for (jobs, rest) in [(&with_size[..], ""), (&without_size[..], ", size = \"8M\"")] {
        for job in jobs {
            let refused = study(job, rest).map(|_| ()).map_err(|wrong| wrong.to_string());
            assert_eq!(refused, Ok(()), "{job}");
        }
    }
}

#[test]
fn issue_39_jobs_that_wait_for_others_do_not_count_with_them() {
    let jobs = |last: &str| format!("[global]\nrw=randread\nsize=16k\nnumjobs=200\n[a]\n[b]\n{last}");
    for waits in ["stonewall\n", "wait_for=a\n"] {
        study(&jobs(waits), "").expect("200 at a time");
    }
    // [c] waits for [a] alone, [b] goes on.
    let wrong = study(&jobs("[c]\nwait_for=a\n"), "").expect_err("400 at a time");
    assert!(messages(&wrong)[0].contains("this one has 400 at a time"), "{wrong:?}");
    let wrong = study(&jobs(""), "").expect_err("400 at a time");
    assert!(messages(&wrong)[0].contains("this one has 400 at a time"), "{wrong:?}");
}

/// Four jobs with one file of 10 GiB were said to seek within 40 GiB.
#[test]
fn issue_39_jobs_with_one_filename_share_a_file() {
    let shares = |filename: &str| {
        let plan = study(&format!("[a]\nrw=randrw\nsize=16k\nnumjobs=4\n{filename}"), "").expect("a study");
        plan.cells[0].workload.work.job("a").expect("a job").shares_files
    };
    assert!(shares("filename=x\n"));
    assert!(!shares(""));
}

/// Editors of Windows begin a file with a mark that nobody sees.
#[test]
fn issue_39_a_byte_order_mark_is_no_option() {
    study("\u{feff}[global]\nrw=read\nsize=1m\n[a]\n", "").expect("a job file");
}
