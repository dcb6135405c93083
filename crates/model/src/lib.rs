//! The vocabulary of the laboratory: quantities, plans, trials, records, findings.
//!
//! This crate must not know how anything is done: it has no I/O, no clock and
//! no randomness, so every other crate may use it. Words follow the glossary in
//! ARCHITECTURE.md.

mod attempt;
mod block;
mod caveat;
mod claim;
mod claim_pairs;
mod compared_with;
mod comparisons;
mod counted_noun;
mod counted_numbers;
mod cpu_list;
mod digits;
mod doubt;
mod earlier_findings;
mod facts;
mod few;
mod finding;
mod fitted_list;
#[cfg(test)]
mod fixtures;
mod format;
mod given;
mod histogram;
mod imported;
mod inert;
mod json_line;
mod kernel_version;
mod level;
mod line_digest;
mod metric;
mod metric_runs;
mod missing;
mod name_list;
mod number_origin;
mod pace;
mod parameters;
mod phase;
mod pilot;
mod plan;
mod plan_fault;
mod quantity;
mod reader_limit;
mod record;
mod records;
mod repeated_blocks;
mod sample;
mod shared_name;
mod shared_parts;
mod storage;
mod subject;
mod sum_ns;
mod trend;
mod trial_value;
mod values;
mod venue_settings;
mod vm;

