//! What readers take at most of input that somebody else may have written: every limit in one
//! place, each with a name by which a refusal calls it.
//!
//! They bound memory, disk and time together: what is refused is refused before it is held.

use crate::Plan;
use std::fmt;

/// At most so much of one thing.
#[derive(Debug, PartialEq, Eq)]
pub struct ReaderLimit {
    /// What a refusal calls it.
    pub name: &'static str,
    /// At most so many.
    pub most: u64,
    /// Of these.
    pub unit: &'static str,
    /// What to do about a refusal.
    pub remedy: &'static str,
}

/// Why input is refused: there was more of it than a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverLimit {
    /// Which limit.
    pub limit: &'static ReaderLimit,
    /// How much was read or declared when it was refused; there may be more.
    pub read: u64,
}

impl ReaderLimit {
    const fn of(name: &'static str, most: u64, unit: &'static str, remedy: &'static str) -> Self {
        Self { name, most, unit, remedy }
    }

    /// Holds what was read, or what the input declares, against the limit.
    ///
    /// # Errors
    /// When it is more.
    pub fn check(&'static self, read: u64) -> Result<(), OverLimit> {
        if read > self.most { Err(OverLimit { limit: self, read }) } else { Ok(()) }
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReaderLimit { name, most, unit, .. } = self.limit;
        write!(formatter, "more than {most} {unit} (limit {name}): {} were found", self.read)
    }
}

impl std::error::Error for OverLimit {}

/// The refusal of a text of JSON that is nested too deeply; nothing where its parser found something
/// else wrong.
pub fn over_depth(error: &serde_json::Error) -> Option<OverLimit> {
    // The parser has no kind of its own for it, and no other fault of syntax begins so.
    let is_deep = error.is_syntax() && error.to_string().starts_with("recursion limit exceeded");
    is_deep.then_some(OverLimit { limit: &JSON_DEPTH, read: JSON_DEPTH.most + 1 })
}

const ASK_AGAIN: &str = "ask for the bundle again: schedlab writes none like it";
const SMALLER: &str = "import a part of it, or reduce repetitions first";
const NOT_NESTED: &str = "give the file as its program wrote it: none nests so deep";
const NOT_SO_LONG: &str = "give a part of it, and report this: it should take seconds";
const NOT_OURS: &str = "give a campaign that schedlab wrote";

/// Bytes of the files of one import together: they are held while they are read.
pub static IMPORT_BYTES: ReaderLimit =
    ReaderLimit::of("IMPORT_BYTES", 256 << 20, "bytes of files", SMALLER);
/// Bytes of the files of one import together where they are JSON: their texts are held twice.
pub static IMPORT_JSON_BYTES: ReaderLimit =
    ReaderLimit::of("IMPORT_JSON_BYTES", 200_000_000, "bytes of files of JSON", SMALLER);
/// Rows of one import: so many are judged within 512 MB.
pub static IMPORT_ROWS: ReaderLimit = ReaderLimit::of("IMPORT_ROWS", 600_000, "rows", SMALLER);
/// Metrics of one import. A file with more is none that we know.
pub static IMPORT_METRICS: ReaderLimit =
    ReaderLimit::of("IMPORT_METRICS", 1_000, "metrics", "import a part of it");
/// Columns of a table: a parser holds the place of each before it counts them.
pub static IMPORT_COLUMNS: ReaderLimit =
    ReaderLimit::of("IMPORT_COLUMNS", 10_000, "columns", "import a part of it");
/// Values of one file of JSON: what is read out of it takes some more bytes for each.
pub static JSON_VALUES: ReaderLimit =
    ReaderLimit::of("JSON_VALUES", 4_000_000, "values of JSON", SMALLER);
