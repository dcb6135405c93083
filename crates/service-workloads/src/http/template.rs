//! Texts of a request with places for values: `${name}`; `$$` is a dollar.

use super::value::{Drawn, Values};

/// A text with places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A place among the values.
    Value(usize),
}

impl Template {
    /// # Errors
    /// A place that is not closed or has no value, in one sentence.
    pub(super) fn of(text: &str, values: &Values) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            plain.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                plain.push('$');
                rest = after;
                continue;
            }
            let named = after.strip_prefix('{').and_then(|after| after.split_once('}'));
            let Some((name, after)) = named else {
                return Err("a `$` begins `${name}`; a dollar itself is `$$`".to_owned());
            };
            let position = values
                .position(name)
                .ok_or_else(|| format!("`${{{name}}}`: [values] has no {name:?}"))?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Value(position));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// The values that it uses.
    pub(super) fn used(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Value(position) => Some(*position),
            Piece::Text(_) => None,
        })
    }

    /// Whether its own text holds a byte that `is_such`.
    pub(super) fn has(&self, is_such: impl Fn(u8) -> bool) -> bool {
        self.0.iter().any(|piece| match piece {
            Piece::Text(text) => text.bytes().any(&is_such),
            Piece::Value(_) => false,
        })
    }

    /// Appends the text with what was drawn.
    pub(super) fn render(&self, drawn: &Drawn, into: &mut Vec<u8>) {
        for piece in &self.0 {
            into.extend_from_slice(match piece {
                Piece::Text(text) => text.as_bytes(),
                Piece::Value(position) => drawn.text(*position).as_bytes(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use std::path::Path;

    fn rendered(text: &str) -> Result<String, String> {
        let declared = toml::from_str("n = { from = 5, to = 5 }").unwrap();
        let values = Values::of(&declared, Path::new("")).unwrap();
        let template = Template::of(text, &values)?;
        let mut drawn = values.drawn();
        let used: Vec<usize> = template.used().collect();
        values.draw(&used, &mut ChaCha8Rng::seed_from_u64(1), (0, 0), &mut drawn);
        let mut bytes = Vec::new();
        template.render(&drawn, &mut bytes);
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn places_are_filled_and_dollars_kept() {
        for (text, expected) in [
            ("", ""),
            ("/a/${n}/b?x=${n}", "/a/5/b?x=5"),
            ("$$${n}$$", "$5$"),
            ("{\"n\": ${n}}", "{\"n\": 5}"),
        ] {
            assert_eq!(rendered(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn places_that_cannot_be_filled_are_named() {
        for (text, word) in
            [("$n", "`$$`"), ("${n", "`$$`"), ("a$", "`$$`"), ("${m}", "has no \"m\"")]
        {
            assert!(rendered(text).unwrap_err().contains(word), "{text}");
        }
    }
}
