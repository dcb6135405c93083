//! The files of the project that people write.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A text file as it was read; threads share it.
pub struct SourceText {
    /// Path below the workspace.
    pub path: PathBuf,
    /// Content.
    pub text: String,
}

impl SourceText {
    /// The file for the checks of one thread: what the compiler reads of it cannot be shared.
    pub fn file(&self) -> SourceFile {
        SourceFile::new(&self.path, self.text.as_str())
    }
}

/// A text file, and what the compiler reads of it.
pub struct SourceFile {
    /// Path below the workspace.
    pub path: PathBuf,
    /// Content.
    pub text: String,
    syntax: OnceCell<syn::Result<syn::File>>,
}

impl SourceFile {
    /// A file with this path and content.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), syntax: OnceCell::new() }
    }

    /// What the compiler reads of it, parsed once for all checks of a thread.
    ///
    /// # Errors
    /// When it is not Rust.
    pub fn syntax(&self) -> Result<&syn::File, &syn::Error> {
        self.syntax.get_or_init(|| syn::parse_file(&self.text)).as_ref()
    }

    /// Whether it is Rust.
    pub fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    /// Where line `number` (from 0) is, for a message.
    pub fn at(&self, number: usize) -> String {
        format!("{}:{}", self.path.display(), number + 1)
    }
}

/// Whether a file with this path is Rust.
pub fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Not written by people, or real output of other programs.
const PASSED_OVER: &[&str] =
    &["target", "results", ".git", "node_modules", "corpus", "artifacts", "golden"];

/// Every text file below `root`, in order of path.
pub fn texts(root: &Path) -> io::Result<Vec<SourceText>> {
    let mut texts = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if PASSED_OVER.contains(&entry.file_name().to_string_lossy().as_ref()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if let Ok(text) = String::from_utf8(fs::read(&path)?) {
                let path = path.strip_prefix(root).unwrap_or(&path).to_owned();
                texts.push(SourceText { path, text });
            }
        }
    }
    texts.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(texts)
}
