//! Misbehaving programs: scripts with a known program's name, in their own folder.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

struct Fake {
    folder: tempfile::TempDir,
    tools: Tools,
}

/// A fake `mdadm`.
fn fake(script: &str) -> Fake {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("source"), folder.path().join("mdadm"));
    fs::write(&source, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&source, fs::Permissions::from_mode(0o755)).expect("executable");
    // Written by another process: a file that we have open for writing may be inherited by a child that another
    // test starts at the same time, and cannot be executed until that closes it.
    let copied = Command::new("cp")
        .arg("-p")
        .args([&source, &program])
        .status()
        .expect("cp runs");
    assert!(copied.success());
    let tools = Tools::find_on(folder.path().to_str().expect("UTF-8"), &[Tool::Mdadm]).expect("is there");
    Fake { folder, tools }
}

fn run(fake: &Fake, invocation: &Invocation) -> (Result<ToolCall, ToolError>, Vec<Event>) {
    let mut events = Vec::new();
    let result = fake.tools.run(invocation, &mut |event| events.push(event));
    (result, events)
}

fn plain() -> Invocation {
    Invocation::new(Tool::Mdadm)
}

/// Whether the process is gone or a zombie.
fn is_gone(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => true,
        Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')),
    }
}

#[test]
fn a_call_is_recorded_whole() {
    let fake = fake("echo out $1; echo err >&2");
    let (result, events) = run(&fake, &plain().arg("two words"));
    let call = result.expect("exits with 0");
    assert_eq!(
        (call.stdout.as_str(), call.stderr.as_str()),
        ("out two words\n", "err\n")
    );
    assert_eq!(call.exit, Some(0));
    assert_eq!(
        call.argv,
        [fake.folder.path().join("mdadm").to_str().expect("UTF-8"), "two words"]
    );
    assert!(call.duration_ns > 0);
    assert_eq!(events, [Event::Call(call)]);
}

#[test]
fn a_failed_call_is_recorded_too() {
    let (result, events) = run(&fake("echo no such array >&2; exit 4"), &plain());
    let error = result.expect_err("exits with 4");
    assert_eq!(error.to_string(), "`mdadm` exited with 4: no such array");
    assert_eq!(events, [Event::Call(error.call().expect("ran").clone())]);
}

#[test]
fn death_by_a_signal_is_told() {
    let (result, events) = run(&fake("echo before; kill -SEGV $$"), &plain());
    assert_eq!(
        result.expect_err("died").to_string(),
        "`mdadm` was killed by signal 11: before"
    );
    assert!(matches!(&events[..], [Event::Call(call)] if call.exit.is_none()));
}

#[test]
fn a_question_gets_no_answer() {
    let (result, _) = run(&fake("printf 'Continue? '; read answer || exit 9"), &plain());
    assert_eq!(
        result.expect_err("asked").to_string(),
        "`mdadm` exited with 9: Continue?"
    );
}

#[test]
fn the_environment_is_clean() {
    let (result, _) = run(&fake("env | sort; pwd"), &plain());
    let printed = result.expect("prints").stdout;
    let variables: Vec<_> = printed.lines().filter(|line| !line.starts_with("_=")).collect();
    let wanted = [
        "LC_ALL=C",
        "MDADM_NO_SYSTEMCTL=1",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        "PWD=/",
        "TZ=UTC",
        "/",
    ];
    assert_eq!(variables, wanted);
}

#[test]
fn much_output_on_both_streams_does_not_deadlock() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 0123456789 >&2; i=$((i+1)); done";
    let (result, _) = run(&fake(script), &plain().output_bytes_max(1000));
    let call = result.expect("ends");
    for stream in [&call.stdout, &call.stderr] {
        assert!(
            stream.starts_with("0123456789\n") && stream.ends_with("0123456789\n"),
            "{stream}"
        );
        assert!(stream.contains("[… 219000 bytes left out …]"), "{stream}");
    }
}

