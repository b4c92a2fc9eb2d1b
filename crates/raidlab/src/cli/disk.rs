//! Models of disks.

use super::{Format, time};
use clap::Subcommand;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub enum DiskCommand {
    /// List the models of the catalogue, with your own of ~/.config/raidlab/disks
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Show a model: geometry, seek curve, MB/s across the disk, random reads, flushes
    Show {
        /// A model of the catalogue, a model file (.toml), or a DiskSim parameter file (.diskspecs)
        model: String,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Run models and compare them with published or measured figures of their disks
    Check {
        /// Models of the catalogue, model files (.toml), or DiskSim parameter files (.diskspecs) (default: the
        /// whole catalogue, which takes about a minute, and 3 GiB of memory for an SSD of 4 TB)
        models: Vec<String>,
        /// Also draw this many models from what is not known of each, and show the ranges of their figures
        #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
        draws: u32,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Replay a validation trace and compare with the measured response times
    Replay {
        /// A model of the catalogue, a model file (.toml), or a DiskSim parameter file (.diskspecs)
        model: String,
        /// One line per request: R|W, Hit|Miss, first block, blocks, response time in µs, gap in µs
        trace: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Plot the two distributions into this file; `-` is standard output
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Measure a disk of this machine with timed requests and write a model of it
    ///
    /// Nothing is written to the disk without --destroy. The disk must not be in use, since other requests would be
    /// measured with it. Platters take 20 minutes and more, an SSD a few, and with --destroy twice --precondition and more.
    /// Results are kept next to the output file after each step: the same command continues an interrupted measurement
    /// (Ctrl-C).
    Measure {
        /// The whole disk, such as /dev/sdb or its name in /dev/disk/by-id
        device: PathBuf,
        /// Where to write the model: a new file (.toml), or `-` for standard output
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Also measure writes and flushes: the disk with this serial number is overwritten, and all of its data is lost
        #[arg(long, value_name = "SERIAL")]
        destroy: Option<String>,
        /// With --destroy, for an SSD: fill it, then write at random until it is in steady state; time limit of each
        /// step
        #[arg(long, value_name = "TIME", default_value = "30m", value_parser = time)]
        precondition: Duration,
        /// Plot the measurements and the behaviour of the model into this file
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Run a study with each figure of its disks' models at the ends of its range, and show what it changes
    ///
    /// One figure is moved at a time; all else, also the seeds, is equal. Ranges: see `[precision] models` in the study format. A study of
    /// hard disks has about 17 times its cells.
    Sensitivity {
        /// The study file
        study: PathBuf,
        /// File in which results are stored
        #[arg(long, default_value = "raidlab.db")]
        store: PathBuf,
        /// Trials of each cell; fewer than three show nothing beyond scatter
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(3..=1000))]
        trials: u32,
        /// Run a part of the matrix: AXIS=VALUE,… or AXIS!=VALUE,… (may be repeated; values of one axis are alternatives)
        #[arg(long, value_name = "AXIS=VALUE,…")]
        only: Vec<String>,
        /// Seed of all random choices of the run
        #[arg(long, default_value_t = 1, value_parser = super::seed, allow_negative_numbers = true)]
        seed: u64,
        /// Number of guests that run in parallel (default: one for each processor)
        #[arg(long, value_parser = |text: &str| super::whole(text, 1..=256), allow_negative_numbers = true)]
        jobs: Option<u64>,
    },
    /// Read a DiskSim parameter file, and print it in the catalogue's format
    Import {
        /// A .diskspecs file; the files that it names are in the same folder
        file: PathBuf,
    },
}
