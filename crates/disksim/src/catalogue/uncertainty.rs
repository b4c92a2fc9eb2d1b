//! What is not known of a model: every figure has a range, by how it is known, and a drawn model has a value of each range.
//!
//! A range is a factor up and down within which the figure lies with a probability of 95 %: 0.1 is 1/1.1 to 1.1. `within` of a figure
//! says it; otherwise it is that of [`Spread`] for the figure's kind and certainty. All figures of one kind are scaled together, since
//! their errors have one cause: who overestimates one seek time overestimates the others.

use super::Model;
use super::format::{Disk, Figure, FlashKeys, InterfaceKeys, ModelFile, SeekKeys, Sure, Wrong};
use crate::random::mix;
use std::string::{String, ToString};
use std::vec::Vec;

/// A drawn value of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Key path: `disk.seek`.
    pub figure: &'static str,
    /// By which its values are multiplied; of a flag 1 if it is as in the file, and 0 if not.
    pub factor: f64,
}

/// Ranges of a kind of figure: of measured ones, of those from data sheets, and of those for which no document was found.
#[derive(Clone, Copy, Debug)]
struct Spread([f64; 3]);

impl Spread {
    /// Data sheets give the rate of the outer edge of the best surface; measured rates of one model differ by a few percent between
    /// disks (Krevat and others 2011, "Disks are like snowflakes").
    const RATE: Self = Self([0.03, 0.06, 0.12]);
    /// What a link carries besides data is in no data sheet.
    const LINK: Self = Self([0.03, 0.05, 0.1]);
    /// Data sheets give averages, with or without overheads.
    const SEEK: Self = Self([0.05, 0.15, 0.2]);
    const SWITCH: Self = Self([0.1, 0.3, 0.6]);
    /// Orders of magnitude.
    const OVERHEADS: Self = Self([0.1, 0.5, 1.0]);
    /// How firmware divides its memory is in no document.
    const MEMORY: Self = Self([0.1, 0.5, 1.0]);
    const ORDER: Self = Self([0.2, 0.5, 1.0]);
    const CHIPS: Self = Self([0.05, 0.15, 0.3]);
    const CONTROLLER: Self = Self([0.1, 0.2, 0.4]);
    const SLC: Self = Self([0.1, 0.2, 0.5]);
    /// Over-provisioning is often known from the size of the flash, and never what the firmware keeps of it.
    const SPARE: Self = Self([0.1, 0.2, 0.4]);

    fn of<T>(self, figure: &Figure<T>) -> f64 {
        let Self([measured, datasheet, unverified]) = self;
        figure.within.unwrap_or(match figure.sure {
            Sure::Measured => measured,
            Sure::Datasheet => datasheet,
            Sure::Unverified => unverified,
        })
    }
}

/// Attempts, each nearer to the figures of the file, to draw a model that can be built.
const ATTEMPTS: u32 = 6;

impl Model {
    /// The model with values drawn from the ranges of its figures. The same seed gives the same model.
    pub fn drawn(&self, seed: u64) -> (Model, Vec<Drawn>) {
        for attempt in 0..ATTEMPTS {
            let share = 1.0 / f64::from(1_u32 << attempt);
            let mut draw = Draw::of(Values::Drawn { seed, share });
            if let Some(model) = self.with(&mut draw) {
                return (model, draw.drawn);
            }
        }
        (self.clone(), Vec::new())
    }

