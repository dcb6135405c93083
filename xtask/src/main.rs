//! The project automation.
fn main() {}
