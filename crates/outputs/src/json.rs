//! JSON with places: what is wrong is named by its line while the text is parsed,
//! and by its path in words (`results[2].times[7]`) afterwards. A key that is given
//! twice is an error, because readers disagree on which of the two counts.

use crate::trouble::Trouble;
use model::{JSON_HELD, JSON_TEXT_BYTES, JSON_VALUES, OverLimit, over_depth};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

/// Lists of more elements are cut off where they are.
const MOST_MOVED: usize = 64;
/// Counts beyond this are not exact as floating-point numbers, and nobody counts so far.
const LARGEST_COUNT: u64 = 1 << 53;
/// What a value takes where it stands, and a key before it. Their texts lie elsewhere.
const VALUE_BYTES: u64 = size_of::<Json>() as u64;
const KEY_BYTES: u64 = size_of::<String>() as u64;
/// What the allocator adds at most to the values of a list or object, in its steps.
const LIST_BYTES: u64 = 16;
/// What a key of an object that is open takes in the set by which a second one is found: 17 bytes were
/// measured of four million.
const DIGEST_BYTES: u64 = 20;

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number that is not negative.
    Whole(u64),
    /// Any other number; finite, as JSON knows no other.
    Number(f64),
    /// A text.
    Text(String),
    /// A list, in the order of the file.
    List(Vec<Json>),
    /// In the order of the file.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses one value that is all there is.
    ///
    /// # Errors
    /// When it is no JSON, is more than is held (`JSON_VALUES`, `JSON_HELD`, `JSON_TEXT_BYTES`), or is
    /// followed by something.
    pub fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        Self::parse_with_repeated(bytes, &[])
    }

    /// The same of a tool that gives members of these names several times in one object, as one for
    /// each of its streams: [`JsonNode::members`] has all of them.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with_repeated(bytes: &[u8], repeated: &[&str]) -> Result<Self, Trouble> {
        let (parsed, rest) = Self::first(bytes, repeated)?;
        if let Some(place) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) {
            let end = bytes.len() - rest.len() + place;
            let cause = "there is something after the end of the JSON";
            return Err(Trouble::at(line_of(bytes, end), cause, REMEDY));
        }
        Ok(parsed)
    }

    /// Parses the value at the beginning, and returns what follows it.
    ///
    /// # Errors
    /// As [`Self::parse`], whatever follows.
    pub fn parse_first(bytes: &[u8]) -> Result<(Self, &[u8]), Trouble> {
        Self::first(bytes, &[])
    }

    fn first<'b>(bytes: &'b [u8], repeated: &[&str]) -> Result<(Self, &'b [u8]), Trouble> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let held = Held { values: Cell::new(0), bytes: Cell::new(bytes.len() as u64) };
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let parsed = Builder { held: &held, repeated }.deserialize(&mut deserializer);
        let parsed = parsed.map_err(|error| {
            let text =
                over_depth(&error).map_or_else(|| error.to_string(), |over| over.to_string());
            let cause = text.split(" at line ").next().unwrap_or(&text);
            let cause = format!("it is not the JSON that was expected: {cause}");
            Trouble {
                line: Some(error.line() as u64).filter(|line| *line > 0),
                cause,
                remedy: REMEDY.to_owned(),
            }
        })?;
        let end = deserializer.into_iter::<IgnoredAny>().byte_offset();
        Ok((parsed, &bytes[end..]))
    }

    /// The bytes of memory that are reckoned for it, as they were while it was parsed.
    pub fn held_bytes(&self) -> u64 {
        let list = |length: usize| if length == 0 { 0 } else { LIST_BYTES };
        let within = match self {
            Self::Null | Self::Boolean(_) | Self::Whole(_) | Self::Number(_) => 0,
            Self::Text(text) => block_bytes(text.len()),
            Self::List(items) => {
                list(items.len()) + items.iter().map(Self::held_bytes).sum::<u64>()
            }
            Self::Object(entries) => {
                let members = entries
                    .iter()
                    .map(|(key, value)| KEY_BYTES + block_bytes(key.len()) + value.held_bytes());
                list(entries.len()) + members.sum::<u64>()
            }
        };
        VALUE_BYTES + within
    }
}

const REMEDY: &str = "give the file as the tool wrote it";

