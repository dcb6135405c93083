//! What a person or a log is told.

use std::io::Write;

/// Writes lines to standard error, of a role its log. Whatever they quote, a terminal that shows it obeys
/// none of it.
pub fn tell(text: &str) {
    // There is nobody to tell when this fails.
    let _ = writeln!(std::io::stderr(), "{}", model::legible_lines(text));
}
