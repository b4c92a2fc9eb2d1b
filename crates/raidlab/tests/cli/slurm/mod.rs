//! Studies on a real Slurm: a controller, several nodes and munge, all on this machine.

mod cluster;
mod hosts;
mod jobs;
mod refused;
