//! A local folder as the host of a workload.

use std::path::Path;
use study::event::{Event, Guard, Latency, Sample, ToolCall};
use study::workload::{SizeSpec, TreeSpec, TreeTest, Work, WorkloadSpec};
use tools::{Invocation, ToolError, Tools};
use workload::{DeviceCounters, Host, HostError, Target};

type Hook<'a> = Box<dyn FnMut() + 'a>;

/// Records events. Its disks report `moved_bytes` more at each query.
pub struct Folder<'a> {
    pub events: Vec<Event>,
    pub steps: Vec<String>,
    pub moved_bytes: u64,
    pub on_remount: Hook<'a>,
    /// Filesystems on other groups of disks.
    pub group_mounts: Vec<(String, std::path::PathBuf)>,
    pub on_drop_caches: Hook<'a>,
    pub counters: DeviceCounters,
    pub compresses: bool,
}

impl Default for Folder<'_> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            steps: Vec::new(),
            moved_bytes: 1 << 40,
            on_remount: Box::new(|| ()),
            group_mounts: Vec::new(),
            on_drop_caches: Box::new(|| ()),
            counters: DeviceCounters::default(),
            compresses: false,
        }
    }
}

impl Host for Folder<'_> {
    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn step(&mut self, name: &str) {
        self.steps.push(name.to_owned());
    }

    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError> {
        self.steps.push("quiesce".to_owned());
        (self.on_drop_caches)();
        Ok(())
    }

    fn device_counters(&mut self) -> Result<DeviceCounters, HostError> {
        self.counters.reads += self.moved_bytes / 4096;
        self.counters.read_sectors += self.moved_bytes / 512;
        self.counters.written_sectors += self.moved_bytes / 512;
        Ok(self.counters)
    }

    fn remount(&mut self) -> Result<(), HostError> {
        self.steps.push("remount".to_owned());
        (self.on_remount)();
        Ok(())
    }

    fn compresses(&self) -> bool {
        self.compresses
    }

    fn group_mount(&self, group: &str) -> Option<std::path::PathBuf> {
        let found = self.group_mounts.iter().find(|(name, _)| name == group);
        found.map(|(_, path)| path.clone())
    }

    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError> {
        let events = &mut self.events;
        Tools::find(&[invocation.tool()])?.run(invocation, &mut |event| events.push(event))
    }
}

impl Folder<'_> {
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.events.iter().filter_map(|event| {
            if let Event::Sample(sample) = event {
                Some(sample)
            } else {
                None
            }
        })
    }

    pub fn sample(&self, test: &str, metric: &str) -> Option<f64> {
        self.samples()
            .find(|sample| sample.test == test && sample.metric.name() == metric)
            .map(|sample| sample.value)
    }

    /// All guards except those on time: these tests are short and share the processors with others.
    pub fn guards(&self) -> impl Iterator<Item = &Guard> {
        self.all_guards()
            .filter(|guard| !["long-enough", "steady"].contains(&guard.name.as_str()))
    }

    pub fn all_guards(&self) -> impl Iterator<Item = &Guard> {
        self.events.iter().filter_map(|event| {
            if let Event::Guard(guard) = event {
                Some(guard)
            } else {
                None
            }
        })
    }

    #[track_caller]
    pub fn guard(&self, name: &str, test: &str) -> &Guard {
        self.all_guards()
            .find(|guard| guard.name == name && guard.test.as_deref() == Some(test))
            .unwrap_or_else(|| panic!("no guard {name} of {test}"))
    }

    pub fn latency(&self, test: &str, operation: &str) -> Option<&Latency> {
        self.events.iter().find_map(|event| match event {
            Event::Latency(latency) if latency.test == test && latency.operation == operation => Some(latency),
            _ => None,
        })
    }
}

pub fn target(folder: &Path) -> Target<'_> {
    Target {
        mount_point: Some(folder),
        block_device: Path::new("/dev/null"),
    }
}

pub fn tree_spec(files: u32, directories: u32, size: [u64; 3], tests: &[TreeTest]) -> TreeSpec {
    let [min_bytes, median_bytes, max_bytes] = size;
    TreeSpec {
        files,
        size: SizeSpec {
            min_bytes,
            median_bytes,
            max_bytes,
        },
        directories,
        tests: tests.to_vec(),
        from: None,
        from_warm: false,
        to: None,
    }
}

pub fn tree(spec: TreeSpec) -> WorkloadSpec {
    WorkloadSpec {
        name: "a tree".to_owned(),
        age: None,
        work: Work::Tree(spec),
    }
}
