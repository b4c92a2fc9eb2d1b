//! From the text of a study to its plan, or to diagnostics.

mod acts;
mod acts_of_managers;
mod ages;
mod any_text;
mod created_once;
mod diagnostics;
mod disk_states;
mod found_in_plan;
mod integrity;
mod job_files;
mod layers;
mod members;
mod memory;
mod model_files;
mod order;
mod plans;
mod power_cuts;
mod sizes;
mod stacks;
mod studies;
mod tables;
