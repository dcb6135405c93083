//! Which name a wrong one resembles.

/// No name is longer; more of a text is not looked at.
const NAME_LIMIT: usize = 64;

/// The candidate that resembles `name` most, if any is close enough to be meant.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let folded = fold(name);
    // A third of the letters may be wrong: enough for a slip, too few to turn one word
    // into another. Of two letters none may be: `no` is not `on`.
    let allowance = (folded.chars().count() / 3).min(4);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (strsim::osa_distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| {
            // The beginning, or the last words, of a long name are often all one remembers.
            let known = fold(candidate);
            *distance <= allowance
                || is_misspelt_beginning(&folded, &known)
                || (folded.len() >= 4 && known.starts_with(folded.as_str()))
                || (folded.len() >= 3 && known.ends_with(&format!("_{folded}")))
        })
        .min_by_key(|(distance, candidate)| (*distance, candidate.len()))
        .map(|(_, candidate)| candidate)
}

/// Whether a name is the beginning of a known one with one letter wrong or left out, of which at most
/// two letters are missing behind it: `blok` is `blocks`. The first letter is right, and of fewer than
/// four letters too little is.
fn is_misspelt_beginning(name: &str, known: &str) -> bool {
    let letters: Vec<char> = known.chars().collect();
    let length = name.chars().count();
    let has_room = length >= 4 && (length + 1..=length + 2).contains(&letters.len());
    let beginnings = [length, length + 1].into_iter().filter_map(|end| letters.get(..end));
    has_room
        && name.chars().next() == letters.first().copied()
        && beginnings.map(String::from_iter).any(|part| strsim::osa_distance(name, &part) <= 1)
}

fn fold(name: &str) -> String {
    name.chars().take(NAME_LIMIT).collect::<String>().to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_word_does_not() {
        let known = ["slice", "base_slice", "nice", "policy", "sched_features"];
        for (wrong, meant) in [
            ("slcie", Some("slice")),
            ("base-slice", Some("base_slice")),
            ("Policy", Some("policy")),
            ("sched", Some("sched_features")),
            ("features", Some("sched_features")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), meant, "{wrong}");
        }
        let known = ["blocks", "boots", "title", "seed", "alpha", "subjects", "margin"];
        for (wrong, meant) in [
            ("blok", Some("blocks")),
            ("bloc", Some("blocks")),
            ("blck", Some("blocks")),
            ("titel", Some("title")),
            ("alfa", None),
            ("clock", None),
            ("blo", None),
        ] {
            assert_eq!(nearest(wrong, known), meant, "{wrong}");
        }
        for (wrong, meant) in [("no", None), ("of", None), ("0ff", Some("off"))] {
            assert_eq!(nearest(wrong, ["on", "off"]), meant, "{wrong}");
        }
    }
}
