//! What a line of the journal says.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use sys::{Cgroup, ControlFile};

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "entry")]
pub enum JournalEntry {
    /// A session begins. Everything that follows happened in this boot.
    Session {
        /// The boot's id.
        boot_id: String,
        /// `NAME=value` in the environment of every process we start.
        mark: String,
    },
    /// A file is about to be written.
    Setting {
        /// Number within the journal.
        id: u64,
        /// The factor, for people.
        factor: String,
        /// Position when restoring; lower first.
        order: u8,
        /// The file.
        file: ControlFile,
        /// What it held.
        old: String,
        /// What is written.
        new: String,
        /// Whether it is a file of a device that was made for the trial: whatever it holds
        /// later came of that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_of_made: bool,
    },
    /// The announced value is being written.
    Writing {
        /// The setting.
        id: u64,
    },
    /// What the file held right after writing: the kernel may clamp.
    Applied {
        /// The setting.
        id: u64,
        /// Read back.
        actual: String,
    },
    /// The setting is put back, or left as another program has set it.
    Settled {
        /// The setting.
        id: u64,
    },
    /// Everything that is still open is ours and is being put back.
    Restoring,
    /// Putting back has ended; what is still open failed.
    RestoringEnded,
    /// A setting that somebody else changed meanwhile, until a user was told.
    LeftAlone {
        /// What was found, in words.
        line: String,
        /// The setting, which is settled by this line too: where the line that says so is damaged,
        /// it is not put back after all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
    },
    /// A process group was started; its members may outlive us.
    Group {
        /// The group.
        group: i32,
    },
    /// No process of the group is left.
    GroupEnded {
        /// The group.
        group: i32,
    },
    /// A process that outlives trials was started: a group with a mark of its own.
    #[serde(rename = "standing")]
    LongLived {
        /// The group.
        group: i32,
        /// `NAME=value` in the environment of its processes.
        mark: String,
    },
    /// A control group is about to be made.
    Cgroup {
        /// The group.
        cgroup: Cgroup,
    },
    /// A directory for temporary files is about to be made.
    Directory {
        /// Its path.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::JournalEntry;

    #[test]
    fn a_long_lived_process_is_stored_under_its_first_name() {
        let line = r#"{"entry":"standing","group":77,"mark":"SCHEDLAB_MARK=a"}"#;
        let entry = JournalEntry::LongLived { group: 77, mark: "SCHEDLAB_MARK=a".to_owned() };
        assert_eq!(serde_json::to_string(&entry).unwrap(), line);
        assert_eq!(serde_json::from_str::<JournalEntry>(line).unwrap(), entry);
        let renamed = line.replace("standing", "long_lived");
        assert!(serde_json::from_str::<JournalEntry>(&renamed).is_err());
    }
}
