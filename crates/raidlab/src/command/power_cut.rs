//! `raidlab power-cut`: repeats one state of a study's power cuts.

use super::print;
use crate::cli::PowerCutArguments;
use crate::error::ExpectedError;
use crate::progress::KernelBar;
use crash_test::StateChoice;
use lab::guest::PowerCut;
use lab::kernel::Cache;
use prepare::load_study;
use std::process::ExitCode;

pub fn power_cut(arguments: &PowerCutArguments) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    let (plan, _) = load_study::read(&arguments.study, &[], &cache)?;
    let choice = StateChoice {
        study: arguments.study.clone(),
        cell: arguments.cell,
        seed: arguments.seed,
        trial: arguments.trial,
        cut: PowerCut {
            at_ns: arguments.at,
            seed: arguments.cut_seed,
        },
        left_out: arguments.leave_out.clone(),
        lose: arguments.lose.clone(),
    };
    let explore = match arguments.shrink {
        true => crash_test::shrink,
        false => crash_test::state,
    };
    print(&explore(&choice, &plan, &cache, KernelBar::show_build)?)?;
    Ok(ExitCode::SUCCESS)
}
