//! Black-box tests of the program: its output, its exit status, and what it leaves behind.
//!
//! `lab_…` needs the lab's kernel, `root_…` a mount namespace. Tests that cannot run are skipped, with a reason.

mod arrangement;
mod cached;
mod compare;
mod desk;
mod disks;
mod doubtful_host;
mod earlier;
mod exit_codes;
mod exports;
mod guest_host;
mod help;
mod host_acts;
mod host_in_guest;
mod imports;
mod interrupted;
mod issue_12;
mod judgement;
mod kept;
mod lab;
mod machine;
mod measured_disk;
mod on_host;
mod outputs;
mod own_cpus;
mod own_disks;
mod package;
mod parquet;
mod power_cuts;
mod processes;
mod progress;
mod reports;
mod safety;
mod safety_races;
mod scale;
mod shards;
mod shells;
mod slurm;
mod soak;
mod stores;
mod studies;
mod traces;
mod under_way;
mod words;