    /// The ends of each figure's range, as factors; of a flag 0, which turns it over.
    pub fn ranges(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut draw = Draw::of(Values::Ends);
        draw.file(&self.file);
        let mut ranges: Vec<(&'static str, Vec<f64>)> = Vec::new();
        for end in draw.drawn {
            match ranges.iter_mut().find(|(figure, _)| *figure == end.figure) {
                Some((_, ends)) => ends.push(end.factor),
                None => ranges.push((end.figure, [end.factor].into())),
            }
        }
        ranges
    }

    /// The model with one figure multiplied by a factor of [`Self::ranges`]; `None` if no such model can be built.
    pub fn moved(&self, figure: &str, factor: f64) -> Option<Model> {
        self.with(&mut Draw::of(Values::One { figure, factor }))
    }

    fn with(&self, draw: &mut Draw<'_>) -> Option<Model> {
        let mut model = Model::build(draw.file(&self.file), "").ok()?;
        model.notes.clone_from(&self.notes);
        Some(model)
    }
}

/// The largest range: a factor of 4 up and down.
const WITHIN_MAX: f64 = 3.0;

/// Refuses ranges that are none.
pub(super) fn check(file: &ModelFile) -> Result<(), Wrong> {
    fn one<T>(figure: &Figure<T>) -> Result<(), Wrong> {
        match figure.within {
            Some(within) if !(0.0..=WITHIN_MAX).contains(&within) => {
                let message = std::format!("within = {within}: between 0 (exact) and {WITHIN_MAX} (a factor of 4)");
                Err(Wrong::at(figure, message))
            }
            _ => Ok(()),
        }
    }
    if let Some(disk) = &file.disk {
        let mut rates = [&disk.sustained_mb_s, &disk.track_mb_s].into_iter().flatten();
        rates.try_for_each(one)?;
        one(&disk.interface)?;
        one(&disk.seek)?;
        one(&disk.head_switch_ms)?;
        one(&disk.write_settle_ms)?;
        one(&disk.overheads)?;
        one(&disk.buffer)?;
        one(&disk.write_cache)?;
        one(&disk.queue)?;
    }
    if let Some(flash) = &file.flash {
        flash.slc.iter().try_for_each(one)?;
        one(&flash.interface)?;
        one(&flash.chips)?;
        one(&flash.spare_percent)?;
        one(&flash.buffer_sectors)?;
        one(&flash.overheads)?;
    }
    Ok(())
}

struct Draw<'a> {
    values: Values<'a>,
    drawn: Vec<Drawn>,
}

/// Where values of figures come from.
#[derive(Clone, Copy)]
enum Values<'a> {
    /// `share`: part of the distance to the drawn value.
    Drawn {
        seed: u64,
        share: f64,
    },
    /// Both ends of each range are listed, and the model is as in its file.
    Ends,
    One {
        figure: &'a str,
        factor: f64,
    },
}

impl<'a> Draw<'a> {
    const fn of(values: Values<'a>) -> Self {
        Self {
            values,
            drawn: Vec::new(),
        }
    }

    fn file(&mut self, file: &ModelFile) -> ModelFile {
        let mut file = file.clone();
        if let Some(disk) = &mut file.disk {
            self.disk(disk);
        }
        if let Some(flash) = &mut file.flash {
            self.flash(flash);
        }
        file
    }

