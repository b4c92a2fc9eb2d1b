//! Tests that need a guest: real Linux in virtual time on simulated disks. The program is used as by its users,
//! with studies as input and exports as output; only what no study can request (a guest that hangs, a full disk for
//! contents) uses the crate `lab`.

mod ages;
mod agreement;
mod arrays;
mod bcachefs;
mod commands;
mod contents;
mod cost;
mod created_once;
mod determinism;
mod disk_states;
mod disks_busy;
mod every_workload;
mod golden;
mod guards;
mod guest;
mod images;
mod issue_12;
mod laboratory;
mod layers;
mod members;
mod own_program;
mod physics;
mod power_cut;
mod power_cut_study;
mod processor;
mod programs_in_c;
mod provisioning;
mod robustness;
mod smoke;
mod stacks;
mod suites;
mod timeline;
mod timeline_managers;
mod timeline_works;
mod zfs;