/// Bytes of one file of JSON and those reckoned for its values, keys and texts while they are held: a
/// member of six bytes takes eighty. What is read out of them has the rest of 512 MB.
pub static JSON_HELD: ReaderLimit = ReaderLimit::of(
    "JSON_HELD",
    360 << 20,
    "bytes reckoned for a file of JSON with its values, keys and texts",
    SMALLER,
);
/// Bytes of one key or text of JSON, of which names and messages are copied. The output of a server
/// that iperf3 appends has some eighty for each second.
pub static JSON_TEXT_BYTES: ReaderLimit =
    ReaderLimit::of("JSON_TEXT_BYTES", 16 << 20, "bytes of one key or text of JSON", SMALLER);
/// Bytes reckoned for the files of an import, for one of them also as values of JSON or as requests of
/// Gatling, and for the rows so far, which are held together while rows are made from that one.
pub static IMPORT_HELD: ReaderLimit = ReaderLimit::of(
    "IMPORT_HELD",
    440 << 20,
    "bytes reckoned for files, what was read of one and rows that are held together",
    SMALLER,
);
/// Lists and objects of JSON inside each other, in any document. It is the limit of the parser, which
/// stays on.
pub static JSON_DEPTH: ReaderLimit =
    ReaderLimit::of("JSON_DEPTH", 127, "lists and objects of JSON inside each other", NOT_NESTED);
/// Comparisons of one import. More are no longer read, and take long to judge.
pub static IMPORT_COMPARISONS: ReaderLimit = ReaderLimit::of(
    "IMPORT_COMPARISONS",
    20_000,
    "comparisons",
    "compare with the reference only (--pairs reference), or name fewer parameters",
);
/// Values of one import: rows times metrics. Each takes about a hundred bytes.
pub static IMPORT_VALUES: ReaderLimit =
    ReaderLimit::of("IMPORT_VALUES", 2_500_000, "values", "import fewer metrics or rows at once");
/// Values of one import times its metrics: each metric is looked for among the values of a row.
pub static IMPORT_LOOKUPS: ReaderLimit = ReaderLimit::of(
    "IMPORT_LOOKUPS",
    100_000_000,
    "values times metrics",
    "import fewer metrics at once",
);
/// Bytes that the rows, values and names of an import are reckoned to need for each byte of its files,
/// beyond [`IMPORT_FREE_BYTES`]: rows of a few bytes need as much as long ones.
pub static IMPORT_EXPANSION: ReaderLimit = ReaderLimit::of(
    "IMPORT_EXPANSION",
    20,
    "bytes reckoned for rows, values and names for each byte of the files: it has many short rows",
    "import fewer rows at once (more files of one import do not help), or average first what an execution repeats",
);
/// Bytes that rows, values and names may need however small the files are: 64 MB without the program.
pub const IMPORT_FREE_BYTES: u64 = 40 << 20;
/// Fields of columns that nobody named, or that name executions: each is asked several times what it
/// may be, of which five millions took 8 to 11 s.
pub static IMPORT_FIELDS: ReaderLimit = ReaderLimit::of(
    "IMPORT_FIELDS",
    4_000_000,
    "fields in columns that nobody named or that name executions",
    "keep nothing in the table but the columns that you name",
);
/// Values that all comparisons of one import read together: a subject's own stand in each comparison
/// with another one, in the cells and in every margin over them.
pub static IMPORT_COMPARED_VALUES: ReaderLimit = ReaderLimit::of(
    "IMPORT_COMPARED_VALUES",
    6_000_000,
    "values in all comparisons together",
    "compare with the reference only (--pairs reference), or name fewer parameters",
);
/// Bytes of the parts of a workbook, unpacked.
pub static WORKBOOK_BYTES: ReaderLimit = ReaderLimit::of(
    "WORKBOOK_BYTES",
    64 << 20,
    "bytes in the parts of the workbook",
    "keep nothing in it but the tables",
);
/// Bytes of the parts of a workbook for each byte of its file, beyond [`WORKBOOK_FREE_BYTES`]: its
/// texts are held, each of some bytes in a room of fifty.
pub static WORKBOOK_EXPANSION: ReaderLimit = ReaderLimit::of(
    "WORKBOOK_EXPANSION",
    4,
    "bytes in the parts of the workbook for each byte of it",
    "keep nothing in it but the tables",
);
/// Bytes that the parts of a workbook may have however small it is: as many cells as there may be
/// ([`WORKBOOK_CELLS`]) have 9 MB.
pub const WORKBOOK_FREE_BYTES: u64 = 10 << 20;
/// Bytes of one cell of a workbook: an operation, a size, a number. Thousands of cells of some bytes
/// may share one text.
pub static WORKBOOK_CELL_BYTES: ReaderLimit = ReaderLimit::of(
    "WORKBOOK_CELL_BYTES",
    200,
    "bytes in one cell of the workbook",
    "keep nothing in it but the tables",
);
/// Cells of a workbook that hold something.
pub static WORKBOOK_CELLS: ReaderLimit = ReaderLimit::of(
    "WORKBOOK_CELLS",
    200_000,
    "cells in the workbook",
    "keep nothing in it but the tables",
);
/// Attributes of one tag in the parts of a workbook: their reader compares each name with all before
/// it. The largest tag of the standard has some seventy (`pivotTableDefinition`, ECMA-376-1). A sign
/// `=` in a value counts as one.
pub static WORKBOOK_TAG_ATTRIBUTES: ReaderLimit = ReaderLimit::of(
    "WORKBOOK_TAG_ATTRIBUTES",
    128,
    "attributes in one tag of the workbook",
    "keep nothing in it but the tables",
);

