//! Settings of a running array: those made by mdadm are verified, those in /sys are made here. All end with the
//! array.

use super::{Array, write_mostly};
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use crate::machine::request_queue::in_use;
use std::path::PathBuf;
use study::stack::{ArraySpec, Bitmap};

/// The mode of a write journal that acknowledges writes itself.
const WRITE_BACK: &str = "write-back";

impl Array {
    /// Checks that the kernel shows what mdadm was asked to create.
    pub(crate) fn check_created(
        &self,
        spec: &ArraySpec,
        members: &[PathBuf],
        executor: &mut dyn Executor,
    ) -> Result<(), Cause> {
        if spec.bitmap != Bitmap::None {
            let chunk = spec.bitmap_chunk_bytes.map(|bytes| bytes.to_string());
            let writes = spec.write_behind.map(|writes| writes.to_string());
            for (name, wanted) in [("bitmap/chunksize", chunk), ("bitmap/backlog", writes)] {
                if let Some(wanted) = wanted {
                    self.must_show(name, &wanted, executor)?;
                }
            }
        }
        for member in &members[members.len() - write_mostly(spec)..] {
            let name = executor.device(member)?.kernel_name;
            self.must_show(&format!("dev-{name}/state"), "write_mostly", executor)?;
        }
        Ok(())
    }

    /// Makes the settings in /sys.
    pub(crate) fn set(&mut self, spec: &ArraySpec, executor: &mut dyn Executor) -> Result<(), Cause> {
        let settings = [
            ("stripe_cache_size", spec.stripe_cache_pages),
            ("group_thread_cnt", spec.group_thread_cnt),
            ("rmw_level", spec.rmw_level),
            ("skip_copy", spec.skip_copy),
            ("sync_speed_min", spec.sync_speed_min),
            ("sync_speed_max", spec.sync_speed_max),
        ];
        for (name, value) in settings {
            let Some(value) = value else { continue };
            executor.write(&self.attribute(name), &value.to_string())?;
            self.must_show(name, &value.to_string(), executor)?;
        }
        if spec.journal_write_back {
            let attribute = self.attribute("journal_mode");
            executor.write(&attribute, WRITE_BACK)?;
            let got = executor.read(&attribute)?;
            if in_use(&got) != WRITE_BACK {
                return Err(Cause::Setting {
                    what: format!("journal_mode of {}", self.device.kernel_name),
                    wanted: WRITE_BACK.to_owned(),
                    got,
                });
            }
        }
        self.sync_speed_max = spec.sync_speed_max;
        Ok(())
    }

    /// An attribute shows a plain value, a value with its origin (`5000 (local)`), or a list
    /// (`in_sync,write_mostly`).
    fn must_show(&self, name: &str, wanted: &str, executor: &mut dyn Executor) -> Result<(), Cause> {
        let got = executor.read(&self.attribute(name))?;
        if got.split([',', ' ']).any(|word| word == wanted) {
            return Ok(());
        }
        Err(Cause::Setting {
            what: format!("{name} of {}", self.device.kernel_name),
            wanted: wanted.to_owned(),
            got,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::md::Creation;
    use crate::machine::device::BlockDevice;
    use crate::simulated::{DryRunOn, SimulatedMachine};
    use std::path::Path;
    use study::stack::Level;

    const NODE: &str = "/dev/md100";

    fn members() -> Vec<PathBuf> {
        ["/dev/vda", "/dev/vdb", "/dev/vdc"].map(PathBuf::from).to_vec()
    }

    /// A machine on which mdadm has created this array, which is resyncing.
    fn created(spec: &ArraySpec) -> (SimulatedMachine<'static>, Array) {
        let members = members();
        let mut machine = SimulatedMachine::new(DryRunOn::Guest, members.iter(), true, None);
        let create = Creation {
            spec,
            node: Path::new(NODE),
            name: "NAME",
            uuid: "UUID",
            members: &members,
            journal: None,
            bitmap_file: None,
            in_sync: false,
        };
        let create = create.invocation().expect("is possible");
        machine.run(&create, &mut |_| ()).expect("runs");
        let device: BlockDevice = machine.device(Path::new(NODE)).expect("is there");
        let array = Array {
            device,
            uuid: "UUID".to_owned(),
            redundant: true,
            sync_speed_max: None,
            resyncs: false,
        };
        (machine, array)
    }

    fn mirror() -> ArraySpec {
        ArraySpec {
            level: Level::Raid1,
            bitmap: Bitmap::Internal,
            bitmap_chunk_bytes: Some(1 << 20),
            write_mostly: Some(2),
            write_behind: Some(64),
            ..ArraySpec::default()
        }
    }

    #[test]
    fn what_mdadm_was_asked_for_is_there() {
        let (mut machine, array) = created(&mirror());
        array
            .check_created(&mirror(), &members(), &mut machine)
            .expect("as it was asked for");
    }

    #[test]
    fn what_mdadm_has_not_made_is_found() {
        let reports = [
            ArraySpec {
                bitmap_chunk_bytes: Some(2 << 20),
                ..mirror()
            },
            ArraySpec {
                write_behind: Some(65),
                ..mirror()
            },
            ArraySpec {
                write_mostly: Some(1),
                ..mirror()
            },
        ]
        .map(|other| {
            let (mut machine, array) = created(&other);
            let error = array
                .check_created(&mirror(), &members(), &mut machine)
                .expect_err("is another one");
            error.to_string()
        });
        assert_eq!(
            reports,
            [
                "bitmap/chunksize of md100 was set to `1048576`, but the kernel shows `2097152`",
                "bitmap/backlog of md100 was set to `64`, but the kernel shows `65`",
                "dev-vdb/state of md100 was set to `write_mostly`, but the kernel shows `in_sync`",
            ]
        );
    }

    #[test]
    fn settings_in_sys_stay_after_a_resync() {
        let spec = ArraySpec {
            level: Level::Raid5,
            group_thread_cnt: Some(4),
            rmw_level: Some(0),
            skip_copy: Some(1),
            sync_speed_min: Some(5000),
            sync_speed_max: Some(50_000),
            ..ArraySpec::default()
        };
        let (mut machine, mut array) = created(&spec);
        array.set(&spec, &mut machine).expect("can be set");
        let shown =
            |machine: &mut SimulatedMachine, name: &str| machine.read(&array.attribute(name)).expect("is there");
        assert_eq!(shown(&mut machine, "group_thread_cnt"), "4");
        assert_eq!(shown(&mut machine, "rmw_level"), "0");
        assert_eq!(shown(&mut machine, "skip_copy"), "1");
        assert_eq!(shown(&mut machine, "sync_speed_min"), "5000 (local)");
        assert!(!array.is_idle(&mut machine).expect("can be read"));
        array.wait_until_idle(&mut machine).expect("ends");
        assert_eq!(shown(&mut machine, "sync_speed_max"), "50000 (local)");
    }
}
