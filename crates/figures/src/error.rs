//! What may keep a figure from being drawn.

use std::fmt;

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// This binary was built without the script of the figures.
    NotBuilt,
    /// This binary was built without what draws them: a developer's build.
    LeftOut,
    /// The engine refused or gave up: its own words.
    Engine(String),
    /// What it wrote is no picture.
    Picture(String),
    /// There is no such figure.
    Unknown(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotBuilt => formatter.write_str("this binary was built without its figures"),
            Error::LeftOut => {
                formatter.write_str("this binary was built without the feature `pictures`")
            }
            Error::Engine(why) => write!(formatter, "the figures' script failed: {why}"),
            Error::Picture(why) => write!(formatter, "the figure cannot be drawn: {why}"),
            Error::Unknown(place) => write!(formatter, "there is no figure {place}"),
        }
    }
}

impl std::error::Error for Error {}