/// Bytes of an experiment, or of the mapping of an import: far more than any real one.
pub static EXPERIMENT_BYTES: ReaderLimit = ReaderLimit::of(
    "EXPERIMENT_BYTES",
    1 << 20,
    "bytes of an experiment or mapping",
    "give a shorter file: subjects can be crossed by [factors]",
);
/// Names, values, signs, spaces and ends of lines of such a text, as its parser tells them apart: it
/// holds a hundred bytes for each, of which some have one byte.
pub static EXPERIMENT_WORDS: ReaderLimit = ReaderLimit::of(
    "EXPERIMENT_WORDS",
    400_000,
    "names, values and signs of an experiment or mapping",
    "give a shorter file: subjects can be crossed by [factors]",
);

/// Bytes of a bundle's manifest; one of ten files is far below.
pub static BUNDLE_MANIFEST_BYTES: ReaderLimit =
    ReaderLimit::of("BUNDLE_MANIFEST_BYTES", 1 << 20, "bytes of a manifest", ASK_AGAIN);
/// Bytes of one file in a bundle; records of the largest campaigns are some hundred megabytes.
pub static BUNDLE_FILE_BYTES: ReaderLimit =
    ReaderLimit::of("BUNDLE_FILE_BYTES", 4 << 30, "bytes of one file in a bundle", ASK_AGAIN);
/// Bytes that come out of a bundle for each byte that went in, beyond [`BUNDLE_FREE_BYTES`].
/// Records carry digests, which do not shrink: ours come to 3 to 30.
pub static BUNDLE_EXPANSION: ReaderLimit = ReaderLimit::of(
    "BUNDLE_EXPANSION",
    100,
    "bytes out of a bundle for each byte in it",
    ASK_AGAIN,
);
/// Files in a bundle that its manifest does not list, each of which is named: those that it lists are
/// files of a campaign, and few.
pub static BUNDLE_UNLISTED: ReaderLimit = ReaderLimit::of(
    "BUNDLE_UNLISTED",
    100,
    "files in a bundle that its manifest does not list",
    ASK_AGAIN,
);
/// Bytes that may come out of a bundle however small it is.
pub const BUNDLE_FREE_BYTES: u64 = 64 << 20;

