//! A campaign as one file, `schedlab.bundle/2` or `/3`: a gzip-compressed tar archive of a manifest and
//! the campaign's documents. The same documents give the same bytes.
//!
//! A bundle comes from somebody else. Nothing in it is believed: names are those of a list,
//! sizes have limits, and every digest is computed again.

use crate::documents::{EXPERIMENT, IMPORT, Redaction};
use crate::durable::{failed, unreadable};
use crate::json_file::pretty_text;
use crate::json_location::told_with_place;
use crate::strange_keys::strange_keys;
use contract::{Error, ErrorKind, Result};
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use model::{
    BUNDLE_EXPANSION, BUNDLE_FILE_BYTES, BUNDLE_FREE_BYTES, BUNDLE_MANIFEST_BYTES, BUNDLE_UNLISTED,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use sys::{Draft, open_regular};
use tar::{Archive, Builder, Entry, EntryType, Header};

/// Version of a bundle's manifest.
const BUNDLE_FORMAT: &str = "schedlab.bundle/2";
/// Version of one that names [`IMPORT`], which readers of the former refuse.
const IMPORT_BUNDLE_FORMAT: &str = "schedlab.bundle/3";
/// Those that are read: the first could not say that it was redacted.
const BUNDLE_FORMATS: [&str; 3] = ["schedlab.bundle/1", BUNDLE_FORMAT, IMPORT_BUNDLE_FORMAT];

/// The manifest's name; it comes first.
const MANIFEST: &str = "manifest.json";
/// What is unpacked is for its user alone: the campaign may be private.
const UNPACKED_MODE: u32 = 0o600;
/// Archives are filled up to 10 KiB, in whatever blocks their writer has.
const LONGEST_FILLING: u64 = 1 << 20;

/// What of a campaign's directory goes into a bundle, where it is there.
const FILES: [&str; 10] = [
    EXPERIMENT,
    IMPORT,
    "plan.json",
    "records.jsonl",
    "environment.json",
    "state.json",
    "findings.json",
    "report.md",
    "report.html",
    "report.xlsx",
];

/// What a bundle holds, and who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Its version: `schedlab.bundle/2`, or `/3` where its files need that.
    pub format: String,
    /// What judged the records and wrote the reports: the version of schedlab, and of its page.
    pub schedlab: String,
    /// Name of the campaign's directory.
    pub campaign: String,
    /// What was replaced before it was packed; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<Redaction>,
    /// Every other file in it.
    pub files: BTreeMap<String, Packed>,
}

impl Manifest {
    /// That of a campaign of this name, judged and drawn by this version of schedlab; packing
    /// adds the files.
    pub fn new(schedlab: String, campaign: String, redaction: Option<Redaction>) -> Self {
        let format = BUNDLE_FORMAT.to_owned();
        Self { format, schedlab, campaign, redaction, files: BTreeMap::new() }
    }

    /// The version that this one packs a bundle of these files as.
    pub fn due_format(&self) -> &'static str {
        if self.files.contains_key(IMPORT) { IMPORT_BUNDLE_FORMAT } else { BUNDLE_FORMAT }
    }
}

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// Bytes.
    pub size: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

/// What was in a bundle.
#[derive(Debug)]
pub struct Unpacked {
    /// Its manifest.
    pub manifest: Manifest,
    /// What of it is not as the manifest says, in one sentence each.
    pub problems: Vec<String>,
}

/// Packs the files of a directory laid out as a campaign's into `file`, which must not exist.
///
/// # Errors
/// When a file cannot be read, or the bundle not be written; nothing is left of it then.
pub fn pack(directory: &Path, manifest: Manifest, file: &Path) -> Result<Manifest> {
    pack_sealed(directory, manifest, file, |_| Ok(()))
}

/// The same, and does this with the whole bundle before it has its name.
///
/// # Errors
/// As [`pack`], and what `seal` answers: no bundle is left then.
pub fn pack_sealed(
    directory: &Path,
    manifest: Manifest,
    file: &Path,
    seal: impl FnOnce(&File) -> Result<()>,
) -> Result<Manifest> {
    let fail = |error: io::Error| failed("write", file, &error);
    let draft = Draft::beside(file).map_err(fail)?;
    let manifest = write(directory, manifest, file, draft.file())?;
    seal(draft.file())?;
    draft.put_new().map_err(fail)?;
    Ok(manifest)
}

/// Writes what is to become `file` into `target`.
fn write(directory: &Path, mut manifest: Manifest, file: &Path, target: &File) -> Result<Manifest> {
    let present = FILES.iter().filter(|name| directory.join(name).is_file());
    manifest.files = present
        .map(|name| Ok(((*name).to_owned(), digest(&directory.join(name))?)))
        .collect::<Result<_>>()?;
    manifest.due_format().clone_into(&mut manifest.format);
    let fail = |error: io::Error| failed("write", file, &error);
    let mut archive = Builder::new(GzEncoder::new(target, Compression::default()));
    let text = pretty_text(&manifest).map_err(fail)?;
    append(&mut archive, MANIFEST, text.len() as u64, &*text).map_err(fail)?;
    for (name, packed) in &manifest.files {
        let path = directory.join(name);
        let source = open_regular(&path).map_err(|error| unreadable(&path, &error))?;
        append(&mut archive, name, packed.size, source.take(packed.size)).map_err(fail)?;
    }
    let target = archive.into_inner().and_then(GzEncoder::finish).map_err(fail)?;
    target.sync_all().map_err(fail)?;
    Ok(manifest)
}

