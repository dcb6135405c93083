//! A list of names that many values have: held once, however many there are.

use crate::SharedName;
use crate::fitted_list::fit;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Names in order, read as those of any list. Each value holds one pointer to it: a plan has
/// hundreds of thousands of sittings of one list.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameList(Arc<Vec<SharedName>>);

impl NameList {
    /// Gives the list the names that came before, where they are equal.
    pub(crate) fn share(&mut self, known: &mut KnownNames) {
        for name in Arc::make_mut(&mut self.0) {
            known.share(name);
        }
    }
}

impl Deref for NameList {
    type Target = [SharedName];

    fn deref(&self) -> &[SharedName] {
        &self.0
    }
}

impl fmt::Debug for NameList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<N: Into<SharedName>> FromIterator<N> for NameList {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        let mut names: Vec<SharedName> = names.into_iter().map(Into::into).collect();
        fit(&mut names);
        Self(Arc::new(names))
    }
}

impl<'a> IntoIterator for &'a NameList {
    type Item = &'a SharedName;
    type IntoIter = std::slice::Iter<'a, SharedName>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Serialize for NameList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NameReader)
    }
}

/// Reads a list whose equal names are held once.
struct NameReader;

impl<'de> Visitor<'de> for NameReader {
    type Value = NameList;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<NameList, A::Error> {
        let (mut names, mut known) = (Vec::new(), KnownNames::default());
        while let Some(mut name) = list.next_element::<SharedName>()? {
            known.share(&mut name);
            names.push(name);
        }
        fit(&mut names);
        Ok(NameList(Arc::new(names)))
    }
}

/// Names that came before.
#[derive(Debug, Default)]
pub(crate) struct KnownNames(BTreeSet<SharedName>);

impl KnownNames {
    /// Replaces a name by the equal one that came before; a new one is known from then on.
    pub(crate) fn share(&mut self, name: &mut SharedName) {
        match self.0.get(name.as_str()) {
            Some(known) => name.clone_from(known),
            None => {
                self.0.insert(name.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_and_written_as_a_list_of_texts_whose_equal_names_are_held_once() {
        for text in ["[]", "[\"a\"]", "[\"a\",\"b\",\"a\"]"] {
            let list: NameList = serde_json::from_str(text).unwrap();
            let names: Vec<String> = serde_json::from_str(text).unwrap();
            assert_eq!(*list, *names);
            assert_eq!(serde_json::to_string(&list).unwrap(), text);
            assert_eq!(format!("{list:?}"), format!("{names:?}"));
            assert_eq!(list, names.into_iter().collect::<NameList>());
        }
        let list: NameList = serde_json::from_str("[\"a\",\"b\",\"a\"]").unwrap();
        assert!(std::ptr::eq(list[0].as_str(), list[2].as_str()));
        assert!(!std::ptr::eq(list[0].as_str(), list[1].as_str()));
    }

    #[test]
    fn what_is_no_list_of_texts_is_refused_as_by_any_list_of_texts() {
        for text in ["7", "\"a\"", "[7]", "[null]", "[\"a\"", "{}"] {
            let refused = serde_json::from_str::<NameList>(text).unwrap_err().to_string();
            let usual = serde_json::from_str::<Vec<String>>(text).unwrap_err().to_string();
            assert_eq!(refused, usual, "{text}");
        }
    }

    #[test]
    fn a_list_that_shares_names_changes_no_other() {
        let mut known = KnownNames::default();
        let mut first: NameList = ["a", "b"].into_iter().collect();
        first.share(&mut known);
        let mut second: NameList = ["b", "c"].into_iter().collect();
        let before = second.clone();
        second.share(&mut known);
        assert_eq!(second, before);
        assert!(std::ptr::eq(first[1].as_str(), second[0].as_str()));
        assert!(!std::ptr::eq(first[1].as_str(), before[0].as_str()));
    }
}