/// Bytes of a stored plan; one of ten thousand blocks is below 16 MB.
pub static PLAN_BYTES: ReaderLimit =
    ReaderLimit::of("PLAN_BYTES", 64 << 20, "bytes of a plan", NOT_OURS);
/// Bytes of stored findings; they hold each pair of blocks of each question.
pub static FINDINGS_BYTES: ReaderLimit =
    ReaderLimit::of("FINDINGS_BYTES", 256 << 20, "bytes of findings", NOT_OURS);
/// Bytes of any other document of a campaign; they have a few kilobytes.
pub static DOCUMENT_BYTES: ReaderLimit =
    ReaderLimit::of("DOCUMENT_BYTES", 16 << 20, "bytes of a document", NOT_OURS);
/// Bytes of one record; a million samples of one trial need about 20 MB.
pub static RECORD_BYTES: ReaderLimit =
    ReaderLimit::of("RECORD_BYTES", 64 << 20, "bytes of a record", NOT_OURS);
/// Buckets that are not empty in all histograms of one record, 16 bytes each; a histogram of a busy
/// minute has some thousand. A thousand equal histograms of all buckets are some kilobytes of text.
pub static RECORD_BUCKETS: ReaderLimit = ReaderLimit::of(
    "RECORD_BUCKETS",
    2_000_000,
    "filled buckets in the histograms of a record",
    NOT_OURS,
);
/// The same of all records of a campaign, which are held together.
pub static CAMPAIGN_BUCKETS: ReaderLimit = ReaderLimit::of(
    "CAMPAIGN_BUCKETS",
    20_000_000,
    "filled buckets in the histograms of a campaign",
    NOT_OURS,
);
/// Values of all samples of one record, 8 bytes each, of which two bytes of text are one. A trial with a
/// million of them is a large one.
pub static RECORD_VALUES: ReaderLimit =
    ReaderLimit::of("RECORD_VALUES", 4_000_000, "values in the samples of a record", NOT_OURS);
/// The same of all records of a campaign, which are held together.
pub static CAMPAIGN_VALUES: ReaderLimit =
    ReaderLimit::of("CAMPAIGN_VALUES", 20_000_000, "values in the samples of a campaign", NOT_OURS);
/// Bytes reckoned for what the records of a campaign list: caveats, differences, levels, invocations,
/// samples, and whatever else may repeat. Ten bytes of text are a difference of 330.
pub static CAMPAIGN_PARTS: ReaderLimit = ReaderLimit::of(
    "CAMPAIGN_PARTS",
    256 << 20,
    "bytes reckoned for caveats, levels, samples and other lists in the records of a campaign",
    NOT_OURS,
);
/// The same for each byte of the records, beyond [`CAMPAIGN_FREE_BYTES`].
pub static CAMPAIGN_EXPANSION: ReaderLimit = ReaderLimit::of(
    "CAMPAIGN_EXPANSION",
    20,
    "bytes reckoned for lists and tables for each byte of the records",
    NOT_OURS,
);
/// Bytes that may be reckoned for lists of records however short these are.
pub const CAMPAIGN_FREE_BYTES: u64 = 16 << 20;
/// Bytes reckoned for filled buckets, values, lists and circumstances of all records together: each
/// alone is within its own limit, and all of them would not be within 512 MB.
pub static CAMPAIGN_HELD: ReaderLimit = ReaderLimit::of(
    "CAMPAIGN_HELD",
    400 << 20,
    "bytes reckoned for all that the records of a campaign hold",
    NOT_OURS,
);
/// Records of a campaign: those of the largest import; no campaign of a year has as many.
pub static RECORDS: ReaderLimit = ReaderLimit::of("RECORDS", 600_000, "records", NOT_OURS);

/// Bytes of a document of a cache, or of a kernel's configuration: they have some hundred kilobytes at
/// most.
pub static CACHE_DOCUMENT_BYTES: ReaderLimit = ReaderLimit::of(
    "CACHE_DOCUMENT_BYTES",
    16 << 20,
    "bytes of a document of a cache",
    "remove its entry from the cache",
);