/// One entry without a date or an owner, so that the same content gives the same bytes.
fn append(
    archive: &mut Builder<GzEncoder<&File>>,
    name: &str,
    size: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_size(size);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, content)
}

fn digest(path: &Path) -> Result<Packed> {
    let fail = |error: io::Error| unreadable(path, &error);
    let read = transfer(open_regular(path).map_err(fail)?, io::sink());
    read.map_err(|(Stopped::Reading(error) | Stopped::Writing(error))| fail(error))
}

/// Unpacks a bundle into an empty directory. What is not as the manifest says is told, not
/// refused, so that a reader learns all of it.
///
/// # Errors
/// When it is no bundle, of an unknown version, holds what no bundle holds, or when the
/// directory cannot be written.
pub fn unpack(file: &Path, directory: &Path) -> Result<Unpacked> {
    OpenBundle::open(file)?.unpack(directory)
}

/// A bundle that was opened by its name once. Another file that gets the name later is not read, and
/// what somebody writes into this one meanwhile is noticed.
#[derive(Debug)]
pub struct OpenBundle {
    file: File,
    path: PathBuf,
    /// Size and digest of what was read to unpack it.
    unpacked: Option<Packed>,
}

impl OpenBundle {
    /// Opens it.
    ///
    /// # Errors
    /// When it is not there, is no regular file, or may not be read.
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_regular(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::usage(
                format!("cannot read {}", path.display()),
                "there is no such file",
                "give a file that `schedlab bundle` wrote",
            ),
            io::ErrorKind::IsADirectory => Error::usage(
                format!("cannot read {}", path.display()),
                "it is a directory, and a bundle is a file",
                "give a file that `schedlab bundle` wrote: it packs a campaign's directory",
            ),
            _ => unreadable(path, &error),
        })?;
        Ok(Self { file, path: path.to_owned(), unpacked: None })
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Unpacks it, as [`unpack`] does.
    ///
    /// # Errors
    /// As [`unpack`].
    pub fn unpack(&mut self, directory: &Path) -> Result<Unpacked> {
        self.file.rewind().map_err(|error| unreadable(&self.path, &error))?;
        let mut source = Hashed { source: &self.file, hash: Sha256::new(), size: 0 };
        let unpacked = unpack_from(&mut source, directory).map_err(|trouble| {
            let (kind, why, remedy) = match trouble {
                Trouble::Foreign(why) => {
                    (ErrorKind::Usage, why, "give a file that `schedlab bundle` wrote")
                }
                Trouble::Bundle(why) if !begins_as_gzip(&self.file) => (
                    ErrorKind::Usage,
                    format!("it is no bundle: {why}"),
                    "give a file that `schedlab bundle` wrote",
                ),
                Trouble::Bundle(why) => (
                    ErrorKind::Environment,
                    why,
                    "give a file that `schedlab bundle` wrote, and ask for it again where it was damaged",
                ),
                Trouble::Directory(error) => (
                    ErrorKind::Environment,
                    format!("cannot write into {}: {error}", directory.display()),
                    "make room there, or set TMPDIR to a directory with room",
                ),
            };
            let attempted = format!("cannot unpack {}", self.path.display());
            Error::new(kind, attempted, why, remedy)
        })?;
        self.unpacked = Some(packed(source.size, source.hash));
        Ok(unpacked)
    }

    /// Writes all bytes of it from the first one on. Whether they are those that were unpacked: it is
    /// not so where the file was changed meanwhile, and where it goes on after the end of the bundle.
    ///
    /// # Errors
    /// When it cannot be read, or they cannot be written.
    pub fn write_to(&mut self, to: impl Write) -> io::Result<bool> {
        self.file.rewind()?;
        let written = transfer(&self.file, to)
            .map_err(|(Stopped::Reading(error) | Stopped::Writing(error))| error)?;
        Ok(self.unpacked.as_ref() == Some(&written))
    }
}

/// Hashes what is read.
struct Hashed<R> {
    source: R,
    hash: Sha256,
    size: u64,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.size += count as u64;
        Ok(count)
    }
}

/// Whose fault it is that a bundle is not unpacked.
#[derive(Debug)]
enum Trouble {
    Bundle(String),
    /// It is an archive, and has no manifest anywhere.
    Foreign(String),
    /// The bundle may be sound.
    Directory(io::Error),
}

impl<T: Into<String>> From<T> for Trouble {
    fn from(why: T) -> Self {
        Self::Bundle(why.into())
    }
}

/// Whether a file begins as what gzip packs (RFC 1952): anything else is no damaged bundle.
fn begins_as_gzip(file: &File) -> bool {
    let mut magic = [0; 2];
    file.read_exact_at(&mut magic, 0).is_ok() && magic == [0x1f, 0x8b]
}

