//! The digest of a line: 64 digits of text, held in the 32 bytes that they stand for.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A SHA-256 as it stands in records: lower-case hexadecimal. Text that is none stays what it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineDigest {
    /// The digest.
    Sha256([u8; 32]),
    /// What stands in its place.
    Text(Box<str>),
}

impl LineDigest {
    /// The 64 digits of one, as text.
    pub fn digits(bytes: &[u8; 32]) -> [u8; 64] {
        let mut digits = [0; 64];
        for (two, byte) in digits.chunks_exact_mut(2).zip(bytes) {
            two[0] = DIGITS[usize::from(byte >> 4)];
            two[1] = DIGITS[usize::from(byte & 15)];
        }
        digits
    }

    /// Passes its text on.
    fn with_text<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::Sha256(bytes) => {
                let digits = Self::digits(bytes);
                // They are ASCII.
                take(std::str::from_utf8(&digits).unwrap_or_default())
            }
            Self::Text(text) => take(text),
        }
    }
}

impl From<&str> for LineDigest {
    fn from(text: &str) -> Self {
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        let mut is_digest = text.len() == 64;
        for (byte, two) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            match (value(two[0]), value(two[1])) {
                (Some(high), Some(low)) => *byte = (high << 4) | low,
                _ => is_digest = false,
            }
        }
        if is_digest { Self::Sha256(bytes) } else { Self::Text(text.into()) }
    }
}

impl fmt::Display for LineDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| formatter.write_str(text))
    }
}

impl fmt::Debug for LineDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| fmt::Debug::fmt(text, formatter))
    }
}

impl PartialEq<str> for LineDigest {
    fn eq(&self, other: &str) -> bool {
        self.with_text(|text| text == other)
    }
}

impl Serialize for LineDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for LineDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_as_it_was() {
        let digest = "0123456789abcdef".repeat(4);
        assert!(matches!(LineDigest::from(digest.as_str()), LineDigest::Sha256(_)));
        for text in [digest.clone(), digest.to_uppercase(), digest[1..].to_owned(), String::new()] {
            let held = LineDigest::from(text.as_str());
            assert_eq!(held.to_string(), text);
            assert!(held == *text.as_str());
            let stored = serde_json::to_string(&held).unwrap();
            assert_eq!(stored, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<LineDigest>(&stored).unwrap(), held);
        }
    }
}