/// Bytes of the checkpoint of a calibration; one of all rows has some forty thousand.
pub static CALIBRATION_BYTES: ReaderLimit = ReaderLimit::of(
    "CALIBRATION_BYTES",
    1 << 20,
    "bytes of a checkpoint of a calibration",
    "name a file that is not there yet: the calibration begins anew in it",
);

/// Bytes of a journal. It begins anew with each trial, which appends a few lines of some hundred
/// bytes for each file that it changes and for each of its invocations, 100 at most. No entry is
/// appended beyond.
pub static JOURNAL_BYTES: ReaderLimit = ReaderLimit::of(
    "JOURNAL_BYTES",
    64 << 20,
    "bytes of a journal",
    "no run writes so many: read it, compare by hand what it says, then remove it",
);

/// Seconds of processor time of a command that reads what others may have written: what no other
/// limit foresaw ends here. An import of 500,000 rows may take three (`cargo xtask bars`).
pub static READER_SECONDS: ReaderLimit =
    ReaderLimit::of("READER_SECONDS", 600, "seconds of processor time", NOT_SO_LONG);

/// Figures that one command draws, each for itself. By its pairs, metrics and workloads the largest
/// suite has some 8,000 in each theme.
pub static FIGURES: ReaderLimit = ReaderLimit::of(
    "FIGURES",
    20_000,
    "figures at once",
    "choose some: --figure ID; `schedlab figures --list` names them",
);

const FEWER: &str = "plan or import fewer at once";

/// Subjects of a plan: each is looked up by its name, and compared.
pub static PLAN_SUBJECTS: ReaderLimit = ReaderLimit::of("PLAN_SUBJECTS", 1_000, "subjects", FEWER);
/// Workloads of a plan; of an import combinations of its parameters. Each finding looks for its own.
pub static PLAN_WORKLOADS: ReaderLimit =
    ReaderLimit::of("PLAN_WORKLOADS", 2_000, "workloads or combinations of parameters", FEWER);
/// Metrics of all workloads of a plan together, as many as there may be questions: each takes 1.7 kB
/// while the digest of its plan is computed.
pub static PLAN_METRICS: ReaderLimit =
    ReaderLimit::of("PLAN_METRICS", 100_000, "metrics of workloads", FEWER);
/// Sittings times the workloads in them; a block or a sitting without any counts as one. A label of one
/// letter has four bytes, and is held in 56.
pub static PLAN_TRIALS: ReaderLimit = ReaderLimit::of("PLAN_TRIALS", 2_000_000, "trials", FEWER);
/// Values of a plan's text but those of metrics and sittings: texts, numbers, lists and tables, as of
/// levels, parameters, options and notes. An empty text has three bytes, and is held in fifty, and in
/// 72 more while the digest of the plan is computed.
pub static PLAN_TEXTS: ReaderLimit = ReaderLimit::of(
    "PLAN_TEXTS",
    400_000,
    "texts, numbers and lists beside metrics and sittings",
    FEWER,
);
/// Bytes of the names of subjects and of the labels of workloads together: each stands in every line
/// that is drawn of it. An import's names have 200 characters at most.
pub static PLAN_NAMES: ReaderLimit = ReaderLimit::of(
    "PLAN_NAMES",
    4 << 20,
    "bytes of names of subjects and workloads",
    "give shorter names",
);
/// Pairs of subjects times metrics: each is a finding of some kilobytes.
pub static PLAN_QUESTIONS: ReaderLimit =
    ReaderLimit::of("PLAN_QUESTIONS", 100_000, "questions", FEWER);