fn unpack_from(source: impl Read, directory: &Path) -> std::result::Result<Unpacked, Trouble> {
    let expansion = Expansion::default();
    let mut source = BufReader::new(expansion.packing(source));
    let mut archive = Archive::new(expansion.unpacking(GzDecoder::new(&mut source)));
    let words = |error: io::Error| error.to_string();
    // Ours need no long names and no extended headers, which a reader would hold whatever their
    // size: they are entries like others, and such a one is in no manifest.
    let mut entries = archive.entries().map_err(words)?.raw(true);
    let first = entries.next().ok_or("it is empty")?.map_err(words)?;
    if first.path_bytes() != MANIFEST.as_bytes()
        || first.header().entry_type() != EntryType::Regular
    {
        let is_manifest =
            |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(MANIFEST.as_bytes());
        let has_manifest = is_manifest(&first.path_bytes())
            || entries.any(|entry| entry.is_ok_and(|entry| is_manifest(&entry.path_bytes())));
        return Err(if has_manifest {
            format!("it does not begin with {MANIFEST}, as `schedlab bundle` packs it").into()
        } else {
            Trouble::Foreign(format!("it is no bundle: it has no {MANIFEST}"))
        });
    }
    BUNDLE_MANIFEST_BYTES.check(first.size()).map_err(|over| over.to_string())?;
    let (manifest, mut problems) = read_manifest(first)?;
    let mut missing: BTreeSet<&str> = manifest.files.keys().map(String::as_str).collect();
    let mut unlisted = Vec::new();
    for entry in entries {
        let entry = entry.map_err(words)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let packed = manifest.files.get(&name).filter(|_| missing.remove(name.as_str()));
        let Some(packed) = packed else {
            if manifest.files.contains_key(&name) || name == MANIFEST {
                return Err(format!("{name:?} comes twice").into());
            }
            BUNDLE_UNLISTED.check(unlisted.len() as u64 + 1).map_err(|over| over.to_string())?;
            // It is named and stays where it is: nobody reads what nothing vouches for.
            unlisted.push(format!("{name:?}"));
            continue;
        };
        problems.extend(unpack_file(entry, &name, packed, directory)?);
    }
    if !unlisted.is_empty() {
        let names = unlisted.join(", ");
        problems.push(format!("{MANIFEST} does not list what is in the bundle: {names}"));
    }
    problems.extend(missing.iter().map(|name| format!("{name} is missing")));
    let goes_on = has_more(archive.into_inner()).map_err(words)?;
    if goes_on || !source.fill_buf().map_err(words)?.is_empty() {
        problems.push("something follows the last file of the bundle".to_owned());
    }
    Ok(Unpacked { manifest, problems })
}

/// The manifest, and what of it this version does not write.
fn read_manifest(entry: impl Read) -> std::result::Result<(Manifest, Vec<String>), Trouble> {
    let mut text = Vec::new();
    let mut limited = entry.take(BUNDLE_MANIFEST_BYTES.most);
    limited.read_to_end(&mut text).map_err(|error| error.to_string())?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| format!("{MANIFEST}: {}", told_with_place(&text, &error)))?;
    if !BUNDLE_FORMATS.contains(&manifest.format.as_str()) {
        let known = BUNDLE_FORMATS.join(", ");
        return Err(format!("its format is {:?}, and not one of {known}", manifest.format).into());
    }
    if let Some(strange) = manifest.files.keys().find(|name| !FILES.contains(&name.as_str())) {
        return Err(format!("{MANIFEST} names {strange:?}, which is no file of a campaign").into());
    }
    let is_name = |text: &str| !text.contains('/') && !text.contains(char::is_control);
    let redaction = manifest.redaction.iter();
    let told = redaction.flat_map(|one| one.replaced.keys().chain(&one.left_out));
    if told.into_iter().any(|text| text.contains(char::is_control)) {
        return Err(format!("{MANIFEST}: what was redacted holds control characters").into());
    }
    if !is_name(&manifest.campaign) || !is_name(&manifest.schedlab) {
        return Err(format!("{MANIFEST}: the campaign's name or the version is none").into());
    }
    let strange = strange_keys(MANIFEST, &text, &manifest);
    Ok((manifest, strange))
}

/// Writes one file of a bundle, and says where it is not as the manifest says.
fn unpack_file(
    entry: Entry<'_, impl Read>,
    name: &str,
    packed: &Packed,
    directory: &Path,
) -> std::result::Result<Option<String>, Trouble> {
    let words = |error: io::Error| error.to_string();
    BUNDLE_FILE_BYTES.check(entry.size()).map_err(|over| format!("{name}: {over}"))?;
    if entry.header().entry_type() != EntryType::Regular {
        return Err(format!("{name:?} is no file").into());
    }
    let path = directory.join(name);
    let mut fresh = OpenOptions::new();
    fresh.write(true).create_new(true).mode(UNPACKED_MODE);
    let target = fresh.open(&path).map_err(Trouble::Directory)?;
    let found = transfer(entry, target).map_err(|stopped| match stopped {
        Stopped::Reading(error) => Trouble::Bundle(words(error)),
        Stopped::Writing(error) => Trouble::Directory(error),
    })?;
    let line = if name.starts_with("report.") { None } else { controls(&path).map_err(words)? };
    if let Some(line) = line {
        return Err(format!(
            "line {line} of {name} holds control characters, which a terminal would obey"
        )
        .into());
    }
    Ok((found != *packed).then(|| {
        let other = if found.sha256 == packed.sha256 { "size" } else { "digest" };
        format!(
            "{name} does not have the {other} in {MANIFEST}: it is {} of {} bytes, and there {} of {}",
            found.sha256, found.size, packed.sha256, packed.size
        )
    }))
}

