//! Experiments of very many mistakes. Each took the square of their number: whatever is quadratic
//! here ends at the time limit of the tests.

use super::venues::SCHEMAS_MADE;
use super::{plan, request};
use plan::render_problems;

/// As long as an experiment may be, or nearly.
const LARGE: usize = 1_000_000;

/// What is told of a text: as few lines as are read, and how many problems there are.
fn told(text: &str) -> (String, usize) {
    let problems = plan(request(text)).unwrap_err();
    let count = problems.iter().map(|problem| problem.stands_for).sum();
    (render_problems(&problems, "many.toml", text), count)
}

#[test]
fn of_very_many_problems_twenty_are_told_and_the_number_of_the_others() {
    for (line, least) in
        [("a=1\n", 200_000), ("[subjects.s]\nx=1\n", 10_000), ("a=1\nb=1\nc=1\nd=1\n", 200_000)]
    {
        let text = line.repeat(LARGE / line.len());
        let (told, count) = told(&text);
        assert!(count >= least, "{line:?}: {count}");
        let places = told.lines().filter(|line| line.starts_with("many.toml:"));
        assert_eq!(places.count(), 21, "{told}");
        let others = format!("many.toml: {} more; correct these first", count - 20);
        assert_eq!(told.lines().last(), Some(others.as_str()));
    }
}

#[test]
fn unknown_keys_and_subjects_of_any_number_are_told_at_once() {
    let keys: String = (0..60_000).map(|number| format!("k{number} = 1\n")).collect();
    let (told, count) = told(&keys);
    assert!(count >= 60_000 && told.contains("unknown key `k0`"), "{count}\n{told}");
    let subjects: String =
        (0..20_000).map(|number| format!("[subjects.s{number}]\nx = 1\n")).collect();
    let crossed = format!("{subjects}[factors]\nnice = [0, 1, 2, 3, 4, 5, 6, 7]\n");
    let (told, count) = self::told(&crossed);
    assert!(count >= 20_001 && told.lines().count() < 100, "{count}\n{told}");
}

#[test]
fn no_schema_of_a_venue_is_made_for_each_key() {
    let made = |keys: usize| {
        let text: String = (0..keys).map(|number| format!("k{number} = 1\n")).collect();
        let before = SCHEMAS_MADE.get();
        assert!(told(&text).1 >= keys);
        SCHEMAS_MADE.get() - before
    };
    // Of the first thousand the nearest name is looked for, which may be that of a venue.
    assert_eq!(made(2_000), made(20_000));
}

#[test]
fn a_list_of_any_number_of_levels_or_metrics_is_answered_at_once() {
    let levels: Vec<String> = (0..100_000).map(|number| format!("\"{number}us\"")).collect();
    let text = format!("[factors]\nbase_slice = [{}]\n", levels.join(","));
    let (told, count) = told(&text);
    assert!(count > 0 && told.lines().count() < 100, "{told}");
    let claim = format!(
        "{}\n[[claims]]\nsays = \"all\"\nsubject = \"short\"\nreference = \"baseline\"\n\
         effect = \"better\"\nmetric = [{}]\n",
        super::EXPERIMENT,
        levels.join(",")
    );
    let (told, _) = self::told(&claim);
    assert!(told.contains("100000 metrics in a claim; the limit is 1000"), "{told}");
}
