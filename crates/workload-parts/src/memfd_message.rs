//! A message that a forked process leaves for its parent before it ends, in a memfd.

use contract::{Error, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

/// A memfd that both have open.
#[derive(Debug)]
pub struct MemfdMessage(File);

impl MemfdMessage {
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Self> {
        memfd_create("schedlab-told", MemfdFlags::CLOEXEC)
            .map(|file| Self(File::from(file)))
            .map_err(|error| Error::environment("cannot make a memfd", error))
    }

    /// Writes it, in the process that ends.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn write(&self, what: &impl Serialize) -> io::Result<()> {
        (&self.0).write_all(&serde_json::to_vec(what)?)
    }

    /// Reads what was written, when the other process has ended.
    ///
    /// # Errors
    /// When it was nothing, or something else.
    pub fn read<T: DeserializeOwned>(&self, process: &str) -> Result<T> {
        let mut text = String::new();
        let mut file = &self.0;
        file.rewind()
            .and_then(|()| file.read_to_string(&mut text))
            .map_err(|error| Error::environment(format!("cannot hear {process}"), error))?;
        serde_json::from_slice(text.as_bytes())
            .map_err(|error| Error::environment(format!("{process} said nothing"), error))
    }
}