    fn disk(&mut self, disk: &mut Disk) {
        for rates in [&mut disk.sustained_mb_s, &mut disk.track_mb_s].into_iter().flatten() {
            let factor = self.factor("disk.rate", Spread::RATE.of(rates));
            let rates = rates.is.get_mut();
            rates.outer *= factor;
            rates.inner *= factor;
        }
        self.interface("disk.interface", &mut disk.interface);
        let factor = self.factor("disk.seek", Spread::SEEK.of(&disk.seek));
        scale_seeks(disk.seek.is.get_mut(), factor);
        *disk.head_switch_ms.is.get_mut() *=
            self.factor("disk.head_switch_ms", Spread::SWITCH.of(&disk.head_switch_ms));
        *disk.write_settle_ms.is.get_mut() *=
            self.factor("disk.write_settle_ms", Spread::SWITCH.of(&disk.write_settle_ms));
        let factor = self.factor("disk.overheads", Spread::OVERHEADS.of(&disk.overheads));
        let times = disk.overheads.is.get_mut();
        for time in [
            &mut times.request_ms,
            &mut times.read_hit_after_read_ms,
            &mut times.read_hit_after_write_ms,
            &mut times.read_miss_after_read_ms,
            &mut times.read_miss_after_write_ms,
            &mut times.write_hit_after_read_ms,
            &mut times.write_hit_after_write_ms,
            &mut times.write_miss_after_read_ms,
            &mut times.write_miss_after_write_ms,
            &mut times.read_completion_ms,
            &mut times.write_completion_ms,
            &mut times.data_preparation_ms,
        ] {
            *time *= factor;
        }
        let factor = self.factor("disk.buffer", Spread::MEMORY.of(&disk.buffer));
        let is_guess = disk.buffer.sure == Sure::Unverified;
        let keeps = !is_guess || self.coin("disk.buffer.adaptive_read_ahead");
        let buffer = disk.buffer.is.get_mut();
        buffer.read_ahead_sectors = scaled(buffer.read_ahead_sectors, factor).min(buffer.segment_sectors);
        buffer.adaptive_read_ahead ^= buffer.read_ahead == "sectors" && !keeps;
        let factor = self.factor("disk.write_cache", Spread::MEMORY.of(&disk.write_cache));
        let buffer = disk.buffer.is.get_ref();
        let cache = disk.write_cache.is.get_mut();
        let most = match cache.in_segments {
            true => buffer.segments.saturating_mul(buffer.segment_sectors),
            false => u32::MAX,
        };
        cache.sectors_max = scaled(cache.sectors_max, factor).min(most);
        cache.extents_max = scaled(cache.extents_max, factor);
        disk.queue.is.get_mut().rotation_margin_ms *= self.factor("disk.queue", Spread::ORDER.of(&disk.queue));
    }

    fn flash(&mut self, flash: &mut FlashKeys) {
        self.interface("flash.interface", &mut flash.interface);
        let spread = Spread::CHIPS.of(&flash.chips);
        let reads = self.factor("flash.chips.read_us", spread);
        let programs = self.factor("flash.chips.program_us", spread);
        let chips = flash.chips.is.get_mut();
        chips.read_us *= reads;
        chips.third_page_read_us = chips.third_page_read_us.map(|time| time * reads);
        chips.program_us *= programs;
        chips.erase_us *= programs;
        *flash.spare_percent.is.get_mut() *=
            self.factor("flash.spare_percent", Spread::SPARE.of(&flash.spare_percent));
        let buffer = &mut flash.buffer_sectors;
        let factor = self.factor("flash.buffer_sectors", Spread::MEMORY.of(buffer));
        *buffer.is.get_mut() = scaled(buffer.get(), factor);
        if let Some(slc) = &mut flash.slc {
            let factor = self.factor("flash.slc", Spread::SLC.of(slc));
            let slc = slc.is.get_mut();
            slc.empty_gb *= factor;
            slc.full_gb *= factor;
            slc.program_us *= programs;
        }
        let factor = self.factor("flash.overheads", Spread::CONTROLLER.of(&flash.overheads));
        let times = flash.overheads.is.get_mut();
        times.read_us *= factor;
        times.write_us *= factor;
        times.flush_us *= factor;
        times.command_us *= factor;
        times.write_command_us = times.write_command_us.map(|time| time * factor);
    }

    fn interface(&mut self, name: &'static str, figure: &mut Figure<InterfaceKeys>) {
        // Never more than the link's own rate.
        let factor = self.factor(name, Spread::LINK.of(figure));
        let factor = factor.min(1.0 / factor);
        if matches!(self.values, Values::Ends) {
            self.drawn.pop_if(|end| end.factor > 1.0);
        }
        let rates = figure.is.get_mut();
        rates.read_mb_s *= factor;
        rates.write_mb_s *= factor;
    }

    fn factor(&mut self, figure: &'static str, spread: f64) -> f64 {
        let (seed, share) = match self.values {
            Values::Drawn { seed, share } => (seed, share),
            Values::One { figure: moved, factor } => return if moved == figure { factor } else { 1.0 },
            Values::Ends => {
                let ends = [1.0 / (1.0 + spread), 1.0 + spread].map(|factor| Drawn { figure, factor });
                self.drawn.extend(ends.into_iter().filter(|_| spread > 0.0));
                return 1.0;
            }
        };
        let factor = drawn_factor(seed, figure, spread * share);
        if spread > 0.0 {
            self.drawn.push(Drawn { figure, factor });
        }
        factor
    }

