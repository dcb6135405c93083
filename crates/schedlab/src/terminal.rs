//! This program's terminal: its size, and raw while a guest's shell has it.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use wire::Pty;

/// Of a terminal that does not say.
const USUAL: Pty = Pty { rows: 24, columns: 80 };

/// The terminal's size.
pub(crate) fn size() -> Pty {
    match tcgetwinsize(std::io::stdin()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
            Pty { rows: size.ws_row, columns: size.ws_col }
        }
        _ => USUAL,
    }
}

/// A terminal that hands on every key as it is; as it was again when this is dropped.
pub(crate) struct RawTerminal(Termios);

impl RawTerminal {
    /// `None` where standard input is no terminal.
    pub(crate) fn begin() -> Option<Self> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw).ok()?;
        Some(Self(before))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
