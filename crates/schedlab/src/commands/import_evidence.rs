//! Whether the plan of an import says what the import was asked for: by its options, which the plan
//! records, and by its mapping. The numbers themselves lie elsewhere, so that nothing is planned
//! again (docs/method.md#m-evidence).

use importers::Mapping;
use model::{Comparisons, DEFAULT_ALPHA, ImportedOrder, Plan, Record, quoted};
use std::collections::BTreeSet;
use std::path::Path;

/// Margins that a metric has by its kind where an import was given none: those of
/// `model::Metric::new`, of which the last is iozone's, too.
const USUAL_MARGINS: [f64; 3] = [0.02, 0.05, 0.10];

/// What a plan says of where its numbers are from.
const FILE: &str = "imported file";

/// What stands between the names of the files of an import.
pub(super) const BETWEEN_FILES: &str = ", ";

/// The title of an import that was given none: of the names of its files.
pub(super) fn usual_title(files: &str) -> String {
    format!("Imported: {files}")
}

/// Each choice that the plan has otherwise than the import was asked for, with both values. What it
/// was not asked for follows from its files, and from its records, which are in the order of rows.
pub(super) fn differences(
    plan: &Plan,
    records: &[Record],
    mapping: &str,
    origin: &str,
) -> Vec<String> {
    let Some(imported) = &plan.imported else { return Vec::new() };
    // A version that recorded no options has not even the name of a file there.
    if plan.options.is_empty() {
        return Vec::new();
    }
    let mut told = margins(plan);
    let mut note = |field: &str, stored: String, from: &str, asked: String| {
        if stored != asked {
            // Where its name was edited, a redaction may not know the one or the other for a file's.
            let shown = |value: String| if field == FILE { quoted(&value) } else { value };
            let [stored, asked] = [stored, asked].map(shown);
            told.push(format!("plan.json: {field} is {stored}, and {from} gives {asked}"));
        }
    };
    let options = "the import's command line";
    let alpha = match option(plan, "--alpha") {
        Some(text) => text.parse().ok(),
        None => Some(DEFAULT_ALPHA),
    };
    if let Some(alpha) = alpha {
        note("alpha", plan.alpha.to_string(), options, f64::to_string(&alpha));
    }
    let of_records = other_first_record(plan, records);
    let (from, reference) = match option(plan, "--reference") {
        Some(reference) => (options, Some(reference)),
        None if of_records.is_some() || !are_records_in_order_of_files(plan) => (options, None),
        None => ("the first record", records.first().map(|record| record.subject.as_str())),
    };
    if let (Some(reference), Some(first)) = (reference, plan.subjects.first()) {
        note("reference", first.id.clone(), from, reference.to_owned());
    }
    // Only of the files that it was given can a title be made.
    let named = GivenFiles::of(plan);
    let files = if named.are(&imported.file) { imported.file.clone() } else { named.words() };
    note(FILE, imported.file.clone(), options, files.clone());
    let (from, title) = match option(plan, "--title") {
        Some(title) => (options, title.to_owned()),
        None => ("the import of these files", usual_title(&files)),
    };
    note("title", plan.title.clone(), from, title);
    let pairs = |is_reference: bool| {
        let word = if is_reference { "reference" } else { "all" };
        word.to_owned()
    };
    let asked = option(plan, "--pairs") == Some("reference");
    note("pairs", pairs(plan.comparisons == Comparisons::Reference), options, pairs(asked));
    let mapping = Mapping::from_toml(mapping).unwrap_or_default();
    let primary = mapping.primary;
    for workload in plan.workloads.iter().filter(|_| !primary.is_empty()) {
        let field = format!("workloads {} primary", workload.label);
        note(&field, workload.primary.join(", "), origin, primary.join(", "));
    }
    if mapping.subject.is_none() {
        told.extend(renamed(plan));
    }
    told.extend(of_records);
    told
}