pub use attempt::Attempt;
pub use block::{Block, RepeatedBlock, SharedSittings, Sitting};
pub use caveat::{
    Caveat, CaveatCheck, CaveatCode, CaveatRule, DetailWords, Forbidden, InSum, LEAST_REPLICATES,
    Obstacle, quoted,
};
pub use claim::{
    Claim, ClaimFinding, ClaimOutcome, ClaimShape, ClaimTally, Claimed, ClaimedEffect,
    ClaimedMetrics, ClaimedOver, ClaimedTurn,
};
pub use comparisons::{Comparisons, Group, groups};
pub use counted_noun::counted;
pub use counted_numbers::{CountedNumbers, counting_numbers};
pub use cpu_list::CpuList;
pub use digits::{
    LARGEST_RATIO, LEAST_RATIO, bounded_ratio, is_ratio_bound, large_percent, last_digit_power,
    p_equation, p_value, percent, round_significant, rounded_percent, signed_percent,
};
pub use doubt::Doubt;
pub use facts::{DecidingFact, DecidingFacts, ImportFact, TrialFact};
pub use few::Few;
pub use finding::{
    BlockEffect, Companion, DECLARED_FAMILY, DecidingInterval, Diagnostics, Effect, FailureCount,
    Finding, Findings, Interval, LeftOut, Look, Planning, Question, Rank, Ranking, Role, Strength,
    Tail, UseCaseFinding, Verdict, Weight, Worst,
};
pub use format::{
    FACTS_PLAN_FORMAT, FINDINGS_BEFORE_OBSTACLES, FINDINGS_BEFORE_SEQUENCES, FINDINGS_FORMAT,
    FINDINGS_FORMATS, FINDINGS_WITH_CHECKS, GIVEN_PLAN_FORMAT, LOOK_PLAN_FORMAT,
    ORDERED_PLAN_FORMAT, PACED_PLAN_FORMAT, PARTS_PLAN_FORMAT, PLAN_FORMAT, PLAN_FORMATS,
    PLANS_BEFORE_BINDING, RECORD_FORMAT, RECORD_FORMATS, REPEATED_PLAN_FORMAT, REPORT_FORMAT,
    RESTED_PLAN_FORMAT, TREND_FINDINGS_FORMAT, TREND_REPORT_FORMAT, UNBOUND_RECORD_FORMATS,
    VENUE_PLAN_FORMAT,
};
pub use given::{DEFAULT_ALPHA, GivenChoices};
pub use histogram::{Histogram, HistogramError};
pub use imported::{AbsentRuns, Imported, ImportedDesign, ImportedOrder, UnlikeMix};
pub use inert::{
    LONGEST_LINE, LONGEST_TEXT, bounded_text, bounded_to, inert, inert_json, inert_lines,
    inert_text, is_obeyed, legible_data, legible_lines, on_one_line, written_out,
};
pub use json_line::fault_of_line;
pub use kernel_version::KernelVersion;
pub use level::Level;
pub use line_digest::LineDigest;
pub use metric::{Direction, Metric, Reduction, Unit};
pub use metric_runs::{MetricRuns, metric_runs};
pub use missing::Missing;
pub use name_list::NameList;
pub use number_origin::NumberOrigin;
pub use pace::Pace;
pub use parameters::{ParameterValue, Parameters};
pub use phase::Phase;
pub use pilot::PilotFinding;
pub use plan::{
    Background, BackgroundSession, Plan, STOPPED_AT_LOOK, SimSettings, Trial, UseCase, Variant,
    WorkloadPlan,
};
pub use quantity::{
    QuantityError, format_duration, format_size, parse_count, parse_duration, parse_percent,
    parse_size,
};
pub use reader_limit::{
    BUNDLE_EXPANSION, BUNDLE_FILE_BYTES, BUNDLE_FREE_BYTES, BUNDLE_MANIFEST_BYTES, BUNDLE_UNLISTED,
    CACHE_DOCUMENT_BYTES, CALIBRATION_BYTES, CAMPAIGN_BUCKETS, CAMPAIGN_EXPANSION,
    CAMPAIGN_FREE_BYTES, CAMPAIGN_HELD, CAMPAIGN_PARTS, CAMPAIGN_VALUES, DOCUMENT_BYTES,
    EXPERIMENT_BYTES, EXPERIMENT_WORDS, FIGURES, FINDINGS_BYTES, HISTOGRAM_COUNTS, HISTOGRAM_TEXT,
    IMPORT_BYTES, IMPORT_COLUMNS, IMPORT_COMPARED_VALUES, IMPORT_COMPARISONS, IMPORT_EXPANSION,
    IMPORT_FIELDS, IMPORT_FREE_BYTES, IMPORT_HELD, IMPORT_JSON_BYTES, IMPORT_LOOKUPS,
    IMPORT_METRICS, IMPORT_ROWS, IMPORT_VALUES, JOURNAL_BYTES, JSON_DEPTH, JSON_HELD,
    JSON_TEXT_BYTES, JSON_VALUES, OverLimit, PLAN_BYTES, PLAN_CLAIM_PAIRS, PLAN_CLAIMED,
    PLAN_CLAIMS, PLAN_METRICS, PLAN_NAMES, PLAN_QUESTIONS, PLAN_SUBJECTS, PLAN_TEXTS, PLAN_TRIALS,
    PLAN_WORKLOADS, READER_LIMITS, READER_SECONDS, RECORD_BUCKETS, RECORD_BYTES, RECORD_VALUES,
    RECORDS, ReaderLimit, WORKBOOK_BYTES, WORKBOOK_CELL_BYTES, WORKBOOK_CELLS, WORKBOOK_EXPANSION,
    WORKBOOK_FREE_BYTES, WORKBOOK_TAG_ATTRIBUTES, over_depth,
};
pub use record::{
    Binding, CampaignBeginning, Chain, ChainAnchor, Circumstances, Disturbance, Fingerprint,
    Invocation, LevelReading, NOTICEABLE_LOAD, NOTICEABLE_STEAL, Outcome, Record,
    RecordWithoutFacts, Resumption, RunReport, Usage,
};
pub use records::{Records, SharedList, TrialValues};
pub use sample::{Sample, SampleData};
pub use shared_name::SharedName;
pub use shared_parts::SharedParts;
pub use storage::{DeviceIdentity, IoLimits, IoPriority, StorageKind, StorageTarget};
pub use subject::Subject;
pub use sum_ns::sum_ns;
pub use trend::{LevelChange, Slope, SlopeInterval, Trend, TrendOutcome, TrendPoint};
pub use trial_value::TrialValue;
pub use values::Values;
pub use venue_settings::VenueSettings;
pub use vm::{Accelerator, Disk, VmSettings};
