//! Compares a model with published or measured figures of its disk.

use crate::catalogue::format::{CheckKeys, Quantity, Sure};
use crate::catalogue::{Model, build::Wrong};
use crate::description::Device;
use crate::flash::OldData;
use crate::load_generator::LoadGenerator;
use crate::request::Op;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::format;
use std::string::String;
use std::vec::Vec;

const MIB_SECTORS: u32 = 2048;
/// Virtual time of random requests on disks with platters, as long as the fio run.
const MECHANICAL_NS: u64 = 60_000_000_000;
const FLASH_NS: u64 = 1_500_000_000;
const FLASH_WARM_NS: u64 = 1_000_000_000;
/// Writes after which a flash drive is in its steady state.
const FLASH_WARM_WRITES: u64 = 300_000;
/// Models with fewer independent figures than this should not be trusted far.
pub const INDEPENDENT_MIN: usize = 3;

/// A figure of a real disk and the model's.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Description of what was compared.
    pub what: String,
    pub unit: &'static str,
    pub real: f64,
    pub model: f64,
    /// Allowed deviation of the model.
    pub goal_percent: f64,
    /// The model was made from this figure, so agreement says little.
    pub put_in: bool,
    /// It follows from another figure: mean × IOPS = depth.
    pub follows: bool,
    pub sure: Sure,
    pub source: String,
    /// Within which the model's figure is at 95 %, by what is not known of its parameters; `None` without drawn models.
    pub range: Option<[f64; 2]>,
}

impl Comparison {
    /// Relative to the real figure.
    pub fn deviation_percent(&self) -> f64 {
        (self.model / self.real - 1.0) * 100.0
    }

    pub fn meets_its_goal(&self) -> bool {
        self.deviation_percent().abs() <= self.goal_percent
    }

    /// Whether the real figure is in the range.
    pub fn is_covered(&self) -> bool {
        self.range.is_some_and(|[low, high]| (low..=high).contains(&self.real))
    }

    /// Half of the range, relative to its middle.
    pub fn half_width_percent(&self) -> Option<f64> {
        self.range.map(|[low, high]| ((high / low).sqrt() - 1.0) * 100.0)
    }

    /// Measured or specified by the vendor, not used to make the model, and not implied by another figure.
    pub fn is_independent(&self) -> bool {
        !self.put_in && !self.follows && self.sure != Sure::Unverified
    }
}

/// Number of independent figures of a model, without running it.
pub fn independent_figures(model: &Model) -> usize {
    let checks = &model.file.check;
    let is_independent = |at: &usize| {
        let check = &checks[*at];
        check.sure != Sure::Unverified && !put_in(model, check) && !follows(model, *at)
    };
    (0..checks.len()).filter(is_independent).count()
}

/// How a model of the catalogue meets the published figures of its disk, without running it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Published or measured figures in the model's file.
    pub figures: usize,
    /// Those that the model meets within their goals.
    pub met: usize,
    /// Half of the deviations are smaller, without their signs.
    pub median_percent: f64,
    /// The figure from which it is farthest: `random read, 4 KiB, depth 16`.
    pub worst: String,
    /// How far it is from that, relative to the real figure.
    pub off_percent: f64,
}

/// Written by `make docs` from [`compare`].
const FITS: &str = include_str!("../../../data/disk-fit.toml");

/// `None` for a model without published figures, and for one that is not of the catalogue.
pub fn fit(name: &str) -> Option<Fit> {
    let mut fits: BTreeMap<String, Fit> = toml::from_str(FITS).expect("`make docs` writes it");
    fits.remove(name)
}

/// Runs the model for every figure in its file.
pub fn compare(model: &Model) -> Result<Vec<Comparison>, Wrong> {
    let mut runs = Runs {
        model,
        random: HashMap::new(),
    };
    let checks = model.file.check.iter().enumerate();
    checks.map(|(at, check)| runs.comparison(at, check)).collect()
}

/// Probability of a range: 95 %.
const SIGMAS: f64 = 1.96;

