//! Keys of parameters: each is declared once, with its kind, limits, default and explanation, and
//! is what a workload reads the parameter by.
//!
//! [`crate::keys!`] makes the constants and the list of them that help, schema and planner read, so
//! that there is no key of a parameter that was not declared.

use crate::shared_names::LENGTH;
use crate::{Parameter, ParameterKind};
use model::{ParameterValue, Parameters};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Tables of texts by name.
pub type Tables = BTreeMap<String, BTreeMap<String, String>>;

/// A declared parameter, and the type that its value is read as: `u64` of a count, of a duration
/// (in nanoseconds) and of a size (in bytes), `f64` of a number, `bool` of a flag, `str` of a text,
/// a [`WordChoice`] of one of some words, `[String]` of words, [`Tables`] of a table.
#[derive(Debug)]
pub struct Key<T: ?Sized> {
    declared: Parameter,
    read_as: PhantomData<T>,
}

/// A type of a workload that a parameter with a choice of words is read as. Its words are declared
/// here and nowhere else: code compares and matches its values.
pub trait WordChoice: Copy + PartialEq + 'static {
    /// Each word with the value that it stands for, in the order in which help shows them; 16 at
    /// most.
    const WORDS: &'static [(&'static str, Self)];

    /// The word that stands for it.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| *word)
    }
}

/// Most words of a choice.
const MOST_WORDS: usize = 16;

/// What values of parameters are read as.
pub trait Readable {
    /// Borrowed from the parameters, where it is a text, words or a table.
    type Read<'p>;

    /// The value; none of another kind.
    fn read(value: &ParameterValue) -> Option<Self::Read<'_>>;
}

impl Readable for u64 {
    type Read<'p> = u64;

    fn read(value: &ParameterValue) -> Option<u64> {
        match value {
            ParameterValue::Count(value)
            | ParameterValue::Duration(value)
            | ParameterValue::Size(value) => Some(*value),
            _ => None,
        }
    }
}

impl Readable for f64 {
    type Read<'p> = f64;

    fn read(value: &ParameterValue) -> Option<f64> {
        if let ParameterValue::Number(value) = value { Some(*value) } else { None }
    }
}

impl Readable for bool {
    type Read<'p> = bool;

    fn read(value: &ParameterValue) -> Option<bool> {
        if let ParameterValue::Flag(value) = value { Some(*value) } else { None }
    }
}

impl Readable for str {
    type Read<'p> = &'p str;

    fn read(value: &ParameterValue) -> Option<&str> {
        if let ParameterValue::Text(value) = value { Some(value) } else { None }
    }
}

impl Readable for [String] {
    type Read<'p> = &'p [String];

    fn read(value: &ParameterValue) -> Option<&[String]> {
        if let ParameterValue::Words(value) = value { Some(value) } else { None }
    }
}

impl Readable for Tables {
    type Read<'p> = &'p Tables;

    fn read(value: &ParameterValue) -> Option<&Tables> {
        if let ParameterValue::Table(value) = value { Some(value) } else { None }
    }
}

impl<T: WordChoice> Readable for T {
    type Read<'p> = T;

    fn read(value: &ParameterValue) -> Option<T> {
        let ParameterValue::Text(text) = value else { return None };
        T::WORDS.iter().find(|(word, _)| word == text).map(|(_, value)| *value)
    }
}

impl<T: Readable + ?Sized> Key<T> {
    /// Its value. That it is there, and of its kind, is what `plan` has checked of what was written,
    /// and [`crate::TrialCatalogue::configure`] of what was stored or sent.
    ///
    /// # Panics
    /// Where these are the parameters of another workload, or its `parameters` does not list this key.
    pub fn of<'p>(&self, parameters: &'p Parameters) -> T::Read<'p> {
        let name = self.declared.name;
        match parameters.0.get(name) {
            Some(value) => T::read(value).unwrap_or_else(|| {
                panic!("parameter `{name}` was declared as another kind than {value:?}")
            }),
            None => panic!("parameter `{name}` was not declared"),
        }
    }
}

impl<T: ?Sized> Key<T> {
    const fn new(
        name: &'static str,
        kind: ParameterKind,
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        let declared = Parameter { name, kind, default: Some(default), summary };
        Self { declared, read_as: PhantomData }
    }

    /// What help, schema and planner know of it.
    pub const fn declared(&self) -> Parameter {
        self.declared
    }