    /// True with a probability of one half.
    fn coin(&mut self, figure: &'static str) -> bool {
        let (keeps, factor) = match self.values {
            Values::Drawn { seed, .. } => {
                let keeps = uniform(seed, figure, 0) < 0.5;
                (keeps, f64::from(u8::from(keeps)))
            }
            Values::One { figure: moved, .. } => return moved != figure,
            Values::Ends => (true, 0.0),
        };
        self.drawn.push(Drawn { figure, factor });
        keeps
    }
}

/// Between 1 / (1 + spread) and 1 + spread with a probability of 95 %; of one figure whatever others there are. Only sums, products and
/// quotients, which are the same on all machines.
pub fn drawn_factor(seed: u64, figure: &str, spread: f64) -> f64 {
    // The sum of four uniform numbers is nearly normal, with a standard deviation of 1/√3.
    const TWO_SIGMA: f64 = 1.131_6;
    let sum: f64 = (0..4).map(|turn| uniform(seed, figure, turn)).sum();
    let distance = (sum - 2.0) / TWO_SIGMA;
    match distance < 0.0 {
        true => 1.0 / (1.0 - spread * distance),
        false => 1.0 + spread * distance,
    }
}

/// Between 0 and 1; of one figure whatever others there are.
fn uniform(seed: u64, figure: &str, turn: u64) -> f64 {
    let name = figure.bytes().fold(seed, |hash, byte| mix(hash ^ u64::from(byte)));
    (mix(name.wrapping_add(turn)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Rounded; never 0 unless it was.
fn scaled(count: u32, factor: f64) -> u32 {
    match count {
        0 => 0,
        count => (f64::from(count) * factor).round().clamp(1.0, f64::from(u32::MAX)) as u32,
    }
}

fn scale_seeks(seek: &mut SeekKeys, factor: f64) {
    match seek {
        SeekKeys::Curve {
            track_ms,
            average_ms,
            full_ms,
        }
        | SeekKeys::Lines {
            track_ms,
            average_ms,
            full_ms,
        } => {
            for time in [track_ms, average_ms, full_ms] {
                *time *= factor;
            }
        }
        SeekKeys::Hp {
            root_base_ms,
            root_ms,
            linear_base_ms,
            linear_ms,
            first_ms,
            ..
        } => {
            for time in [root_base_ms, root_ms, linear_base_ms, linear_ms]
                .into_iter()
                .chain(first_ms)
            {
                *time *= factor;
            }
        }
        SeekKeys::Points { points } => points.iter_mut().for_each(|(_, time)| *time *= factor),
        SeekKeys::Constant { ms } => *ms *= factor,
    }
}

/// The name of a figure for a person: `seek times`.
pub fn words(figure: &str) -> String {
    match figure {
        "disk.rate" => "the rate of the media",
        "disk.interface" | "flash.interface" => "the rate of the interface",
        "disk.seek" => "seek times",
        "disk.head_switch_ms" => "the time of a head switch",
        "disk.write_settle_ms" => "what writes wait for after a seek",
        "disk.overheads" => "command overheads",
        "disk.buffer" => "the length of read-ahead",
        "disk.buffer.adaptive_read_ahead" => "when the drive reads ahead",
        "disk.write_cache" => "the size of the write cache",
        "disk.queue" => "the order of its queue",
        "flash.chips.read_us" => "read times of the flash",
        "flash.chips.program_us" => "program times of the flash",
        "flash.spare_percent" => "over-provisioning",
        "flash.buffer_sectors" => "the size of the buffer",
        "flash.slc" => "the size of the SLC cache",
        "flash.overheads" => "overheads of the controller",
        other => other,
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::description::Device;
    use std::collections::BTreeSet;

    #[test]
    fn every_model_of_the_catalogue_can_be_drawn() {
        for entry in catalogue::list() {
            let model = catalogue::find(&entry.name).expect("it is listed");
            let mut different = BTreeSet::new();
            for seed in 0..8 {
                let (drawn, figures) = model.drawn(seed);
                assert!(!figures.is_empty(), "{}", entry.name);
                let device = |model: &Model| std::format!("{:?}", model.device);
                assert_eq!(device(&model.drawn(seed).0), device(&drawn), "{}", entry.name);
                assert_eq!(drawn.sectors, model.sectors);
                different.insert(device(&drawn));
                for figure in figures {
                    assert!((0.0..=4.0).contains(&figure.factor), "{figure:?}");
                    assert_ne!(words(figure.figure), figure.figure);
                }
            }
            assert!(different.len() > 4, "{}", entry.name);
        }
    }

    #[test]
    fn issue_41_one_figure_is_moved_and_all_others_are_as_in_the_file() {
        for name in ["wd-wd40efrx", "samsung-980-pro-1tb"] {
            let model = catalogue::find(name).expect("it is listed");
            let device = |model: &Model| std::format!("{:?}", model.device);
            let ranges = model.ranges();
            let drawn: BTreeSet<&str> = model.drawn(1).1.iter().map(|one| one.figure).collect();
            assert_eq!(ranges.iter().map(|(figure, _)| *figure).collect::<BTreeSet<_>>(), drawn);
            let mut different = BTreeSet::from([device(&model)]);
            for (figure, ends) in &ranges {
                assert!(
                    ends.len() == 2 || figure.ends_with("interface") || *ends == [0.0],
                    "{figure} {ends:?}"
                );
                for &end in ends {
                    different.insert(device(&model.moved(figure, end).expect("a sound model")));
                }
            }
            assert!(different.len() > ranges.len(), "{name}: {}", different.len());
            assert_eq!(
                device(&model.moved("disk.none", 2.0).expect("as it is")),
                device(&model)
            );
        }
    }

    #[test]
    fn nineteen_of_twenty_values_are_within_the_range() {
        let within = |spread: f64| {
            let inside = (0..4000_u64).filter(|&seed| {
                let mut draw = Draw::of(Values::Drawn {
                    seed: mix(seed),
                    share: 1.0,
                });
                let factor = draw.factor("disk.seek", spread);
                (1.0 / (1.0 + spread)..=1.0 + spread).contains(&factor)
            });
            inside.count() as f64 / 4000.0
        };
        for spread in [0.1, 1.0] {
            assert!((0.93..0.97).contains(&within(spread)), "{}", within(spread));
        }
    }

    #[test]
    fn issue_41_ranges_that_are_none_are_refused() {
        let text = include_str!("../../../../data/disks/seagate-ironwolf-4tb.toml");
        let of = |within: &str| {
            let text = text.replace(
                "full_ms = 19.0 }, sure",
                &std::format!("full_ms = 19.0 }}, within = {within}, sure"),
            );
            Model::parse("mine.toml", &text).map_err(|error| error.to_string())
        };
        for sound in ["0", "0.25", "3.0"] {
            of(sound).expect("a range");
        }
        for wrong in ["-0.1", "nan", "inf", "3.5"] {
            let message = of(wrong).expect_err("no range");
            assert!(
                message.starts_with("mine.toml:") && message.contains("between 0 (exact) and 3"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_figure_that_is_exact_is_not_drawn() {
        let mut model = catalogue::find("seagate-ironwolf-4tb").expect("it is there");
        let disk = model.file.disk.as_mut().expect("a disk");
        disk.seek.within = Some(0.0);
        let shortest_ns = |model: &Model| match &model.device {
            Device::Mechanical(disk) => disk.seek[0].seek_ns,
            Device::Flash(_) => 0,
        };
        for seed in 0..4 {
            let (drawn, figures) = model.drawn(seed);
            assert!(figures.iter().all(|one| one.figure != "disk.seek"));
            assert_eq!(shortest_ns(&drawn), shortest_ns(&model));
        }
    }
}
