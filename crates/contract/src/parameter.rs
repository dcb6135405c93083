//! Declared parameters of workloads: kind, default, limits.

use crate::Problem;
use model::{ParameterValue, Parameters, parse_count, parse_duration, parse_size};
use std::collections::BTreeMap;

/// One parameter as its workload declares it.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// snake_case, without a unit.
    pub name: &'static str,
    /// Kind and limits.
    pub kind: ParameterKind,
    /// Default as text; `None` makes it required.
    pub default: Option<&'static str>,
    /// One line.
    pub summary: &'static str,
}

/// What values a parameter takes. Limits are inclusive.
#[derive(Debug, Clone, Copy)]
pub enum ParameterKind {
    /// A whole number.
    Count {
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
    /// A duration, limits in nanoseconds.
    Duration {
        /// Shortest.
        min: u64,
        /// Longest.
        max: u64,
    },
    /// A size, limits in bytes.
    Size {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A real number.
    Number {
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// true or false.
    Flag,
    /// A list of texts; a single text is split as a shell splits words, with no shell.
    Words,
    /// Tables of texts by name.
    Table,
}

impl Parameter {
    /// The defaults of all that is declared, with these values by name in their place.
    ///
    /// # Errors
    /// Names that are not declared, values that are none, and what is required and not given.
    pub fn values(
        declared: &[Parameter],
        given: &[(&str, &str)],
    ) -> Result<Parameters, Vec<Problem>> {
        let is_declared = |name: &str| declared.iter().any(|parameter| parameter.name == name);
        let unknown = given.iter().filter(|(name, _)| !is_declared(name));
        let mut problems: Vec<Problem> =
            unknown.map(|(name, _)| format!("there is no parameter `{name}`").into()).collect();
        let mut values = BTreeMap::new();
        for parameter in declared {
            let name = parameter.name;
            let own = given.iter().find(|(given, _)| *given == name).map(|(_, text)| *text);
            match own.or(parameter.default).map(|text| parameter.parse(text)) {
                Some(Ok(value)) => {
                    values.insert(name.to_owned(), value);
                }
                Some(Err(why)) => problems.push(format!("`{name}`: {why}").into()),
                None => problems.push(format!("the parameter `{name}` is required").into()),
            }
        }
        if problems.is_empty() { Ok(Parameters(values)) } else { Err(problems) }
    }

    /// Whether all that is declared is among these values and of its kind, so that its key can read
    /// it; of a choice, one of its words. Limits are not looked at: `plan` held every value against
    /// them.
    ///
    /// # Errors
    /// Each that is not there, of another kind, or another word.
    pub fn check(declared: &[Parameter], parameters: &Parameters) -> Result<(), Vec<Problem>> {
        let problem = |Parameter { name, kind, .. }: &Parameter| match parameters.0.get(*name) {
            None => Some(format!(
                "the parameter `{name}` is absent: the plan may be of another version"
            )),
            Some(value) if kind.holds(value) => None,
            Some(ParameterValue::Text(word)) if matches!(kind, ParameterKind::Choice(_)) => {
                Some(format!(
                    "the parameter `{name}` has no word {word:?}: the plan may be of another version"
                ))
            }
            Some(_) => Some(format!(
                "the parameter `{name}` is of another kind: the plan may be of another version"
            )),
        };
        let problems: Vec<Problem> =
            declared.iter().filter_map(problem).map(Problem::from).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Parses the value as text (defaults, `--set`, TOML strings and numbers).
    ///
    /// # Errors
    /// Why it is not a value of this parameter, in one sentence.
    pub fn parse(&self, text: &str) -> Result<ParameterValue, String> {
        let within = |value: u64, min: u64, max: u64, show: fn(u64) -> String| {
            if (min..=max).contains(&value) {
                Ok(value)
            } else {
                Err(format!("{} is outside {} to {}", show(value), show(min), show(max)))
            }
        };
        match self.kind {
            ParameterKind::Count { min, max } => {
                let value = parse_count(text).map_err(|error| error.to_string())?;
                within(value, min, max, |value| value.to_string()).map(ParameterValue::Count)
            }
            ParameterKind::Duration { min, max } => {
                let value = parse_duration(text).map_err(|error| error.to_string())?;
                within(value, min, max, model::format_duration).map(ParameterValue::Duration)
            }
            ParameterKind::Size { min, max } => {
                let value = parse_size(text).map_err(|error| error.to_string())?;
                within(value, min, max, model::format_size).map(ParameterValue::Size)
            }
            ParameterKind::Number { min, max } => {
                let value: f64 =
                    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))?;
                if value >= min && value <= max {
                    Ok(ParameterValue::Number(value))
                } else {
                    Err(format!("{value} is outside {min} to {max}"))
                }
            }
            ParameterKind::Choice(choices) => {
                if choices.contains(&text) {
                    Ok(ParameterValue::Text(text.to_owned()))
                } else {
                    Err(format!("`{text}` is not one of {}", choices.join(", ")))
                }
            }
            ParameterKind::Text => Ok(ParameterValue::Text(text.to_owned())),
            ParameterKind::Flag => match text {
                "true" => Ok(ParameterValue::Flag(true)),
                "false" => Ok(ParameterValue::Flag(false)),
                _ => Err(format!("`{text}` is not true or false")),
            },
            ParameterKind::Words => split_words(text).map(ParameterValue::Words),
            ParameterKind::Table if text.is_empty() => Ok(ParameterValue::Table(BTreeMap::new())),
            ParameterKind::Table => Err("expected a table".to_owned()),
        }
    }
}

impl ParameterKind {
    /// Whether a value is of this kind, whatever its limits; of a choice, one of its words.
    fn holds(&self, value: &ParameterValue) -> bool {
        match (self, value) {
            (Self::Choice(words), ParameterValue::Text(word)) => words.contains(&word.as_str()),
            (Self::Count { .. }, ParameterValue::Count(_))
            | (Self::Duration { .. }, ParameterValue::Duration(_))
            | (Self::Size { .. }, ParameterValue::Size(_))
            | (Self::Number { .. }, ParameterValue::Number(_))
            | (Self::Text, ParameterValue::Text(_))
            | (Self::Flag, ParameterValue::Flag(_))
            | (Self::Words, ParameterValue::Words(_))
            | (Self::Table, ParameterValue::Table(_)) => true,
            _ => false,
        }
    }
}

/// Splits as a POSIX shell splits words: blanks separate, quotes and
/// backslashes protect. Nothing else a shell does is done.
///
/// # Errors
/// When a quote is not closed, a backslash ends the text, or there is no word.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = characters.next().ok_or("a backslash ends the text")?;
                word.get_or_insert_default().push(next);
            }
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    if words.is_empty() { Err("there is no word".to_owned()) } else { Ok(words) }
}

