//! Studies with known truth and five kinds of noise, for simulations.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use stats::InBlock;
use std::sync::Arc;
use study::event::Sample;
use study::metric::Metric;
use study::plan::{Cell, Plan, Precision};
use study::stack::{MachineKind, MachineSpec, StackSpec};
use study::workload::{IoSpec, Work, WorkloadSpec};
use study::{CellId, Measurement, TrialKey};

/// Standard deviation of every kind of noise, relative to the value.
pub const DEVIATION: f64 = 0.02;
pub const STUDIES: u32 = 2_000;

#[derive(Clone, Copy, Debug)]
pub enum Noise {
    Normal,
    /// Log-normal with a long tail to the slow side.
    Skewed,
    /// One trial in three is in the other mode, six standard deviations of a mode away.
    TwoHumped,
    /// The machine gets slower by 30 % during the study.
    Drifting,
    /// Neighbouring trials are correlated: first order, coefficient 0.8.
    Autocorrelated,
}

pub const ALL: [Noise; 5] = [
    Noise::Normal,
    Noise::Skewed,
    Noise::TwoHumped,
    Noise::Drifting,
    Noise::Autocorrelated,
];

pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Between 0 and 1, neither included.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller's method.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            items.swap(last, (self.uniform() * (last + 1) as f64) as usize);
        }
        items
    }
}

/// Logarithms of the noise factors of consecutive trials.
fn noise(kind: Noise, trials: usize, dice: &mut Dice) -> Vec<f64> {
    let mut before = dice.normal();
    (0..trials)
        .map(|at| match kind {
            Noise::Normal => DEVIATION * dice.normal(),
            // exp(0.8 z) has mean exp(0.32) and deviation exp(0.32)·√(exp(0.64) − 1) = 1.304.
            Noise::Skewed => -DEVIATION * ((0.8 * dice.normal()).exp() - 0.32_f64.exp()) / 1.304,
            Noise::TwoHumped => {
                // Modes h apart, a third in one of them: deviation √(2/9·h² + (h/6)²) = 0.5·h.
                let apart = 2.0 * DEVIATION;
                let hump = if dice.uniform() < 1.0 / 3.0 { -apart } else { 0.0 };
                hump + apart / 3.0 + apart / 6.0 * dice.normal()
            }
            Noise::Drifting => -0.3 * at as f64 / trials as f64 + DEVIATION * dice.normal(),
            Noise::Autocorrelated => {
                before = 0.8 * before + 0.6 * dice.normal();
                DEVIATION * before
            }
        })
        .collect()
}

/// A study's values by stack; the last stack has `factor` times the others' speed.
pub fn study(kind: Noise, (stacks, rounds): (usize, usize), factor: f64, dice: &mut Dice) -> Vec<Vec<InBlock>> {
    let noise = noise(kind, rounds * stacks, dice);
    let mut values = vec![Vec::new(); stacks];
    let mut order = Vec::new();
    for round in 0..rounds {
        // As in `Plan::rounds`: every second round repeats the previous one backwards.
        if round % 2 == 0 {
            order = dice.shuffled(stacks);
        } else {
            order.reverse();
        }
        for (place, &stack) in order.iter().enumerate() {
            let truth = if stack == stacks - 1 { factor } else { 1.0 };
            values[stack].push(InBlock {
                block: round as u64,
                value: 100.0 * truth * noise[round * stacks + place].exp(),
                is_drawn: false,
            });
        }
    }
    values
}

/// A plan of `stacks` stacks on a host with one job; the stacks differ in axis `mount`, numbered from 0.
pub fn plan(stacks: usize, precision: Precision) -> Plan {
    let mut plan = Plan {
        title: String::new(),
        description: String::new(),
        source: String::new(),
        models: Vec::new(),
        processors: Vec::new(),
        cells: (0..stacks).map(cell).collect(),
        left_out: Vec::new(),
        claims: Vec::new(),
        tables: Vec::new(),
        weights: Vec::new(),
        precision,
    };
    plan.identify();
    plan
}

fn cell(number: usize) -> Cell {
    Cell {
        key: format!("stack {number} | job"),
        id: CellId::default(),
        stack_label: format!("stack {number}"),
        replicate: 0,
        acts: Vec::new(),
        axes: vec![("mount".to_owned(), number.to_string())],
        machine: Arc::new(MachineSpec {
            kind: MachineKind::Host,
            ram_bytes: 1 << 30,
            kernel: "6.12".to_owned(),
            processor: None,
            disks: Vec::new(),
            buses: Vec::new(),
            create_once: false,
            draws_models: false,
            moved: None,
        }),
        stack: Arc::new(StackSpec {
            mount_options: vec![number.to_string()],
            ..StackSpec::default()
        }),
        workload: WorkloadSpec {
            name: "job".to_owned(),
            age: None,
            work: Work::Io(IoSpec::default()),
        },
    }
}

/// The first `trials` values of a cell, as measured.
pub fn measured(cell: CellId, test: &str, values: &[InBlock], trials: u32) -> Vec<Measurement> {
    let as_measured = |one: &InBlock| Measurement {
        trial: TrialKey {
            cell,
            index: one.block as u32,
            seed: one.block,
        },
        entry: Sample {
            test: test.into(),
            metric: Metric::Throughput,
            value: one.value,
        },
        failed_guards: Vec::new(),
    };
    values[..trials as usize].iter().map(as_measured).collect()
}
