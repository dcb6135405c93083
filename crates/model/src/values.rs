//! The values of a sample: one, as most samples of imports have, or several.

use crate::counted_numbers::{note_values, values_left};
use crate::fitted_list::fit;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Numbers in order, read as any others. One alone is held in place: an import has hundreds of
/// thousands of these.
#[derive(Clone)]
pub struct Values(Held);

#[derive(Clone)]
enum Held {
    One(f64),
    Several(Vec<f64>),
}

impl Deref for Values {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match &self.0 {
            Held::One(value) => std::slice::from_ref(value),
            Held::Several(values) => values,
        }
    }
}

impl DerefMut for Values {
    fn deref_mut(&mut self) -> &mut [f64] {
        match &mut self.0 {
            Held::One(value) => std::slice::from_mut(value),
            Held::Several(values) => values,
        }
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Self(match values.as_slice() {
            [value] => Held::One(*value),
            _ => Held::Several(values),
        })
    }
}

impl From<f64> for Values {
    fn from(value: f64) -> Self {
        Self(Held::One(value))
    }
}

impl FromIterator<f64> for Values {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        values.into_iter().collect::<Vec<f64>>().into()
    }
}

impl Values {
    /// Frees the room in which nothing stands.
    pub(crate) fn fit(&mut self) {
        if let Held::Several(values) = &mut self.0 {
            fit(values);
        }
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ValueList)
    }
}

/// A list of values, of which no more are held than a record may have: two bytes of text are a value of
/// eight.
struct ValueList;

impl<'de> Visitor<'de> for ValueList {
    type Value = Values;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
        let left = values_left();
        let mut values: Vec<f64> = Vec::new();
        while let Some(value) = list.next_element()? {
            if values.len() as u64 == left {
                note_values(left.saturating_add(1)).map_err(A::Error::custom)?;
            }
            values.push(value);
        }
        note_values(values.len() as u64).map_err(A::Error::custom)?;
        Ok(values.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RECORD_VALUES, counting_numbers};

    #[test]
    fn values_beyond_those_of_a_record_are_refused_before_they_are_held() {
        let list = |count: u64| format!("[{}0]", "0,".repeat(count as usize - 1));
        let read = |text: &str| {
            let read: Result<Values, _> = serde_json::from_str(text);
            read.map(|values| values.len() as u64).map_err(|error| error.to_string())
        };
        let half = list(RECORD_VALUES.most / 2);
        let (found, counted) = counting_numbers(|| (read(&half), read(&half)));
        assert_eq!(found, (Ok(RECORD_VALUES.most / 2), Ok(RECORD_VALUES.most / 2)));
        assert_eq!(counted.values, RECORD_VALUES.most);
        let (found, _) = counting_numbers(|| (read(&half), read(&half), read("[1]")));
        assert!(found.2.unwrap_err().contains("limit RECORD_VALUES"));
        let beyond = list(RECORD_VALUES.most + 1);
        assert!(read(&beyond).unwrap_err().contains("limit RECORD_VALUES"), "nobody counts");
    }

    #[test]
    fn values_are_those_they_were_made_of_and_one_alone_takes_no_room_elsewhere() {
        for list in [vec![], vec![1.5], vec![1.5, -0.0, 3e300]] {
            let mut values = Values::from(list.clone());
            values.fit();
            assert_eq!(*values, *list);
            assert_eq!(values, list.iter().copied().collect());
            assert_eq!(format!("{values:?}"), format!("{list:?}"));
            let text = serde_json::to_string(&values).unwrap();
            assert_eq!(text, serde_json::to_string(&list).unwrap());
            assert_eq!(serde_json::from_str::<Values>(&text).unwrap(), values);
            values.iter_mut().for_each(|value| *value *= 2.0);
            assert!(values.iter().zip(&list).all(|(twice, once)| *twice == once * 2.0));
            assert_eq!(matches!(values.0, Held::One(_)), list.len() == 1);
        }
        assert_eq!(Values::from(2.0), Values::from(vec![2.0]));
        assert_eq!(size_of::<Values>(), size_of::<Vec<f64>>());
    }
}
