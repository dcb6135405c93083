//! A build without the feature `pictures`: nothing is drawn, and every attempt says so.

use crate::error::Error;
use crate::figure::{Figure, Picture, Theme};
use std::convert::Infallible;
use std::path::PathBuf;

/// All figures of one campaign: there are none in this build.
pub struct Figures(Infallible);

impl Figures {
    /// Nothing.
    ///
    /// # Errors
    /// Always.
    pub fn of(_json: &str) -> Result<Self, Error> {
        Err(Error::LeftOut)
    }

    /// Never called.
    pub fn described(&self) -> &[Figure] {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn svg(&self, _place: usize, _theme: Theme, _width: u32) -> Result<String, Error> {
        match self.0 {}
    }
}

/// What draws pictures: nothing does in this build.
pub struct Pictures(Infallible);

impl Pictures {
    /// Nothing.
    ///
    /// # Errors
    /// Always.
    pub fn new(_folders: Vec<PathBuf>) -> Result<Self, Error> {
        Err(Error::LeftOut)
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn png(&self, _svg: &str, _scale: f32) -> Result<Picture, Error> {
        match self.0 {}
    }
}
