//! `SCHEDLAB_LOG`: what a run decides, told where that is asked for.

use crate::bench::{Bench, KNOWN_EFFECT, errors};
use contract::LOG_VARIABLE;

/// Standard error of a run with this text of the variable, and its exit code.
fn logged(text: Option<&str>) -> (String, Option<i32>) {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    let mut command = bench.command(&["run", &file]);
    match text {
        Some(text) => command.env(LOG_VARIABLE, text),
        None => command.env_remove(LOG_VARIABLE),
    };
    let output = command.output().unwrap();
    (errors(&output), output.status.code())
}

#[test]
fn a_run_tells_what_it_decides_where_that_is_asked_for_and_nothing_else() {
    let (told, code) = logged(Some("lab=debug"));
    assert_eq!(code, Some(0), "{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.contains(" lab::")).collect();
    assert!(lines.iter().any(|line| line.contains("a block begins block=8")), "{told}");
    assert!(lines.iter().any(|line| line.contains("subject=\"faster\"")), "{told}");
    for text in [None, Some(""), Some("executor=trace"), Some("lab=info")] {
        let (told, code) = logged(text);
        assert_eq!(code, Some(0), "{text:?}: {told}");
        assert!(!told.contains(" lab::"), "{text:?}: {told}");
    }
}

#[test]
fn what_cannot_be_meant_is_an_error_with_an_example() {
    let (told, code) = logged(Some("lab=debgu"));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("no level `debgu`; did you mean `debug`?"), "{told}");
    assert!(told.contains("SCHEDLAB_LOG=executor=debug,venues=trace"), "{told}");
}
