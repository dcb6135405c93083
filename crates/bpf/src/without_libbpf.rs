//! The same functions where the build has no libbpf: each says so.

use crate::{Error, Result};
use std::convert::Infallible;

/// An object that was opened and is not in the kernel yet.
#[derive(Debug)]
pub struct OpenedObject(Infallible);

/// An object whose programs and maps are in the kernel.
#[derive(Debug)]
pub struct LoadedObject(Infallible);

/// An attached program; dropping it detaches.
#[derive(Debug)]
pub struct AttachedProgram(Infallible);

/// A ring buffer that is being read.
#[derive(Debug)]
pub struct RingReader<'a>(Infallible, std::marker::PhantomData<&'a ()>);

/// Sends libbpf's warnings to a function; here there are none.
pub fn print_to(_: fn(&str)) {}

impl OpenedObject {
    /// Opens an object.
    ///
    /// # Errors
    /// Always: this build cannot.
    pub fn open(_: &str, _: &[u8]) -> Result<Self> {
        Err(Error::NotBuilt)
    }

    /// Sets a constant.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn set(&mut self, _: &str, _: &[u8]) -> Result<()> {
        match self.0 {}
    }

    /// Sets how many entries a map has.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn resize(&mut self, _: &str, _: u32) -> Result<()> {
        match self.0 {}
    }

    /// Loads it.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn load(self) -> Result<LoadedObject> {
        match self.0 {}
    }
}

impl LoadedObject {
    /// Attaches.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn attach(&mut self, _: &str) -> Result<AttachedProgram> {
        match self.0 {}
    }

    /// The bytes of a variable.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn variable(&self, _: &str) -> Result<Vec<u8>> {
        match self.0 {}
    }

    /// One value of a per-CPU map for each CPU.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn per_cpu(&self, _: &str, _: u32) -> Result<Vec<Vec<u8>>> {
        match self.0 {}
    }

    /// Reads a ring buffer.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn ring<'a>(&self, _: &str, _: impl FnMut(&[u8]) + 'a) -> Result<RingReader<'a>> {
        match self.0 {}
    }
}

impl RingReader<'_> {
    /// Takes what is there.
    ///
    /// # Errors
    /// Never; there is no such object.
    pub fn take(&self, _: usize) -> Result<usize> {
        match self.0 {}
    }
}
