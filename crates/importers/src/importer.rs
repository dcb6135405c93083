//! What a format of other people's numbers is.

use crate::mapping::Mapping;
use crate::table::ImportedTable;
use contract::Description;
use model::{IMPORT_BYTES, ReaderLimit};
use outputs::Trouble;

/// One file to import.
#[derive(Debug, Clone, Copy)]
pub struct ImportFile<'a> {
    /// The subject it belongs to, as declared, or else the file's stem: used by formats
    /// that do not name their subjects.
    pub subject: &'a str,
    /// Which file of that subject it is, from 1: one execution where the format says
    /// nothing else.
    pub execution: usize,
    /// What is in it.
    pub bytes: &'a [u8],
}

/// A format of other people's numbers.
pub trait Importer: Sync {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// Words that the format is made of: the fuzzer makes its inputs with them.
    fn words(&self) -> &'static [&'static str];

    /// What the files of one import may have together: it is asked before they are read.
    fn most_bytes(&self) -> &'static ReaderLimit {
        &IMPORT_BYTES
    }

    /// Appends the rows of one file, in its order.
    ///
    /// # Errors
    /// When the file is not of this format, or holds what is no number; with its line.
    fn read(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble>;
}