/// Claims of a plan: each is asked of every comparison of claims.
pub static PLAN_CLAIMS: ReaderLimit = ReaderLimit::of("PLAN_CLAIMS", 500, "claims", FEWER);
/// Pairs of a subject and a reference that claims may mean: whether they do is asked of each pair.
pub static PLAN_CLAIM_PAIRS: ReaderLimit =
    ReaderLimit::of("PLAN_CLAIM_PAIRS", 2_000_000, "pairs of subjects that claims may mean", FEWER);
/// Comparisons that claims ask for: pairs of subjects, or of workloads inside a subject, times metrics.
/// They are judged together and once more for each claim.
pub static PLAN_CLAIMED: ReaderLimit =
    ReaderLimit::of("PLAN_CLAIMED", 10_000, "comparisons that claims ask for", FEWER);

/// Characters of a stored histogram; one of our range never has as many.
pub static HISTOGRAM_TEXT: ReaderLimit =
    ReaderLimit::of("HISTOGRAM_TEXT", 4 << 20, "characters of a histogram", NOT_OURS);
/// Bytes of counts that a histogram may declare: nine for each bucket of our range.
pub static HISTOGRAM_COUNTS: ReaderLimit =
    ReaderLimit::of("HISTOGRAM_COUNTS", 9 << 16, "bytes of a histogram's counts", NOT_OURS);

/// Every limit, for the manual.
pub static READER_LIMITS: [&ReaderLimit; 56] = [
    &IMPORT_BYTES,
    &IMPORT_JSON_BYTES,
    &IMPORT_ROWS,
    &IMPORT_METRICS,
    &IMPORT_COLUMNS,
    &JSON_VALUES,
    &JSON_HELD,
    &JSON_TEXT_BYTES,
    &IMPORT_HELD,
    &JSON_DEPTH,
    &WORKBOOK_BYTES,
    &WORKBOOK_CELLS,
    &WORKBOOK_EXPANSION,
    &WORKBOOK_CELL_BYTES,
    &WORKBOOK_TAG_ATTRIBUTES,
    &BUNDLE_MANIFEST_BYTES,
    &BUNDLE_FILE_BYTES,
    &BUNDLE_EXPANSION,
    &BUNDLE_UNLISTED,
    &PLAN_BYTES,
    &FINDINGS_BYTES,
    &DOCUMENT_BYTES,
    &RECORD_BYTES,
    &RECORDS,
    &PLAN_SUBJECTS,
    &PLAN_METRICS,
    &PLAN_TRIALS,
    &PLAN_NAMES,
    &PLAN_QUESTIONS,
    &HISTOGRAM_TEXT,
    &HISTOGRAM_COUNTS,
    &IMPORT_COMPARISONS,
    &IMPORT_VALUES,
    &IMPORT_LOOKUPS,
    &IMPORT_EXPANSION,
    &IMPORT_FIELDS,
    &IMPORT_COMPARED_VALUES,
    &RECORD_BUCKETS,
    &CAMPAIGN_BUCKETS,
    &RECORD_VALUES,
    &CAMPAIGN_VALUES,
    &PLAN_TEXTS,
    &PLAN_CLAIMS,
    &PLAN_CLAIM_PAIRS,
    &PLAN_CLAIMED,
    &PLAN_WORKLOADS,
    &CACHE_DOCUMENT_BYTES,
    &CAMPAIGN_PARTS,
    &CAMPAIGN_EXPANSION,
    &CAMPAIGN_HELD,
    &READER_SECONDS,
    &CALIBRATION_BYTES,
    &EXPERIMENT_BYTES,
    &EXPERIMENT_WORDS,
    &FIGURES,
    &JOURNAL_BYTES,
];

