//! A disk behind a page cache: what was written is seen at once, and is stored when it is synced.
//! When power is cut, each change that was not synced is stored wholly, in some of its sectors, or
//! not at all, whatever came before or after it; so are names in a directory that was not synced.

use crate::random::Random;
use libc::{EEXIST, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::path::{Path, PathBuf};

/// Written at once or not at all.
const SECTOR: usize = 512;

/// What has a name. Files by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    File(usize),
    Directory,
}

#[derive(Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Length(usize),
}

#[derive(Debug)]
enum NameChange {
    Set(PathBuf, Node),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, Node),
}

impl NameChange {
    /// The directory that has to be synced for it.
    fn directory(&self) -> Option<&Path> {
        match self {
            Self::Set(path, _) | Self::Remove(path) | Self::Rename(_, path, _) => path.parent(),
        }
    }
}

/// Bytes of a file, as they are seen and as they are stored.
#[derive(Debug, Default)]
struct Inode {
    seen: Vec<u8>,
    stored: Vec<u8>,
    pending: Vec<Change>,
    /// Up to here there is space, whatever happens to the disk.
    reserved: usize,
}

type Names = BTreeMap<PathBuf, Node>;

/// Errors are numbers of errno(3).
type Outcome<T> = Result<T, i32>;

/// Files and directories.
#[derive(Debug, Default)]
pub(crate) struct SimulatedDisk {
    inodes: Vec<Inode>,
    seen: Names,
    stored: Names,
    pending: Vec<NameChange>,
}

impl SimulatedDisk {
    /// One with these directories, stored; those above others come first.
    pub(crate) fn with(directories: &[&str]) -> Self {
        let named = |path: &&str| (PathBuf::from(path), Node::Directory);
        let names: Names = directories.iter().map(named).collect();
        Self { seen: names.clone(), stored: names, ..Self::default() }
    }

    /// What has this name.
    pub(crate) fn node(&self, path: &Path) -> Option<Node> {
        self.seen.get(path).copied()
    }

    /// The file of this name.
    pub(crate) fn file(&self, path: &Path) -> Option<usize> {
        match self.node(path) {
            Some(Node::File(file)) => Some(file),
            Some(Node::Directory) | None => None,
        }
    }

    /// The file that has this name after a cut of power that loses all that was not synced.
    pub(crate) fn stored_file(&self, path: &Path) -> Option<usize> {
        match self.stored.get(path) {
            Some(Node::File(file)) => Some(*file),
            Some(Node::Directory) | None => None,
        }
    }

    /// Names in a directory.
    pub(crate) fn names(&self, directory: &Path) -> Outcome<Vec<String>> {
        self.check_directory(directory)?;
        let own = self.seen.keys().filter(|path| path.parent() == Some(directory));
        Ok(own.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect())
    }

    /// Makes a directory.
    pub(crate) fn make_directory(&mut self, path: &Path) -> Outcome<()> {
        self.add(path, Node::Directory)
    }

    /// Makes an empty file.
    pub(crate) fn create(&mut self, path: &Path) -> Outcome<usize> {
        let file = self.inodes.len();
        self.add(path, Node::File(file))?;
        self.inodes.push(Inode::default());
        Ok(file)
    }

    fn add(&mut self, path: &Path, node: Node) -> Outcome<()> {
        if self.seen.contains_key(path) {
            return Err(EEXIST);
        }
        self.check_directory(path.parent().ok_or(ENOENT)?)?;
        self.seen.insert(path.to_owned(), node);
        self.pending.push(NameChange::Set(path.to_owned(), node));
        Ok(())
    }

    fn check_directory(&self, path: &Path) -> Outcome<()> {
        match self.node(path) {
            Some(Node::Directory) => Ok(()),
            Some(Node::File(_)) => Err(ENOTDIR),
            None => Err(ENOENT),
        }
    }

