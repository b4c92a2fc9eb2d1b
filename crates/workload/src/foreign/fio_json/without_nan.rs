//! Some versions of fio print averages of nothing as `nan`, which is not JSON.

use std::borrow::Cow;

/// The text with 0 for each `nan` and `inf` that is a value: no part of a string is changed.
pub(super) fn without_nan(text: &str) -> Cow<'_, str> {
    if !text.contains("nan") && !text.contains("inf") {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut changed = String::new();
    let mut copied = 0;
    let mut is_string = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if is_string => at += 1,
            b'"' => is_string = !is_string,
            // Strings of JSON end in their line. A quotation mark before a report may be one of other text.
            b'\n' => is_string = false,
            b'{' if begins_a_report(&text[at + 1..]) => is_string = false,
            b':' if !is_string => {
                if let Some((from, to)) = not_a_number(bytes, at + 1) {
                    changed.push_str(&text[copied..from]);
                    changed.push('0');
                    (copied, at) = (to, to - 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    changed.push_str(&text[copied..]);
    Cow::Owned(changed)
}

fn begins_a_report(rest: &str) -> bool {
    rest.trim_start_matches([' ', '\n', '\r', '\t'])
        .starts_with("\"fio version\"")
}

/// From where to where a value is `nan`, `-nan`, `inf` or `-inf`.
fn not_a_number(bytes: &[u8], after_colon: usize) -> Option<(usize, usize)> {
    let blanks = |byte: &&u8| matches!(byte, b' ' | b'\t');
    let from = after_colon + bytes[after_colon..].iter().take_while(blanks).count();
    let word = from + usize::from(bytes.get(from) == Some(&b'-'));
    let to = word + 3;
    let is_word = matches!(bytes.get(word..to)?, b"nan" | b"inf");
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
    (is_word && bytes.get(to).is_none_or(ends)).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::without_nan;

    #[test]
    fn values_that_are_no_numbers_become_0() {
        for value in ["nan", "-nan", "inf", "-inf"] {
            for (before, after) in [
                ("{\"a\": ", ",\n\"b\":1}"),
                ("{\"a\":", "}"),
                ("12\" {\"fio version\":1,\"a\" : ", "\n}"),
            ] {
                let text = without_nan(&format!("{before}{value}{after}")).into_owned();
                assert_eq!(text, format!("{before}0{after}"));
            }
        }
    }

    #[test]
    fn strings_and_words_are_left_as_they_are() {
        for text in [
            r#"{"a": "disk: nano", "b": "x: nan, y:nan", "c": "\": inf,"}"#,
            "{\"a\": nano, info: info}",
            "ü: nänan: ",
            ": nanä",
            "a:",
        ] {
            assert_eq!(without_nan(text), text);
        }
    }
}
