//! Generated sentences in several languages.
//!
//! The English sentence is the key, as with GNU gettext: it stands in the code where it is said,
//! its blanks are named, and the compiler checks them. A language is a folder of PO files below
//! `languages/` and one line of `LANGUAGES`; what it does not translate is said in English. What
//! caveats mean is declared with them, in every language.
//!
//! This crate must not know what is said, nor about what.

mod catalogue;

use catalogue::Catalogue;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Display};
use std::str::FromStr;

#[doc(hidden)]
pub use catalogue::filled;

/// A language and its catalogues.
struct Entry {
    /// ISO 639-1, as in `<html lang>`.
    code: &'static str,
    /// What its speakers call it.
    name: &'static str,
    /// Language and region (RFC 5646), as documents of office programs want it.
    tag: &'static str,
    /// The font of its letters that such documents name; none where every font has them.
    typeface: &'static str,
    /// What reports say.
    report: Catalogue,
    /// What the page says.
    page: Catalogue,
}

static LANGUAGES: [Entry; 2] = [
    Entry {
        code: "en",
        name: "English",
        tag: "en-GB",
        typeface: "",
        report: Catalogue::of(""),
        page: Catalogue::of(""),
    },
    Entry {
        code: "ko",
        name: "한국어",
        tag: "ko-KR",
        typeface: "Malgun Gothic",
        report: Catalogue::of(include_str!("../languages/ko/report.po")),
        page: Catalogue::of(include_str!("../languages/ko/page.po")),
    },
];

/// The language of generated sentences; English where nobody chose.
#[derive(Clone, Copy)]
pub struct Language(&'static Entry);

impl Language {
    /// Every language, English first.
    pub fn all() -> impl Iterator<Item = Language> {
        LANGUAGES.iter().map(Language)
    }

    /// ISO 639-1: `en`.
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// What its speakers call it.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Language and region: `en-GB`.
    pub fn tag(self) -> &'static str {
        self.0.tag
    }

    /// The font that documents of office programs name for its letters; empty where every font
    /// has them.
    pub fn typeface(self) -> &'static str {
        self.0.typeface
    }

    /// Whether sentences are said as they stand in the code.
    pub fn is_english(self) -> bool {
        self == Language::default()
    }

    /// What this language says for an English sentence of a report, blanks and all.
    pub fn translation(self, english: &str) -> Option<&'static str> {
        self.0.report.get(english)
    }

    /// What this language says for an English sentence of a report that has no blanks.
    pub fn word(self, english: &'static str) -> &'static str {
        self.translation(english).unwrap_or(english)
    }

    /// Every sentence of reports, English and its translation; none of English.
    pub fn report(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.report.all()
    }

    /// Every sentence of the page, English and its translation; none of English.
    pub fn page(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.page.all()
    }
}

/// Says an English sentence in a language. Its blanks are named, and filled by position of their
/// names in the translation: `say!(language, "{count} of {all}", count = 1, all = 2)`, or
/// `say!(language, "{count} of {all}", count, all)` where variables have these names. A blank
/// takes a format, which holds in English alone, so values are to be given as they are read.
#[macro_export]
macro_rules! say {
    (@value $name:ident) => { $name };
    (@value $name:ident $value:expr) => { $value };
    ($language:expr, $english:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        match $crate::Language::translation($language, $english) {
            None => ::std::format!($english $(, $name = $crate::say!(@value $name $($value)?))*),
            Some(translation) => $crate::filled(
                translation,
                &[$((
                    stringify!($name),
                    &$crate::say!(@value $name $($value)?) as &dyn ::std::fmt::Display,
                )),*],
            ),
        }
    };
}

/// Says how many: `counted!(language, count, "1 trial", "{count} trials")`. A language without
/// such numbers says the same for both.
#[macro_export]
macro_rules! counted {
    ($language:expr, $count:expr, $one:literal, $many:literal $(,)?) => {
        match $count {
            1 => ::std::borrow::ToOwned::to_owned($crate::Language::word($language, $one)),
            count => $crate::say!($language, $many, count),
        }
    };
}

/// A sentence that stands in a table or a constant, and is given to [`Language::word`] from
/// there: `tidy` finds it by this mark.
#[macro_export]
macro_rules! noted {
    ($english:literal) => {
        $english
    };
}

impl Default for Language {
    fn default() -> Self {
        Language(&LANGUAGES[0])
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.code() == other.code()
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

impl Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(code: &str) -> Result<Self, String> {
        Language::all().find(|one| one.code() == code).ok_or_else(|| {
            let known: Vec<String> =
                Language::all().map(|one| format!("{} ({})", one.code(), one.name())).collect();
            format!("there are {}", known.join(", "))
        })
    }
}

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        code.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn korean() -> Language {
        "ko".parse().unwrap()
    }

    #[test]
    fn english_is_said_as_it_stands_in_the_code() {
        let said = say!(Language::default(), "{count} of {all}", count = 1, all = 2);
        assert_eq!(said, "1 of 2");
        let (count, all) = (1, "both");
        assert_eq!(say!(Language::default(), "{count} of {all}", count, all), "1 of both");
    }

    #[test]
    fn what_is_not_translated_is_said_in_english() {
        assert_eq!(say!(korean(), "nobody says {this}", this = "x"), "nobody says x");
        assert_eq!(korean().word("nobody says this"), "nobody says this");
    }

    #[test]
    fn one_is_told_from_several() {
        let said =
            |count: usize| counted!(Language::default(), count, "one of them", "{count} of them");
        assert_eq!([said(1), said(2), said(0)], ["one of them", "2 of them", "0 of them"]);
    }

    #[test]
    fn a_language_that_is_not_there_names_those_that_are() {
        let refused = "xx".parse::<Language>().unwrap_err();
        assert_eq!(refused, "there are en (English), ko (한국어)");
    }

    #[test]
    fn report_and_page_say_the_same_of_the_same() {
        for language in Language::all() {
            for (english, translated) in language.page() {
                let report = language.translation(english).unwrap_or(translated);
                assert_eq!(report, translated, "{language}: {english:?}");
            }
        }
    }

    #[test]
    fn every_catalogue_reads_and_keeps_the_blanks() {
        for language in Language::all() {
            let sentences = language.0.report.all().chain(language.page());
            for (english, translated) in sentences {
                assert_eq!(
                    catalogue::blanks(english),
                    catalogue::blanks(translated),
                    "{language}: {english:?} and {translated:?} have other blanks"
                );
            }
        }
    }
}
