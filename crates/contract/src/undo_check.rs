//! How it is known, before the first change, that what a factor changes can be undone.

/// What shows that the kernel takes back what a factor's files hold now.
#[derive(Debug, Clone, Copy)]
pub enum UndoCheck {
    /// The executor writes the present value back once before it changes it, announced in the
    /// journal as every write, and reads it back. For files in which this has no effect of its own.
    DryWriteBack,
    /// The present value is held against what the kernel takes, and not written.
    KnownLimit(KnownLimit),
    /// Nothing is known: a level that would change anything is refused.
    Refused,
    /// No file has to be written back: what was changed ends with a process or a guest.
    EndsByItself,
}

/// Values that the kernel takes back, where writing one would not show it or has an effect.
#[derive(Debug, Clone, Copy)]
pub struct KnownLimit {
    /// What is taken, and where the kernel says so: `a number from 4 up (BLKDEV_MIN_RQ)`.
    pub takes: &'static str,
    /// Why the present value is not simply written, as a clause.
    pub why_not_written: &'static str,
    /// Whether a value is taken.
    pub is_taken: fn(&str) -> bool,
}

impl UndoCheck {
    /// Why a file that holds `present` is not changed, as far as this is known without writing.
    pub fn refusal(&self, present: &str) -> Option<String> {
        match self {
            UndoCheck::KnownLimit(limit) if !(limit.is_taken)(present) => {
                Some(format!("the kernel takes back only {}", limit.takes))
            }
            UndoCheck::Refused => Some("nothing shows that the kernel takes it back".to_owned()),
            UndoCheck::DryWriteBack | UndoCheck::KnownLimit(_) | UndoCheck::EndsByItself => None,
        }
    }
}