#[test]
fn too_long_a_run_is_killed_with_all_it_started() {
    let fake = fake("sleep 1000 & echo $!; trap '' TERM; echo waiting; wait; sleep 1000");
    let (result, events) = run(&fake, &plain().limit(Duration::from_millis(200)));
    let error = result.expect_err("killed");
    assert!(
        matches!(
            error,
            ToolError::TimedOut {
                left_running: false,
                ..
            }
        ),
        "{error}"
    );
    let printed = &error.call().expect("ran").stdout;
    let pid = printed.lines().next().expect("the sleeper's id");
    assert!(is_gone(pid), "{pid} is still there");
    assert_eq!(events.len(), 1);
}

#[test]
fn a_grandchild_that_keeps_the_pipe_does_not_hold_us() {
    let began = Instant::now();
    let (result, _) = run(&fake("sleep 30 & echo $!"), &plain());
    let call = result.expect("the program itself ended");
    assert!(began.elapsed() < Duration::from_secs(10));
    let pid = call.stdout.trim().parse().expect("a process id");
    let pid = rustix::process::Pid::from_raw(pid).expect("not 0");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("was still running");
}

#[test]
fn a_call_can_be_cancelled() {
    let mut fake = fake("exec sleep 1000");
    let (signal, mut press) = std::io::pipe().expect("a pipe");
    fake.tools.cancel_when_readable(signal.into());
    press.write_all(b"x").expect("written");
    let (result, _) = run(&fake, &plain());
    assert_eq!(result.expect_err("cancelled").to_string(), "`mdadm` was cancelled");
}

#[test]
fn what_cannot_start_says_why() {
    let fake = fake("");
    fs::write(fake.folder.path().join("mdadm"), "#!/nonexistent/shell\n").expect("written");
    let (result, events) = run(&fake, &plain().arg("--stop"));
    assert!(
        result
            .expect_err("no shell")
            .to_string()
            .starts_with("could not run `mdadm --stop`: No such file")
    );
    assert_eq!(events.len(), 1);
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("fio"), "not executable").expect("written");
    let path = folder.path().to_str().expect("UTF-8");
    let missing = Tools::find_on(path, &[Tool::Fio, Tool::MKE2FS]).expect_err("neither is a program");
    assert_eq!(missing.packages(), ["e2fsprogs", "fio"]);
    let (result, _) = run(&fake(""), &Invocation::new(Tool::Fio));
    assert!(
        result
            .expect_err("was not looked for")
            .to_string()
            .starts_with("missing tool `fio`")
    );
}

#[test]
fn a_version_is_asked_for_once_and_a_known_one_never() {
    let mut fake = fake("echo 'mdadm - v4.2 - 2021-12-30' >&2; exit 1");
    let mut events = Vec::new();
    let version = fake
        .tools
        .version(Tool::Mdadm, &mut |event| events.push(event))
        .expect("says it");
    assert_eq!(version.numbers, [4, 2, 0]);
    fake.tools
        .version(Tool::Mdadm, &mut |event| events.push(event))
        .expect("known");
    let value = "mdadm - v4.2 - 2021-12-30".to_owned();
    let provenance = Event::Provenance {
        key: "mdadm".into(),
        value,
    };
    assert!(matches!(events[0], Event::Call(_)));
    assert_eq!(events[1..], [provenance.clone(), provenance]);
}

#[test]
fn garbage_for_a_version_is_shown() {
    let mut fake = fake("echo BusyBox");
    let error = fake
        .tools
        .version(Tool::Mdadm, &mut |_| ())
        .expect_err("no number in it");
    assert_eq!(
        error.to_string(),
        "cannot determine the version of `mdadm --version`: BusyBox"
    );
}

#[test]
fn the_real_programs_tell_their_versions() {
    let tells = |tool: &Tool| !tool.version_argument().is_empty();
    for tool in Tool::all().into_iter().filter(tells) {
        match Tools::find(&[tool]) {
            Err(missing) => requirements::skip_part(missing),
            Ok(mut tools) => {
                let version = tools.version(tool, &mut |_| ()).expect("says its version");
                assert!(version.numbers > [0, 0, 0], "{version:?}");
            }
        }
    }
}
