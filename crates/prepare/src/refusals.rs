//! Plans that are refused where they are to run: on a host, or in shards.

use crate::Error;
use study::Shard;
use study::plan::Plan;
use study::workload::{Work, WorkloadSpec};

/// On a host, before anything is touched.
pub fn refuse_power_cuts(plan: &Plan) -> Result<(), Error> {
    let cuts = |workload: &WorkloadSpec| matches!(workload.work, Work::PowerCut(_));
    match plan
        .cells
        .iter()
        .map(|cell| &cell.workload)
        .find(|workload| cuts(workload))
    {
        Some(workload) => Err(Error::PowerCutOnHost(workload.name.clone())),
        None => Ok(()),
    }
}

/// Also if the study is for the lab, but the command line says otherwise.
pub fn refuse_acts(plan: &Plan) -> Result<(), Error> {
    for cell in &plan.cells {
        let disks = cell.member_count();
        let Some(keeper) = cell.stack.keeper(disks) else {
            continue;
        };
        let mut refused = cell
            .acts
            .iter()
            .filter_map(|act| act.kind.why_not_on_host(&cell.stack, keeper));
        if let Some(why) = refused.next() {
            return Err(Error::ActOnHost(why));
        }
    }
    Ok(())
}

/// A claim may compare cells of two shards, neither of which can see that it is decided.
pub fn refuse_shards_of_claims(plan: &Plan, shard: Option<Shard>) -> Result<(), Error> {
    match shard.filter(|_| plan.precision.claims) {
        Some(_) => Err(Error::ShardOfClaims),
        None => Ok(()),
    }
}
