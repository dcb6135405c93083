//! The studies that are delivered, by name.

use crate::study::{Study, StudyText};
use contract::{Error, Result, nearest};

/// Declares studies with their tables, each a file of `studies/NAME/`.
macro_rules! studies {
    ($($name:literal: $($table:literal)+;)*) => {
        const STUDIES: &[StudyText] = &[$(StudyText {
            name: $name,
            about: include_str!(concat!("../../../studies/", $name, "/study.toml")),
            claims: include_str!(concat!("../../../studies/", $name, "/claims.csv")),
            asked: include_str!(concat!("../../../studies/", $name, "/asked.csv")),
            contradictions: include_str!(concat!("../../../studies/", $name, "/contradictions.csv")),
            checks: include_str!(concat!("../../../studies/", $name, "/checks.csv")),
            tables: &[$((
                $table,
                include_str!(concat!("../../../studies/", $name, "/", $table, ".csv")),
            )),+],
        }),*];
    };
}

studies! {
    "eevdf": "results" "percentages" "parameters" "design";
    "iozone": "runs" "means_cell" "means_block" "means_by_record_size" "means_by_operation"
        "console_noop_8k_run1" "design";
    "gateway": "results" "design";
    "sched-ext-bank": "results" "printed_effects" "design";
    "bfs": "directions" "figures";
}

/// Names of all studies.
pub fn names() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().map(|study| study.name)
}

/// A study by its name.
///
/// # Errors
///
/// There is no study of that name: usage.
pub fn find(name: &str) -> Result<Study> {
    let Some(text) = STUDIES.iter().find(|study| study.name == name) else {
        let remedy = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`? `schedlab studies list` has all"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(Error::usage(
            format!("cannot find the study `{name}`"),
            "there is no study of that name",
            remedy,
        ));
    };
    text.read().map_err(|why| Error::environment(format!("cannot read the study `{name}`"), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::ErrorKind;

    #[test]
    fn every_study_is_read_with_as_many_rows_as_it_states() {
        let read: Vec<Study> = names().map(|name| find(name).unwrap()).collect();
        let claims: Vec<usize> = read.iter().map(|study| study.claims.len()).collect();
        assert_eq!(claims, [56, 19, 13, 30, 22]);
        let contradictions: Vec<usize> =
            read.iter().map(|study| study.contradictions.len()).collect();
        assert_eq!(contradictions, [18, 10, 8, 18, 9]);
        let rows: usize = read.iter().flat_map(|study| &study.tables).map(|table| table.rows).sum();
        assert_eq!(rows, 1_592);
    }

    #[test]
    fn a_name_that_no_study_has_is_refused_with_the_nearest() {
        let error = find("eevd").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.remedy.contains("`eevdf`"), "{error}");
        let error = find("a study of something else").unwrap_err();
        assert!(error.remedy.contains("sched-ext-bank"), "{error}");
    }
}
