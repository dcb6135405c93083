//! Opening, loading and attaching with libbpf, and reading maps of what is loaded.

use crate::layout::Layout;
use crate::{Error, Result};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapType, Object, ObjectBuilder, OpenObject, PrintLevel, RingBuffer,
    RingBufferBuilder,
};
use std::fmt;
use std::sync::OnceLock;

/// libbpf calls a plain function of the whole process; this is the callback that it reaches.
static PRINT: OnceLock<fn(&str)> = OnceLock::new();

/// Sends libbpf's warnings, the verifier's log among them, to a function. Only the
/// first call of a process counts, because libbpf has one place for it.
pub fn print_to(print: fn(&str)) {
    if PRINT.set(print).is_ok() {
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
            if let Some(print) = PRINT.get() {
                print(text.trim_end());
            }
        })));
    }
}

/// An object that was opened and is not in the kernel yet.
pub struct OpenedObject {
    name: String,
    layout: Layout,
    object: OpenObject,
}

/// An object whose programs and maps are in the kernel.
pub struct LoadedObject {
    name: String,
    layout: Layout,
    object: Object,
}

/// An attached program; dropping it detaches.
pub struct AttachedProgram {
    _link: Link,
}

/// A ring buffer that is being read.
pub struct RingReader<'a> {
    name: String,
    ring: RingBuffer<'a>,
}

impl OpenedObject {
    /// Reads an object from its bytes. Nothing reaches the kernel.
    ///
    /// # Errors
    /// It is not a BPF object.
    pub fn open(name: &str, bytes: &[u8]) -> Result<Self> {
        let layout = Layout::read(name, bytes)?;
        let object = ObjectBuilder::default()
            .name(name)
            .and_then(|builder| builder.open_memory(bytes))
            .map_err(|error| Error::refused(name, "open", &error))?;
        Ok(Self { name: name.to_owned(), layout, object })
    }

    /// Sets a variable before loading: a `const volatile` becomes what the verifier
    /// sees as a constant.
    ///
    /// # Errors
    /// There is no such variable, or it has another size.
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<()> {
        let variable = self.layout.variable(&self.name, name)?;
        let section = variable.section.as_str();
        let mut map = self
            .object
            .maps_mut()
            .find(|map| map.name().to_string_lossy().ends_with(section))
            .ok_or_else(|| Error::malformed(&self.name, format!("it has no map {section}")))?;
        let place = map
            .initial_value_mut()
            .and_then(|bytes| bytes.get_mut(variable.bytes.clone()))
            .filter(|place| place.len() == value.len())
            .ok_or_else(|| {
                Error::malformed(&self.name, format!("{name} does not have {} bytes", value.len()))
            })?;
        place.copy_from_slice(value);
        Ok(())
    }

    /// Sets how many entries a map has; for a ring buffer, bytes.
    ///
    /// # Errors
    /// There is no such map, or libbpf refuses.
    pub fn resize(&mut self, name: &str, entries: u32) -> Result<()> {
        let mut map = self
            .object
            .maps_mut()
            .find(|map| map.name() == name)
            .ok_or_else(|| Error::malformed(&self.name, format!("it has no map {name}")))?;
        map.set_max_entries(entries).map_err(|error| Error::refused(&self.name, "resize", &error))
    }

    /// Has the kernel verify and keep it.
    ///
    /// # Errors
    /// The kernel's refusal; the verifier's log went to [`print_to`].
    pub fn load(self) -> Result<LoadedObject> {
        let Self { name, layout, object } = self;
        let object = object.load().map_err(|error| Error::refused(&name, "load", &error))?;
        Ok(LoadedObject { name, layout, object })
    }
}

impl LoadedObject {
    /// Attaches the operations in the map of this name.
    ///
    /// # Errors
    /// There is no such map, or the kernel refuses the operations.
    pub fn attach(&mut self, operations: &str) -> Result<AttachedProgram> {
        let name = &self.name;
        let mut map = self
            .object
            .maps_mut()
            .find(|map| map.name() == operations)
            .ok_or_else(|| Error::malformed(name, format!("it has no map {operations}")))?;
        let link =
            map.attach_struct_ops().map_err(|error| Error::refused(name, "attach", &error))?;
        Ok(AttachedProgram { _link: link })
    }

    /// The bytes of a variable as they are now.
    ///
    /// # Errors
    /// There is no such variable, or its map cannot be read.
    pub fn variable(&self, name: &str) -> Result<Vec<u8>> {
        let variable = self.layout.variable(&self.name, name)?;
        let section = variable.section.as_str();
        let map = self
            .object
            .maps()
            .find(|map| map.name().to_string_lossy().ends_with(section))
            .ok_or_else(|| Error::malformed(&self.name, format!("it has no map {section}")))?;
        let value = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(|error| Error::refused(&self.name, "read", &error))?
            .unwrap_or_default();
        let bytes = value.get(variable.bytes.clone());
        bytes
            .map(<[u8]>::to_vec)
            .ok_or_else(|| Error::malformed(&self.name, format!("{section} is too short")))
    }

    /// One value of a per-CPU array for each CPU that may exist.
    ///
    /// # Errors
    /// There is no such map or key.
    pub fn per_cpu(&self, name: &str, key: u32) -> Result<Vec<Vec<u8>>> {
        let map = self.map(name)?;
        map.lookup_percpu(&key.to_ne_bytes(), MapFlags::ANY)
            .map_err(|error| Error::refused(&self.name, "read", &error))?
            .ok_or_else(|| Error::malformed(&self.name, format!("{name} has no key {key}")))
    }

    /// Reads a ring buffer; `each` gets every record in the order of the buffer.
    ///
    /// # Errors
    /// There is no such map, or it is no ring buffer.
    pub fn ring<'a>(&self, name: &str, mut each: impl FnMut(&[u8]) + 'a) -> Result<RingReader<'a>> {
        let map = self.map(name)?;
        if map.map_type() != MapType::RingBuf {
            return Err(Error::malformed(&self.name, format!("{name} is no ring buffer")));
        }
        let refused = |error| Error::refused(&self.name, "read", &error);
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&map, move |bytes| {
                each(bytes);
                0
            })
            .map_err(refused)?;
        let ring = builder.build().map_err(refused)?;
        Ok(RingReader { name: self.name.clone(), ring })
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>> {
        self.object
            .maps()
            .find(|map| map.name() == name)
            .ok_or_else(|| Error::malformed(&self.name, format!("it has no map {name}")))
    }
}

impl RingReader<'_> {
    /// Takes what is there, but no more records than these; how many it were. Producers may be
    /// as fast as the reader: taking everything might never end.
    ///
    /// # Errors
    /// libbpf's.
    pub fn take(&self, at_most: usize) -> Result<usize> {
        let taken = self.ring.consume_raw_n(at_most);
        usize::try_from(taken).map_err(|_| {
            let error = std::io::Error::from_raw_os_error(-taken);
            Error::refused(&self.name, "read", &error)
        })
    }
}

impl fmt::Debug for OpenedObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Opened").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for LoadedObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Loaded").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for AttachedProgram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Attached").finish_non_exhaustive()
    }
}

impl fmt::Debug for RingReader<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ring").field("name", &self.name).finish_non_exhaustive()
    }
}