/// Whether anything but the zeros that fill an archive up follows its end.
fn has_more(rest: impl Read) -> io::Result<bool> {
    let mut filling = Vec::new();
    rest.take(LONGEST_FILLING + 1).read_to_end(&mut filling)?;
    Ok(filling.len() as u64 > LONGEST_FILLING || filling.iter().any(|byte| *byte != 0))
}

/// The first line of a text, from 1, that holds control characters, written out or escaped as JSON and
/// TOML do. Ours hold none but ends of lines and tabs.
fn controls(path: &Path) -> io::Result<Option<u64>> {
    let mut file = open_regular(path)?;
    let mut line = 1;
    let ends = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() as u64;
    // Piece by piece, since one line may be all of it; the end of each piece is the beginning of
    // the next, so that no escape is cut.
    let mut piece = Vec::with_capacity(PIECE + ESCAPE);
    loop {
        let kept = piece.len();
        if Read::by_ref(&mut file).take(PIECE as u64).read_to_end(&mut piece)? == 0 {
            return Ok(None);
        }
        let is_raw = |byte: &u8| (*byte < 0x20 && !b"\n\r\t".contains(byte)) || *byte == 0x7f;
        let raw = piece[kept..].iter().position(is_raw).map(|at| kept + at);
        let escaped = piece.windows(ESCAPE).position(is_escaped_control);
        if let Some(first) = raw.into_iter().chain(escaped).min() {
            return Ok(Some(line + ends(&piece[..first])));
        }
        let gone = piece.len().saturating_sub(ESCAPE - 1);
        line += ends(&piece[..gone]);
        piece.drain(..gone);
    }
}

/// Bytes of a file that are held while it is looked through.
const PIECE: usize = 1 << 16;
/// Bytes of `\u001b`.
const ESCAPE: usize = 6;

/// `\u001b` and its like: C0, DEL and C1.
fn is_escaped_control(window: &[u8]) -> bool {
    let Some(digits) = window.strip_prefix(b"\\u").and_then(|rest| str::from_utf8(rest).ok())
    else {
        return false;
    };
    u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32)
        .is_some_and(|character| character.is_control() && !"\n\r\t".contains(character))
}

/// How many bytes went into a decompressor and came out of it.
#[derive(Default)]
struct Expansion(Rc<Counts>);

#[derive(Default)]
struct Counts {
    packed: Cell<u64>,
    unpacked: Cell<u64>,
}

impl Expansion {
    /// The packed bytes, counted.
    fn packing<R: Read>(&self, source: R) -> Packing<R> {
        Packing { source, counts: Rc::clone(&self.0) }
    }

    /// The unpacked bytes, to the end or to the limit of what may come out of so few.
    fn unpacking<R: Read>(&self, source: R) -> Unpacking<R> {
        Unpacking { source, counts: Rc::clone(&self.0) }
    }
}

/// Counts what is read of a packed file.
struct Packing<R> {
    source: R,
    counts: Rc<Counts>,
}

impl<R: Read> Read for Packing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.counts.packed.set(self.counts.packed.get() + count as u64);
        Ok(count)
    }
}

/// Counts what comes out of it, and ends where that is out of all proportion.
struct Unpacking<R> {
    source: R,
    counts: Rc<Counts>,
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        let unpacked = self.counts.unpacked.get() + count as u64;
        self.counts.unpacked.set(unpacked);
        let beyond = unpacked.saturating_sub(BUNDLE_FREE_BYTES);
        let ratio = beyond.div_ceil(self.counts.packed.get().max(1));
        BUNDLE_EXPANSION.check(ratio).map_err(io::Error::other)?;
        Ok(count)
    }
}

/// Which end of a transfer failed.
enum Stopped {
    Reading(io::Error),
    Writing(io::Error),
}

/// Copies to the end, and says what it was.
fn transfer(mut from: impl Read, mut to: impl Write) -> std::result::Result<Packed, Stopped> {
    let (mut hash, mut size) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = from.read(&mut buffer).map_err(Stopped::Reading)?;
        if count == 0 {
            return Ok(packed(size, hash));
        }
        size += count as u64;
        hash.update(&buffer[..count]);
        to.write_all(&buffer[..count]).map_err(Stopped::Writing)?;
    }
}

