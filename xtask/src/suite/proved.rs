//! Proofs that succeeded here before: each left a stamp that is called as its test is. What they
//! depend on may have changed since, and a proof itself knows whether it has (crates/testing).

use std::path::Path;

/// The tests that have a stamp in a directory, in order. Stamps of steps are called otherwise.
pub fn tests(stamps: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(stamps).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut tests: Vec<String> = names.filter(|name| is_test(name)).collect();
    tests.sort();
    tests
}

/// Whether this is the path of a test, and nothing that nextest would read as something else.
fn is_test(name: &str) -> bool {
    let is_of_paths = |of: char| of.is_ascii_alphanumeric() || of == '_' || of == ':';
    name.contains("::") && name.chars().all(is_of_paths)
}

/// What selects them in nextest.
pub fn filter(tests: &[String]) -> String {
    let each: Vec<String> = tests.iter().map(|test| format!("test(={test})")).collect();
    format!("(binary_id(schedlab::end_to_end) & ({}))", each.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_stamp_is_selected_and_nothing_else_that_lies_there() {
        let stamps = tempfile::tempdir().unwrap();
        for name in
            ["vm::proofs::whole::rr_on_one", "doc", "a::b) + all(", "vm::fairness::storms::rr"]
        {
            std::fs::write(stamps.path().join(name), "digest").unwrap();
        }
        let tests = tests(stamps.path());
        assert_eq!(tests, ["vm::fairness::storms::rr", "vm::proofs::whole::rr_on_one"]);
        assert_eq!(
            filter(&tests),
            "(binary_id(schedlab::end_to_end) & (test(=vm::fairness::storms::rr) \
             + test(=vm::proofs::whole::rr_on_one)))"
        );
        assert!(super::tests(&stamps.path().join("absent")).is_empty());
    }
}
