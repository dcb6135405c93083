//! Where some of many comparisons are, in a few words: `vcpus 1, 2 on clients-8`.

use model::{Comparisons, Plan, Question, quoted};
use std::borrow::Cow;

/// More places than these are told by their number.
const MOST: usize = 4;
/// Of more workloads than these the others are counted.
const MOST_NAMED: usize = 12;

/// Names that are words of the sentences that they stand in: of the scheduler `none` one would read
/// that nothing was compared.
const WORDS: [&str; 25] = [
    "all", "and", "any", "best", "better", "both", "each", "either", "every", "less", "more",
    "most", "neither", "no", "none", "not", "nothing", "on", "other", "others", "same", "some",
    "than", "that", "worse",
];

/// A name as a sentence has it.
pub(crate) fn in_sentence(name: &str) -> Cow<'_, str> {
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
    if is_word { quoted(name).into() } else { name.into() }
}

/// Where one comparison is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComparisonLabel {
    /// What is compared: the level of a group, or the subjects.
    row: String,
    workload: String,
}

impl ComparisonLabel {
    /// The places of these questions. Subjects compared within a factor are told by its
    /// level, as long as that tells them apart.
    pub(crate) fn of_each(plan: &Plan, questions: &[&Question]) -> Vec<Self> {
        let has_one_metric = questions.windows(2).all(|pair| pair[0].metric == pair[1].metric);
        let workload = |question: &Question| {
            let workload = in_sentence(&question.workload);
            if has_one_metric {
                workload.into_owned()
            } else {
                format!("{workload} {}", question.metric)
            }
        };
        if let Comparisons::Within(factor) = &plan.comparisons {
            let level = |question: &&Question| {
                plan.subject(&question.subject)?.levels.get(factor).map(ToString::to_string)
            };
            let places: Vec<Self> = questions
                .iter()
                .map(|question| Self {
                    row: level(question).unwrap_or_default(),
                    workload: workload(question),
                })
                .collect();
            if places.iter().enumerate().all(|(index, place)| !places[..index].contains(place)) {
                return places
                    .into_iter()
                    .map(|place| Self { row: format!("{factor} {}", place.row), ..place })
                    .collect();
            }
        }
        let has_one_reference =
            questions.windows(2).all(|pair| pair[0].reference == pair[1].reference);
        questions
            .iter()
            .map(|question| Self {
                row: if has_one_reference {
                    in_sentence(&question.subject).into_owned()
                } else {
                    against(question)
                },
                workload: workload(question),
            })
            .collect()
    }
}

/// The subjects of a question.
pub(crate) fn against(question: &Question) -> String {
    format!("{} against {}", in_sentence(&question.subject), in_sentence(&question.reference))
}

/// Those that are chosen. Rows that have the same workloads are told together, and the
/// workloads only where they are not all.
pub(crate) fn in_words(places: &[ComparisonLabel], is_chosen: &[bool]) -> String {
    let rows = distinct(places.iter().map(|place| place.row.as_str()));
    let workloads_of = |row: &str, wants_all: bool| -> Vec<&str> {
        let own = places
            .iter()
            .zip(is_chosen)
            .filter(|(place, is_chosen)| place.row == row && (wants_all || **is_chosen));
        own.map(|(place, _)| place.workload.as_str()).collect()
    };
    let is_one_row = rows.len() == 1;
    // Workloads, absent where they are all of the row's, with the rows that have these.
    let mut parts: Vec<(Option<Vec<&str>>, Vec<&str>)> = Vec::new();
    for row in rows {
        let (own, all) = (workloads_of(row, false), workloads_of(row, true));
        if own.is_empty() {
            continue;
        }
        let own = (own != all).then_some(own);
        match parts.iter_mut().find(|(known, _)| *known == own) {
            Some((_, rows)) => rows.push(row),
            None => parts.push((own, vec![row])),
        }
    }
    let text = |(workloads, rows): &(Option<Vec<&str>>, Vec<&str>)| match workloads {
        Some(workloads) if is_one_row => named(workloads),
        Some(workloads) => format!("{} on {}", joined(rows), named(workloads)),
        None => joined(rows),
    };
    let mut texts: Vec<String> = parts.iter().take(MOST).map(text).collect();
    if parts.len() > MOST {
        texts.push(format!("and {} more", parts.len() - MOST));
    }
    texts.join("; ")
}

/// The first names, and how many more there are.
pub(crate) fn named(workloads: &[&str]) -> String {
    let shown = workloads[..workloads.len().min(MOST_NAMED)].join(", ");
    match workloads.len().saturating_sub(MOST_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `vcpus 1, 2`: a word that all have in common is said once.
fn joined(rows: &[&str]) -> String {
    let common = rows.first().and_then(|row| row.split_once(' ')).map(|(word, _)| word);
    let rests: Option<Vec<&str>> = rows
        .iter()
        .map(|row| {
            let (word, rest) = row.split_once(' ')?;
            (Some(word) == common && !rest.contains(' ')).then_some(rest)
        })
        .collect();
    match (common, rests) {
        (Some(common), Some(rests)) => format!("{common} {}", rests.join(", ")),
        _ => rows.join(", "),
    }
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    for text in texts {
        if !known.contains(&text) {
            known.push(text);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_as_few_words_as_keep_them_apart() {
        let place = |row: &str, workload: &str| ComparisonLabel {
            row: row.to_owned(),
            workload: workload.to_owned(),
        };
        let grid: Vec<ComparisonLabel> = ["vcpus 1", "vcpus 2", "vcpus 4"]
            .iter()
            .flat_map(|row| ["c-2", "c-8"].map(|workload| place(row, workload)))
            .collect();
        let pairs: Vec<ComparisonLabel> =
            ["a against b", "c against d"].iter().map(|row| place(row, "w")).collect();
        for (places, chosen, text) in [
            (&grid[..], vec![1, 1, 1, 1, 0, 0], "vcpus 1, 2"),
            (&grid[..], vec![1, 0, 1, 0, 1, 0], "vcpus 1, 2, 4 on c-2"),
            (&grid[..], vec![1, 1, 0, 1, 1, 0], "vcpus 1; vcpus 2 on c-8; vcpus 4 on c-2"),
            (&grid[..2], vec![0, 1], "c-8"),
            (&pairs[..], vec![1, 0], "a against b"),
            (&pairs[..], vec![1, 1], "a against b, c against d"),
        ] {
            let chosen: Vec<bool> = chosen.into_iter().map(|one| one == 1).collect();
            assert_eq!(in_words(places, &chosen), text);
        }
    }
}
