//! Progress of building a kernel.

use super::{LINE_EVERY, can_draw, note, template};
use indicatif::ProgressBar;
use lab::kernel::BuildProgress;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Progress of building a kernel.
pub struct KernelBar {
    bar: Option<ProgressBar>,
    name: String,
    last_line: Cell<Option<(BuildProgress, Instant)>>,
    began: Instant,
}

impl KernelBar {
    /// For [`prepare::kernels`]: shows the build from here until the end of what is returned.
    pub fn show_build(name: &str) -> Box<dyn Fn(BuildProgress)> {
        let bar = KernelBar::new(name);
        Box::new(move |progress| bar.show(progress))
    }

    fn new(name: &str) -> KernelBar {
        let bar = can_draw().then(|| {
            let style = "{prefix} {wide_bar} {pos:>4}/~{len} files  {elapsed} {msg}";
            let bar = ProgressBar::no_length().with_style(template(style));
            bar.set_prefix(format!("kernel {name}"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        note(&format!(
            "raidlab: building the lab's kernel, Linux {name} (once; it is kept in the cache)"
        ));
        KernelBar {
            bar,
            name: name.to_owned(),
            last_line: Cell::new(None),
            began: Instant::now(),
        }
    }

    fn show(&self, progress: BuildProgress) {
        let waiting;
        let words = match progress {
            BuildProgress::Waiting { pid } => {
                waiting = whom(pid);
                waiting.as_str()
            }
            BuildProgress::Unpacking => "unpacking the source",
            BuildProgress::Copying => "copying what changed in the tree",
            BuildProgress::Configuring => "configuring",
            BuildProgress::Probing => "configuring OpenZFS for the kernel",
            BuildProgress::Compiling { .. } => "",
        };
        if let Some(bar) = &self.bar {
            bar.set_message(words.to_owned());
            if let BuildProgress::Compiling { done, all } = progress {
                bar.set_length(all);
                bar.set_position(done);
            }
            return;
        }
        let is_new = self.last_line.get().is_none_or(|(last, at)| {
            let same_step = std::mem::discriminant(&last) == std::mem::discriminant(&progress);
            !same_step || at.elapsed() > LINE_EVERY
        });
        if is_new {
            self.last_line.set(Some((progress, Instant::now())));
            match progress {
                BuildProgress::Compiling { done, all } => {
                    note(&format!("raidlab: kernel {}: {done} of about {all} files", self.name));
                }
                _ => note(&format!("raidlab: kernel {}: {words}", self.name)),
            }
        }
    }
}

impl Drop for KernelBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        note(&format!(
            "raidlab: kernel {} took {}",
            self.name,
            report::clock(self.began.elapsed())
        ));
    }
}

/// The process that builds or fetches a kernel, and its command.
fn whom(pid: Option<u32>) -> String {
    let Some(pid) = pid else {
        return "waiting for another raidlab that is building a kernel".to_owned();
    };
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<String> = command
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let command = match words.is_empty() {
        true => String::new(),
        false => format!(", `{}`,", files::sanitize(&words.join(" "), files::Colours::Shown)),
    };
    format!("waiting for process {pid}{command} which is building a kernel")
}