impl Plan {
    /// Whether a plan from anywhere asks for no more than can be held and judged. Nothing
    /// that grows with a product is computed for it.
    ///
    /// # Errors
    /// The first limit that it is beyond.
    pub fn check_size(&self) -> Result<(), OverLimit> {
        let subjects = self.subjects.len() as u64;
        PLAN_SUBJECTS.check(subjects)?;
        PLAN_WORKLOADS.check(self.workloads.len() as u64)?;
        let ids = self.subjects.iter().map(|subject| subject.id.len() as u64);
        let labels = self.workloads.iter().map(|workload| workload.label.len() as u64);
        PLAN_NAMES.check(ids.chain(labels).sum())?;
        let metrics = self.workloads.iter().map(|one| one.metrics.len() as u64).sum::<u64>();
        PLAN_METRICS.check(metrics)?;
        let sittings = self.blocks.iter().flat_map(|block| &block.sittings);
        PLAN_TRIALS.check(sittings.map(|sitting| sitting.workloads.len() as u64).sum())?;
        let pairs = match self.comparisons {
            crate::Comparisons::All => subjects * subjects.saturating_sub(1) / 2,
            // Subjects of an import set no factor, so that all are compared within it.
            crate::Comparisons::Within(_) if self.imported.is_some() => {
                subjects * subjects.saturating_sub(1) / 2
            }
            // Within a factor there are fewer still.
            crate::Comparisons::Reference | crate::Comparisons::Within(_) => subjects,
        };
        PLAN_QUESTIONS.check(pairs.saturating_mul(metrics))?;
        self.check_claims()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_refusal_names_the_limit_what_was_found_and_what_to_do() {
        assert_eq!(IMPORT_ROWS.check(600_000), Ok(()));
        let over = IMPORT_ROWS.check(600_001).unwrap_err();
        assert_eq!(
            over.to_string(),
            "more than 600000 rows (limit IMPORT_ROWS): 600001 were found"
        );
        let names: BTreeSet<&str> = READER_LIMITS.iter().map(|limit| limit.name).collect();
        assert_eq!(names.len(), READER_LIMITS.len(), "each name is one limit");
        for limit in READER_LIMITS {
            assert!(!limit.remedy.is_empty() && limit.most > 0, "{}", limit.name);
        }
    }

    #[test]
    fn json_is_nested_as_deep_as_its_parser_follows_and_no_deeper() {
        let parsed = |depth: u64| {
            let depth = usize::try_from(depth).unwrap();
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            serde_json::from_str::<serde_json::Value>(&text)
        };
        assert!(parsed(JSON_DEPTH.most).is_ok());
        let over = over_depth(&parsed(JSON_DEPTH.most + 1).unwrap_err()).unwrap();
        assert_eq!(over, OverLimit { limit: &JSON_DEPTH, read: JSON_DEPTH.most + 1 });
        let other = serde_json::from_str::<serde_json::Value>("[!]").unwrap_err();
        assert_eq!(over_depth(&other), None);
    }

    #[test]
    fn the_page_of_the_decision_lists_every_limit() {
        let page = include_str!("../../../docs/adr/0040-limits-of-readers-have-names.md");
        let rows: Vec<(&str, &str)> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
            .filter_map(|(name, rest)| Some((name, rest.split_once(" |")?.0)))
            .collect();
        let shown = |limit: &ReaderLimit| match limit.most {
            most if most >= 1 << 30 && most.is_multiple_of(1 << 30) => {
                format!("{} GiB", most >> 30)
            }
            most if most >= 1 << 20 && most.is_multiple_of(1 << 20) => {
                format!("{} MiB", most >> 20)
            }
            most if most >= 1 << 10 && most.is_multiple_of(1 << 10) => {
                format!("{} KiB", most >> 10)
            }
            most => grouped(most),
        };
        let known: BTreeSet<(&str, String)> =
            READER_LIMITS.iter().map(|limit| (limit.name, shown(limit))).collect();
        let listed: BTreeSet<(&str, String)> =
            rows.into_iter().map(|(name, most)| (name, most.to_owned())).collect();
        assert_eq!(listed, known);
    }

    /// `1,000,000`.
    fn grouped(number: u64) -> String {
        let digits = number.to_string();
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        text
    }
}
