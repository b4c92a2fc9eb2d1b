//! Compares the model of this machine's processor with the processor: `studies/processor.toml` on a zram device,
//! here and in a guest with the model, in both cases with the program itself as started by a user.
//!
//! zram does a request in the task that submits it: no thread is woken and no interrupt is awaited, which take
//! longer on a virtual machine than the work itself. (A direct read of 4 KiB from a loop device takes 34 µs on an
//! EPYC of 2022, most of it latency.) Pages of one repeated word, as written by the study, are not compressed: they
//! are compared and filled.
//!
//! In the guest, as here, raidlab runs with `--on host`. Kernels differ (6.12 as User-Mode Linux in the guest), and
//! only this machine has control groups. Other work on this machine makes its trials slower and never faster, so
//! the fastest of a cell's trials counts. The processor is measured before and after the trials, because the speed
//! of a virtual machine changes within ten minutes.

use crate::Error;
use crate::MeasuredFigure;
use crate::charged_guest::ChargedGuest;
use crate::figures::Figure;
use crate::measured_processor::MeasuredProcessor;
use crate::parallel_scaling::failed;
use files::OutputError;
use lab::job::{GuestJob, ProgramJob};
use prepare::kernels::ShowBuild;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use study::metric::Metric;
use trial::ProcessEnd;

const NAME: &str = "processor.toml";
const STUDY: &str = include_str!("../../../studies/processor.toml");

/// Runs the study on a new zram and writes its samples. Argument: the program.
const SCRIPT: &str = r#"
number=$(cat /sys/class/zram-control/hot_add)
trap 'echo "$number" > /sys/class/zram-control/hot_remove' EXIT
echo lz4 > "/sys/block/zram$number/comp_algorithm"
echo 4G > "/sys/block/zram$number/disksize"
"$1" run processor.toml --on host --devices "/dev/zram$number" --aa-control off --store host.db >&2
"$1" export --store host.db -o samples.json
"#;

/// Exists if the kernel has zram.
const CONTROL: &str = "/sys/class/zram-control";

/// Room for the device and for the trials.
const GUEST_BYTES: u64 = 10 << 30;

pub const FIGURES: [Figure; 3] = [Figure::ModelError, Figure::ModelWorst, Figure::ModelRanks];

/// A change in Linux after the guest's 6.12 that gives a test another code path: no processor model can predict it.
struct Change {
    since: (u32, u32),
    /// Prefix of the test's name, and its workload.
    stack: &'static str,
    workloads: &'static [&'static str],
    what: &'static str,
}

const CHANGES: [Change; 2] = [
    Change {
        since: (6, 14),
        stack: "btrfs",
        workloads: &["| direct 4K rw=randwrite", "| two jobs rw=randwrite"],
        what: "since Linux 6.14 btrfs writes through the page cache if it has checksums",
    },
    Change {
        since: (6, 16),
        stack: "ext4",
        workloads: &["| buffered 1M"],
        what: "since Linux 6.16 ext4 has large folios",
    },
];

/// The change that this machine's kernel has and the guest's lacks.
fn changed_since(test: &str, kernel: (u32, u32)) -> Option<&'static Change> {
    CHANGES.iter().find(|change| {
        kernel >= change.since
            && test.starts_with(change.stack)
            && change.workloads.iter().any(|workload| test.contains(workload))
    })
}

/// From uname(2)'s release, `6.18.44-1-amd64`.
fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Operations per second, by cell and test.
type Rates = BTreeMap<String, f64>;

pub fn measure(
    stop: &AtomicBool,
    show: ShowBuild,
    print: &dyn Fn(&str) -> Result<(), OutputError>,
) -> Result<Vec<MeasuredFigure>, Error> {
    if !rustix::process::geteuid().is_root() || !Path::new(CONTROL).exists() {
        print("skipped: cpu_model_error needs root and zram\n")?;
        return Ok(Vec::new());
    }
    let mut processor = MeasuredProcessor::now(show)?;
    let here = here(stop)?;
    processor.again()?;
    let model = lab::processor::parse("this machine", &processor.model("here")?).map_err(prepare::Error::from)?;
    let lab = in_guest(model.argument(model.cores), stop, show)?;
    let (mut tests, mut pairs) = (Vec::new(), Vec::new());
    let width = lab.keys().map(|test| test.len()).max().unwrap_or_default();
    let kernel = version(&rustix::system::uname().release().to_string_lossy());
    for (test, &lab) in &lab {
        let Some(&here) = here.get(test) else { continue };
        let changed = changed_since(test, kernel);
        let left_out = changed.map_or_else(String::new, |change| format!("  left out: {}", change.what));
        print(&format!(
            "{test:<width$} {lab:>10.0}/s lab {here:>10.0}/s here  {:>6.2}{left_out}\n",
            lab / here
        ))?;
        if changed.is_none() {
            tests.push(test.clone());
            pairs.push((lab, here));
        }
    }
    let measured = |figure| MeasuredFigure {
        figure,
        pairs: pairs.clone(),
        of: tests.clone(),
    };
    Ok(FIGURES.map(measured).into())
}

