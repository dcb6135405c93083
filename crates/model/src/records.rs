//! The records of a campaign, shared by all who read them: a report has them, too.

use crate::Record;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Records that are not copied with what holds them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records(Arc<Vec<Record>>);

impl Deref for Records {
    type Target = Vec<Record>;

    fn deref(&self) -> &Vec<Record> {
        &self.0
    }
}

/// What is changed while others hold them is a copy.
impl DerefMut for Records {
    fn deref_mut(&mut self) -> &mut Vec<Record> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Record>> for Records {
    fn from(records: Vec<Record>) -> Self {
        Self(Arc::new(records))
    }
}

impl FromIterator<Record> for Records {
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Self {
        records.into_iter().collect::<Vec<_>>().into()
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = &'a Record;
    type IntoIter = std::slice::Iter<'a, Record>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Records {
    type Item = &'a mut Record;
    type IntoIter = std::slice::IterMut<'a, Record>;

    fn into_iter(self) -> Self::IntoIter {
        self.deref_mut().iter_mut()
    }
}

impl Serialize for Records {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
