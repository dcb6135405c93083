//! `docs/exit-codes.md`.

use std::fmt::Write;

/// The page.
pub fn page(codes: &[(&str, &str)]) -> String {
    let mut page = String::from(
        "# Exit codes\n\nWritten by `cargo xtask docs`; do not edit.\n\n| code | meaning |\n|---|---|\n",
    );
    for (code, meaning) in codes {
        let _ = writeln!(page, "| {code} | {meaning} |");
    }
    page
}
