//! Runs programs: with a clean environment, a time limit and a record of each call.

use crate::capture::Capture;
use crate::error::{MissingTool, MissingTools, ToolError};
use crate::found_tools::{CARRIED, SEARCH_PATH};
use crate::supervise::{self, Ended, Limits};
use crate::{Invocation, Recorder, Tool, Tools, Version};
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use study::event::{Event, ToolCall};

/// Environment of every program of a guest. What the dynamic linker does must not depend on the processor: how far it uses the
/// stack when it binds a function at its first call, and where it looks for a library that its cache does not name (glibc-hwcaps;
/// before glibc 2.37 also `haswell` and `avx512_1`). Nor must the instructions with which the C library copies and searches memory:
/// they decide in which order pages are touched first.
pub const GUEST_ENVIRONMENT: [(&str, &str); 2] = [("LD_BIND_NOW", "1"), ("GLIBC_TUNABLES", TUNABLES)];

/// Everything that glibc's `sysdeps/x86` chooses a function by: features of the instruction set, what glibc prefers on some
/// models (`-Fast_…`, `-Prefer_…`, `-Slow_…`), and the sizes of caches, above which it writes past them.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512BW,-AVX512CD,-AVX512DQ,-AVX512ER,-AVX512PF,-AVX512VL,-BMI1,\
    -BMI2,-ERMS,-FMA,-FMA4,-FSRM,-LZCNT,-MOVBE,-POPCNT,-RTM,-SSE4_1,-SSE4_2,-SSSE3,-XSAVEC,-AVX_Fast_Unaligned_Load,\
    -Fast_Copy_Backward,-Fast_Rep_String,-Fast_Unaligned_Copy,-Fast_Unaligned_Load,-Prefer_ERMS,-Prefer_FSRM,\
    -Prefer_No_VZEROUPPER,-Prefer_PMINUB_for_stringop,-Slow_BSF,-Slow_SSE4_2:glibc.cpu.x86_data_cache_size=0x8000:\
    glibc.cpu.x86_shared_cache_size=0x100000:glibc.cpu.x86_non_temporal_threshold=0xc0000";

impl Tools {
    /// The version of a program; determined once, and recorded as provenance at each use.
    pub fn version(&mut self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError> {
        let version = match self.versions.get(&tool) {
            Some(version) => version.clone(),
            None => self.probe_version(tool, recorder)?,
        };
        recorder.record(Event::Provenance {
            key: tool.program().to_owned(),
            value: version.line.clone(),
        });
        self.versions.insert(tool, version.clone());
        Ok(version)
    }

    fn probe_version(&self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError> {
        if tool.version_argument().is_empty() {
            return Ok(Version::unknown());
        }
        let question = Invocation::new(tool)
            .arg(tool.version_argument())
            .limit(Duration::from_secs(60));
        // Some programs print their version and exit with an error, so only their output counts.
        let call = match self.run(&question, recorder) {
            Err(ToolError::Exit { call, .. }) => *call,
            other => other?,
        };
        let printed = format!("{}\n{}", call.stdout, call.stderr);
        Version::parse(&printed).ok_or_else(|| ToolError::NoVersion { call: Box::new(call) })
    }

    /// Runs a program until it exits. The call is always recorded.
    pub fn run(&self, invocation: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        let Some(program) = self.found.get(&invocation.tool) else {
            return Err(MissingTools(vec![MissingTool(invocation.tool)]).into());
        };
        let began = Instant::now();
        let (ended, stdout, stderr) = match start(program, invocation) {
            Ok(child) => supervise::to_its_end(child, &self.limits(invocation, began)),
            Err(error) => (Ended::Lost(error), Capture::new(0), Capture::new(0)),
        };
        let call = ToolCall {
            argv: argv(program, invocation),
            exit: ended.exit(),
            stdout: stdout.into_text(),
            stderr: stderr.into_text(),
            duration_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        };
        recorder.record(Event::Call(call.clone()));
        judge(ended, call, invocation)
    }

    fn limits(&self, invocation: &Invocation, began: Instant) -> Limits<'_> {
        Limits {
            deadline: began + invocation.limit,
            output_bytes_max: invocation.output_bytes_max,
            cancel: self.cancel.as_ref(),
        }
    }
}

fn judge(ended: Ended, call: ToolCall, invocation: &Invocation) -> Result<ToolCall, ToolError> {
    let limit = invocation.limit;
    match ended {
        Ended::Exited(0) => Ok(call),
        Ended::Exited(status) => Err(ToolError::Exit {
            call: Box::new(call),
            status,
        }),
        Ended::Signalled(signal) => Err(ToolError::Signal {
            call: Box::new(call),
            signal,
        }),
        Ended::TimedOut { left_running } => Err(ToolError::TimedOut {
            call: Box::new(call),
            limit,
            left_running,
        }),
        Ended::Cancelled => Err(ToolError::Cancelled { call: Box::new(call) }),
        Ended::Lost(source) => Err(ToolError::Start {
            call: Box::new(call),
            source,
        }),
    }
}

fn start(program: &Path, invocation: &Invocation) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(&invocation.arguments)
        .env_clear()
        .envs([("PATH", SEARCH_PATH), ("LC_ALL", "C"), ("TZ", "UTC")])
        .envs(libraries(program))
        .envs(of_guest())
        .envs(invocation.tool.environment().iter().copied())
        .current_dir(&invocation.folder)
        // A program that asks a question reads the end of its input.
        .stdin(input(&invocation.input)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    supervise::in_a_group_of_its_own(&mut command);
    command.spawn()
}

/// What a guest's init got from its kernel. Every other process has other values, or none, and passes nothing on.
fn of_guest() -> impl Iterator<Item = (&'static str, &'static str)> {
    let has = |(name, value): &(&str, &str)| std::env::var(name).is_ok_and(|own| own == *value);
    GUEST_ENVIRONMENT.into_iter().filter(has)
}

/// The library path of a program that raidlab provides.
fn libraries(program: &Path) -> Option<(&'static str, String)> {
    let is_carried = program.starts_with(CARRIED);
    is_carried.then(|| ("LD_LIBRARY_PATH", format!("{CARRIED}/lib")))
}

/// The text as a file in memory: a program that does not read it does not block raidlab.
fn input(text: &str) -> std::io::Result<Stdio> {
    if text.is_empty() {
        return Ok(Stdio::null());
    }
    let file = rustix::fs::memfd_create("input", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

fn argv(program: &Path, invocation: &Invocation) -> Vec<String> {
    let mut argv = invocation.argv();
    argv[0] = program.to_string_lossy().into_owned();
    argv
}

impl Ended {
    fn exit(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
