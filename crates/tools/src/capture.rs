//! The output of a program, up to a limit.

use std::collections::VecDeque;

/// Keeps the beginning and the end of a stream, where programs print what they do and why they failed.
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half_bytes: usize,
    left_out_bytes: u64,
}

impl Capture {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            half_bytes: bytes_max / 2,
            left_out_bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(self.half_bytes - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        self.tail.extend(&bytes[to_head..]);
        let over = self.tail.len().saturating_sub(self.half_bytes);
        self.tail.drain(..over);
        self.left_out_bytes += over as u64;
    }

    pub(crate) fn into_text(self) -> String {
        let mut bytes = self.head;
        if self.left_out_bytes > 0 {
            let mark = format!("\n[… {} bytes left out …]\n", self.left_out_bytes);
            bytes.extend_from_slice(mark.as_bytes());
        }
        bytes.extend(self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_all_of_a_short_stream() {
        let mut capture = Capture::new(8);
        capture.push(b"abc");
        capture.push(b"defgh");
        assert_eq!(capture.into_text(), "abcdefgh");
    }

    #[test]
    fn keeps_both_ends_of_a_long_stream() {
        let mut capture = Capture::new(4);
        capture.push(b"ab");
        capture.push(b"0123456789");
        capture.push(b"yz");
        assert_eq!(capture.into_text(), "ab\n[… 10 bytes left out …]\nyz");
    }
}
