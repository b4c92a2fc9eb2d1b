//! The sbatch scripts: plain text, to be read and edited.

use super::SubmitOptions;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use study::stack::MachineKind;
use tools::shell_word;

/// Seconds before its time limit at which a task stops and is requeued.
const BEFORE_LIMIT_S: u32 = 60;

/// A study as a job.
pub struct Job<'a> {
    pub arguments: &'a SubmitOptions,
    /// This program.
    pub program: PathBuf,
    /// All paths are absolute.
    pub study: PathBuf,
    pub inventory: Option<PathBuf>,
    pub folder: PathBuf,
    pub tasks: u32,
    /// Maximum number of tasks at the same time, if limited.
    pub at_a_time: Option<u32>,
}

/// A file of the job's folder.
pub struct Script {
    pub name: String,
    pub text: String,
}

impl Job<'_> {
    /// One task for each shard.
    pub fn tasks_script(&self) -> Script {
        let limit = self.at_a_time.map(|tasks| format!("%{tasks}")).unwrap_or_default();
        let mut text = format!(
            "#!/bin/bash\n\
             # Each task runs one shard of a study, one guest at a time, into a store of its own. A task that was preempted,\n\
             # killed or cancelled continues where it stopped when it is started again: sbatch {}\n",
            word(&self.folder.join("run.sbatch"))
        );
        self.head(&mut text, "", "task-%a.log");
        let _ = writeln!(
            text,
            "#SBATCH --cpus-per-task=1\n#SBATCH --array=1-{}{limit}",
            self.tasks
        );
        self.options(&mut text);
        let run = self.run_words();
        let store = word(&self.folder.join("part-"));
        let _ = writeln!(
            text,
            "\n{}{run} \\\n    --shard \"$SLURM_ARRAY_TASK_ID/{}\" --jobs 1 --wait --store {store}\"$SLURM_ARRAY_TASK_ID\".db{}",
            self.exec(),
            self.tasks,
            self.after_limit("${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"),
        );
        Script {
            name: "run.sbatch".to_owned(),
            text,
        }
    }

    /// The whole study on the disks of a node.
    pub fn node_script(&self, node: &str) -> Script {
        let name = format!("run-{node}.sbatch");
        let mut text = format!(
            "#!/bin/bash\n\
             # Runs the study on the disks that the inventory names for this node. What was preempted, killed or\n\
             # cancelled continues where it stopped when it is started again: sbatch {}\n",
            word(&self.folder.join(&name))
        );
        self.head(&mut text, &format!("-{node}"), &format!("{node}.log"));
        let _ = writeln!(text, "#SBATCH --nodelist={node}\n#SBATCH --exclusive");
        self.options(&mut text);
        let inventory = self.inventory.as_deref().map(word).unwrap_or_default();
        let _ = writeln!(
            text,
            "\n{}{} \\\n    --on host --inventory {inventory} --wait --store {}{}",
            self.exec(),
            self.run_words(),
            word(&self.folder.join(format!("part-{node}.db"))),
            self.after_limit("$SLURM_JOB_ID"),
        );
        Script { name, text }
    }

    /// The program with the arguments common to all scripts.
    fn run_words(&self) -> String {
        let mut run = vec![word(&self.program), "run".to_owned(), word(&self.study)];
        run.extend(["--seed".to_owned(), self.arguments.seed.to_string()]);
        for only in &self.arguments.only {
            run.extend(["--only".to_owned(), shell_word(only)]);
        }
        if self.arguments.on == Some(MachineKind::Lab) {
            run.extend(["--on".to_owned(), "lab".to_owned()]);
        }
        run.join(" ")
    }

    /// Slurm's signals must reach raidlab itself, unless the script waits for it.
    const fn exec(&self) -> &'static str {
        if self.arguments.time.is_some() { "" } else { "exec " }
    }

    /// Merges the stores when the last task has ended.
    pub fn merge_script(&self, nodes: &[String]) -> Script {
        let mut text =
            "#!/bin/bash\n# Merges the stores of all tasks; it starts when the last of them has ended.\n"
                .to_owned();
        self.head(&mut text, "-merge", "merge.log");
        if let Some(partition) = &self.arguments.partition {
            let _ = writeln!(text, "#SBATCH --partition={}", shell_word(partition));
        }
        for option in &self.arguments.options {
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let all = word(&self.folder.join("all.db"));
        // Missing shards can be determined from the others, but a missing node cannot.
        let parts: Vec<String> = match nodes.is_empty() {
            true => vec![format!("{}*.db", word(&self.folder.join("part-")))],
            false => nodes
                .iter()
                .map(|node| word(&self.folder.join(format!("part-{node}.db"))))
                .collect(),
        };
        let _ = writeln!(
            text,
            "\nif [ -e {all} ]; then\n    echo \"the stores were merged before\"\n    exit 0\nfi\n\
             exec {} merge {all} {}",
            word(&self.program),
            parts.join(" "),
        );
        Script {
            name: "merge.sbatch".to_owned(),
            text,
        }
    }

    fn head(&self, text: &mut String, suffix: &str, log: &str) {
        let stem = self.study.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = format!("raidlab-{}{suffix}", stem.unwrap_or_default());
        let output = self.folder.display().to_string().replace('%', "%%");
        let _ = write!(
            text,
            "#SBATCH --job-name={}\n#SBATCH --output={}\n#SBATCH --open-mode=append\n#SBATCH --requeue\n\
             #SBATCH --ntasks=1\n",
            shell_word(&name),
            shell_word(&format!("{output}/{log}")),
        );
    }

    /// Options of the user.
    fn options(&self, text: &mut String) {
        let arguments = self.arguments;
        let named = [
            ("partition", &arguments.partition),
            ("time", &arguments.time),
            ("mem", &arguments.mem),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                let _ = writeln!(text, "#SBATCH --{name}={}", shell_word(value));
            }
        }
        if arguments.time.is_some() {
            let _ = writeln!(text, "#SBATCH --signal=B:USR1@{BEFORE_LIMIT_S}");
        }
        for option in &arguments.options {
            let _ = writeln!(text, "#SBATCH {option}");
        }
    }

    /// With a time limit, the task stops shortly before it and is requeued.
    fn after_limit(&self, job: &str) -> String {
        match self.arguments.time {
            None => String::new(),
            Some(_) => {
                let before = " &\nraidlab=$!\n\
                 # Shortly before the time limit: stop, and continue in another allocation.\n\
                 again=\n\
                 trap 'again=yes; kill -TERM \"$raidlab\"' USR1\n\
                 trap 'kill -TERM \"$raidlab\"' TERM\n\
                 while true; do\n    \
                     wait \"$raidlab\"\n    \
                     status=$?\n    \
                     # A signal ends the wait, not raidlab.\n    \
                     kill -0 \"$raidlab\" 2>/dev/null || break\n\
                 done\n\
                 if [ -n \"$again\" ] && [ \"$status\" -ge 128 ]; then\n";
                format!("{before}    scontrol requeue \"{job}\"\nfi\nexit \"$status\"")
            }
        }
    }
}

fn word(path: &Path) -> String {
    shell_word(&path.display().to_string())
}