/// Whether the first record is of the subject that was listed first. The files of a tool are listed, and
/// the reference chosen, as they were given; their records are in the order of the times that they hold.
fn are_records_in_order_of_files(plan: &Plan) -> bool {
    let imported = plan.imported.as_ref();
    imported.is_none_or(|one| one.order != ImportedOrder::Column || one.is_table())
}

/// The subject of the first record, which nobody asked to be another than the reference and is one,
/// where that record names the digest of this very plan: then the records were changed, and not it.
fn other_first_record(plan: &Plan, records: &[Record]) -> Option<String> {
    let (record, reference) = (records.first()?, plan.subjects.first()?);
    let is_other = record.subject.as_str() != reference.id.as_str();
    let is_told =
        is_other && option(plan, "--reference").is_none() && are_records_in_order_of_files(plan);
    (is_told && store::names_plan(record, plan)).then(|| {
        format!(
            "records.jsonl: the first record gives {} as reference, and plan.json, whose digest it \
             names, gives {}",
            record.subject, reference.id
        )
    })
}

/// The files of an import as its command line has them, each with the names that it may have: of
/// `SUBJECT=PATH` that of the path, and where a file has such a name, the whole of it.
struct GivenFiles(Vec<Vec<String>>);

impl GivenFiles {
    fn of(plan: &Plan) -> Self {
        let name = |path: &str| {
            let last = Path::new(path).file_name();
            last.map_or_else(|| path.to_owned(), |last| last.to_string_lossy().into_owned())
        };
        let names = |word: &String| match word.split_once('=') {
            Some((_, path)) => vec![name(path), name(word)],
            None => vec![name(word)],
        };
        Self(files(plan).map(names).collect())
    }

    /// Whether they are those that a text names, one after the other.
    fn are(&self, text: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        // What may be left of the text; each name is taken from its beginning.
        let mut rests = BTreeSet::from([text]);
        for (at, names) in self.0.iter().enumerate() {
            let follows = if at == 0 { "" } else { BETWEEN_FILES };
            let mut left = BTreeSet::new();
            for rest in rests.iter().copied().filter_map(|rest| rest.strip_prefix(follows)) {
                left.extend(names.iter().filter_map(|name| rest.strip_prefix(name.as_str())));
            }
            rests = left;
        }
        rests.contains("")
    }

    /// Their names as an import writes them.
    fn words(&self) -> String {
        let names: Vec<&str> =
            self.0.iter().filter_map(|names| names.first().map(String::as_str)).collect();
        names.join(BETWEEN_FILES)
    }
}

/// The words of an import's command line that name its files: they stand before its options.
fn files(plan: &Plan) -> impl Iterator<Item = &String> {
    plan.options.iter().take_while(|word| !word.starts_with("--"))
}

/// Subjects that are called otherwise than the files they were read from, of which others are called so.
/// Of a format with names of its own none is.
fn renamed(plan: &Plan) -> Option<String> {
    let ids: Vec<&str> = plan.subjects.iter().map(|subject| subject.id.as_str()).collect();
    let mut given: Vec<String> = Vec::new();
    for file in files(plan) {
        // A file may have a name like `SUBJECT=PATH`: then the whole of it names the subject.
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.unwrap_or_else(|| file.clone());
        let name = match file.split_once('=') {
            Some((subject, _)) if !ids.contains(&stem.as_str()) => subject.to_owned(),
            _ => stem,
        };
        if !given.contains(&name) {
            given.push(name);
        }
    }
    let is_known = |id: &&&str| given.iter().any(|name| name == **id);
    let known = ids.iter().filter(is_known).count();
    let is_renamed = ids.len() == given.len() && known > 0 && known < ids.len();
    is_renamed.then(|| {
        format!(
            "plan.json: subjects is {}, and the import's command line gives {}",
            ids.join(", "),
            given.join(", ")
        )
    })
}