fn packed(size: u64, hash: Sha256) -> Packed {
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Packed { size, sha256 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::hexadecimal;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn manifest() -> Manifest {
        Manifest::new("0.1.0".to_owned(), "first-look".to_owned(), None)
    }

    fn campaign() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("plan.json"), "{\"a\": 1}").unwrap();
        fs::write(home.path().join("records.jsonl"), "x\n".repeat(100_000)).unwrap();
        fs::write(home.path().join("console.log"), "not packed").unwrap();
        home
    }

    /// Why a bundle is not unpacked.
    fn refusal(bytes: &[u8], target: &Path) -> String {
        match unpack_from(bytes, target).unwrap_err() {
            Trouble::Bundle(why) | Trouble::Foreign(why) => why,
            Trouble::Directory(error) => panic!("{error}"),
        }
    }

    type TestEntry<'a> = (&'a str, EntryType, &'a [u8]);

    /// An archive of these entries.
    fn archive(entries: &[TestEntry<'_>]) -> Vec<u8> {
        let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o777);
            header.set_cksum();
            archive.append(&header, *content).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap()
    }

    fn named(files: &[&str]) -> Vec<u8> {
        let packed = Packed { size: 1, sha256: "00".to_owned() };
        let files = files.iter().map(|name| ((*name).to_owned(), packed.clone())).collect();
        serde_json::to_vec(&Manifest { files, ..manifest() }).unwrap()
    }

    #[test]
    fn a_campaign_comes_back_as_it_was_and_packs_to_the_same_bytes() {
        let (home, other) = (campaign(), tempfile::tempdir().unwrap());
        let (one, two) = (other.path().join("one"), other.path().join("two"));
        pack(home.path(), manifest(), &one).unwrap();
        pack(home.path(), manifest(), &two).unwrap();
        assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());
        let target = other.path().join("out");
        fs::create_dir(&target).unwrap();
        let unpacked = unpack(&one, &target).unwrap();
        assert_eq!(unpacked.problems, [""; 0]);
        let names: Vec<&String> = unpacked.manifest.files.keys().collect();
        assert_eq!(names, ["plan.json", "records.jsonl"]);
        for name in ["plan.json", "records.jsonl"] {
            let read = |home: &Path| fs::read(home.join(name)).unwrap();
            assert_eq!(read(home.path()), read(&target), "{name}");
            let mode = fs::metadata(target.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, UNPACKED_MODE, "{name}");
        }
    }

    #[test]
    fn a_directory_is_no_bundle_and_what_packs_one_is_named() {
        let home = tempfile::tempdir().unwrap();
        let error = OpenBundle::open(home.path()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
        assert_eq!(error.cause, "it is a directory, and a bundle is a file");
        assert!(error.remedy.contains("`schedlab bundle`"), "{error}");
    }

    #[test]
    fn a_bundle_that_is_there_is_not_overwritten_and_no_half_one_is_left() {
        let (home, other) = (campaign(), tempfile::tempdir().unwrap());
        let file = other.path().join("one");
        fs::write(&file, "precious").unwrap();
        let error = pack(home.path(), manifest(), &file).unwrap_err();
        assert_eq!(error.remedy, "give another name, or remove that one first");
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_lies_beside_a_bundle_is_neither_overwritten_nor_removed() {
        let (home, other) = (campaign(), tempfile::tempdir().unwrap());
        let file = other.path().join("one");
        let beside = ["one.part", ".one.partial"].map(|name| other.path().join(name));
        for path in &beside {
            fs::write(path, "precious").unwrap();
        }
        pack(home.path(), manifest(), &file).unwrap();
        assert!(pack(home.path(), manifest(), &file).is_err(), "it is there");
        for path in &beside {
            assert_eq!(fs::read_to_string(path).unwrap(), "precious", "{}", path.display());
        }
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_is_not_as_the_manifest_says_is_told() {
        let target = tempfile::tempdir().unwrap();
        let text = named(&["plan.json", "findings.json"]);
        let bytes = archive(&[
            (MANIFEST, EntryType::Regular, &text),
            ("plan.json", EntryType::Regular, b"y"),
        ]);
        let unpacked = unpack_from(&*bytes, target.path()).unwrap();
        // printf y | sha256sum
        let digest = "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa";
        let told = format!(
            "plan.json does not have the digest in manifest.json: it is {digest} of 1 bytes, and there"
        );
        assert!(unpacked.problems[0].starts_with(&told), "{:?}", unpacked.problems);
        assert_eq!(unpacked.problems[1..], ["findings.json is missing"]);
        let packed = Packed { size: 2, sha256: digest.to_owned() };
        let files = [("plan.json".to_owned(), packed)].into();
        let sized = serde_json::to_vec(&Manifest { files, ..manifest() }).unwrap();
        let bytes = archive(&[
            (MANIFEST, EntryType::Regular, &sized),
            ("plan.json", EntryType::Regular, b"y"),
        ]);
        let target = tempfile::tempdir().unwrap();
        let told = format!(
            "plan.json does not have the size in manifest.json: it is {digest} of 1 bytes, and there \
             {digest} of 2"
        );
        assert_eq!(unpack_from(&*bytes, target.path()).unwrap().problems, [told]);
    }

    #[test]
    fn a_bundle_of_the_first_format_is_read_and_one_of_a_later_is_refused() {
        let text = |format: &str| {
            let manifest = Manifest { format: format.to_owned(), ..manifest() };
            let text = serde_json::to_vec(&manifest).unwrap();
            archive(&[(MANIFEST, EntryType::Regular, &text)])
        };
        let target = tempfile::tempdir().unwrap();
        let old = text("schedlab.bundle/1");
        assert_eq!(unpack_from(&*old, target.path()).unwrap().manifest.redaction, None);
        let refusal = refusal(&text("schedlab.bundle/4"), target.path());
        assert!(
            refusal.contains("not one of schedlab.bundle/1, schedlab.bundle/2, schedlab.bundle/3"),
            "{refusal}"
        );
    }

    #[test]
    fn only_a_bundle_that_names_the_mapping_of_an_import_has_the_format_that_needs() {
        // What readers of the second format know.
        let known = |name: &str| FILES.contains(&name) && name != IMPORT;
        for (origin, format) in [(EXPERIMENT, "schedlab.bundle/2"), (IMPORT, "schedlab.bundle/3")] {
            let home = campaign();
            fs::write(home.path().join(origin), "[better]\n").unwrap();
            let file = home.path().join("bundle");
            let packed = pack(home.path(), manifest(), &file).unwrap();
            assert_eq!(packed.format, format);
            assert_eq!(packed.files.keys().all(|name| known(name)), origin == EXPERIMENT);
            let target = tempfile::tempdir().unwrap();
            let unpacked = unpack(&file, target.path()).unwrap();
            assert_eq!(unpacked.problems, [""; 0]);
            assert!(target.path().join(origin).is_file());
        }
    }

    #[test]
    fn nothing_leaves_the_directory_and_nothing_but_files_is_made() {
        let (regular, link) = (EntryType::Regular, EntryType::Symlink);
        let plan = named(&["plan.json"]);
        let cases: &[(&[TestEntry<'_>], &str)] = &[
            (&[("plan.json", regular, b"y")], "it has no manifest.json"),
            (&[(MANIFEST, link, b"")], "does not begin with"),
            (&[(MANIFEST, regular, b"{")], "manifest.json: "),
            (&[(MANIFEST, regular, &named(&["../evil"]))], "names \"../evil\""),
            (&[(MANIFEST, regular, &named(&["/etc/passwd"]))], "names \"/etc/passwd\""),
            (&[(MANIFEST, regular, &plan), ("plan.json", link, b"")], "is no file"),
            (&[(MANIFEST, regular, &plan), ("plan.json", EntryType::Directory, b"")], "is no file"),
            (
                &[
                    (MANIFEST, regular, &plan),
                    ("plan.json", regular, b"y"),
                    ("plan.json", regular, b"z"),
                ],
                "comes twice",
            ),
        ];
        for (entries, why) in cases {
            let home = tempfile::tempdir().unwrap();
            let target = home.path().join("out");
            fs::create_dir(&target).unwrap();
            let refusal = refusal(&archive(entries), &target);
            assert!(refusal.contains(why), "{refusal}");
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "{why}");
        }
        let home = tempfile::tempdir().unwrap();
        assert!(unpack_from(&b"no archive"[..], home.path()).is_err());
        assert!(unpack_from(&b""[..], home.path()).is_err());
    }

    #[test]
    fn what_the_manifest_does_not_list_is_named_and_not_unpacked() {
        let (regular, link) = (EntryType::Regular, EntryType::Symlink);
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        fs::create_dir(&target).unwrap();
        let digest = hexadecimal(b"y");
        let mut text: serde_json::Value = serde_json::from_slice(&named(&["plan.json"])).unwrap();
        text["files"]["plan.json"]["sha256"] = digest.into();
        let text = text.to_string();
        let whole = archive(&[
            (MANIFEST, regular, text.as_bytes()),
            ("report.xlsx", regular, b"added"),
            ("plan.json", regular, b"y"),
            ("../plan.json", regular, b"y"),
            ("state.json", link, b""),
        ]);
        let unpacked = unpack_from(&*whole, &target).unwrap();
        assert_eq!(
            unpacked.problems,
            ["manifest.json does not list what is in the bundle: \"report.xlsx\", \
              \"../plan.json\", \"state.json\""]
        );
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&target).unwrap().count(), 1);
    }

    #[test]
    fn many_files_that_the_manifest_does_not_list_are_refused_by_the_name_of_the_limit() {
        let with = |count: u64| {
            let names: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
            let manifest = named(&[]);
            let mut entries = vec![(MANIFEST, EntryType::Regular, &*manifest)];
            let others = names.iter().map(|name| (name.as_str(), EntryType::Regular, &b"y"[..]));
            entries.extend(others);
            archive(&entries)
        };
        let target = tempfile::tempdir().unwrap();
        let unpacked = unpack_from(&*with(BUNDLE_UNLISTED.most), target.path()).unwrap();
        assert!(unpacked.problems[0].ends_with("\"x99\""), "{:?}", unpacked.problems);
        let refusal = refusal(&with(BUNDLE_UNLISTED.most + 1), target.path());
        assert!(refusal.contains("more than 100 files"), "{refusal}");
        assert!(refusal.contains("limit BUNDLE_UNLISTED"), "{refusal}");
    }

    #[test]
    fn a_bundle_that_was_packed_again_is_a_bundle_and_another_archive_is_none() {
        let plan = ("./plan.json", EntryType::Regular, b"y".as_slice());
        let text = named(&["plan.json"]);
        let manifest = ("./manifest.json", EntryType::Regular, text.as_slice());
        let target = tempfile::tempdir().unwrap();
        let unpacked = |entries: &[TestEntry<'_>]| unpack_from(&*archive(entries), target.path());
        for entries in [&[manifest, plan], &[plan, manifest]] {
            let trouble = unpacked(entries).unwrap_err();
            assert!(matches!(trouble, Trouble::Bundle(_)), "{trouble:?}");
        }
        let trouble = unpacked(&[plan]).unwrap_err();
        assert!(matches!(trouble, Trouble::Foreign(_)), "{trouble:?}");
    }

    #[test]
    fn a_manifest_or_a_file_that_is_too_large_is_refused_by_the_name_of_the_limit() {
        let told = |bytes: &[u8]| {
            let target = tempfile::tempdir().unwrap();
            match unpack_from(bytes, target.path()) {
                Ok(unpacked) => unpacked.problems.join("\n"),
                Err(Trouble::Bundle(why)) => why,
                Err(other) => panic!("{other:?}"),
            }
        };
        let manifest = |bytes: u64| {
            let mut text = named(&[]);
            text.resize(usize::try_from(bytes).unwrap(), b' ');
            archive(&[(MANIFEST, EntryType::Regular, &text)])
        };
        assert_eq!(told(&manifest(BUNDLE_MANIFEST_BYTES.most)), "");
        let refusal = told(&manifest(BUNDLE_MANIFEST_BYTES.most + 1));
        assert!(refusal.contains("more than 1048576 bytes of a manifest"), "{refusal}");
        assert!(refusal.contains("limit BUNDLE_MANIFEST_BYTES"), "{refusal}");
        // What a header declares is refused before the first byte is written.
        let declaring = |bytes: u64| {
            let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
            let manifest = named(&["plan.json"]);
            for (name, size, content) in [
                (MANIFEST, manifest.len() as u64, manifest.as_slice()),
                ("plan.json", bytes, b"y".as_slice()),
            ] {
                let mut header = Header::new_ustar();
                header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
                header.set_entry_type(EntryType::Regular);
                header.set_size(size);
                header.set_mode(0o644);
                header.set_cksum();
                archive.append(&header, content).unwrap();
            }
            archive.into_inner().unwrap().finish().unwrap()
        };
        assert!(!told(&declaring(BUNDLE_FILE_BYTES.most)).contains("limit"));
        let refusal = told(&declaring(BUNDLE_FILE_BYTES.most + 1));
        assert!(refusal.contains("plan.json: more than 4294967296 bytes"), "{refusal}");
        assert!(refusal.contains("limit BUNDLE_FILE_BYTES"), "{refusal}");
    }

    #[test]
    fn what_follows_the_last_file_is_told() {
        let whole = archive(&[(MANIFEST, EntryType::Regular, &named(&[]))]);
        let told = |bytes: &[u8]| {
            let target = tempfile::tempdir().unwrap();
            unpack_from(bytes, target.path()).unwrap().problems
        };
        assert_eq!(told(&whole), [""; 0]);
        let follows = ["something follows the last file of the bundle"];
        assert_eq!(told(&[&whole[..], b"more"].concat()), follows);
        // Another archive behind the end of the first, inside of the same stream.
        let mut plain = Vec::new();
        GzDecoder::new(&*whole).read_to_end(&mut plain).unwrap();
        plain.extend_from_within(..);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&plain).unwrap();
        assert_eq!(told(&encoder.finish().unwrap()), follows);
    }

    #[test]
    fn a_key_of_the_manifest_that_no_version_writes_is_told() {
        let mut text: serde_json::Value = serde_json::from_slice(&named(&[])).unwrap();
        text["verified_by"] = "somebody".into();
        text["\u{1b}[2J"] = "somebody".into();
        let text = text.to_string();
        let bytes = archive(&[(MANIFEST, EntryType::Regular, text.as_bytes())]);
        let target = tempfile::tempdir().unwrap();
        let unpacked = unpack_from(&*bytes, target.path()).unwrap();
        let told = unpacked.problems.join("\n");
        assert!(told.contains("manifest.json: this version writes no key `verified_by`"), "{told}");
        assert!(told.contains("key `\\u{1b}[2J`") && !told.contains('\u{1b}'), "{told}");
    }

    #[test]
    fn a_size_that_is_none_is_told_with_its_field() {
        let sound = String::from_utf8(named(&["plan.json"])).unwrap();
        for size in ["-1", "0.5", "1e999", "NaN", "18446744073709551616", "null", "[]"] {
            let text = sound.replace("\"size\":1", &format!("\"size\":{size}"));
            assert_ne!(text, sound);
            let bytes = archive(&[(MANIFEST, EntryType::Regular, text.as_bytes())]);
            let target = tempfile::tempdir().unwrap();
            let refusal = refusal(&bytes, target.path());
            assert!(refusal.starts_with("manifest.json: files.plan.json.size: "), "{refusal}");
        }
        for size in ["0", "18446744073709551615"] {
            let text = sound.replace("\"size\":1", &format!("\"size\":{size}"));
            let entries = [(MANIFEST, EntryType::Regular, text.as_bytes()), BIT];
            let target = tempfile::tempdir().unwrap();
            let unpacked = unpack_from(&*archive(&entries), target.path()).unwrap();
            assert!(unpacked.problems[0].contains(&format!("and there 00 of {size}")), "{size}");
        }
    }

    /// A file of one byte.
    const BIT: TestEntry<'static> = ("plan.json", EntryType::Regular, b"1");

    #[test]
    fn nothing_in_it_can_talk_to_a_terminal() {
        for text in [&b"{\"title\": \"\\u001b[2J\"}"[..], b"\x1b[2J", b"\\u009b"] {
            let target = tempfile::tempdir().unwrap();
            let bytes = archive(&[
                (MANIFEST, EntryType::Regular, &named(&["plan.json"])),
                ("plan.json", EntryType::Regular, text),
            ]);
            let refusal = refusal(&bytes, target.path());
            assert!(refusal.contains("control characters"), "{refusal}");
        }
        assert!(!is_escaped_control(b"\\u000a") && !is_escaped_control(b"\\u00e9"));
    }

    #[test]
    fn a_control_that_two_pieces_share_is_found() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("text");
        for before in PIECE - 7..=PIECE + 1 {
            fs::write(&file, format!("{}\\u001b", "x".repeat(before))).unwrap();
            assert_eq!(controls(&file).unwrap(), Some(1), "behind {before} bytes");
        }
        let lines = "x\n".repeat(PIECE);
        fs::write(&file, &lines).unwrap();
        assert_eq!(controls(&file).unwrap(), None);
        for control in ["\0\n", "\\u001b\n", "\\u001b\0"] {
            fs::write(&file, format!("{lines}x{control}")).unwrap();
            assert_eq!(controls(&file).unwrap(), Some(PIECE as u64 + 1), "{control:?}");
        }
    }

    #[test]
    fn small_bundles_do_not_fill_memory_or_disk() {
        // A name and a header of a megabyte each, which shrink to a thousandth.
        let long = "n".repeat(1 << 20);
        for kind in [EntryType::GNULongName, EntryType::XHeader, EntryType::XGlobalHeader] {
            let bytes = archive(&[
                (MANIFEST, EntryType::Regular, &named(&["plan.json"])),
                ("long", kind, long.as_bytes()),
                ("plan.json", EntryType::Regular, b"y"),
            ]);
            let target = tempfile::tempdir().unwrap();
            // It is a file that nothing lists, and stays where it is.
            let problems = unpack_from(&bytes[..], target.path())
                .unwrap_or_else(|_| panic!("{kind:?}"))
                .problems;
            let told = "manifest.json does not list what is in the bundle: \"long\"";
            assert_eq!(problems.last().map(String::as_str), Some(told), "{kind:?}");
        }
        let target = tempfile::tempdir().unwrap();
        // One line that is larger than what may come out of a file that small.
        let most = BUNDLE_FREE_BYTES + (128 << 20);
        let mut packed = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, size, content) in
            [(MANIFEST, None, named(&["records.jsonl"])), ("records.jsonl", Some(most), Vec::new())]
        {
            let mut header = Header::new_ustar();
            header.set_size(size.unwrap_or(content.len() as u64));
            header.set_mode(0o644);
            let zeros = io::repeat(b'x').take(size.unwrap_or(0));
            packed.append_data(&mut header, name, content.as_slice().chain(zeros)).unwrap();
        }
        let bytes = packed.into_inner().unwrap().finish().unwrap();
        assert!((bytes.len() as u64) * BUNDLE_EXPANSION.most < 128 << 20, "{}", bytes.len());
        let refusal = refusal(&bytes, target.path());
        assert!(refusal.contains("BUNDLE_EXPANSION"), "{refusal}");
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named_and_the_bundle_is_not_blamed() {
        let (home, other) = (campaign(), tempfile::tempdir().unwrap());
        let file = other.path().join("one");
        pack(home.path(), manifest(), &file).unwrap();
        let absent = other.path().join("absent");
        let error = unpack(&file, &absent).unwrap_err();
        assert!(error.cause.contains(absent.to_str().unwrap()), "{error}");
        assert!(error.remedy.contains("TMPDIR"), "{error}");
        // A full device opens, and fails when it is written to.
        let (full, text) = (OpenOptions::new().write(true).open("/dev/full").unwrap(), b"x");
        assert!(matches!(transfer(&text[..], full), Err(Stopped::Writing(_))));
    }

    #[test]
    fn a_bundle_is_opened_once_and_what_is_written_into_it_meanwhile_is_noticed() {
        let (home, other) = (campaign(), tempfile::tempdir().unwrap());
        let (file, second) = (other.path().join("one"), other.path().join("second"));
        pack(home.path(), manifest(), &file).unwrap();
        fs::write(home.path().join("plan.json"), "{\"a\": 2}").unwrap();
        pack(home.path(), manifest(), &second).unwrap();
        let (first_bytes, second_bytes) = (fs::read(&file).unwrap(), fs::read(&second).unwrap());
        let out = |name: &str| {
            let out = other.path().join(name);
            fs::create_dir(&out).unwrap();
            out
        };
        let mut bundle = OpenBundle::open(&file).unwrap();
        assert_eq!(bundle.unpack(&out("out")).unwrap().problems, [""; 0]);
        // Another file of that name is not read.
        fs::rename(&second, &file).unwrap();
        let mut bytes = Vec::new();
        assert!(bundle.write_to(&mut bytes).unwrap());
        assert_eq!(bytes, first_bytes);
        // The same file with other bytes, or with more of them.
        let mut bundle = OpenBundle::open(&file).unwrap();
        bundle.unpack(&out("again")).unwrap();
        assert!(bundle.write_to(io::sink()).unwrap());
        for other in [first_bytes, [second_bytes, vec![0]].concat()] {
            fs::write(&file, &other).unwrap();
            assert!(!bundle.write_to(io::sink()).unwrap());
        }
    }

    #[test]
    fn a_cut_bundle_is_an_error() {
        let (home, other) = (campaign(), tempfile::tempdir().unwrap());
        let file = other.path().join("one");
        pack(home.path(), manifest(), &file).unwrap();
        let bytes = fs::read(&file).unwrap();
        let target = other.path().join("out");
        fs::create_dir(&target).unwrap();
        assert!(unpack_from(&bytes[..bytes.len() / 2], &target).is_err());
    }
}
