//! Data on standard output, everything else on standard error.

use crate::environment::FONTS;
use contract::{Error, Result};
use model::{inert, legible_data, legible_lines, on_one_line, written_out};
use report::{Language, Page};
use rustix::termios::tcgetwinsize;
use std::io::{BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

/// Width where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 80;
/// Goes to the begin of a terminal's line and clears it (ECMA-48, 8.3.41).
const CLEAR_LINE: &str = "\r\x1b[2K";

/// Writes text for a person to standard output. Whatever it quotes, a terminal obeys none of it,
/// and no line is endless. A closed pipe (`| head`) is an orderly end.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(legible_lines(text).as_bytes())
}

/// Writes one line for a person to standard output. An end of a line in what it quotes is written
/// out: what stands behind it would pass for a line of ours.
pub(crate) fn print_line(text: &str) -> Result<()> {
    print(&format!("{}\n", on_one_line(text)))
}

/// Writes text for a program to standard output: JSON, TOML, a script. All of it stands there,
/// but a terminal obeys nothing of it; and where one shows it, no value is endless.
pub(crate) fn print_data(text: &str) -> Result<()> {
    let shown = if is_read_by_a_person() { legible_data(text) } else { written_out(text) };
    print_bytes(shown.as_bytes())
}

/// Whether a person reads standard output.
pub(crate) fn is_read_by_a_person() -> bool {
    std::io::stdout().is_terminal()
}

/// The same for data that is no text, and for what a renderer drew: colours are its own, and what
/// it quotes it made inert.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    print_written(|output| output.write_all(bytes))
}

/// The same of what is written piece by piece, and never held as a whole.
pub(crate) fn print_written(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    match write(&mut output).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::environment("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes one line to standard error. Whatever it quotes, a terminal obeys none of it, and an end of
/// a line in it is written out: what stands behind it would pass for a line of ours.
pub(crate) fn tell(text: &str) {
    tell_lines(&on_one_line(text));
}

/// Writes the lines of an error or of several problems to standard error. Whatever they quote, a
/// terminal obeys none of it; ends of lines in what they quote were written out when they were made.
pub(crate) fn tell_lines(text: &str) {
    // There is nobody to tell when this fails.
    let _ = writeln!(std::io::stderr(), "{}", legible_lines(text));
}

/// Whether a person sees standard error on a terminal: a line of progress may rewrite itself there.
pub(crate) fn is_drawn_on() -> bool {
    std::io::stderr().is_terminal()
}

/// Draws a line of progress on standard error, over the one that was drawn before. Whatever it
/// quotes, a terminal obeys none of it.
pub(crate) fn draw(text: &str) {
    let mut output = std::io::stderr();
    let line = drawn(text, width(&output));
    // Progress that cannot be drawn is no reason to stop.
    let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
}

/// Clears the line that was drawn last.
pub(crate) fn clear_drawn() {
    let _ = std::io::stderr().write_all(CLEAR_LINE.as_bytes());
}

/// What draws this line of text: one that wraps could not be cleared again.
fn drawn(text: &str, columns: usize) -> String {
    let line = inert(text);
    CLEAR_LINE.chars().chain(line.chars().take(columns.saturating_sub(1))).collect()
}

/// How a report is drawn on standard output.
pub(crate) fn page(is_verbose: bool) -> Page {
    let output = std::io::stdout();
    let is_colour = match anstream::AutoStream::choice(&output) {
        anstream::ColorChoice::Never => false,
        anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => true,
        anstream::ColorChoice::Auto => output.is_terminal(),
    };
    Page {
        width: width(&output),
        is_colour,
        is_unicode: is_unicode(),
        is_verbose,
        has_plots: false,
        fonts: FONTS,
    }
}

/// Columns of standard output.
pub(crate) fn output_width() -> usize {
    width(&std::io::stdout())
}

/// Columns of a stream's terminal, or what COLUMNS says.
fn width(stream: &impl AsFd) -> usize {
    let terminal = tcgetwinsize(stream).ok();
    let columns = terminal.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.or_else(|| told_columns(&std::env::var("COLUMNS").ok()?)).unwrap_or(DEFAULT_WIDTH)
}

/// What COLUMNS says, and no more than a terminal can say (`winsize`, ioctl_tty(2)): figures of text
/// hold a place for each column.
fn told_columns(text: &str) -> Option<usize> {
    let columns: usize = text.parse().ok()?;
    Some(columns.min(usize::from(u16::MAX)))
}

/// The language of text for a terminal: English where the letters of another cannot be shown,
/// which is said.
pub(crate) fn legible(language: Language) -> Language {
    if language.is_english() || is_unicode() {
        return language;
    }
    tell(&format!(
        "the locale is plain ASCII, which has no letters for `--lang {language}`: this is in English \
         (LC_ALL=C.UTF-8 shows them)"
    ));
    Language::default()
}

/// The first of LC_ALL, LC_CTYPE and LANG that is set decides (locale(7)); a
/// plain C locale gets ASCII.
fn is_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()));
    locale.is_none_or(|locale| locale != "C" && locale != "POSIX")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_says_no_more_columns_than_a_terminal_can_have() {
        assert_eq!(told_columns("120"), Some(120));
        assert_eq!(told_columns("99999999999999"), Some(65_535));
        assert_eq!(told_columns("-1"), None);
    }

    #[test]
    fn a_drawn_line_is_within_its_columns_and_obeyed_in_nothing_but_its_begin() {
        let hostile = "6.1\u{1b}[2J\u{9b}31m\u{202e}\nFORGED\r: 7 of 9 MB";
        for columns in [0, 1, 12, 200] {
            let line = drawn(hostile, columns);
            let shown = line.strip_prefix(CLEAR_LINE).unwrap();
            assert!(!shown.chars().any(model::is_obeyed), "{shown:?}");
            let whole = hostile.chars().count();
            assert_eq!(shown.chars().count(), whole.min(columns.saturating_sub(1)), "{columns}");
        }
        assert!(
            drawn(hostile, 200)
                .ends_with("[2J\u{fffd}31m\u{fffd}\u{fffd}FORGED\u{fffd}: 7 of 9 MB")
        );
    }
}
