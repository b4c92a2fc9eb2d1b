//! `raidlab soak`: random stacks, random work and random power cuts.

use super::print;
use crate::cli::SoakArguments;
use crate::error::{EXIT_INTERRUPTED, EXIT_TRIAL_FAILED, ExpectedError};
use crate::progress::KernelBar;
use crate::signals::Signals;
use crash_test::{Soak, SoakOptions, study_of_history};
use lab::kernel::Cache;
use std::process::ExitCode;

pub fn soak(arguments: &SoakArguments) -> Result<ExitCode, ExpectedError> {
    let options = SoakOptions {
        seed: arguments.seed,
        minutes: arguments.minutes,
        histories: arguments.histories,
        history: arguments.history,
        operations: arguments.operations,
        kernel: arguments.kernel.clone(),
        jobs: arguments.jobs.map_or_else(prepare::processors, |jobs| jobs as usize),
    };
    if arguments.print && arguments.history.is_some() {
        print(&study_of_history(&options))?;
        return Ok(ExitCode::SUCCESS);
    }
    let cache = Cache::of_user();
    let soak = Soak::new(&options, &cache, KernelBar::show_build)?;
    let signals = Signals::watch("raidlab: interrupted before the first history".to_owned())?;
    signals.begin_session();
    // A reader that went away does not end the soak.
    let total = soak.run(signals.interrupt().flag(), &mut |text| drop(print(text)));
    print(&soak.summary(&total))?;
    Ok(match () {
        () if signals.is_wanted() => ExitCode::from(EXIT_INTERRUPTED),
        () if total.is_clean() => ExitCode::SUCCESS,
        () => ExitCode::from(EXIT_TRIAL_FAILED),
    })
}
