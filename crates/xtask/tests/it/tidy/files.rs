//! Files of readable length, with meaningful names.

use super::tree::files;

const LINES_MAX: usize = 500;

/// Exceptions with their reasons. It should be empty.
const LONGER: &[(&str, &str)] = &[];

/// Names that do not describe the contents.
const NAMELESS: [&str; 12] = [
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "shared_stuff",
    "stuff",
    "hold",
    "left",
    "number",
    "rising",
];

#[test]
fn files_can_be_read_in_a_sitting() {
    let long: Vec<String> = files(&["rs"])
        .iter()
        .filter(|(path, _)| LONGER.iter().all(|(longer, _)| longer != path))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(path, lines)| format!("{path}: {lines} lines, {LINES_MAX} at most"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn no_file_has_a_name_that_says_nothing() {
    let nameless: Vec<String> = files(&["rs"])
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| {
            path.trim_end_matches(".rs")
                .split('/')
                .any(|part| NAMELESS.contains(&part))
        })
        .collect();
    assert!(nameless.is_empty(), "{nameless:?}");
}

/// No file names a path of the machine on which it was written.
#[test]
fn no_file_names_a_place_of_one_machine() {
    // Assembled here, so that this file does not contain them.
    let places = ["work/w/", "work/main", "work/shared", "root/"].map(|folder| format!("/{folder}"));
    let hits: Vec<String> = files(&["rs", "md", "toml", "c", "h", "sh"])
        .iter()
        .flat_map(|(path, text)| {
            let lines = text.lines().enumerate();
            let hits = lines.filter(|(_, line)| {
                places.iter().any(|place| {
                    line.match_indices(place.as_str()).any(|(at, _)| {
                        line[..at]
                            .chars()
                            .next_back()
                            .is_none_or(|before| " `\"'(=".contains(before))
                    })
                })
            });
            hits.map(|(number, line)| format!("{path}:{}: {}", number + 1, line.trim()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(hits.is_empty(), "{}", hits.join("\n"));
}