    /// How an experiment calls it.
    pub const fn name(&self) -> &'static str {
        self.declared.name
    }

    /// The same without a default.
    pub const fn required(self) -> Self {
        let declared = Parameter { default: None, ..self.declared };
        Self { declared, read_as: PhantomData }
    }

    /// The same with another default.
    pub const fn with_default(self, default: &'static str) -> Self {
        let declared = Parameter { default: Some(default), ..self.declared };
        Self { declared, read_as: PhantomData }
    }
}

impl Key<u64> {
    /// A whole number within inclusive limits.
    pub const fn count(
        name: &'static str,
        min: u64,
        max: u64,
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Count { min, max }, default, summary)
    }

    /// A duration; limits in nanoseconds.
    pub const fn duration(
        name: &'static str,
        min: u64,
        max: u64,
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Duration { min, max }, default, summary)
    }

    /// How long a load goes on; limits in nanoseconds. Its name is [`LENGTH`], by which the planner
    /// finds it.
    pub const fn length(min: u64, max: u64, default: &'static str, summary: &'static str) -> Self {
        Self::duration(LENGTH, min, max, default, summary)
    }

    /// A size; limits in bytes.
    pub const fn size(
        name: &'static str,
        min: u64,
        max: u64,
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Size { min, max }, default, summary)
    }
}

impl Key<f64> {
    /// A real number within inclusive limits.
    pub const fn number(
        name: &'static str,
        min: f64,
        max: f64,
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Number { min, max }, default, summary)
    }
}

impl Key<bool> {
    /// true or false.
    pub const fn flag(name: &'static str, default: &'static str, summary: &'static str) -> Self {
        Self::new(name, ParameterKind::Flag, default, summary)
    }
}

impl<T: WordChoice> Key<T> {
    /// The words, and empty ones after them: the length of an array cannot depend on a type.
    const PADDED: &'static [&'static str; MOST_WORDS] = &{
        let mut words = [""; MOST_WORDS];
        let mut at = 0;
        while at < T::WORDS.len() {
            words[at] = T::WORDS[at].0;
            at += 1;
        }
        words
    };

    /// The words alone.
    const LISTED: &'static [&'static str] = Self::PADDED.split_at(T::WORDS.len()).0;

    /// One of the words of its type.
    ///
    /// # Panics
    /// Where the default is none of them. A constant with such a key does not compile.
    pub const fn choice(name: &'static str, default: &'static str, summary: &'static str) -> Self {
        assert!(is_among(default, Self::LISTED), "the default is none of the words");
        Self::new(name, ParameterKind::Choice(Self::LISTED), default, summary)
    }
}

impl Key<str> {
    /// Any text.
    pub const fn text(name: &'static str, default: &'static str, summary: &'static str) -> Self {
        Self::new(name, ParameterKind::Text, default, summary)
    }
}

impl Key<[String]> {
    /// A list of texts; a single text is split as a shell splits words.
    pub const fn words(name: &'static str, default: &'static str, summary: &'static str) -> Self {
        Self::new(name, ParameterKind::Words, default, summary)
    }
}

impl Key<Tables> {
    /// Tables of texts, none where nothing is said.
    pub const fn table(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ParameterKind::Table, "", summary)
    }
}

