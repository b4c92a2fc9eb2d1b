//! A cluster on loopback, in a temporary folder. Nothing of it outlives the test.

use crate::desk::{Desk, PROGRAM, Ran};
use crate::processes::{self, Process, is_alive, signal};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than any response of the cluster.
const PATIENCE: Duration = Duration::from_secs(240);

/// The daemons and programs, and their Debian packages.
const PROGRAMS: [(&str, &str); 7] = [
    ("munged", "munge"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("sbatch", "slurm-client"),
    ("scontrol", "slurm-client"),
    ("squeue", "slurm-client"),
    ("scancel", "slurm-client"),
];

pub struct Cluster {
    folder: TempDir,
    munged: Option<Child>,
    controller: Option<Child>,
    daemons: Vec<Option<Child>>,
}

impl Cluster {
    /// A cluster of nodes `n1`, `n2`, … with one core each. `None` if that is impossible: the test is skipped.
    pub fn start(nodes: usize) -> Option<Cluster> {
        requirements::met(requirements::root())?;
        for (name, package) in PROGRAMS {
            requirements::met(requirements::program(name, package))?;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("our own folder");
        let mut cluster = Cluster {
            folder,
            munged: None,
            controller: None,
            daemons: (0..nodes).map(|_| None).collect(),
        };
        cluster.write_key();
        cluster.write_configuration();
        cluster.start_munge();
        cluster.start_controller();
        (0..nodes).for_each(|node| cluster.start_node(node));
        cluster.wait_for("idle nodes", |cluster| cluster.nodes("idle") == nodes);
        Some(cluster)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_key(&self) {
        let mut key = [0; 128];
        let random = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut key));
        random.expect("Linux has random numbers");
        fs::write(self.path("munge.key"), key).expect("a key is written");
        fs::set_permissions(self.path("munge.key"), PermissionsExt::from_mode(0o600)).expect("our own file");
    }

    fn write_configuration(&self) {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or_default();
        let folder = self.folder.path().display();
        let count = self.daemons.len() as u16;
        let (controller, first) = free_ports(count);
        let last = first + count - 1;
        fs::create_dir(self.path("state")).expect("a folder");
        let text = format!(
            "ClusterName=raidlab\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n\
             SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\n\
             CredType=cred/munge\nStateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool-%n\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd-%n.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd-%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\n\
             SlurmdTimeout=6\nSlurmctldTimeout=30\nMessageTimeout=10\nKillWait=2\nMinJobAge=600\n\
             SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0\n\
             NodeName=n[1-{count}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 \
             RealMemory=100\n\
             PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        );
        fs::write(self.path("slurm.conf"), text).expect("a configuration is written");
    }

    fn daemon(&self, program: &str, log: &str) -> Command {
        let mut command = Command::new(program);
        let out = File::create(self.path(log)).expect("a log is created");
        command
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(out.try_clone().expect("a file's twin"))
            .stderr(out);
        command
    }

    fn start_munge(&mut self) {
        let mut munged = self.daemon("munged", "munged.out");
        munged.args(["--foreground", "--force", "--num-threads=2"]);
        for (option, file) in [
            ("socket", "munge.socket"),
            ("key-file", "munge.key"),
            ("log-file", "munged.log"),
            ("pid-file", "munged.pid"),
            ("seed-file", "munged.seed"),
        ] {
            munged.arg(format!("--{option}={}", self.path(file).display()));
        }
        self.munged = Some(munged.spawn().expect("munged starts"));
        self.wait_for("munge's socket", |cluster| cluster.path("munge.socket").exists());
    }

    pub fn start_controller(&mut self) {
        let mut controller = self.daemon("slurmctld", "slurmctld.out");
        self.controller = Some(controller.arg("-D").spawn().expect("slurmctld starts"));
    }

    /// Stops it like an administrator.
    pub fn stop_controller(&mut self) {
        let mut controller = self.controller.take().expect("it runs");
        signal(controller.id(), Signal::TERM);
        controller.wait().expect("it ends");
    }

    pub fn start_node(&mut self, node: usize) {
        let name = format!("n{}", node + 1);
        let mut daemon = self.daemon("slurmd", &format!("slurmd-{name}.out"));
        self.daemons[node] = Some(daemon.args(["-D", "-N", &name]).spawn().expect("slurmd starts"));
    }

    /// Kills a node's daemon, but not the processes of its jobs.
    pub fn kill_node(&mut self, node: usize) {
        let mut daemon = self.daemons[node].take().expect("it runs");
        daemon.kill().expect("our own child");
        daemon.wait().expect("it ends");
    }

    /// Stops raidlab in a task; false if it does not run.
    pub fn stop(&self, job: &str, task: u32) -> bool {
        let stopped = self.raidlabs(job, task).iter().filter(|process| process.stop()).count();
        stopped > 0
    }

    /// Lets raidlab go on in a task.
    pub fn go_on(&self, job: &str, task: u32) {
        for process in self.raidlabs(job, task) {
            signal(u32::try_from(process.pid).expect("a process's number"), Signal::CONT);
        }
    }

    /// raidlab in a task, without its guest.
    fn raidlabs(&self, job: &str, task: u32) -> Vec<Process> {
        let of_task = with_environment(&[
            format!("SLURM_ARRAY_JOB_ID={job}"),
            format!("SLURM_ARRAY_TASK_ID={task}"),
            self.environment(),
        ]);
        let is_raidlab =
            |pid: &i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == Path::new(PROGRAM));
        of_task
            .into_iter()
            .filter(is_raidlab)
            .filter_map(processes::read)
            .collect()
    }

    /// In the environment of all processes of the cluster, and of no others.
    fn environment(&self) -> String {
        format!("SLURM_CONF={}", self.path("slurm.conf").display())
    }

    /// raidlab as a user of this cluster.
    pub fn raidlab(&self, desk: &Desk, arguments: &[&str]) -> Ran {
        let mut raidlab = desk.raidlab(arguments);
        raidlab.env("SLURM_CONF", self.path("slurm.conf"));
        Ran::from(raidlab.output().expect("raidlab is run"))
    }

    /// Output of a Slurm program; empty if the controller does not respond.
    pub fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.path("slurm.conf"));
        let output = command.output().expect("the program is run");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// State and node of a task: `RUNNING n2`.
    pub fn task(&self, job: &str, task: u32) -> String {
        self.job(&format!("{job}_{task}"))
    }

    /// State and node of a job.
    pub fn job(&self, id: &str) -> String {
        let arguments = ["--noheader", "--jobs", id, "--states=all", "--format=%T %N"];
        self.ask("squeue", &arguments).trim().to_owned()
    }

    /// Number of nodes in one of these states.
    pub fn nodes(&self, states: &str) -> usize {
        let states = format!("--states={states}");
        self.ask("sinfo", &["--noheader", "--Node", &states, "--format=%N"])
            .lines()
            .count()
    }

    /// Makes a requeued task start soon: Slurm would wait for two minutes, on which nothing here depends. Its nodes
    /// reject a job that starts in the same second in which it was revoked there.
    pub fn start_soon(&self, job: &str, task: u32) {
        thread::sleep(Duration::from_secs(3));
        let id = format!("JobId={job}_{task}");
        self.ask("scontrol", &["update", &id, "StartTime=now"]);
    }

    pub fn wait_for(&self, what: &str, is_there: impl FnMut(&Cluster) -> bool) {
        self.wait_for_up_to(PATIENCE, what, is_there);
    }

    pub fn wait_for_up_to(&self, patience: Duration, what: &str, mut is_there: impl FnMut(&Cluster) -> bool) {
        let until = Instant::now() + patience;
        while !is_there(self) {
            assert!(Instant::now() < until, "no {what} after {patience:?}\n{}", self.logs());
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The end of every log.
    pub fn logs(&self) -> String {
        const LINES: usize = 25;
        let mut text = self.ask("squeue", &["--states=all"]);
        for entry in fs::read_dir(self.folder.path()).expect("our folder").flatten() {
            let path = entry.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "log" || extension == "out")
            {
                let log = fs::read_to_string(&path).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let last = lines[lines.len().saturating_sub(LINES)..].join("\n");
                text.push_str(&format!("== {}\n{last}\n", path.display()));
            }
        }
        text
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.ask("scancel", &["--user=root"]);
        let until = Instant::now() + Duration::from_secs(10);
        while !self.ask("squeue", &["--noheader"]).trim().is_empty() && Instant::now() < until {
            thread::sleep(Duration::from_millis(100));
        }
        let daemons = self.daemons.iter_mut().chain([&mut self.controller, &mut self.munged]);
        for daemon in daemons.filter_map(Option::as_mut) {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        // Processes of a killed node: only our own processes have our configuration in their environment.
        for pid in with_environment(&[self.environment()]) {
            if is_alive(pid) {
                let pid = u32::try_from(pid).expect("a process's number");
                signal(pid, Signal::KILL);
            }
        }
    }
}

fn with_environment(variables: &[String]) -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("Linux has it").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |variable: &String| {
            environment
                .split(|byte| *byte == 0)
                .any(|one| one == variable.as_bytes())
        };
        variables.iter().all(has)
    })
    .filter(|pid| u32::try_from(*pid) != Ok(std::process::id()))
    .collect()
}

/// A port for the controller, and the first one of `count` consecutive ports.
fn free_ports(count: u16) -> (u16, u16) {
    let bind = |port: u16| TcpListener::bind(("127.0.0.1", port));
    loop {
        let controller = bind(0).expect("a free port");
        let controller = controller.local_addr().expect("its address").port();
        let Some(last) = controller.checked_add(count) else {
            continue;
        };
        if (controller + 1..=last).all(|port| bind(port).is_ok()) {
            return (controller, controller + 1);
        }
    }
}
