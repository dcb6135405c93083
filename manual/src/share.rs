//! Man pages and completions, where shells and man(1) look for them below
//! PREFIX/share.

use clap_complete::{Shell, generate_to};
use std::fs;
use std::io;
use std::path::Path;

/// Writes all of them.
///
/// # Errors
/// The first that could not be written.
pub fn write(directory: &Path) -> io::Result<()> {
    let pages = directory.join("man/man1");
    fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(schedlab::command(), &pages)?;
    for (shell, folder, name) in [
        (Shell::Bash, "bash-completion/completions", "schedlab"),
        (Shell::Zsh, "zsh/site-functions", "_schedlab"),
        (Shell::Fish, "fish/vendor_completions.d", "schedlab.fish"),
    ] {
        let folder = directory.join(folder);
        fs::create_dir_all(&folder)?;
        let written = generate_to(shell, &mut schedlab::command(), "schedlab", &folder)?;
        // bash-completion loads a file that is named after the command.
        fs::rename(written, folder.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_and_a_completion_for_every_command() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path()).unwrap();
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
        let completions = [
            read("bash-completion/completions/schedlab"),
            read("zsh/site-functions/_schedlab"),
            read("fish/vendor_completions.d/schedlab.fish"),
        ];
        assert!(read("man/man1/schedlab.1").contains("schedlab"));
        for command in schedlab::command().get_subcommands() {
            let name = command.get_name();
            assert!(read(&format!("man/man1/schedlab-{name}.1")).contains("SYNOPSIS"), "{name}");
            assert!(completions.iter().all(|text| text.contains(name)), "{name}");
        }
    }
}
