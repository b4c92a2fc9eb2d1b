//! Reimports a ZFS pool. It is imported while its filesystem is mounted, checked or changed, and exported
//! otherwise, which drops its caches.

use super::Restart;
use crate::array::partition_table;
use crate::array::zfs::{Pool, ZPOOL};
use crate::filesystem::mounting::Mounting;
use crate::machine::context::Context;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::mount_options;
use std::path::PathBuf;
use std::time::Duration;
use study::stack::StackSpec;
use tools::Invocation;

/// The pool of a stack, whose disks' partitions the kernel has not scanned yet.
pub(super) fn found(
    spec: &StackSpec,
    name: &str,
    (disks, restart): (&Disks, Restart),
    context: &mut Context<'_>,
) -> Result<Mounting, Cause> {
    let mut members = disks.members(&spec.array);
    if let Some(missing) = restart.missing {
        members.remove(missing % members.len());
    }
    members.extend(crate::setup::checks::external_disks(spec, disks)?);
    let mut partitions = Vec::new();
    for member in &members {
        let device = context.access.executor.device(member)?;
        partition_table::scan_partitions(member, context)?;
        partitions.push(partition_table::partition_of(&device));
    }
    for partition in &partitions {
        context
            .access
            .executor
            .wait_for_device(partition, Duration::from_secs(10))?;
    }
    Ok(Mounting {
        source: PathBuf::from(name),
        devices: vec![PathBuf::from(name)],
        kind: spec.filesystem.kind,
        arguments: mount_options::parse(&spec.mount_options, None)?,
        options: spec.mount_options.clone(),
        pool: Some(Pool {
            name: name.to_owned(),
            partitions,
        }),
        is_lazy: false,
    })
}

impl Pool {
    pub(super) fn take_up(&self, context: &mut Context<'_>) -> Result<(), Cause> {
        context.access.run(&self.import(), &self.partitions)?;
        Ok(())
    }

    pub(super) fn put_down(&self, context: &mut Context<'_>) -> Result<(), Cause> {
        context.access.run(&self.export(), &self.partitions)?;
        Ok(())
    }

    /// Result of a scrub: all copies and parity are read and compared with their checksums.
    pub(super) fn complaint(&self, context: &mut Context<'_>) -> Result<Option<String>, Cause> {
        self.take_up(context)?;
        let scrub = Invocation::new(ZPOOL).args(["scrub", "-w"]).arg(&self.name);
        context.access.run(&scrub, &self.partitions)?;
        let status = context.access.ask(&self.status())?;
        self.put_down(context)?;
        Ok(complaint(&status.stdout))
    }

    /// Removes a member from the pool, which then uses the others. Returns whether that was possible.
    pub(super) fn lose(&self, number: usize, context: &mut Context<'_>) -> Result<bool, Cause> {
        self.take_up(context)?;
        let member = &self.partitions[number % self.partitions.len()];
        let offline = Invocation::new(ZPOOL).arg("offline").arg(&self.name).arg(member);
        let is_offline = context.access.run(&offline, &self.partitions).is_ok();
        self.put_down(context)?;
        Ok(is_offline)
    }
}

/// The errors in a status after a scrub.
fn complaint(status: &str) -> Option<String> {
    let scan = status
        .lines()
        .find(|line| line.trim_start().starts_with("scan: "))?
        .trim();
    let errors = status.lines().find(|line| line.starts_with("errors: "))?.trim();
    let is_clean =
        scan.contains("repaired 0B") && scan.contains("with 0 errors") && errors.contains("No known data errors");
    (!is_clean).then(|| format!("zpool scrub: {scan}; {errors}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scrub_that_repaired_something_is_a_complaint() {
        let status =
            |scan: &str, errors: &str| format!("  pool: x\n state: ONLINE\n  scan: {scan}\nconfig:\n\n{errors}\n");
        let clean = "scrub repaired 0B in 00:00:01 with 0 errors on Wed Nov 25 00:00:00 2026";
        assert_eq!(complaint(&status(clean, "errors: No known data errors")), None);
        let repaired = "scrub repaired 8K in 00:00:01 with 0 errors on Wed Nov 25 00:00:00 2026";
        assert!(
            complaint(&status(repaired, "errors: No known data errors")).is_some_and(|words| words.contains("8K"))
        );
        let lost = "errors: 1 data errors, use '-v' for a list";
        assert!(complaint(&status(clean, lost)).is_some_and(|words| words.contains("1 data errors")));
    }
}
