//! A list that most often has one element, which is then held in place.

use crate::fitted_list::fit;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Elements in order, read as those of any list. One alone is held in place: an import has hundreds of
/// thousands of records of one invocation, each with one sample.
#[derive(Clone)]
pub struct Few<T>(Held<T>);

#[derive(Clone)]
enum Held<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> Few<T> {
    /// Appends an element.
    pub fn push(&mut self, element: T) {
        self.change(|list| list.push(element));
    }

    /// Removes every element.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Keeps the elements of which this is true.
    pub fn retain(&mut self, is_kept: impl FnMut(&T) -> bool) {
        self.change(|list| list.retain(is_kept));
    }

    /// Frees the room in which nothing stands.
    pub(crate) fn fit(&mut self) {
        if let Held::Several(list) = &mut self.0 {
            fit(list);
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<T>)) {
        let mut list = Vec::from(std::mem::take(self));
        change(&mut list);
        *self = Self::from(list);
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Held::Several(Vec::new()))
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Held::One(element) => std::slice::from_ref(element),
            Held::Several(list) => list,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Held::One(element) => std::slice::from_mut(element),
            Held::Several(list) => list,
        }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(mut list: Vec<T>) -> Self {
        if list.len() == 1
            && let Some(element) = list.pop()
        {
            return Self(Held::One(element));
        }
        Self(Held::Several(list))
    }
}

impl<T> From<Few<T>> for Vec<T> {
    fn from(few: Few<T>) -> Self {
        match few.0 {
            Held::One(element) => vec![element],
            Held::Several(list) => list,
        }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut elements = elements.into_iter();
        let Some(first) = elements.next() else { return Self::default() };
        let Some(second) = elements.next() else { return Self(Held::One(first)) };
        Self(Held::Several([first, second].into_iter().chain(elements).collect()))
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, more: I) {
        self.change(|list| list.extend(more));
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Few<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for Few<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        **self == other[..]
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<T: Serialize> Serialize for Few<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;

    #[test]
    fn they_are_read_and_written_as_a_list_however_many_there_are() {
        for text in ["[]", "[1]", "[1,2,3]"] {
            let few: Few<u32> = serde_json::from_str(text).unwrap();
            let list: Vec<u32> = serde_json::from_str(text).unwrap();
            assert_eq!(&*few, list);
            assert_eq!(serde_json::to_string(&few).unwrap(), text);
            assert_eq!(format!("{few:?}"), format!("{list:?}"));
            assert_eq!(few, Few::from(list.clone()));
            assert_eq!(few, list.iter().copied().collect::<Few<u32>>());
            assert_eq!(few.into_iter().collect::<Vec<u32>>(), list);
        }
    }

    #[test]
    fn they_are_changed_as_a_list_is() {
        let mut few = Few::default();
        for element in 1..=3 {
            few.push(element);
        }
        few.iter_mut().for_each(|element| *element *= 2);
        few.extend([8, 10]);
        assert_eq!(few, [2, 4, 6, 8, 10]);
        few.retain(|element| *element == 6);
        assert_eq!(few, [6]);
        few[0] = 7;
        assert_eq!(few, [7]);
        few.clear();
        assert!(few.is_empty());
    }

    /// `IMPORT_EXPANSION` reckons with so much.
    #[test]
    fn a_record_holds_its_only_value_in_place() {
        assert!(size_of::<Record>() <= 120, "{}", size_of::<Record>());
    }
}