/// The same, with ranges from this many models that are drawn from what is not known of this one.
pub fn compare_drawn(model: &Model, draws: u32) -> Result<Vec<Comparison>, Wrong> {
    let mut all = compare(model)?;
    let mut logs: Vec<Vec<f64>> = all.iter().map(|_| Vec::new()).collect();
    for seed in 0..u64::from(draws) {
        let (drawn, _) = model.drawn(seed);
        for (figure, logs) in compare(&drawn)?.iter().zip(&mut logs) {
            logs.push(figure.model.max(f64::MIN_POSITIVE).ln());
        }
    }
    for (figure, logs) in all.iter_mut().zip(&logs) {
        let count = logs.len() as f64;
        if logs.len() > 1 {
            let mean = logs.iter().sum::<f64>() / count;
            let variance = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (count - 1.0);
            // The interval of one more value.
            let half = SIGMAS * (variance * (1.0 + 1.0 / count)).sqrt();
            figure.range = Some([(mean - half).exp(), (mean + half).exp()]);
        }
    }
    Ok(all)
}

/// Whether the model was fitted to this figure, or its layout was derived from this streaming rate.
fn put_in(model: &Model, check: &CheckKeys) -> bool {
    let made = model.file.disk.as_ref().is_some_and(|disk| disk.layout.is_none());
    let streams = matches!(check.what, Quantity::ReadMbS | Quantity::WriteMbS) && check.after_gb.is_none();
    check.fitted || made && streams
}

/// Whether this figure follows from another one that the model was made from, or that is already counted: a job with
/// a constant queue depth takes depth ÷ IOPS per request (Little's law), exactly so in the model. Only one of two
/// such figures counts. Real figures that differ by more than [`SAME`] are not from the same run.
fn follows(model: &Model, at: usize) -> bool {
    let check = &model.file.check[at];
    let others = model.file.check.iter().enumerate();
    !put_in(model, check)
        && others
            .filter(|(_, other)| is_reciprocal(check, other))
            .any(|(before, other)| put_in(model, other) || before < at && other.sure != Sure::Unverified)
}

/// fio's mean starts at submission and is rounded: at depth 1 it is up to 7 % less than 1 / IOPS.
const SAME: f64 = 0.1;

/// One is the mean and the other the rate of the same random requests.
fn is_reciprocal(one: &CheckKeys, other: &CheckKeys) -> bool {
    use Quantity as Q;
    let is_pair = matches!(
        (one.what, other.what),
        (Q::RandomReadMs, Q::RandomReadIops)
            | (Q::RandomReadIops, Q::RandomReadMs)
            | (Q::RandomWriteMs, Q::RandomWriteIops)
            | (Q::RandomWriteIops, Q::RandomWriteMs)
    );
    let depth = |check: &CheckKeys| check.depth.unwrap_or(1);
    let sectors = |check: &CheckKeys| check.sectors.unwrap_or(8);
    let under_way = one.is.get_ref() * other.is.get_ref() / 1000.0;
    is_pair
        && depth(one) == depth(other)
        && sectors(one) == sectors(other)
        && (under_way / f64::from(depth(one)) - 1.0).abs() <= SAME
}

/// Result of random requests of one kind.
#[derive(Clone, Copy)]
struct Random {
    iops: f64,
    mean_ms: f64,
    p50_ms: f64,
    p99_ms: f64,
}

struct Runs<'a> {
    model: &'a Model,
    random: HashMap<(bool, u32, u32), Random>,
}