/// The line of a byte, from 1.
pub fn line_of(bytes: &[u8], place: usize) -> u64 {
    let before = &bytes[..place.min(bytes.len())];
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

/// What the allocator takes for so many bytes: eight of its own, in steps of 16, and 32 at least.
pub(crate) fn block_bytes(length: usize) -> u64 {
    if length == 0 { 0 } else { (length as u64).saturating_add(8).next_multiple_of(16).max(32) }
}

/// What was parsed so far: it is held against its limits before it is.
#[derive(Default)]
struct Held {
    values: Cell<u64>,
    /// With the text that is parsed.
    bytes: Cell<u64>,
}

impl Held {
    fn add(&self, bytes: u64) -> Result<(), OverLimit> {
        let bytes = self.bytes.get().saturating_add(bytes);
        JSON_HELD.check(bytes)?;
        self.bytes.set(bytes);
        Ok(())
    }

    fn add_value(&self) -> Result<(), OverLimit> {
        let values = self.values.get() + 1;
        JSON_VALUES.check(values)?;
        self.values.set(values);
        self.add(VALUE_BYTES)
    }

    fn add_text(&self, length: usize) -> Result<(), OverLimit> {
        JSON_TEXT_BYTES.check(length as u64)?;
        self.add(block_bytes(length))
    }

    fn add_key(&self, length: usize) -> Result<(), OverLimit> {
        self.add_text(length)?;
        self.add(KEY_BYTES + DIGEST_BYTES)
    }

    /// An object of so many keys is whole.
    fn drop_digests(&self, keys: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(DIGEST_BYTES * keys as u64));
    }
}

/// Builds values, and reckons what they take.
#[derive(Clone, Copy)]
struct Builder<'c> {
    held: &'c Held,
    repeated: &'c [&'c str],
}

impl<'de> DeserializeSeed<'de> for Builder<'_> {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.held.add_value().map_err(D::Error::custom)?;
        deserializer.deserialize_any(self)
    }
}

/// The key of a member.
struct Key<'c>(&'c Held);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        self.0.add_key(key.len()).map_err(E::custom)?;
        Ok(key.to_owned())
    }
}

impl<'de> Visitor<'de> for Builder<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Boolean(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Json, E> {
        self.held.add_text(value.len()).map_err(E::custom)?;
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self)? {
            items.push(item);
        }
        if !items.is_empty() {
            self.held.add(LIST_BYTES).map_err(A::Error::custom)?;
        }
        Ok(Json::List(fitted(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(key) = access.next_key_seed(Key(self.held))? {
            let is_new = self.repeated.contains(&key.as_str()) || seen.insert(digest(&key));
            if !is_new && entries.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom(format_args!("the key {key:?} is given twice")));
            }
            entries.push((key, access.next_value_seed(self)?));
        }
        self.held.drop_digests(entries.len());
        if !entries.is_empty() {
            self.held.add(LIST_BYTES).map_err(A::Error::custom)?;
        }
        Ok(Json::Object(fitted(entries)))
    }
}

/// What equal keys have alike: a second copy of each would be as large as the first.
fn digest(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key.as_bytes());
    hasher.finish()
}

/// A list without room for more: a file may hold millions of a single element. A short one moves,
/// because what is cut off in place is of no use to the next.
fn fitted<T>(mut list: Vec<T>) -> Vec<T> {
    if list.len() > MOST_MOVED {
        list.shrink_to_fit();
        return list;
    }
    let mut moved = Vec::with_capacity(list.len());
    moved.append(&mut list);
    moved
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct JsonNode<'a> {
    value: &'a Json,
    path: String,
}

impl<'a> JsonNode<'a> {
    /// The whole document.
    pub fn root(value: &'a Json) -> Self {
        Self { value, path: String::new() }
    }

    /// Trouble with this value: its path, and what is wrong with it.
    pub fn trouble(&self, what: impl fmt::Display) -> Trouble {
        let path = if self.path.is_empty() { "the file" } else { &self.path };
        Trouble::new(format!("{path} {what}"), "correct it, or remove what it belongs to")
    }

