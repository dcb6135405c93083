//! One of our schedulers with its parameters, as text: `bfs?rr_interval=6ms&without=sticky`.

use super::{ALGORITHMS, Algorithm};
use contract::{Error, ParameterKind, nearest};
use model::ParameterValue;
use std::fmt;

/// A checked choice. Its text is canonical: equal choices have equal text.
#[derive(Debug, Clone)]
pub struct Choice {
    algorithm: &'static Algorithm,
    /// As declared, with `None` for what was not given.
    given: Vec<Option<ParameterValue>>,
}

impl Choice {
    /// Parses the text after `lab:`.
    ///
    /// # Errors
    /// No such algorithm or parameter, or a value it does not take; the nearest name is told.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let fail = |cause: String, remedy: String| {
            Error::usage(format!("cannot use the scheduler lab:{text}"), cause, remedy)
        };
        let (id, rest) = text.split_once('?').unwrap_or((text, ""));
        let algorithm = Algorithm::find(id).ok_or_else(|| {
            let ids: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.id).collect();
            fail(format!("there is no algorithm `{id}`"), suggestion(id, &ids))
        })?;
        let names: Vec<_> = algorithm.parameters.iter().map(|parameter| parameter.name).collect();
        let mut given = vec![None; names.len()];
        for assignment in rest.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = assignment.split_once('=').ok_or_else(|| {
                fail(
                    format!("`{assignment}` gives no value"),
                    format!("write lab:{id}?{assignment}=VALUE"),
                )
            })?;
            let index = names.iter().position(|known| *known == name).ok_or_else(|| {
                fail(format!("{id} has no parameter `{name}`"), suggestion(name, &names))
            })?;
            let parsed = algorithm.parameters[index]
                .parse(value)
                .map_err(|why| fail(format!("{name}: {why}"), String::new()))?;
            if given[index].replace(parsed).is_some() {
                return Err(fail(format!("{name} is given twice"), String::new()));
            }
        }
        Ok(Self { algorithm, given })
    }

    /// An algorithm with its defaults.
    pub fn of(algorithm: &'static Algorithm) -> Self {
        Self { algorithm, given: vec![None; algorithm.parameters.len()] }
    }

    /// Which algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The value of a parameter, its default where it was not given.
    pub fn value(&self, name: &str) -> Option<ParameterValue> {
        let index = self.algorithm.parameters.iter().position(|known| known.name == name)?;
        let declared = &self.algorithm.parameters[index];
        let default = || declared.default.and_then(|text| declared.parse(text).ok());
        self.given[index].clone().or_else(default)
    }

    /// Every parameter with the value in force, the defaults too: `bfs?rr_interval=6ms&…`.
    pub fn in_force(&self) -> String {
        let given = self.algorithm.parameters.iter().map(|one| self.value(one.name)).collect();
        Self { algorithm: self.algorithm, given }.to_string()
    }

    /// The constants of the BPF object and their bytes.
    pub(super) fn constants(&self) -> Vec<(String, Vec<u8>)> {
        let declared = self.algorithm.parameters.iter();
        declared
            .filter_map(|parameter| {
                let name = parameter.name;
                let bytes = match (self.value(name)?, parameter.kind) {
                    (ParameterValue::Duration(value), _) => {
                        return Some((format!("{name}_ns"), value.to_ne_bytes().to_vec()));
                    }
                    (ParameterValue::Count(value) | ParameterValue::Size(value), _) => {
                        value.to_ne_bytes().to_vec()
                    }
                    (ParameterValue::Flag(value), _) => vec![u8::from(value)],
                    (ParameterValue::Text(word), ParameterKind::Choice(words)) => {
                        let index = words.iter().position(|known| *known == word)?;
                        u32::try_from(index).ok()?.to_ne_bytes().to_vec()
                    }
                    _ => return None,
                };
                Some((name.to_owned(), bytes))
            })
            .collect()
    }
}

/// The canonical text, without `lab:`.
impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.algorithm.id)?;
        let mut separator = '?';
        for (parameter, value) in self.algorithm.parameters.iter().zip(&self.given) {
            if let Some(value) = value {
                // No algorithm declares lists; the catalogue's test would show it.
                let word = value.word().unwrap_or_default();
                write!(formatter, "{separator}{}={word}", parameter.name)?;
                separator = '&';
            }
        }
        Ok(())
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Choice {}

fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "it has none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (Choice::parse(text), expected) {
            (Ok(choice), Ok(canonical)) => {
                assert_eq!(choice.to_string(), canonical);
                assert_eq!(Choice::parse(canonical).unwrap(), choice);
            }
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{text}: {error}");
            }
            (found, expected) => panic!("{text}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn equal_choices_have_equal_text() {
        check("bfs", Ok("bfs"));
        check("bfs?", Ok("bfs"));
        check("bfs?without=sticky&rr_interval=6000us", Ok("bfs?rr_interval=6ms&without=sticky"));
        check("bfs?rr_interval=6ms", Ok("bfs?rr_interval=6ms"));
        check("fifo?run_limit=1s", Ok("fifo?run_limit=1s"));
    }

    #[test]
    fn what_cannot_be_meant_is_told_with_the_nearest_name() {
        check("bsf", Err("did you mean `bfs`?"));
        check("linux", Err("there are bfs"));
        check("bfs?rr_intervall=6ms", Err("did you mean `rr_interval`?"));
        check("bfs?rr_interval", Err("write lab:bfs?rr_interval=VALUE"));
        check("bfs?rr_interval=6", Err("rr_interval"));
        check("bfs?rr_interval=2s", Err("2s is outside 1ms to 1s"));
        check("bfs?without=sticky&without=idle", Err("without is given twice"));
        check("bfs?without=fun", Err("is not one of none, deadline"));
        check("", Err("there is no algorithm ``"));
    }

    #[test]
    fn what_is_in_force_names_the_defaults_too() {
        let given = Choice::parse("bfs?without=sticky").unwrap();
        assert_eq!(given.in_force(), "bfs?rr_interval=6ms&without=sticky");
        for algorithm in ALGORITHMS {
            let whole = Choice::of(algorithm).in_force();
            assert_eq!(Choice::parse(&whole).unwrap().in_force(), whole);
            assert!(algorithm.parameters.iter().all(|one| whole.contains(one.name)), "{whole}");
        }
    }

    #[test]
    fn every_parameter_becomes_a_constant_of_the_object() {
        let choice = Choice::parse("bfs?without=sticky").unwrap();
        let expected = [
            ("rr_interval_ns".to_owned(), 6_000_000u64.to_ne_bytes().to_vec()),
            ("without".to_owned(), 3u32.to_ne_bytes().to_vec()),
        ];
        assert_eq!(choice.constants(), expected);
        for algorithm in ALGORITHMS {
            let choice = Choice::parse(algorithm.id).unwrap();
            assert_eq!(choice.constants().len(), algorithm.parameters.len(), "{}", algorithm.id);
            let opened = bpf::OpenedObject::open(algorithm.id, algorithm.object);
            if cfg!(not(feature = "bpf")) {
                assert_eq!(opened.err(), Some(bpf::Error::NotBuilt));
                continue;
            }
            let mut object = opened.unwrap();
            for (name, bytes) in choice.constants() {
                object.set(&name, &bytes).unwrap();
            }
            object.set("tracing", &[1]).unwrap();
            assert!(object.set("tracing", &[1, 2]).is_err());
        }
    }
}
