//! Debian's control format: stanzas of `Field: value` lines with continuations,
//! parted by empty lines. Package indexes and deb822 sources are written in it.

/// One stanza: fields in the order they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stanza {
    fields: Vec<(String, String)>,
}

impl Stanza {
    /// A field's value; names are compared without case. Continuation lines are
    /// joined by line feeds, without the blank they begin with.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// A field's value as words.
    pub fn words(&self, name: &str) -> Vec<&str> {
        self.get(name).map(|value| value.split_whitespace().collect()).unwrap_or_default()
    }
}

/// Every stanza of a text. Total: what is no field is left out.
pub fn stanzas(text: &str) -> Vec<Stanza> {
    let mut all = Vec::new();
    let mut current = Stanza::default();
    for line in text.lines() {
        if line.trim().is_empty() {
            if !current.fields.is_empty() {
                all.push(std::mem::take(&mut current));
            }
        } else if line.starts_with('#') {
            // Comments are allowed anywhere in sources, even inside a field.
        } else if let Some(rest) = line.strip_prefix([' ', '\t']) {
            if let Some((_, value)) = current.fields.last_mut() {
                value.push('\n');
                value.push_str(rest.trim_end());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            current.fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    if !current.fields.is_empty() {
        all.push(current);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_comments_and_case_are_understood() {
        let text =
            "Types: deb\n# a comment\nURIs:\n http://one\n http://two\n\n\nSuites: a\nno field\n";
        let all = stanzas(text);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].words("uris"), ["http://one", "http://two"]);
        assert_eq!(all[1].get("SUITES"), Some("a"));
        assert_eq!(all[1].get("Types"), None);
    }
}
