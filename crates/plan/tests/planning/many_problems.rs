//! Experiments of very many mistakes. Each took the square of their number: whatever is quadratic
//! here ends at the time limit of the tests.

use super::venues::SCHEMAS_MADE;
use super::{plan, request};
use plan::render_problems;

/// As long as a text of which all slips are told, or nearly.
const LARGE: usize = 60_000;

/// What is told of a text: as few lines as are read, and how many problems there are.
fn told(text: &str) -> (String, usize) {
    let problems = plan(request(text)).unwrap_err();
    let count = problems.iter().map(|problem| problem.stands_for).sum();
    (render_problems(&problems, "many.toml", text), count)
}

#[test]
fn of_very_many_problems_twenty_are_told_and_the_number_of_the_others() {
    for (line, least) in
        [("a=1\n", 12_000), ("[subjects.s]\nx=1\n", 600), ("a=1\nb=1\nc=1\nd=1\n", 12_000)]
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
fn of_a_long_text_that_is_no_toml_the_first_slip_is_told() {
    let escapes = format!("title = \"{}\"\n", "\\q".repeat(500_000));
    let escape = format!("#{}\n", "\u{1b}".repeat(500_000));
    for text in ["a=1\n".repeat(20_000), "=\n".repeat(100_000), escapes, escape] {
        let (told, count) = told(&text);
        let begin: String = text.chars().take(12).collect();
        assert_eq!(count, 1, "{begin:?}");
        assert!(told.contains("this is not TOML: "), "{begin:?}");
        assert!(told.contains("of a text of more than 64 KiB one slip is told"), "{begin:?}");
    }
}

#[test]
fn a_text_beyond_what_is_held_is_refused_by_the_name_of_its_limit() {
    for (text, limit) in [
        ("=\n".repeat(500_000), "limit EXPERIMENT_WORDS): 400001 were found"),
        (format!("x=[{}]", "1,".repeat(400_000)), "limit EXPERIMENT_WORDS): 400001 were found"),
        (" ".repeat((1 << 20) + 1), "limit EXPERIMENT_BYTES): 1048577 were found"),
    ] {
        let (told, count) = told(&text);
        assert_eq!(count, 1);
        assert!(told.contains(limit), "{limit}");
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
fn more_subjects_than_are_compared_are_refused_by_the_name_of_the_limit() {
    let subjects: String = (0..65).map(|number| format!("[subjects.s{number}]\n")).collect();
    let (told, _) = told(&subjects);
    assert!(told.contains("65 subjects; the limit EXPERIMENT_SUBJECTS is 64"), "{told}");
    let levels: Vec<String> = (0..20).map(|level| level.to_string()).collect();
    let levels = levels.join(",");
    let crossed = format!("[factors]\nnice = [{levels}]\nnr_migrate = [1,2,3,4]\n");
    let (told, _) = self::told(&crossed);
    assert!(told.contains("more than 64 combinations (limit EXPERIMENT_SUBJECTS)"), "{told}");
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
    assert!(told.contains("100000 metrics in a claim; the limit CLAIM_NAMES is 1000"), "{told}");
}
