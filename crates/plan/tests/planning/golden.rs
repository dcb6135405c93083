//! Wrong experiments and what is said about them: `tests/golden/problems/*.toml`,
//! each with the rendered problems in a `.txt` beside it. `UPDATE_EXPECT=1`
//! rewrites those.

use crate::{plan, request};
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/problems");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    cases.sort();
    cases
}

#[test]
fn every_mistake_is_told_with_its_line_and_all_at_once() {
    let cases = cases();
    assert!(cases.len() >= 25, "only {} kinds of mistake", cases.len());
    let mut differing = Vec::new();
    for path in cases {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_str().unwrap();
        let rendered = match plan(request(&text)) {
            Ok(_) => panic!("{file} plans, but it is here because it must not"),
            Err(problems) => {
                assert!(!problems.is_empty(), "{file}");
                let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
                assert!(lines.is_sorted(), "{file}: {lines:?}");
                plan::render_problems(&problems, file, &text)
            }
        };
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &rendered).unwrap();
        } else if fs::read_to_string(&expected).ok().as_deref() != Some(rendered.as_str()) {
            differing.push(format!("{file}:\n{rendered}"));
        }
    }
    assert!(differing.is_empty(), "UPDATE_EXPECT=1 accepts:\n{}", differing.join("\n"));
}
