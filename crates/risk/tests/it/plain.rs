//! A simulation as one would write it first: each disk's times are drawn once, every sector error is an event with an end,
//! every loss is counted. Without weights it needs arrays that fail often.

use super::{of_parity, precise};
use risk::{GroupModel, HOURS_PER_YEAR, Latent, Scrub, Weibull};

const LIFE: (f64, f64) = (30_000.0, 1.3);
const REBUILD: (f64, f64, f64) = (100.0, 300.0, 2.0);
const DELAY: f64 = 48.0;
const ERRORS_PER_HOUR: f64 = 2e-5;
const SCRUB: f64 = 2000.0;

struct Draws(u64);

impl Draws {
    /// xorshift64* (Vigna, ACM TOMS 42(4), 2016), not the generator of the crate.
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn weibull(&mut self, scale: f64, shape: f64) -> f64 {
        scale * (-self.uniform().ln()).powf(1.0 / shape)
    }
}

/// A disk works until it fails, is missing until it ends, and has sector errors from one time to another.
struct Plain {
    fails: f64,
    is_missing: bool,
    begins: f64,
    ends: f64,
    errors: Vec<(f64, f64)>,
}

impl Plain {
    fn new(now: f64, hours: f64, draws: &mut Draws) -> Self {
        let mut errors = Vec::new();
        let mut at = now;
        loop {
            at += draws.weibull(1.0 / ERRORS_PER_HOUR, 1.0);
            if at > hours {
                break;
            }
            errors.push((at, at + draws.uniform() * SCRUB));
        }
        let fails = now + draws.weibull(LIFE.0, LIFE.1);
        Self {
            fails,
            is_missing: false,
            begins: 0.0,
            ends: 0.0,
            errors,
        }
    }
}

/// Whether the group is lost, and whether sectors were lost before.
fn history(disks: usize, parity: usize, hours: f64, is_progress_safe: bool, draws: &mut Draws) -> (bool, bool) {
    let mut group: Vec<Plain> = (0..disks).map(|_| Plain::new(0.0, hours, draws)).collect();
    let mut lost_sectors = false;
    loop {
        let next = |disk: &Plain| if disk.is_missing { disk.ends } else { disk.fails };
        let which = (0..disks).min_by(|&a, &b| next(&group[a]).total_cmp(&next(&group[b])));
        let which = which.expect("there are disks");
        let now = next(&group[which]);
        if now > hours {
            return (false, lost_sectors);
        }
        if group[which].is_missing {
            group[which] = Plain::new(now, hours, draws);
            // The rebuild has read the others.
            for disk in &mut group {
                disk.errors.retain(|error| error.0 > now);
            }
            continue;
        }
        let begins = now + DELAY;
        let ends = begins + REBUILD.0 + draws.weibull(REBUILD.1, REBUILD.2);
        (group[which].is_missing, group[which].begins, group[which].ends) = (true, begins, ends);
        let missing: Vec<&Plain> = group.iter().filter(|disk| disk.is_missing).collect();
        if missing.len() > parity {
            return (true, lost_sectors);
        }
        if missing.len() == parity {
            let done = |disk: &Plain| ((now - disk.begins) / (disk.ends - disk.begins)).clamp(0.0, 1.0);
            let done = missing.iter().map(|disk| done(disk)).fold(0.0, f64::max);
            let present = group.iter().filter(|disk| !disk.is_missing);
            let there = |error: &&(f64, f64)| error.0 <= now && now < error.1;
            let errors = present.flat_map(|disk| disk.errors.iter().filter(there)).count();
            // Each is somewhere on its disk.
            lost_sectors |= (0..errors).any(|_| !is_progress_safe || draws.uniform() >= done);
        }
    }
}

#[test]
fn a_simulation_without_weights_finds_the_same() {
    for (disks, parity, is_progress_safe) in [(4, 1, false), (6, 2, true), (8, 3, false)] {
        let years = 5.0;
        let hours = years * HOURS_PER_YEAR;
        let mut draws = Draws(88_172_645_463_325_252);
        let count = 30_000;
        let (mut any, mut arrays) = (0.0, 0.0);
        for _ in 0..count {
            let (array, sectors) = history(disks, parity, hours, is_progress_safe, &mut draws);
            any += f64::from(u8::from(array || sectors)) / f64::from(count);
            arrays += f64::from(u8::from(array)) / f64::from(count);
        }
        let disk = GroupModel {
            lifetime: Weibull::new(0.0, LIFE.0, LIFE.1).expect("valid"),
            delay: DELAY,
            rebuild: Weibull::new(REBUILD.0, REBUILD.1, REBUILD.2).expect("valid"),
            latent: Latent::field(ERRORS_PER_HOUR, Scrub::Every(SCRUB)),
            is_progress_safe,
        };
        let ours = precise(&of_parity(disk, disks as u32, parity as u32, years));
        for (plain, weighed) in [(any, ours.any), (arrays, ours.array)] {
            let error = (plain * (1.0 - plain) / f64::from(count)).sqrt();
            println!(
                "| {disks} | {parity} | {plain:.4} ± {:.4} | {:.4} |",
                1.96 * error,
                weighed.value
            );
            let own = (weighed.high - weighed.low) / 3.92;
            assert!(
                (plain - weighed.value).abs() < 3.2 * error.hypot(own),
                "{plain} {error} {weighed:?}"
            );
        }
    }
}