impl Runs<'_> {
    fn comparison(&mut self, at: usize, check: &CheckKeys) -> Result<Comparison, Wrong> {
        Ok(Comparison {
            what: words(check),
            unit: unit(check.what),
            real: *check.is.get_ref(),
            model: self.value(check)?,
            goal_percent: goal_percent(check),
            put_in: put_in(self.model, check),
            follows: follows(self.model, at),
            sure: check.sure,
            source: check.source.clone(),
            range: None,
        })
    }

    fn value(&mut self, check: &CheckKeys) -> Result<f64, Wrong> {
        let depth = check.depth.unwrap_or(1).clamp(1, 65_536);
        let sectors = check.sectors.unwrap_or(8).clamp(1, MIB_SECTORS);
        use Quantity as Q;
        Ok(match check.what {
            Q::ReadMbS => self.stream(Op::Read, check)?,
            Q::WriteMbS => self.stream(Op::Write, check)?,
            Q::RandomReadIops => self.random(false, depth, sectors)?.iops,
            Q::RandomReadMs => self.random(false, depth, sectors)?.mean_ms,
            Q::RandomReadP50Ms => self.random(false, depth, sectors)?.p50_ms,
            Q::RandomReadP99Ms => self.random(false, depth, sectors)?.p99_ms,
            Q::RandomWriteIops => self.random(true, depth, sectors)?.iops,
            Q::RandomWriteMs => self.random(true, depth, sectors)?.mean_ms,
            Q::RandomWriteP50Ms => self.random(true, depth, sectors)?.p50_ms,
            Q::RandomWriteP99Ms => self.random(true, depth, sectors)?.p99_ms,
            Q::FlushMs => self.flush_ms(check.writes.unwrap_or(1))?,
            Q::SyncWriteMs => self.sync_write_ms(sectors)?,
        })
    }

    fn load(&self, empty: bool) -> Result<LoadGenerator, Wrong> {
        let mut model = self.model.clone();
        if let (Device::Flash(flash), true) = (&mut model.device, empty) {
            flash.old_data = OldData::NOTHING;
        }
        LoadGenerator::new(&model)
    }

    fn stream(&self, op: Op, check: &CheckKeys) -> Result<f64, Wrong> {
        let all = self.model.sectors;
        let sectors = (all / 4096).clamp(1, u64::from(MIB_SECTORS)) as u32;
        // Long enough to fill every cache first.
        let warm = match check.after_gb {
            Some(gb) => (gb * 1e9 / 512.0 / f64::from(sectors)) as u64,
            None => 400,
        };
        let counted = 400;
        let length = (warm + counted + 2) * u64::from(sectors);
        let from = (all.saturating_sub(length) as f64 * check.place.unwrap_or(0.0).clamp(0.0, 1.0)) as u64;
        Ok(self.load(check.empty)?.stream_mb_s(op, from, sectors, warm, counted))
    }

    fn random(&mut self, write: bool, depth: u32, sectors: u32) -> Result<Random, Wrong> {
        if let Some(known) = self.random.get(&(write, depth, sectors)) {
            return Ok(*known);
        }
        let (warm_ns, counted_ns) = match self.model.device {
            Device::Mechanical(_) => (0, MECHANICAL_NS),
            Device::Flash(_) => (FLASH_WARM_NS, FLASH_NS),
        };
        let warm_requests = if write && warm_ns > 0 { FLASH_WARM_WRITES } else { 0 };
        let mut load = self.load(false)?;
        let blocks = self.model.sectors / u64::from(sectors);
        let op = if write { Op::Write } else { Op::Read };
        let mut submitted_ns = std::vec![0; depth as usize];
        let mut took_ns: Vec<u64> = Vec::new();
        for tag in 0..depth {
            let sector = load.random(blocks) * u64::from(sectors);
            load.submit(tag, op, sector, sectors);
        }
        let (mut done, mut from_ns) = (0, None);
        while from_ns.is_none_or(|from_ns| load.now_ns < from_ns + counted_ns) {
            let tag = load.next();
            let began_ns = std::mem::replace(&mut submitted_ns[tag as usize], load.now_ns);
            done += 1;
            if from_ns.is_some() {
                took_ns.push(load.now_ns - began_ns);
            } else if load.now_ns >= warm_ns && done >= warm_requests {
                from_ns = Some(load.now_ns);
            }
            let sector = load.random(blocks) * u64::from(sectors);
            load.submit(tag, op, sector, sectors);
        }
        took_ns.sort_unstable();
        let count = took_ns.len().max(1) as f64;
        let quantile_ms = |part: f64| {
            let at = ((took_ns.len() as f64 * part) as usize).min(took_ns.len().saturating_sub(1));
            took_ns.get(at).map_or(0.0, |&ns| ns as f64 / 1e6)
        };
        let found = Random {
            iops: count / (load.now_ns - from_ns.unwrap_or(0)).max(1) as f64 * 1e9,
            mean_ms: took_ns.iter().sum::<u64>() as f64 / count / 1e6,
            p50_ms: quantile_ms(0.5),
            p99_ms: quantile_ms(0.99),
        };
        self.random.insert((write, depth, sectors), found);
        Ok(found)
    }

    fn flush_ms(&self, writes: u32) -> Result<f64, Wrong> {
        // Mean over several rounds, because one flush depends on the positions of its writes.
        const ROUNDS: u32 = 5;
        let mut load = self.load(false)?;
        let mut sum_ns = 0;
        for _ in 0..ROUNDS {
            for _ in 0..writes {
                let sector = load.random(self.model.sectors / 8) * 8;
                load.submit(0, Op::Write, sector, 8);
                load.next();
            }
            sum_ns += load.flush_ns();
        }
        Ok(sum_ns as f64 / f64::from(ROUNDS) / 1e6)
    }

    fn sync_write_ms(&self, sectors: u32) -> Result<f64, Wrong> {
        const ROUNDS: u32 = 1000;
        let mut load = self.load(false)?;
        for _ in 0..ROUNDS {
            let sector = load.random(self.model.sectors / u64::from(sectors)) * u64::from(sectors);
            load.submit(0, Op::Write, sector, sectors);
            load.next();
            load.flush_ns();
        }
        Ok(load.now_ns as f64 / f64::from(ROUNDS) / 1e6)
    }
}