/// Words as one text that [`split_words`] splits into them again.
pub fn join_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let is_plain = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
        !word.is_empty() && word.chars().all(plain)
    };
    let quoted = |word: &str| {
        if is_plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would_and_nothing_is_expanded() {
        let split = |text: &str| split_words(text);
        assert_eq!(
            split("make -j2 'a b' \"c \\\" d\" e\\ f"),
            Ok(["make", "-j2", "a b", "c \" d", "e f"].map(str::to_owned).to_vec())
        );
        assert_eq!(split("echo $HOME;id").unwrap()[1], "$HOME;id");
        assert!(split("  ").is_err());
        assert!(split("a 'b").is_err());
    }

    #[test]
    fn joined_words_are_split_into_the_same() {
        for words in [vec!["a"], vec!["a b", "", "it's", "{\"x\": 1}", "\\", "-j2"]] {
            let text = join_words(words.iter().copied());
            assert_eq!(split_words(&text).unwrap(), words, "{text}");
        }
        assert_eq!(join_words(["scx_rusty", "--slice-us", "20000"]), "scx_rusty --slice-us 20000");
    }

    #[test]
    fn all_that_is_wrong_with_given_values_is_told() {
        let count = |name, default| Parameter {
            name,
            kind: ParameterKind::Count { min: 1, max: 64 },
            default,
            summary: "",
        };
        let declared = [count("groups", Some("4")), count("loops", None)];
        let told = Parameter::values(&declared, &[("group", "1"), ("groups", "65")]).unwrap_err();
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "there is no parameter `group`",
                "`groups`: 65 is outside 1 to 64",
                "the parameter `loops` is required"
            ]
        );
        let values = Parameter::values(&declared, &[("loops", "7")]).unwrap();
        assert_eq!(values.0["groups"], ParameterValue::Count(4));
        assert_eq!(values.0["loops"], ParameterValue::Count(7));
    }

    #[test]
    fn what_is_parsed_is_of_the_kind_that_was_declared_and_of_no_other() {
        let kinds = [
            (ParameterKind::Count { min: 0, max: 9 }, "1"),
            (ParameterKind::Duration { min: 0, max: 9_000_000_000 }, "1s"),
            (ParameterKind::Size { min: 0, max: 1 << 20 }, "4k"),
            (ParameterKind::Number { min: 0.0, max: 9.0 }, "1"),
            (ParameterKind::Text, "1"),
            (ParameterKind::Flag, "true"),
            (ParameterKind::Words, "1"),
            (ParameterKind::Table, ""),
        ];
        let declared = |kind| [Parameter { name: "p", kind, default: None, summary: "" }];
        for (at, (kind, text)) in kinds.iter().enumerate() {
            let value = declared(*kind)[0].parse(text).unwrap();
            let parameters = Parameters([("p".to_owned(), value)].into());
            for (other, (kind, _)) in kinds.iter().enumerate() {
                let checked = Parameter::check(&declared(*kind), &parameters);
                assert_eq!(checked.is_ok(), at == other, "{text} as {kind:?}");
            }
        }
    }

    #[test]
    fn a_word_that_a_choice_does_not_have_is_named() {
        let kind = ParameterKind::Choice(&["count", "skip"]);
        let declared = [Parameter { name: "missed", kind, default: None, summary: "" }];
        let check = |value| {
            let parameters = Parameters([("missed".to_owned(), value)].into());
            Parameter::check(&declared, &parameters).map_err(|why| Problem::joined(&why))
        };
        assert_eq!(check(ParameterValue::Text("skip".to_owned())), Ok(()));
        let unknown = check(ParameterValue::Text("skipped".to_owned())).unwrap_err();
        assert!(unknown.contains("`missed` has no word \"skipped\""), "{unknown}");
        let other = check(ParameterValue::Count(1)).unwrap_err();
        assert!(other.contains("`missed` is of another kind"), "{other}");
    }

    #[test]
    fn limits_are_named_in_the_error() {
        let parameter = Parameter {
            name: "groups",
            kind: ParameterKind::Count { min: 1, max: 64 },
            default: None,
            summary: "",
        };
        assert_eq!(parameter.parse("65"), Err("65 is outside 1 to 64".to_owned()));
    }
}