/// Margins that are not those that the import was given.
fn margins(plan: &Plan) -> Vec<String> {
    let given = option(plan, "--margin").map(model::parse_percent);
    let metrics = plan
        .workloads
        .iter()
        .flat_map(|workload| workload.metrics.iter().map(move |metric| (&workload.label, metric)));
    let other = |margin: f64| match given {
        Some(Ok(given)) => (given != margin).then(|| format!("gives {given}")),
        Some(Err(_)) => None,
        None => (!USUAL_MARGINS.contains(&margin))
            .then(|| "gives none, so that it is one of 0.02, 0.05 and 0.1".to_owned()),
    };
    metrics
        .filter_map(|(label, metric)| {
            let asked = other(metric.margin)?;
            let (id, margin) = (&metric.id, metric.margin);
            Some(format!(
                "plan.json: workloads {label} metrics {id} margin is {margin}, and the import's \
                 command line {asked}"
            ))
        })
        .collect()
}

/// The value of an option that the plan recorded.
fn option<'a>(plan: &'a Plan, name: &str) -> Option<&'a str> {
    let at = plan.options.iter().position(|word| word == name)?;
    plan.options.get(at + 1).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Circumstances, Direction, Imported, ImportedDesign, Metric, Reduction, Unit};

    const MAPPING: &str = "primary = [\"ms\"]\n";

    fn import(options: &[&str]) -> Plan {
        let time = Metric::new("ms", Unit::Nanoseconds, Direction::Lower, Reduction::Median, "ms");
        let imported = Imported {
            file: "t.csv".to_owned(),
            ..fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows)
        };
        let workloads = vec![fixtures::workload("all", vec![time])];
        Plan {
            venue: "import".to_owned(),
            title: "Imported: t.csv".to_owned(),
            comparisons: Comparisons::All,
            options: options.iter().map(|word| (*word).to_owned()).collect(),
            imported: Some(imported),
            ..fixtures::plan(fixtures::subjects(&["a", "b"]), workloads, 0)
        }
    }

    /// Those of two rows: the first is of `a`.
    fn records() -> [Record; 2] {
        ["a", "b"].map(|subject| Record::from(Circumstances::of(subject, "all")))
    }

    #[test]
    fn a_reference_and_a_title_that_nobody_asked_for_are_those_of_rows_and_files() {
        let mut plan = import(&["t.csv"]);
        plan.subjects.swap(0, 1);
        plan.title = "Which is faster?".to_owned();
        assert_eq!(
            differences(&plan, &records(), MAPPING, "import.toml"),
            [
                "plan.json: reference is b, and the first record gives a",
                "plan.json: title is Which is faster?, and the import of these files gives \
                 Imported: t.csv",
            ]
        );
        // Who asked for them has them.
        plan.options = ["t.csv", "--reference", "b", "--title", "Which is faster?"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(differences(&plan, &records(), MAPPING, "import.toml"), [""; 0]);
    }

    #[test]
    fn files_that_hold_their_times_have_the_reference_of_the_first_file() {
        let mut plan = import(&["fio.json"]);
        plan.subjects.swap(0, 1);
        plan.title = "Imported: fio.json".to_owned();
        let imported = plan.imported.as_mut().unwrap();
        imported.file = "fio.json".to_owned();
        imported.format = "fio".to_owned();
        imported.order = ImportedOrder::Column;
        assert_eq!(differences(&plan, &records(), MAPPING, "import.toml"), [""; 0]);
        plan.imported.as_mut().unwrap().format = "csv".to_owned();
        let told = differences(&plan, &records(), MAPPING, "import.toml");
        assert_eq!(told, ["plan.json: reference is b, and the first record gives a"]);
    }

    #[test]
    fn what_an_import_was_asked_for_is_held_against_its_plan_with_both_values() {
        let usual = import(&["t.csv"]);
        assert_eq!(differences(&usual, &records(), MAPPING, "import.toml"), [""; 0]);
        let mut given = import(&["t.csv", "--margin", "7%", "--alpha", "0.1", "--reference", "a"]);
        given.workloads[0].metrics[0].margin = 0.07;
        given.alpha = 0.1;
        assert_eq!(differences(&given, &records(), MAPPING, "import.toml"), [""; 0]);
        given.workloads[0].metrics[0].margin = 0.5;
        given.alpha = 0.2;
        given.subjects.swap(0, 1);
        given.comparisons = Comparisons::Reference;
        given.workloads[0].primary = vec!["mb".to_owned()];
        assert_eq!(
            differences(&given, &records(), MAPPING, "import.toml"),
            [
                "plan.json: workloads all metrics ms margin is 0.5, and the import's command line \
                 gives 0.07",
                "plan.json: alpha is 0.2, and the import's command line gives 0.1",
                "plan.json: reference is b, and the import's command line gives a",
                "plan.json: pairs is reference, and the import's command line gives all",
                "plan.json: workloads all primary is mb, and import.toml gives ms",
            ]
        );
        let mut edited = usual;
        edited.workloads[0].metrics[0].margin = 0.5;
        let told = differences(&edited, &records(), MAPPING, "import.toml");
        assert!(told[0].contains("margin is 0.5, and the import's command line gives none"));
    }

    #[test]
    fn a_file_that_the_import_was_not_given_is_named_and_its_title_is_not_accused() {
        let told = |options: &[&str], file: &str| {
            let mut plan = import(options);
            plan.imported.as_mut().unwrap().file = file.to_owned();
            plan.title = "Imported: t.csv".to_owned();
            differences(&plan, &records(), MAPPING, "import.toml")
        };
        let other =
            "plan.json: imported file is `u.csv`, and the import's command line gives `t.csv`";
        assert_eq!(told(&["dir/t.csv"], "u.csv"), [other]);
        assert_eq!(told(&["a=dir/t.csv"], "u.csv"), [other]);
        for (options, file) in [
            (&["dir/t.csv"][..], "t.csv"),
            (&["a=dir/t.csv"][..], "t.csv"),
            (&["a=t.csv", "--margin", "2%"][..], "a=t.csv"),
            (&["a=t.csv", "b, c.csv"][..], "t.csv, b, c.csv"),
        ] {
            let told = told(options, file).join("\n");
            assert!(!told.contains("imported file"), "{options:?}: {told}");
        }
        let fewer = told(&["a=t.csv", "b=u.csv"], "t.csv").join("\n");
        let both = "imported file is `t.csv`, and the import's command line gives `t.csv, u.csv`";
        assert!(fewer.contains(both), "{fewer}");
    }

    #[test]
    fn a_subject_that_is_called_otherwise_than_its_file_was_renamed() {
        for (options, is_told) in [
            (["a=old.csv", "c=new.csv"], true),
            (["dir/a.csv", "dir/c.csv"], true),
            (["a.csv", "b.csv"], false),
            (["a=old.csv", "b=new.csv"], false),
            // A format with names of its own, and a file that holds several subjects.
            (["old.csv", "new.csv"], false),
            (["a.csv", "--name"], false),
        ] {
            let mut plan = import(&options);
            let files = GivenFiles::of(&plan).words();
            plan.title = usual_title(&files);
            plan.imported.as_mut().unwrap().file = files;
            let told = differences(&plan, &records(), MAPPING, "import.toml");
            let words = "plan.json: subjects is a, b, and the import's command line gives a, c";
            assert_eq!(told, [words][..usize::from(is_told)], "{options:?}");
        }
        let mapped = format!("subject = \"who\"\n{MAPPING}");
        let mut mapped_plan = import(&["a.csv", "c.csv"]);
        mapped_plan.title = usual_title("a.csv, c.csv");
        mapped_plan.imported.as_mut().unwrap().file = "a.csv, c.csv".to_owned();
        assert_eq!(differences(&mapped_plan, &records(), &mapped, "import.toml"), [""; 0]);
    }
}