/// Sustained rates within 3 %; random reads at depth 1 within 5 %, all others within 10 %; the slowest 1 % and
/// flushes within 20 %. Flash drives get at least 10 %.
fn goal_percent(check: &CheckKeys) -> f64 {
    use Quantity as Q;
    let deep = check.depth.is_some_and(|depth| depth > 1);
    match check.what {
        Q::ReadMbS | Q::WriteMbS if check.after_gb.is_none() => 3.0,
        Q::RandomReadIops | Q::RandomReadMs if !deep => 5.0,
        Q::RandomReadP99Ms | Q::RandomWriteP99Ms | Q::FlushMs | Q::SyncWriteMs => 20.0,
        _ => 10.0,
    }
}

fn unit(what: Quantity) -> &'static str {
    use Quantity as Q;
    match what {
        Q::ReadMbS | Q::WriteMbS => "MB/s",
        Q::RandomReadIops | Q::RandomWriteIops => "1/s",
        _ => "ms",
    }
}

fn words(check: &CheckKeys) -> String {
    use Quantity as Q;
    let depth = check.depth.unwrap_or(1);
    let size = match check.sectors {
        None | Some(8) => "4 KiB".into(),
        Some(1) => "512 B".into(),
        Some(n) => format!("{} KiB", f64::from(n) / 2.0),
    };
    let random = |op: &str, of: &str| format!("random {op}, {size}, depth {depth}{of}");
    let stream = |op: &str| {
        let place = match check.place {
            None | Some(0.0) => "at the start".into(),
            Some(1.0) => "at the end".into(),
            Some(part) => format!("at {:.0} %", part * 100.0),
        };
        let after = check.after_gb.map_or(String::new(), |gb| format!(" after {gb} GB"));
        let empty = if check.empty { ", empty drive" } else { "" };
        format!("stream {op} {place}{after}{empty}")
    };
    match check.what {
        Q::ReadMbS => stream("read"),
        Q::WriteMbS => stream("write"),
        Q::RandomReadIops => random("read", ""),
        Q::RandomReadMs => random("read", ", mean"),
        Q::RandomReadP50Ms => random("read", ", median"),
        Q::RandomReadP99Ms => random("read", ", 99 %"),
        Q::RandomWriteIops => random("write", ""),
        Q::RandomWriteMs => random("write", ", mean"),
        Q::RandomWriteP50Ms => random("write", ", median"),
        Q::RandomWriteP99Ms => random("write", ", 99 %"),
        Q::FlushMs => format!("flush after {} scattered writes", check.writes.unwrap_or(1)),
        Q::SyncWriteMs => format!("random write, {size}, and a flush"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;
    use std::string::ToString;

    fn with(checks: &str) -> Model {
        let text = include_str!("../../../data/disks/wd-500gb-2007.toml").to_string();
        let own = text.split("[[check]]").next().unwrap_or_default().to_string();
        Model::parse("own.toml", &(own + checks)).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_figure_is_compared_with_what_the_model_does() {
        let model = with(
            "[[check]]\nwhat = \"read-mb-s\"\nis = 89.6\nsure = \"measured\"\nsource = \"x\"\n\
             [[check]]\nwhat = \"random-read-ms\"\nis = 27.0\nsure = \"measured\"\nsource = \"x\"\n\
             [[check]]\nwhat = \"flush-ms\"\nwrites = 100\nis = 1.0\nsure = \"unverified\"\nsource = \"x\"\n",
        );
        let got = compare(&model).expect("sound figures");
        assert!(got[0].put_in && got[0].meets_its_goal(), "{:?}", got[0]);
        // Half of the figure is about the time of a 7200 rpm disk.
        assert!((-60.0..-40.0).contains(&got[1].deviation_percent()), "{:?}", got[1]);
        assert!(!got[1].meets_its_goal() && got[1].is_independent());
        assert!(got[2].model > 100.0 && !got[2].is_independent(), "{:?}", got[2]);
        assert_eq!(independent_figures(&model), 1);
    }

    #[test]
    fn a_mean_and_a_rate_of_one_run_are_one_figure() {
        let check = |what: &str, more: &str, is: f64| {
            format!("[[check]]\nwhat = \"{what}\"\n{more}is = {is}\nsure = \"measured\"\nsource = \"x\"\n")
        };
        let independent = |checks: &[String]| independent_figures(&with(&checks.concat()));
        let fitted = check("random-read-iops", "fitted = true\n", 100.0);
        let rate = check("random-read-iops", "", 100.0);
        let deep = check("random-read-iops", "depth = 4\n", 100.0);
        let mean = check("random-read-ms", "", 10.0);
        let deep_mean = check("random-read-ms", "depth = 4\n", 40.0);
        assert_eq!(independent(&[fitted.clone(), mean.clone()]), 0);
        assert_eq!(independent(&[mean.clone(), fitted]), 0);
        assert_eq!(independent(&[rate.clone(), mean.clone()]), 1);
        assert_eq!(independent(&[rate.clone(), mean, deep, deep_mean]), 2);
        // For another kind of request, or another run.
        assert_eq!(independent(&[rate.clone(), check("random-write-ms", "", 10.0)]), 2);
        assert_eq!(
            independent(&[rate.clone(), check("random-read-ms", "sectors = 1\n", 10.0)]),
            2
        );
        assert_eq!(independent(&[rate.clone(), check("random-read-ms", "", 12.0)]), 2);
        // An estimate does not make a measurement redundant.
        let guess = rate.replace("measured", "unverified");
        assert_eq!(independent(&[guess, check("random-read-ms", "", 10.0)]), 1);
    }

    #[test]
    fn deeper_queues_are_other_runs() {
        let model = find("wd-500gb-2007").unwrap_or_else(|e| panic!("{e}"));
        let mut runs = Runs {
            model: &model,
            random: HashMap::new(),
        };
        let one = runs.random(false, 1, 8).expect("it runs");
        let many = runs.random(false, 32, 8).expect("it runs");
        assert!(many.iops > 1.2 * one.iops && many.p99_ms > many.p50_ms);
        assert!((one.iops * one.mean_ms / 1000.0 - 1.0).abs() < 0.01, "one at a time");
    }
}
