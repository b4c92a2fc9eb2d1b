//! What is not known of a processor model: every figure has a range, by its kind and by how it is known, and a drawn model has a value
//! of each range.
//!
//! A range is a factor up and down within which the figure lies with a probability of 95 %. Figures of one kind are drawn together,
//! since their errors have one cause. What is derived from the time of a block follows it, and has a range of its own besides.

use super::{Cost, CostUnit, Processor, Sure};
use disksim::catalogue::uncertainty::drawn_factor;

/// Figures whose errors have one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CostKind {
    Block,
    Call,
    Fault,
    Switch,
    Memory,
    Parity,
    Checksum,
    Compressor,
    Cipher,
}

impl CostKind {
    const ALL: [Self; 9] = [
        Self::Block,
        Self::Call,
        Self::Fault,
        Self::Switch,
        Self::Memory,
        Self::Parity,
        Self::Checksum,
        Self::Compressor,
        Self::Cipher,
    ];

    const fn of(cost: Cost) -> Self {
        match cost {
            Cost::Block => Self::Block,
            Cost::Call | Cost::User | Cost::Fio | Cost::Clock => Self::Call,
            Cost::Fault => Self::Fault,
            Cost::Switch | Cost::Wakeup | Cost::Interrupt | Cost::Request => Self::Switch,
            Cost::Memory | Cost::MemoryRead | Cost::MemoryWrite | Cost::Copy | Cost::Zero | Cost::Scan => {
                Self::Memory
            }
            Cost::Xor | Cost::Pq | Cost::PqRecover => Self::Parity,
            Cost::Crc32 | Cost::Sha256 | Cost::Xxhash | Cost::Blake2b => Self::Checksum,
            Cost::Zstd
            | Cost::Unzstd
            | Cost::Lz4
            | Cost::Unlz4
            | Cost::Zlib
            | Cost::Unzlib
            | Cost::Lzo
            | Cost::Unlzo => Self::Compressor,
            Cost::Aes => Self::Cipher,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Block => "cpu.block",
            Self::Call => "cpu.call",
            Self::Fault => "cpu.fault",
            Self::Switch => "cpu.switch",
            Self::Memory => "cpu.memory",
            Self::Parity => "cpu.parity",
            Self::Checksum => "cpu.checksum",
            Self::Compressor => "cpu.compressor",
            Self::Cipher => "cpu.cipher",
        }
    }

    /// Range of a figure. One price of a block stands for code that needs 1.4 to 4.0 ns, also where it was measured: half of the
    /// operations are within 20 % (docs/internals/processor.md). Measurements of one machine on two days differ by a tenth. Guesses are
    /// those of a class of processors, which differ by a factor of two.
    const fn spread(self, sure: Sure) -> f64 {
        match (self, sure) {
            (Self::Block, Sure::Measured) => 0.25,
            (_, Sure::Measured) => 0.1,
            (Self::Block, _) => 0.5,
            (_, Sure::Datasheet) => 0.2,
            (_, Sure::Derived) => 0.5,
            (_, Sure::Unverified) => 1.0,
        }
    }
}

/// What a kind of figures is, for a person.
pub fn words(kind: &str) -> &str {
    match kind {
        "cpu.block" => "the time of the kernel's code",
        "cpu.call" => "the time of system calls",
        "cpu.fault" => "the time of page faults",
        "cpu.switch" => "the time of wake-ups and interrupts",
        "cpu.memory" => "the rate of copies",
        "cpu.parity" => "the rate of parity",
        "cpu.checksum" => "the rate of checksums",
        "cpu.compressor" => "the rate of compression",
        "cpu.cipher" => "the rate of encryption",
        other => other,
    }
}

impl Processor {
    /// The model with values drawn from the ranges of its figures, and by how much each kind takes longer. The same seed gives the same.
    pub fn drawn(&self, seed: u64) -> (Processor, Vec<(&'static str, f64)>) {
        let mut drawn = self.clone();
        let of_block = self.slower(Cost::Block, seed);
        for (cost, note) in Cost::ALL.into_iter().zip(&mut drawn.figures) {
            let mut slower = self.slower(cost, seed);
            if note.sure == Sure::Derived {
                slower *= of_block;
            }
            match cost.unit() {
                CostUnit::MegabytesPerSecond => note.value /= slower,
                CostUnit::Nanoseconds | CostUnit::Kibibytes => note.value *= slower,
            }
        }
        // The factor of a kind is that of its first figure.
        let first = |kind| Cost::ALL.into_iter().find(|cost| CostKind::of(*cost) == kind);
        let factors = CostKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind.name(), self.slower(first(kind)?, seed))));
        let factors = factors.collect();
        (drawn, factors)
    }

    /// By how much a figure takes longer.
    fn slower(&self, cost: Cost, seed: u64) -> f64 {
        let kind = CostKind::of(cost);
        drawn_factor(seed, kind.name(), kind.spread(self.figures[cost as usize].sure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_drawn_nearer_than_what_is_guessed() {
        let processor = super::super::find("xeon-gold-6248").expect("built in");
        let within = |cost: Cost, factor: f64| {
            let values = (0..200).map(|seed| processor.drawn(seed).0.value(cost) / processor.value(cost));
            values.filter(|ratio| (1.0 / factor..=factor).contains(ratio)).count()
        };
        assert!((180..=200).contains(&within(Cost::Block, 1.5)), "an estimate");
        assert!((180..=200).contains(&within(Cost::Xor, 2.0)), "a guess");
        let derived = within(Cost::Zlib, 1.5);
        assert!(
            (120..185).contains(&derived),
            "{derived}: its own range, and that of a block"
        );
        let measured = super::super::find("epyc-9004-vm").expect("built in");
        let call = |seed| measured.drawn(seed).0.value(Cost::Call) / measured.value(Cost::Call);
        assert!((0..200).all(|seed| (0.8..1.25).contains(&call(seed))));
    }

    #[test]
    fn a_kind_is_drawn_together_and_every_kind_for_itself() {
        let processor = super::super::find("n100").expect("built in");
        let (drawn, factors) = processor.drawn(7);
        assert_eq!(factors.len(), CostKind::ALL.len());
        assert_eq!(drawn.argument(4), processor.drawn(7).0.argument(4), "by the seed alone");
        assert_ne!(drawn.argument(4), processor.drawn(8).0.argument(4));
        let mut together = 0;
        for (one, other) in Cost::ALL.into_iter().zip(Cost::ALL.into_iter().skip(1)) {
            let [first, second] = [one, other].map(|cost| &processor.figures[cost as usize]);
            let is_alike = first.sure == second.sure && first.unit == second.unit;
            if CostKind::of(one) == CostKind::of(other) && is_alike {
                let [of_one, of_other] = [one, other].map(|cost| drawn.value(cost) / processor.value(cost));
                assert!((of_one - of_other).abs() < 1e-9, "{} {}", first.name, second.name);
                together += 1;
            }
        }
        assert!(together > 3, "{together}");
        assert!(factors.iter().all(|(kind, _)| words(kind) != *kind), "each has words");
    }
}
