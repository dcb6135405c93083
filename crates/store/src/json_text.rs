//! JSON text that a parser took, piece by piece: the members of an object and the elements of a list
//! as the text between their signs. Nothing of the size of the text is held. Text that is no JSON
//! gives pieces that mean nothing, and never a panic.

use std::borrow::Cow;

/// The text of one value, without blanks around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonText<'t>(&'t str);

impl<'t> JsonText<'t> {
    /// That of a document.
    pub(crate) fn of(text: &'t str) -> Self {
        Self(trimmed(text))
    }

    /// Whether it is an object.
    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether it is a list.
    pub(crate) fn is_list(self) -> bool {
        self.0.starts_with('[')
    }

    /// The text.
    pub(crate) fn as_str(self) -> &'t str {
        self.0
    }

    /// The names and values of an object, in its order; none of anything else.
    pub(crate) fn members(self) -> impl Iterator<Item = (Cow<'t, str>, JsonText<'t>)> {
        let mut rest = self.inside('{');
        std::iter::from_fn(move || {
            let (name, behind) = value(rest)?;
            let (own, after) = value(trimmed(behind).strip_prefix(':')?)?;
            rest = next(after);
            Some((decoded(name.0), own))
        })
    }

    /// The elements of a list, in its order; none of anything else.
    pub(crate) fn elements(self) -> impl Iterator<Item = JsonText<'t>> {
        let mut rest = self.inside('[');
        std::iter::from_fn(move || {
            let (element, after) = value(rest)?;
            rest = next(after);
            Some(element)
        })
    }

    /// What stands behind the sign that opens it.
    fn inside(self, opens: char) -> &'t str {
        self.0.strip_prefix(opens).unwrap_or_default()
    }
}

/// JSON's blanks.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\n' | '\r' | '\t')
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// What follows a comma; nothing behind the last element.
fn next(text: &str) -> &str {
    text.trim_start_matches(is_blank).strip_prefix(',').unwrap_or_default()
}

/// The value at the beginning, and what follows it; none where none begins.
fn value(text: &str) -> Option<(JsonText<'_>, &str)> {
    let text = text.trim_start_matches(is_blank);
    let length = match text.as_bytes().first()? {
        b'"' => string_length(text.as_bytes()),
        b'{' | b'[' => container_length(text.as_bytes()),
        _ => text.find([',', ':', '}', ']']).unwrap_or(text.len()),
    };
    let (own, rest) = text.split_at_checked(length).filter(|(own, _)| !own.is_empty())?;
    Some((JsonText(trimmed(own)), rest))
}

/// The bytes of a text with its two signs; all of one without an end.
pub(crate) fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// The bytes of an object or a list with its two signs; all of one without an end.
fn container_length(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at += string_length(&text[at..]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// A name without its signs and escapes; one that no parser takes is told as it stands.
fn decoded(name: &str) -> Cow<'_, str> {
    let plain = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match plain.filter(|plain| !plain.contains('\\')) {
        Some(plain) => Cow::Borrowed(plain),
        None => serde_json::from_slice(name.as_bytes()).map_or(Cow::Borrowed(name), Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// The value of a text, made from its pieces.
    fn whole(text: JsonText<'_>) -> Value {
        if text.is_object() {
            let members = text.members().map(|(name, own)| (name.into_owned(), whole(own)));
            return Value::Object(members.collect());
        }
        if text.is_list() {
            return Value::Array(text.elements().map(whole).collect());
        }
        serde_json::from_str(text.as_str()).unwrap()
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|of| Value::Object(of.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_pieces_of_any_document_are_that_document(value in any_value()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert_eq!(&whole(JsonText::of(&text)), &value, "{}", text);
            }
        }

        #[test]
        fn what_is_no_json_never_panics_and_ends(text in "[{}\\[\\]:,\"\\\\ a1\u{e9}]{0,40}") {
            let document = JsonText::of(&text);
            prop_assert!(document.members().count() <= text.len());
            prop_assert!(document.elements().count() <= text.len());
        }
    }

    #[test]
    fn names_lose_their_escapes_and_blanks_do_not_count() {
        let text = JsonText::of(" {\"a\\u0041\" : [ ] ,\n\"b,}\\\"\":{ \"c\" : 1e3 } } ");
        let members: Vec<(String, &str)> =
            text.members().map(|(name, own)| (name.into_owned(), own.as_str())).collect();
        assert_eq!(members, [("aA".to_owned(), "[ ]"), ("b,}\"".to_owned(), "{ \"c\" : 1e3 }")]);
    }
}
