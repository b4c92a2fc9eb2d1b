//! The simulation against what does not share its code: an exact Markov chain, a simulation without weights, and
//! first-order integrals.

mod chain;
mod integrals;
mod plain;

use risk::{
    Effort, Estimate, GroupModel, HOURS_PER_YEAR, Latent, Model, RedundantLayout, Scheme, Weibull, estimate,
};

/// Disks with constant rates of failure and of rebuilds (means in hours), without sector errors.
fn exponential(life: f64, rebuild: f64) -> GroupModel {
    GroupModel {
        lifetime: Weibull::new(0.0, life, 1.0).expect("valid"),
        delay: 0.0,
        rebuild: Weibull::new(0.0, rebuild, 1.0).expect("valid"),
        latent: Latent::none(),
        is_progress_safe: false,
    }
}

fn of_parity(disk: GroupModel, disks: u32, parity: u32, years: f64) -> Model {
    Model {
        layout: RedundantLayout::new(Scheme::Parity(parity), disks, 1, 2).expect("valid"),
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

/// 10^6 years of a RAID 6 of 8 disks, whose losses are 1 in 10^8 per 5 years.
#[test]
fn a_million_array_years_take_less_than_a_minute() {
    let start = std::time::Instant::now();
    let effort = Effort {
        precision: 0.0,
        histories_max: 200_000,
    };
    let ours = estimate(&of_parity(exponential(626_143.0, 20.0), 8, 2, 5.0), effort, 1);
    println!(
        "{} array-years in {:?}: {:?}",
        ours.array_years,
        start.elapsed(),
        ours.any
    );
    assert!(ours.array_years >= 1e6 && start.elapsed().as_secs() < 60);
    assert!((ours.any.value / 1.2e-8 - 1.0).abs() < 0.02);
}