    /// Gives a file another name.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> Outcome<()> {
        let file = self.file(from).ok_or(ENOENT)?;
        self.check_directory(to.parent().ok_or(ENOENT)?)?;
        if self.node(to) == Some(Node::Directory) {
            return Err(EISDIR);
        }
        let change = NameChange::Rename(from.to_owned(), to.to_owned(), Node::File(file));
        apply_name(&mut self.seen, &change);
        self.pending.push(change);
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, path: &Path) -> Outcome<()> {
        match self.node(path) {
            Some(Node::File(_)) => {
                self.forget(path);
                Ok(())
            }
            Some(Node::Directory) => Err(EISDIR),
            None => Err(ENOENT),
        }
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(&mut self, path: &Path) -> Outcome<()> {
        if !self.names(path)?.is_empty() {
            return Err(ENOTEMPTY);
        }
        self.forget(path);
        Ok(())
    }

    /// Removes a directory with all in it; so many names at most.
    pub(crate) fn remove_tree(&mut self, path: &Path, most: usize) -> Outcome<()> {
        self.check_directory(path)?;
        let below = |name: &&PathBuf| name.starts_with(path);
        // The deepest first.
        let gone: Vec<PathBuf> = self.seen.keys().filter(below).rev().take(most).cloned().collect();
        gone.iter().for_each(|path| self.forget(path));
        Ok(())
    }

    fn forget(&mut self, path: &Path) {
        self.seen.remove(path);
        self.pending.push(NameChange::Remove(path.to_owned()));
    }

    /// How many names lie in a directory and below, itself included.
    pub(crate) fn count_below(&self, path: &Path) -> usize {
        self.seen.keys().filter(|name| name.starts_with(path)).count()
    }

    /// What is seen of a file.
    pub(crate) fn bytes(&self, file: usize) -> &[u8] {
        &self.inodes[file].seen
    }

    /// What is stored of it.
    pub(crate) fn stored_bytes(&self, file: usize) -> &[u8] {
        &self.inodes[file].stored
    }

    /// Writes bytes at this offset.
    pub(crate) fn write(&mut self, file: usize, at: usize, bytes: &[u8]) {
        let change = Change::Write { at, bytes: bytes.to_owned() };
        self.change(file, change);
    }

    /// Cuts or lengthens a file, and gives back what was reserved.
    pub(crate) fn set_length(&mut self, file: usize, length: usize) {
        self.inodes[file].reserved = 0;
        self.change(file, Change::Length(length));
    }

    fn change(&mut self, file: usize, change: Change) {
        let inode = &mut self.inodes[file];
        apply(&mut inode.seen, &change);
        inode.pending.push(change);
    }

    /// Sets space aside up to this length.
    pub(crate) fn reserve(&mut self, file: usize, length: usize) {
        let inode = &mut self.inodes[file];
        inode.reserved = inode.reserved.max(length);
    }

    /// Whether there is space up to this length on a disk that is full.
    pub(crate) fn has_space(&self, file: usize, length: usize) -> bool {
        let inode = &self.inodes[file];
        length <= inode.reserved || length <= inode.seen.len()
    }

    /// Stores what is seen of a file.
    pub(crate) fn sync(&mut self, file: usize) {
        let Inode { stored, pending, .. } = &mut self.inodes[file];
        take(pending).iter().for_each(|change| apply(stored, change));
    }

    /// A sync that fails: the kernel takes the pages for clean and never writes them again
    /// (Rebello et al. 2020).
    /// Whether there were any.
    pub(crate) fn lose_pending(&mut self, file: usize) -> bool {
        !take(&mut self.inodes[file].pending).is_empty()
    }

    /// Stores the names of a directory.
    pub(crate) fn sync_directory(&mut self, directory: &Path) -> Outcome<()> {
        self.check_directory(directory)?;
        let (own, others) = take(&mut self.pending)
            .into_iter()
            .partition::<Vec<_>, _>(|change| change.directory() == Some(directory));
        self.pending = others;
        own.iter().for_each(|change| apply_name(&mut self.stored, change));
        Ok(())
    }

    /// Gives a file other bytes, seen and stored, behind the back of all that have it open.
    pub(crate) fn exchange(&mut self, file: usize, bytes: Vec<u8>) {
        let inode = &mut self.inodes[file];
        inode.pending.clear();
        inode.seen.clone_from(&bytes);
        inode.stored = bytes;
    }

    /// Changes one bit of a file, seen and stored.
    pub(crate) fn flip(&mut self, file: usize, at: usize, bit: usize) {
        let inode = &mut self.inodes[file];
        for bytes in [&mut inode.seen, &mut inode.stored] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
    }

    /// Cuts the power. What lies in `memory` is gone.
    pub(crate) fn lose_power(&mut self, random: &mut Random, memory: Option<&Path>) {
        for change in take(&mut self.pending) {
            if random.one_in(2) {
                apply_name(&mut self.stored, &change);
            }
        }
        for inode in &mut self.inodes {
            for change in take(&mut inode.pending) {
                store_some(&mut inode.stored, &change, random);
            }
            inode.seen.clone_from(&inode.stored);
            inode.reserved = 0;
        }
        if let Some(memory) = memory {
            self.stored.retain(|path, _| path == memory || !path.starts_with(memory));
        }
        drop_orphans(&mut self.stored);
        self.seen.clone_from(&self.stored);
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Length(length) => bytes.resize(*length, 0),
        Change::Write { at, bytes: written } => {
            let end = at + written.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*at..end].copy_from_slice(written);
        }
    }
}

