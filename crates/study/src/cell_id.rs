//! Identity of a cell as a hash, written as 32 hexadecimal digits. How it is computed: `cell.rs`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// Identity of a cell: 128 bits of a SHA-256, written as 32 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub(crate) [u8; 16]);

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CellId({self})")
    }
}

/// Error for a text that is not 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACellId(String);

impl fmt::Display for NotACellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a cell's identity (32 hexadecimal digits)", self.0)
    }
}

impl std::error::Error for NotACellId {}

impl FromStr for CellId {
    type Err = NotACellId;

    fn from_str(text: &str) -> Result<Self, NotACellId> {
        let error = || NotACellId(text.to_owned());
        if text.len() != 32 || !text.is_ascii() {
            return Err(error());
        }
        let mut bytes = [0; 16];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * place..2 * place + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for CellId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CellId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_text_reads_back() {
        let id: CellId = "00112233445566778899aabbccddeeff".parse().expect("an identity");
        assert_eq!(id.to_string(), "00112233445566778899aabbccddeeff");
        for wrong in [
            "",
            "0011",
            "zz112233445566778899aabbccddeeff",
            "é0112233445566778899aabbccddeef",
        ] {
            assert!(wrong.parse::<CellId>().is_err(), "{wrong}");
        }
    }
}
