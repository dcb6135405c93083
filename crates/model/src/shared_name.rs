//! A name that many values have: held once, however many there are.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Text that is shared, and read as any other. Each value holds one pointer to it, and not its length
/// as well: a campaign has millions of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedName(Arc<Box<str>>);

impl SharedName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for SharedName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for SharedName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for SharedName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SharedName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl fmt::Display for SharedName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), formatter)
    }
}

impl From<&str> for SharedName {
    fn from(text: &str) -> Self {
        Self(Arc::new(text.into()))
    }
}

impl From<String> for SharedName {
    fn from(text: String) -> Self {
        Self(Arc::new(text.into_boxed_str()))
    }
}

impl PartialEq<str> for SharedName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for SharedName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for SharedName {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<SharedName> for String {
    fn eq(&self, other: &SharedName) -> bool {
        self == other.as_str()
    }
}

impl Serialize for SharedName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for SharedName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_holds_one_pointer() {
        assert_eq!(size_of::<SharedName>(), size_of::<usize>());
    }

    #[test]
    fn it_is_read_and_written_as_text() {
        let name = SharedName::from("m");
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"m\"");
        assert_eq!(serde_json::from_str::<SharedName>("\"m\"").unwrap(), name);
        assert_eq!((&*name, format!("{name} {name:?}")), ("m", "m \"m\"".to_owned()));
        assert!(name == "m" && name == *"m");
    }
}