fn here(stop: &AtomicBool) -> Result<Rates, Error> {
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    std::fs::write(folder.path().join(NAME), STUDY).map_err(|error| failed(&error))?;
    let program = std::env::current_exe().map_err(prepare::Error::Machine)?;
    // Other work on this machine has priority during these minutes.
    let output = Command::new("nice")
        .args(["-n", "-10", "/bin/bash", "-e", "-c", SCRIPT, "bash"])
        .arg(program)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(prepare::Error::Machine)?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    let samples = std::fs::read(folder.path().join("samples.json")).map_err(|error| failed(&error))?;
    rates(&samples)
}

fn in_guest(costs: String, stop: &AtomicBool, show: ShowBuild) -> Result<Rates, Error> {
    let program = std::env::current_exe().map_err(prepare::Error::Machine)?;
    let commands = format!(
        "export RAIDLAB_STATE=/tmp/state; cd /tmp; cat > {NAME} <<'END'\n{STUDY}\nEND\n\
         {SCRIPT}\ncat samples.json > /dev/raidlab\n"
    );
    let arguments = ["-e", "-c", &commands, "bash", &program.to_string_lossy()];
    let guest = ChargedGuest {
        ram_bytes: GUEST_BYTES,
        job: GuestJob::Program(ProgramJob {
            path: "/bin/bash".into(),
            arguments: arguments.map(str::to_owned).into(),
        }),
        costs,
        interrupted: stop,
        show,
    };
    let mut samples = Vec::new();
    let ended = guest.run(&mut |line| samples.extend_from_slice(line))?;
    match ended.end {
        ProcessEnd::Exited => rates(&samples).map_err(|error| failed(&format!("{error}\n{}", ended.console))),
        how => Err(Error::Guest {
            how: format!("{how:?}"),
            message: String::new(),
            console: ended.console,
        }),
    }
}

/// From the output of `raidlab export`, which other events may follow.
fn rates(export: &[u8]) -> Result<Rates, Error> {
    let mut values = serde_json::Deserializer::from_slice(export).into_iter::<Value>();
    let export = values.next().and_then(Result::ok).unwrap_or_default();
    let mut rates = Rates::new();
    for sample in export["samples"].as_array().into_iter().flatten() {
        let wanted = [Metric::Iops, Metric::FilesPerSecond];
        if !wanted.iter().any(|metric| sample["metric"] == metric.name()) {
            continue;
        }
        let word = |key: &str| sample[key].as_str().unwrap_or_default();
        let test = format!("{}: {}", word("cell"), word("test"));
        let value = sample["value"].as_f64().unwrap_or_default();
        let rate = rates.entry(test).or_insert(value);
        *rate = rate.max(value);
    }
    match rates.is_empty() {
        false => Ok(rates),
        true => Err(failed(&"the export has no samples")),
    }
}

/// The deviations of the lab, relative to the figures measured here.
pub fn errors(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(lab, here)| (lab / here - 1.0).abs()).collect()
}

/// Spearman's coefficient: 1 if the lab ranks all tests like this machine.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        // Equal values share the mean of their ranks.
        let rank = |value: f64| {
            let below = values.iter().filter(|other| **other < value).count();
            let equal = values.iter().filter(|other| **other == value).count();
            below as f64 + (equal - 1) as f64 / 2.0
        };
        values.iter().copied().map(rank).collect()
    };
    let (lab, here) = (
        ranks(pairs.iter().map(|pair| pair.0).collect()),
        ranks(pairs.iter().map(|pair| pair.1).collect()),
    );
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum() };
    product(&lab, &here) / (product(&lab, &lab) * product(&here, &here)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_order_is_one_and_the_opposite_minus_one() {
        let same = [(1.0, 10.0), (5.0, 11.0), (7.0, 900.0)];
        assert!((rank_correlation(&same) - 1.0).abs() < 1e-9);
        let opposite = [(1.0, 900.0), (5.0, 11.0), (7.0, 10.0)];
        assert!((rank_correlation(&opposite) + 1.0).abs() < 1e-9);
        // One pair of four is swapped: 1 - 6 * 2 / (4 * 15).
        let nearly = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)];
        assert!((rank_correlation(&nearly) - 0.8).abs() < 1e-9);
    }

    #[test]
    fn what_newer_kernels_do_otherwise_is_left_out_on_them_only() {
        let direct = "btrfs compress=zstd | direct 4K rw=randwrite: randwrite";
        assert_eq!(version("6.18.44-fc-v657"), (6, 18));
        assert!(changed_since(direct, (6, 18)).is_some());
        assert!(changed_since(direct, (6, 12)).is_none());
        assert!(changed_since("btrfs | direct 4K rw=randread: randread", (6, 18)).is_none());
        assert!(changed_since("ext4 | buffered 1M rw=read: read", (6, 15)).is_none());
        assert!(changed_since("ext4 | buffered 1M rw=read: read", (7, 0)).is_some());
        assert!(changed_since("xfs | buffered 1M rw=read: read", (7, 0)).is_none());
    }

    #[test]
    fn an_error_is_a_share_of_what_was_measured() {
        assert_eq!(errors(&[(150.0, 100.0), (50.0, 100.0)]), [0.5, 0.5]);
    }
}
