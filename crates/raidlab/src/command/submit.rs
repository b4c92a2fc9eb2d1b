//! `raidlab submit`: a study as jobs of Slurm.

use super::print;
use crate::cli::{On, SubmitArguments};
use crate::error::ExpectedError;
use fleet::SubmitOptions;
use lab::kernel::Cache;
use prepare::load_study;
use std::process::ExitCode;
use study::stack::MachineKind;

pub fn submit(arguments: &SubmitArguments) -> Result<ExitCode, ExpectedError> {
    let options = SubmitOptions {
        study: arguments.study.clone(),
        partition: arguments.partition.clone(),
        nodes: arguments.nodes,
        tasks: arguments.tasks,
        time: arguments.time.clone(),
        mem: arguments.mem.clone(),
        options: arguments.options.clone(),
        folder: arguments.folder.clone(),
        seed: arguments.seed,
        only: arguments.only.clone(),
        on: arguments.on.map(|on| match on {
            On::Lab => MachineKind::Lab,
            On::Host => MachineKind::Host,
        }),
        inventory: arguments.inventory.clone(),
        dry_run: arguments.dry_run,
    };
    options.check()?;
    let (plan, _) = load_study::read_for_host(&options.study, &options.only, &Cache::of_user())?;
    print(&fleet::submit(&options, &plan)?)?;
    Ok(ExitCode::SUCCESS)
}