    /// A member, where there is one that is not null.
    ///
    /// # Errors
    /// When this is no object.
    pub fn optional(&self, key: &str) -> Result<Option<JsonNode<'a>>, Trouble> {
        let found = self.object()?.iter().find(|(known, _)| known == key);
        Ok(found
            .filter(|(_, value)| *value != Json::Null)
            .map(|(_, value)| JsonNode { value, path: self.path_of(key) }))
    }

    /// A member that must be there.
    ///
    /// # Errors
    /// When it is not, or is null, or this is no object.
    pub fn member(&self, key: &str) -> Result<JsonNode<'a>, Trouble> {
        self.optional(key)?.ok_or_else(|| self.trouble(format_args!("has no `{key}`")))
    }

    /// All members in the order of the file, each placed when it is asked for: the places of millions
    /// would be larger than they are.
    ///
    /// # Errors
    /// When this is no object.
    pub fn members(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = (&'a str, JsonNode<'a>)> + use<'a>, Trouble> {
        let parent = self.clone();
        let place = move |(key, value): &'a (String, Json)| {
            (key.as_str(), JsonNode { value, path: parent.path_of(key) })
        };
        Ok(self.object()?.iter().map(place))
    }

    /// All items of a list, each placed when it is asked for.
    ///
    /// # Errors
    /// When this is no list.
    pub fn items(&self) -> Result<impl ExactSizeIterator<Item = JsonNode<'a>> + use<'a>, Trouble> {
        let Json::List(items) = self.value else { return Err(self.trouble("is no list")) };
        let path = self.path.clone();
        let place = move |(index, value): (usize, &'a Json)| JsonNode {
            value,
            path: format!("{path}[{index}]"),
        };
        Ok(items.iter().enumerate().map(place))
    }

    /// A text.
    ///
    /// # Errors
    /// When it is something else.
    pub fn text(&self) -> Result<&'a str, Trouble> {
        match self.value {
            Json::Text(text) => Ok(text),
            _ => Err(self.trouble("is no text")),
        }
    }

    /// A text, or a number as it is written shortest.
    ///
    /// # Errors
    /// When it is something else.
    pub fn level(&self) -> Result<String, Trouble> {
        match self.value {
            Json::Text(text) => Ok(text.clone()),
            Json::Whole(number) => Ok(number.to_string()),
            Json::Number(number) => Ok(number.to_string()),
            _ => Err(self.trouble("is neither a text nor a number")),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// When it is something else.
    pub fn boolean(&self) -> Result<bool, Trouble> {
        match self.value {
            Json::Boolean(value) => Ok(*value),
            _ => Err(self.trouble("is neither true nor false")),
        }
    }

    /// A finite number.
    ///
    /// # Errors
    /// When it is something else.
    pub fn number(&self) -> Result<f64, Trouble> {
        let number = match self.value {
            Json::Whole(number) => Some(*number as f64),
            Json::Number(number) => Some(*number),
            _ => None,
        };
        number.filter(|number| number.is_finite()).ok_or_else(|| self.trouble("is no number"))
    }

    /// A finite number of something that cannot be less than nothing.
    ///
    /// # Errors
    /// When it is something else, or negative.
    pub fn amount(&self) -> Result<f64, Trouble> {
        let number = self.number()?;
        if number < 0.0 {
            return Err(self.trouble(format_args!("is {number}, and cannot be negative")));
        }
        Ok(number)
    }

    /// An amount in another unit: multiplied by `scale`.
    ///
    /// # Errors
    /// When it is no amount, or too large then.
    pub fn scaled(&self, scale: f64) -> Result<f64, Trouble> {
        let scaled = self.amount()? * scale;
        if !scaled.is_finite() {
            return Err(self.trouble("is too large"));
        }
        Ok(scaled)
    }

    /// A whole number.
    ///
    /// # Errors
    /// When it is something else, negative, or beyond 2^53.
    pub fn count(&self) -> Result<u64, Trouble> {
        match self.value {
            Json::Whole(number) if *number <= LARGEST_COUNT => Ok(*number),
            _ => Err(self.trouble("is no count")),
        }
    }

    /// A whole number with a sign.
    ///
    /// # Errors
    /// When it is something else, or beyond 2^53 either way.
    pub fn code(&self) -> Result<i64, Trouble> {
        let number = self.number()?;
        if number.fract() == 0.0 && number.abs() <= LARGEST_COUNT as f64 {
            Ok(number as i64)
        } else {
            Err(self.trouble("is no whole number"))
        }
    }

    /// Whether a null stands here.
    pub fn is_null(&self) -> bool {
        *self.value == Json::Null
    }

    fn object(&self) -> Result<&'a [(String, Json)], Trouble> {
        match self.value {
            Json::Object(entries) => Ok(entries),
            _ => Err(self.trouble("is no object")),
        }
    }

    fn path_of(&self, key: &str) -> String {
        let short: String = key.chars().filter(|c| !c.is_control()).take(60).collect();
        if self.path.is_empty() { short } else { format!("{}.{short}", self.path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_and_cause(text: &str) -> (Option<u64>, String) {
        let trouble = Json::parse(text.as_bytes()).unwrap_err();
        (trouble.line, trouble.cause)
    }

    #[test]
    fn broken_json_is_refused_with_its_line() {
        for (text, line, words) in [
            ("{\n\"a\": NaN}", 2, "expected value"),
            ("{\"a\": 1,\n\n\"a\": 2}", 3, "\"a\" is given twice"),
            ("[1e999]", 1, "number out of range"),
            ("{}\n}", 2, "after the end"),
            ("{} {}", 1, "after the end"),
            ("", 1, "EOF"),
            ("{\"a\": \"\n\"}", 2, "control character"),
        ] {
            let (found, cause) = line_and_cause(text);
            assert_eq!(found, Some(line), "{text}: {cause}");
            assert!(cause.contains(words), "{text}: {cause}");
        }
    }

    #[test]
    fn more_values_than_are_held_are_refused_by_the_name_of_the_limit() {
        let most = usize::try_from(JSON_VALUES.most).unwrap();
        let text = format!("[{}1]", "1,".repeat(most - 1));
        let (_, cause) = line_and_cause(&text);
        assert!(cause.contains("limit JSON_VALUES"), "{cause}");
    }

    #[test]
    fn more_memory_than_json_may_take_is_refused_by_the_name_of_the_limit() {
        // Each is held twice, as text of the file and by itself.
        let long = "x".repeat(1 << 20);
        let texts = |count: u64| -> String {
            let items = (0..count).map(|number| format!("\"{number}{long}\""));
            format!("[{}]", items.collect::<Vec<String>>().join(","))
        };
        let keys = |count: u64| -> String {
            let members = (0..count).map(|number| format!("\"{number}{long}\":0"));
            format!("{{{}}}", members.collect::<Vec<String>>().join(","))
        };
        let most = JSON_HELD.most >> 21;
        assert!(Json::parse(texts(most - 1).as_bytes()).is_ok());
        for text in [texts(most), keys(most)] {
            let (_, cause) = line_and_cause(&text);
            assert!(cause.contains("limit JSON_HELD"), "{cause}");
        }
    }

    #[test]
    fn what_is_reckoned_while_json_is_parsed_is_what_is_held_then() {
        let text = r#"{"a":[1,-2.5,null,true,"a text of more than some bytes"],"":"","b":{"c":{},"d":[]}}"#;
        let held = Held::default();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let parsed = Builder { held: &held, repeated: &[] }.deserialize(&mut deserializer).unwrap();
        assert_eq!((held.values.get(), held.bytes.get()), (11, parsed.held_bytes()));
    }

    #[test]
    fn a_text_or_key_that_is_too_long_is_refused_by_the_name_of_the_limit() {
        let most = usize::try_from(JSON_TEXT_BYTES.most).unwrap();
        let texts = |length: usize| {
            let long = "x".repeat(length);
            [format!("[\"{long}\"]"), format!("{{\"{long}\":0}}")]
        };
        for text in texts(most) {
            assert!(Json::parse(text.as_bytes()).is_ok());
        }
        for text in texts(most + 1) {
            let (_, cause) = line_and_cause(&text);
            assert!(cause.contains("limit JSON_TEXT_BYTES"), "{cause}");
        }
    }

    #[test]
    fn lists_and_objects_have_no_room_for_more() {
        let Json::List(items) = Json::parse(b"[[1], {\"a\": 1}, []]").unwrap() else { panic!() };
        let room = |value: &Json| match value {
            Json::List(of) => of.capacity() - of.len(),
            Json::Object(of) => of.capacity() - of.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(items.iter().map(room).collect::<Vec<_>>(), [0; 3]);
        assert_eq!(items.capacity(), 3);
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        let cause = line_and_cause(&"[".repeat(100_000)).1;
        assert!(cause.contains("more than 127 lists and objects"), "{cause}");
        assert!(cause.contains("limit JSON_DEPTH"), "{cause}");
        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        assert!(Json::parse(deep.as_bytes()).is_ok());
    }

    #[test]
    fn what_follows_the_first_value_is_returned() {
        let (parsed, rest) = Json::parse_first(b"\xef\xbb\xbf {\"a\": 1}Wakeup").unwrap();
        assert_eq!(parsed, Json::Object(vec![("a".to_owned(), Json::Whole(1))]));
        assert_eq!(rest, b"Wakeup");
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_named_by_its_path() {
        let json = Json::parse(br#"{"a": [{"b": -1}, {"b": "x"}], "n": null}"#).unwrap();
        let root = JsonNode::root(&json);
        let items: Vec<JsonNode<'_>> = root.member("a").unwrap().items().unwrap().collect();
        let cause = |trouble: Trouble| trouble.cause;
        assert_eq!(
            cause(items[0].member("b").unwrap().amount().unwrap_err()),
            "a[0].b is -1, and cannot be negative"
        );
        assert_eq!(
            cause(items[1].member("b").unwrap().number().unwrap_err()),
            "a[1].b is no number"
        );
        assert_eq!(cause(items[1].member("c").unwrap_err()), "a[1] has no `c`");
        assert_eq!(cause(root.member("n").unwrap_err()), "the file has no `n`");
        assert_eq!(cause(root.items().err().unwrap()), "the file is no list");
    }
}
