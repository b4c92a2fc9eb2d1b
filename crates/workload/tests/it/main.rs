//! Every engine in a folder of this machine: one test program, so that they share what they are run with.

mod classic;
mod figures;
mod fio;
mod folder;
mod io;
mod loops;
mod server;
mod tree;
