//! The exit codes, for `--help` and for the man pages.

/// For all commands without their own list.
pub const OF_COMMANDS: &[(u8, &str)] = &[
    (0, "done"),
    (1, "a trial failed"),
    (2, "invalid input (nothing was touched)"),
    (3, "the machine lacks something (the message says how to fix it)"),
    (130, "interrupted (the same command resumes)"),
];

pub const OF_DIGEST: &[(u8, &str)] = &[
    (0, "equal (or only one run given)"),
    (1, "different"),
    (2, "invalid input"),
];

pub const OF_MERGE: &[(u8, &str)] = &[
    (0, "merged"),
    (1, "merged, and a trial has failed"),
    (
        2,
        "the stores are not the parts of one run, or one is missing (nothing was written)",
    ),
    (3, "no space"),
];

pub const OF_SUBMIT: &[(u8, &str)] = &[
    (0, "submitted"),
    (2, "invalid input, or Slurm refused the job (nothing is left behind)"),
    (3, "Slurm is not installed"),
];

pub const OF_SOAK: &[(u8, &str)] = &[
    (0, "nothing new was found"),
    (1, "something new was found, or a history failed"),
    (2, "invalid input"),
    (3, "the machine lacks something (the message says how to fix it)"),
    (130, "interrupted"),
];

/// The last paragraph of `--help`.
pub fn help(codes: &[(u8, &str)]) -> String {
    let codes: Vec<String> = codes.iter().map(|(code, words)| format!("{code} {words}")).collect();
    format!("exit status: {}", codes.join(", "))
}