/// What of a change reaches a disk whose power is cut.
fn store_some(stored: &mut Vec<u8>, change: &Change, random: &mut Random) {
    match (random.below(3), change) {
        (0, _) => {}
        (1, Change::Write { at, bytes }) => {
            // Sectors that did not get there read as zeros where the file is longer by then.
            let mut place = *at;
            for sector in bytes.chunks(SECTOR) {
                if random.one_in(2) {
                    let is_torn = random.one_in(2);
                    let length =
                        if is_torn { random.below(sector.len()) + 1 } else { sector.len() };
                    apply(stored, &Change::Write { at: place, bytes: sector[..length].to_owned() });
                }
                place += sector.len();
            }
            if random.one_in(2) && stored.len() < place {
                stored.resize(place, 0);
            }
        }
        _ => apply(stored, change),
    }
}

fn apply_name(names: &mut Names, change: &NameChange) {
    match change {
        NameChange::Set(path, node) => {
            names.insert(path.clone(), *node);
        }
        NameChange::Remove(path) => {
            names.remove(path);
        }
        NameChange::Rename(from, to, node) => {
            names.remove(from);
            names.insert(to.clone(), *node);
        }
    }
}

/// What lies in a directory that is not there cannot be reached.
fn drop_orphans(names: &mut Names) {
    let is_directory = |(_, node): &(&PathBuf, &Node)| **node == Node::Directory;
    let directories: BTreeSet<PathBuf> =
        names.iter().filter(is_directory).map(|(path, _)| path.clone()).collect();
    let is_there = |above: &Path| above == Path::new("/") || directories.contains(above);
    names.retain(|path, _| path.ancestors().skip(1).all(is_there));
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/data/file";

    /// A disk with a file that holds `old`, stored.
    fn disk() -> (SimulatedDisk, usize) {
        let mut disk = SimulatedDisk::with(&["/data"]);
        let file = disk.create(Path::new(FILE)).unwrap();
        disk.write(file, 0, b"old");
        disk.sync(file);
        disk.sync_directory(Path::new("/data")).unwrap();
        (disk, file)
    }

    /// What the file holds after power cuts of many seeds.
    fn survivors(change: impl Fn(&mut SimulatedDisk, usize)) -> BTreeSet<Option<Vec<u8>>> {
        let after = |seed| {
            let (mut disk, file) = disk();
            change(&mut disk, file);
            disk.lose_power(&mut Random::new(seed), None);
            disk.file(Path::new(FILE)).map(|file| disk.bytes(file).to_owned())
        };
        (0..1000).map(after).collect()
    }

    #[test]
    fn what_was_synced_survives_and_what_was_not_may_be_torn_or_lost() {
        let synced = survivors(|disk, file| {
            disk.write(file, 3, b"new");
            disk.sync(file);
        });
        assert_eq!(synced, BTreeSet::from([Some(b"oldnew".to_vec())]));
        let unsynced = survivors(|disk, file| disk.write(file, 3, b"new"));
        for text in [&b"old"[..], b"oldn", b"oldnew", b"old\0\0\0"] {
            assert!(unsynced.contains(&Some(text.to_vec())), "{unsynced:?}");
        }
        let lost = survivors(|disk, file| {
            disk.write(file, 3, b"new");
            disk.lose_pending(file);
            disk.sync(file);
        });
        assert_eq!(lost, BTreeSet::from([Some(b"old".to_vec())]), "as after a failed fsync");
    }

    #[test]
    fn later_changes_may_be_stored_without_earlier_ones() {
        let found = survivors(|disk, file| {
            disk.write(file, 3, b"1");
            disk.write(file, 4, b"2");
        });
        assert!(found.contains(&Some(b"old\x002".to_vec())), "{found:?}");
    }

    #[test]
    fn a_name_is_stored_with_its_directory() {
        let renamed = |is_synced: bool| {
            survivors(move |disk, _| {
                let next = disk.create(Path::new("/data/next")).unwrap();
                disk.write(next, 0, b"whole");
                disk.sync(next);
                disk.rename(Path::new("/data/next"), Path::new(FILE)).unwrap();
                if is_synced {
                    disk.sync_directory(Path::new("/data")).unwrap();
                }
            })
        };
        let (old, new) = (Some(b"old".to_vec()), Some(b"whole".to_vec()));
        assert_eq!(renamed(true), BTreeSet::from([new.clone()]));
        assert_eq!(renamed(false), BTreeSet::from([old, new]));
        let mut removed = disk().0;
        removed.remove_tree(Path::new("/data"), 9).unwrap();
        assert_eq!(removed.names(Path::new("/data")), Err(ENOENT));
    }
}
