//! Every engine in a folder of this machine, in one test program.

mod classic;
mod figures;
mod fio;
mod folder;
mod io;
mod loops;
mod server;
mod tree;
