//! What has to be built from sources before a workload can run.

use std::path::PathBuf;

/// One build: a program that is run in a directory, where its products are not there or its
/// sources are no longer those that they were made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// What is built, in words.
    pub what: String,
    /// The sources, all that lies here but directories called `target`; the program runs here.
    pub directory: PathBuf,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Files or directories that it makes.
    pub products: Vec<PathBuf>,
    /// A file for the digest of the sources that the products were made of.
    pub stamp: PathBuf,
}
