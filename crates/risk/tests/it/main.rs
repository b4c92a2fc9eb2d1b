//! The simulation against what does not share its code: an exact Markov chain, a simulation without weights, and
//! first-order integrals.

mod chain;
mod integrals;
mod plain;

use risk::{DiskGroup, Effort, Estimate, HOURS_PER_YEAR, Latent, Layout, Model, Scheme, Weibull, estimate};

/// Disks with constant rates of failure and of rebuilds (means in hours), without sector errors.
fn exponential(life: f64, rebuild: f64) -> DiskGroup {
    DiskGroup {
        lifetime: Weibull::new(0.0, life, 1.0).expect("valid"),
        delay: 0.0,
        rebuild: Weibull::new(0.0, rebuild, 1.0).expect("valid"),
        latent: Latent::none(),
        is_progress_safe: false,
    }
}

fn of_parity(disk: DiskGroup, disks: u32, parity: u32, years: f64) -> Model {
    Model {
        layout: Layout::new(Scheme::Parity(parity), disks, 1, 2).expect("valid"),
        disk,
        batch: None,
        hours: years * HOURS_PER_YEAR,
    }
}

/// To a percent.
fn precise(model: &Model) -> Estimate {
    let effort = Effort {
        precision: 0.01,
        histories_max: 300_000,
    };
    estimate(model, effort, 1)
}