/// Whether it is one of these words.
const fn is_among(word: &str, words: &[&str]) -> bool {
    let mut at = 0;
    while at < words.len() {
        if is_same(word.as_bytes(), words[at].as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

/// As `==`, which is not for constants.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Declares the keys of a workload's parameters, and the list of them in this order:
/// `keys! { PARAMETERS; LOOPS: u64 = count("loops", 1, 100, "10", "Rounds of one run"), ... }`.
#[macro_export]
macro_rules! keys {
    ($visibility:vis $list:ident;
     $($key:ident: $read:ty = $make:ident($($argument:expr),* $(,)?)
         $(.$with:ident($($value:expr),*))*),* $(,)?) => {
        $($visibility const $key: $crate::Key<$read> =
            $crate::Key::<$read>::$make($($argument),*) $(.$with($($value),*))*;)*

        /// What can be declared, in the order in which help shows it.
        $visibility const $list: &[$crate::Parameter] = &[$($key.declared()),*];
    };
}

/// Lists of parameters as one: `join_keys!(OWN, LOAD)`.
#[macro_export]
macro_rules! join_keys {
    ($($list:expr),+ $(,)?) => {{
        const PARTS: &[&[$crate::Parameter]] = &[$($list),+];
        const COUNT: usize = $crate::count_declared(PARTS);
        const ALL: [$crate::Parameter; COUNT] = $crate::join_declared(PARTS);
        &ALL as &[$crate::Parameter]
    }};
}

/// How many parameters such lists have together; what [`join_keys!`] is made of.
#[doc(hidden)]
pub const fn count_declared(parts: &[&[Parameter]]) -> usize {
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// The parameters of such lists, one list after the other; what [`join_keys!`] is made of.
#[doc(hidden)]
pub const fn join_declared<const COUNT: usize>(parts: &[&[Parameter]]) -> [Parameter; COUNT] {
    const NONE: Parameter =
        Parameter { name: "", kind: ParameterKind::Flag, default: None, summary: "" };
    let mut all = [NONE; COUNT];
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[count] = parts[part][index];
            index += 1;
            count += 1;
        }
        part += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Mode {
        Fresh,
        Warm,
    }

    impl WordChoice for Mode {
        const WORDS: &'static [(&'static str, Self)] =
            &[("fresh", Self::Fresh), ("warm", Self::Warm)];
    }

    keys! {
        OWN;
        LOOPS: u64 = count("loops", 1, 100, "10", "Rounds"),
        START: [String] = words("start", "", "The program").required(),
        FOR: u64 = length(1, 1_000, "1us", "How long rounds go on"),
    }

    keys! {
        SHARED;
        TARGET: u64 = duration("target", 1, 1_000_000_000, "250ms", "What it may take"),
        MODE: Mode = choice("mode", "fresh", "How it runs"),
        IS_PINNED: bool = flag("pinned", "true", "Whether it stays"),
        SCALE: f64 = number("scale", 0.0, 1e6, "1", "Factor"),
        METRICS: Tables = table("metrics", "Figures"),
    }

    const WARM: &[Parameter] = &[MODE.with_default("warm").declared()];

    #[test]
    fn what_is_declared_is_what_can_be_read() {
        let all = join_keys!(OWN, SHARED);
        let names: Vec<&str> = all.iter().map(|parameter| parameter.name).collect();
        assert_eq!(
            names,
            ["loops", "start", LENGTH, "target", "mode", "pinned", "scale", "metrics"],
            "in the order of the lists"
        );
        let text = |parameter: &Parameter| parameter.default.unwrap_or("true x");
        let value = |parameter: &Parameter| {
            (parameter.name.to_owned(), parameter.parse(text(parameter)).unwrap())
        };
        let parameters = Parameters(all.iter().map(value).collect());
        assert_eq!(LOOPS.of(&parameters), 10);
        assert_eq!(START.of(&parameters), ["true", "x"]);
        assert_eq!(FOR.of(&parameters), 1_000);
        assert_eq!(TARGET.of(&parameters), 250_000_000);
        assert_eq!(MODE.of(&parameters), Mode::Fresh);
        assert!(IS_PINNED.of(&parameters));
        assert_eq!(SCALE.of(&parameters).to_bits(), 1.0_f64.to_bits());
        assert!(METRICS.of(&parameters).is_empty());
    }

    #[test]
    fn a_choice_is_declared_with_the_words_of_its_type_and_read_as_what_they_stand_for() {
        let ParameterKind::Choice(words) = MODE.declared().kind else { panic!("another kind") };
        assert_eq!(words, ["fresh", "warm"]);
        for (word, value) in [("fresh", Mode::Fresh), ("warm", Mode::Warm)] {
            let parameters = Parameter::values(SHARED, &[("mode", word)]).unwrap();
            assert_eq!((MODE.of(&parameters), value.word()), (value, word));
        }
        assert_eq!(Mode::read(&ParameterValue::Text("cold".to_owned())), None);
        assert_eq!(Mode::read(&ParameterValue::Flag(true)), None);
        assert!(is_among("warm", words) && !is_among("war", words) && !is_among("cold", words));
    }

    #[test]
    fn a_shared_key_may_have_another_default_elsewhere() {
        assert_eq!((MODE.declared().default, WARM[0].default), (Some("fresh"), Some("warm")));
        assert_eq!((START.declared().default, START.name()), (None, "start"));
    }
}
