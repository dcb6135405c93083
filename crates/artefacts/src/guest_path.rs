//! Where a path of this machine lies in the root of a guest.

use std::path::{Component, Path, PathBuf};

/// Directories of the root that a merged /usr makes links of, in guests always.
pub const MERGED: [&str; 4] = ["bin", "sbin", "lib", "lib64"];

/// The same path below a root whose /bin, /sbin and /lib lead into /usr, without the leading
/// slash.
pub fn guest_path(path: &Path) -> PathBuf {
    let inside: PathBuf =
        path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    if MERGED.iter().any(|name| inside.starts_with(name)) {
        return Path::new("usr").join(inside);
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_where_the_merged_directories_are() {
        let place = |path: &str| guest_path(Path::new(path)).display().to_string();
        assert_eq!(place("/lib64/ld-linux-x86-64.so.2"), "usr/lib64/ld-linux-x86-64.so.2");
        assert_eq!(place("/bin/ls"), "usr/bin/ls");
        assert_eq!(place("/usr/bin/true"), "usr/bin/true");
        assert_eq!(place("/library/tool"), "library/tool");
        assert_eq!(place("/etc/fio.conf"), "etc/fio.conf");
    }
}
