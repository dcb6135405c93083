/**
 * What the page is given: `schedlab.page/1`.
 * Written by `cargo xtask docs` from the Rust types; nobody edits it.
 */

/** Runs of one subject of an import that are not there although their numbers say that they were counted. */
export interface AbsentRuns {
  /** The subject. */
  subject: string;
  /** How many are absent. */
  absent: number;
  /** How many there are with these. */
  expected: number;
  /** The same in words, with the column that numbers them. */
  told: string;
}

/** One side of a grid. */
export interface Axis {
  /** What it spans: the parameter, `operation` or `metric`. */
  name: string;
  /** Its steps as people read them; numbers by size, others in the plan's order. */
  labels: Array<string>;
  /** The steps as numbers in `unit`, for charts; empty where they are none. */
  numbers?: Array<number>;
  /** Unit of the numbers, of sizes and durations. */
  unit?: Unit;
}

/** An arithmetic mean over blocks, for parts must add up, with Student's interval of 95 %. */
export interface BlockMean {
  /** The mean. */
  mean: number;
  /** The ends of its interval; absent where one block says nothing of others. */
  interval: [number, number] | null;
}

/** A breakdown, with what it says in words. */
export interface Breakdown {
  said: Array<string>;
  /** Label of the workload. */
  workload: string;
  /** Id of the metric that the others add up to. */
  whole: string;
  /** Unit of all of them. */
  unit: Unit;
  /** Where it goes, subjects in the plan's order. */
  subjects: Array<Divided>;
}

/** One part of a whole. */
export interface BreakdownPart {
  /** Metric id. */
  metric: string;
  /** The metric without the words that all parts share. */
  name: string;
  /** How much it is. */
  mean: BlockMean;
  /** Its share of the parts' sum. */
  share: number;
}

/** A warning with its code and what was seen. */
export interface Caveat {
  /** The stable code. */
  code: CaveatCode;
  /** What was seen, in one sentence with its figures. */
  detail: string;
}

/** The stable code of a caveat. */
export type CaveatCode =
  | "AA_FAIL"
  | "ABSENT_VALUES"
  | "AUTOCORR"
  | "BIMODAL"
  | "CARRY_OVER"
  | "CLAMPED"
  | "CLOSED_LOOP"
  | "CONDITIONAL_SUCCESS"
  | "COPIED"
  | "CONTRADICTED"
  | "DEFAULTS_DIFFER"
  | "DEGRADATION"
  | "DEGENERATE"
  | "DIFFERENTIAL_FAILURE"
  | "DRIFT"
  | "FEW_BLOCKS"
  | "FEW_BOOTS"
  | "FEW_REPLICATES"
  | "EVIDENCE_CHANGED"
  | "EVIDENCE_UNBOUND"
  | "FRAGILE"
  | "HOST_CACHE_SUSPECTED"
  | "INSUFFICIENT_TAIL"
  | "INTERFERENCE"
  | "INTERRUPTED"
  | "LEAK"
  | "LEFT_PROCESSES"
  | "NOISY"
  | "NOT_COMPARABLE"
  | "NOT_STEADY"
  | "OBSERVER_COST"
  | "ODDS_RATIO"
  | "ORDER_CONFOUNDED"
  | "ORDER_EFFECT"
  | "OUTLIER"
  | "OVERCOMMIT"
  | "POST_HOC_MARGIN"
  | "QUANTISED"
  | "QUICK"
  | "SETUP_BIAS"
  | "SIMULATED"
  | "WATCHED"
  | "REPLICATE_LEVEL_UNKNOWN"
  | "SINGLE_BOOT"
  | "SETTINGS_DIFFER"
  | "SKEWED"
  | "STEAL"
  | "STOPPED_EARLY"
  | "TCG"
  | "THROTTLE"
  | "SUMMARY_ONLY"
  | "SUSPENDED"
  | "TORN_RECORD"
  | "UNBLOCKED_DESIGN"
  | "UNEQUAL_MIX"
  | "UNEQUAL_SHARES"
  | "UNFINISHED"
  | "ZERO_VALUE";

/** One caveat, explained once. */
export interface CaveatView {
  /** Its code. */
  code: string;
  /** What it means. */
  meaning: string;
  /** Where it applies, with what was seen there. */
  places: Array<string>;
}

/** One thing that was checked. */
export interface Check {
  /** What, in a few words. */
  name: string;
  /** How it came out. */
  state: CheckState;
  /** What was seen, in one sentence. */
  detail: string;
}

/** How a check came out. */
export type CheckState =
  | "passed"
  | "warned"
  | "failed"
  | "not_shown"
  | "not_observed"
  | "not_applicable";

/** What somebody has published, and what these data say of it. */
export interface Claim {
  says: string;
  source: string | null;
  outcome: ClaimOutcome;
  reason: string;
}

/** What new data say of a claim. */
export type ClaimOutcome =
  | "confirmed"
  | "refuted"
  | "refuted_in_size"
  | "immaterial"
  | "refuted_and_immaterial"
  | "undecided";

/** One latency. */
export interface Curve {
  workload: string;
  source: string;
  unit: Unit;
  /** In the plan's order. */
  subjects: Array<SubjectCurve>;
}

/** All curves of a campaign. */
export interface Curves {
  /** Shares, rising: the columns of every row below. */
  probabilities: Array<number>;
  of: Array<Curve>;
}

/** How the question was put. */
export interface Design {
  /** Where trials ran. */
  venue: string;
  /** The kernel's release. */
  kernel: string;
  /** CPUs online. */
  cpus: string;
  /**
   * Blocks of which a trial was recorded; absent where none were run, or the file of an import
   * does not show it.
   */
  blocks?: number;
  /**
   * Blocks planned, re-runs included, where that is another number: of an adaptive campaign the
   * most that it may run. Absent where such a one ended at a look by its rule, and of an import,
   * which planned none.
   */
  planned_blocks?: number;
  /** Arms, the control included. */
  subjects: number;
  /** Labels of the workloads. */
  workloads: Array<string>;
  /** Trials recorded. */
  trials: number;
  /** Distinct boots; absent where a record does not name its own. */
  boots?: number;
  /** Sum of the trials' lengths; absent of an import, which tells none. */
  duration_ns?: number;
  /** Seed of the order; absent of an import, which has none. */
  seed?: number;
  /** Level of the family. */
  alpha: number;
  /** How many comparisons each family corrects together. */
  families: { [key in string]: number };
  /** Where the numbers come from, of a campaign that did not run here. */
  imported?: Imported;
  /** Whether it was cut short by `--quick`. */
  is_quick: boolean;
}

/** Which way is better. */
export type Direction = "lower" | "higher";

/** One subject's whole and parts. */
export interface Divided {
  /** Subject id. */
  subject: string;
  /** Blocks that have all of them. */
  blocks: number;
  /** The whole. */
  whole: BlockMean;
  /**
   * How much more it is than the first subject's, block by block; none of the first itself, and
   * where no block has both.
   */
  more?: BlockMean;
  /** Its parts, in the workload's order. */
  parts: Array<BreakdownPart>;
}

/** How often a subject's scheduler was ejected, over all workloads. */
export interface Ejections {
  /** Subject id. */
  subject: string;
  /** Trials in which it was. */
  ejected: number;
  /** Trials that ran, those of repeated blocks included. */
  trials: number;
  /** How often the kernel gave which reason. */
  reasons: { [key in string]: number };
}

/** One comparison, with what its figure and its table say. */
export interface Finding {
  workload: string;
  metric: string;
  unit: Unit;
  direction: Direction;
  subject: string;
  reference: string;
  role: Role;
  verdict: Verdict;
  strength: Strength | null;
  reason: string | null;
  /** Whether something forbids every verdict, so that its numbers are evidence of nothing. */
  is_forbidden?: boolean;
  /** Whether the effect is a ratio of odds, as that of a share is. */
  is_odds?: boolean;
  margin: number;
  pairs: number;
  /** The error rate of its interval. */
  alpha: number;
  /** Whether that holds at every look together. */
  is_sequence?: boolean;
  subject_value: number | null;
  reference_value: number | null;
  effect: Ratio | null;
  caveats: Array<string>;
}

/** The machine as it was: flat keys (`kernel.release`, `cpu.online`, `knob.base_slice`) to text. */
export type Fingerprint = { [key in string]: string };

/**
 * What the user of an import chose together with its numbers. Nobody can know that it was chosen
 * before these were seen, so that no verdict rests on it alone (docs/method.md#m-given).
 */
export interface GivenChoices {
  /** The margin, as a fraction, that each metric has by itself, where another was given. */
  usual_margins?: { [key in string]: number };
  /** Ids of metrics that are better the other way than their format has it. */
  turned?: Array<string>;
  /**
   * Whether the order of rows is one that neither times nor the file support. The key is that of
   * plans which are stored.
   */
  is_selected?: boolean;
}

/** A grid without its runs. */
export interface Grid {
  measure: string;
  unit: Unit;
  direction: Direction;
  rows: Axis;
  columns: Axis;
  /** Geometric means of runs by subject, by row, then by column. */
  subjects: Array<GridSubject>;
  comparisons: Array<GridComparison>;
}

/** What one cell says. */
export interface GridCell {
  verdict: Verdict;
  effect: Ratio | null;
  /** Whether the effect is a ratio of odds, as that of a share is. */
  is_odds?: boolean;
}

/** The effects of one comparison. */
export interface GridComparison {
  subject: string;
  reference: string;
  is_control: boolean;
  cells: Array<Array<GridCell | null>>;
}

/** The values of one subject. */
export interface GridSubject {
  subject: string;
  cells: Array<Array<number | null>>;
}

/** Where imported numbers come from, and how they were collected. */
export interface Imported {
  /** Name of the importer. */
  format: string;
  /** Name of the file. */
  file: string;
  /** SHA-256 (hex) of its bytes. */
  digest: string;
  /** How they were collected. */
  design: ImportedDesign;
  /** What is known of the order in which they were measured. */
  order?: ImportedOrder;
  /** What the importer noticed. */
  caveats?: Array<Caveat>;
  /**
   * Columns that count as executions and may tell parts of one apart: nothing in the files shows
   * that they are executions, and nobody said so.
   */
  parts?: Array<string>;
  /**
   * Subjects of which values stand twice, as `COPIED` says; where it stands and none is named, any
   * may be.
   */
  copied?: Array<string>;
  /**
   * Subjects that hold unlike shares of rows of different kinds, which only a column tells apart that
   * nobody named.
   */
  mixes?: Array<UnlikeMix>;
  /**
   * Runs without blocks that each subject lacks by the numbers of the others; empty where no subject
   * lacks one.
   */
  absent_runs?: Array<AbsentRuns>;
  /** What was chosen while the numbers were there, and decides. */
  given?: GivenChoices;
}

/** How imported numbers were collected. */
export type ImportedDesign =
  | "blocked"
  | {
    "unblocked": {
      /** Names of the parameters that tell workloads apart, in order. */
      dimensions: Array<string>;
      /** Those of them that one execution fixes: it was run again for each level. */
      fixed: Array<string>;
    };
  };

/** What is known of the order in which imported numbers were measured. */
export type ImportedOrder = "column" | "rows" | "unknown";

/** An interval of an oriented ratio. */
export interface Interval {
  /** Lower end; 0 where unbounded. */
  low: number;
  /** Upper end; `null` in JSON where unbounded. */
  high: number | null;
}

/** One metric and pair of levels along a factor. */
export interface Ladder {
  /** Metric id. */
  metric: string;
  /** Which way is better. */
  direction: Direction;
  /** The factor that subjects are compared within. */
  factor: string;
  /** What the compared subjects are, whatever their level of it. */
  subject: string;
  /** What they are compared with. */
  reference: string;
  /** Labels of the workloads that ask the metric: the columns. */
  workloads: Array<string>;
  /** One row for each level, in the factor's order. */
  rungs: Array<Rung>;
}

/** One comparison. */
export interface LadderCell {
  /** Subject id. */
  subject: string;
  /** Reference id. */
  reference: string;
  /**
   * The subject's value over the reference's, in the metric's own direction; of a share
   * the ratio of the odds. Absent where there is no estimate.
   */
  ratio: LadderRatio | null;
  /** The verdict, corrected over the family. */
  verdict: Verdict;
  /** Whether the value is a share, and the ratio that of its odds. */
  is_odds?: boolean;
  /** Whether it rests on an emulated processor. */
  is_emulated?: boolean;
}

/** A ratio of values with its interval as it is shown. */
export interface LadderRatio {
  /** The estimate. */
  ratio: number;
  /** Of an equivalence that which decided it; else that of this comparison alone. */
  interval: Interval;
}

/**
 * A value of a factor in its canonical spelling, as the factor's parser wrote
 * it: two levels are the same exactly when their text is (`750us`, never also
 * `0.75ms`).
 */
export type Level = string;

/** A place at which the level of a series changes. */
export interface LevelChange {
  /** Index of the first block with the new level. */
  block: number;
  /**
   * The new level over the one before: above 1 is more, whatever is better; of a share, the
   * ratio of odds.
   */
  ratio: number;
  /** Its 95 % interval, as if the place had been known. */
  low: number;
  /** Upper end. */
  high: number;
  /** p of no change there, not corrected for the search. */
  p: number;
}

/** Everything a page shows. */
export interface PageData {
  format: string;
  /** ISO 639-1. */
  language: string;
  /** What the page says in place of its English; absent in English. */
  words?: { [key in string]: string };
  campaign: string;
  title: string;
  answer: string;
  /** Whether the campaign could still go on when it was judged. */
  is_unfinished?: boolean;
  /** Which attempt it is, in words. */
  attempt?: string;
  /** What else speaks against its evidence, in words. */
  evidence?: Array<string>;
  design: Design;
  /** The design in words, by name: what two campaigns are compared by. */
  facts: Array<[string, string]>;
  /** Of the order; as text, for a script's numbers lose the last digits of 64 bits. */
  seed: string;
  subjects: Array<SubjectView>;
  checks: Array<Check>;
  findings: Array<Finding>;
  /** What verdicts of so few boots cannot show, in one sentence. */
  few_boots?: string;
  rankings: Array<Ranking>;
  use_cases: Array<UseCase>;
  claims: Array<Claim>;
  ladders: Array<Ladder>;
  grids: Array<Grid>;
  breakdowns: Array<Breakdown>;
  /** How metrics went over a soak campaign. */
  trends?: Array<Trend>;
  ejections: Array<Ejections>;
  curves: Curves | null;
  series: Array<Series>;
  /** Absent where nothing was recorded. */
  timeline?: Timeline;
  caveats: Array<CaveatView>;
  environment: Fingerprint;
  differences: { [key in string]: { [key in string]: Array<string> } };
  /** Whether the machine of each trial was compared with that of the campaign's beginning. */
  is_machine_compared?: boolean;
  notes: Array<string>;
  reproduce: Array<string>;
  plan_digest: string;
  /** Whether its numbers were simulated, here or by others of whom they were imported. */
  is_simulated?: boolean;
  /** Whether any verdict rests on an emulated processor, whether its values are shown or not. */
  is_emulated?: boolean;
  hides_absolute: boolean;
}

/** One subject's rank with its interval (docs/method.md#m-ranks). */
export interface Rank {
  /** Subject id. */
  subject: string;
  /**
   * One plus the number of subjects that were shown to be better: the best rank
   * it can have.
   */
  rank: number;
  /** The number of subjects less those shown to be worse: the worst it can have. */
  worst: number;
}

/**
 * Every subject's rank on one workload and metric, or in one use case: 1 plus the
 * number of subjects that are better. Subjects of one rank are not told apart.
 */
export interface Ranking {
  /** Workload label, or the use case. */
  workload: string;
  /** Metric id; empty of a use case. */
  metric: string;
  /** The best first, then in the plan's order. */
  ranks: Array<Rank>;
  /** Whether any verdict behind it is one of an emulated processor. */
  is_emulated?: boolean;
}

/** An oriented ratio, above one is better, with its interval for this comparison alone. */
export interface Ratio {
  ratio: number;
  low: number;
  /** `null` where unbounded. */
  high: number | null;
  /** Of no difference, adjusted over the family. */
  adjusted_p: number | null;
}

/** What a question is for. */
export type Role = "primary" | "control" | "screen";

/** One level of the factor. */
export interface Rung {
  /** The level. */
  level: Level;
  /** One for each workload; absent where nothing was asked. */
  cells: Array<LadderCell | null>;
}

/** Every run of one metric, in the order in which they were made; a column for each fact. */
export interface Series {
  workload: string;
  metric: string;
  unit: Unit;
  direction: Direction;
  /** Numbers in the campaign as it ran. */
  order: Array<number>;
  /** Indices of blocks. */
  block: Array<number>;
  /** Places among the report's subjects. */
  subject: Array<number>;
  value: Array<number>;
}

/** How strong a better or worse is. */
export type Strength = "clearly" | "detectable";

/** The quantiles of one subject. */
export interface SubjectCurve {
  subject: string;
  /** Values in all. */
  count: number;
  /** Of all runs together; null where fewer than ten values lie beyond. */
  pooled: Array<number | null>;
  /** Of each run. */
  runs: Array<Array<number | null>>;
}

/** One arm. */
export interface SubjectView {
  /** Its name. */
  id: string;
  /** Its levels. */
  levels: { [key in string]: Level };
  /** Whether it is the reference. */
  is_reference: boolean;
  /** Whether it is the A/A control. */
  is_control: boolean;
}

/**
 * Which task ran when on which CPU in one recorded trial. Times are in 0.1 µs since it began.
 * `columns` is base64 of gzip of five columns, one after the other, little-endian, with a value
 * for each slice: u32 the start, as the difference to the start of the slice before on the same
 * CPU (of its first, to the beginning); u32 how long it ran; u32 how long the task had been
 * runnable before; u16 the task's place among `tasks`; u8 the CPU's place among `cpus`. Slices are
 * in the order of CPUs, and of each CPU in the order of time; those of one CPU do not overlap.
 */
export interface Timeline {
  workload: string;
  subject: string;
  span: number;
  /** Their numbers. */
  cpus: Array<number>;
  /** Kinds of tasks, at most five. */
  classes: Array<string>;
  tasks: Array<TimelineTask>;
  /** How many. */
  slices: number;
  columns: string;
}

/** A task of a timeline. */
export interface TimelineTask {
  name: string;
  /** Its place among the classes. */
  class: number;
}

/**
 * One trend; a column for each fact of its values. Of an emulated processor it has none, for
 * they would be those of no real one.
 */
export interface Trend {
  workload: string;
  metric: string;
  unit: Unit;
  direction: Direction;
  subject: string;
  outcome: TrendOutcome;
  /** In words. */
  said: string;
  /** In the unit for each hour, and the level at the beginning on its line. */
  slope: [number, number] | null;
  changes: Array<LevelChange>;
  hours: Array<number>;
  /** Indices of blocks. */
  block: Array<number>;
  /** Grows where what outlives trials began anew. */
  stretch: Array<number>;
  value: Array<number>;
}

/**
 * What can be said of a trend. It is shown where its slope differs from none at the level of
 * all series of the campaign together.
 */
export type TrendOutcome =
  | "leak"
  | "degradation"
  | "improvement"
  | "slight"
  | "unshown"
  | "untested";

/** The unit of a metric's value as stored; renderers choose the prefix. */
export type Unit =
  | "nanoseconds"
  | "per_second"
  | "per_operation"
  | "count"
  | "bytes"
  | "bytes_per_second"
  | "fraction"
  | "joules"
  | "plain";

/**
 * Rows of different kinds of which two subjects of an import have unlike shares, so that the difference
 * of their means may be one of the mix.
 */
export interface UnlikeMix {
  /** Id of the metric. */
  metric: string;
  /** The two subjects; empty where any two may be meant. */
  subjects: Array<string>;
  /** The column, the level whose shares differ most, and both shares. */
  told: string;
}

/** What serves a use case, by rank. */
export interface UseCase {
  use_case: string;
  weights: Array<Weight>;
  ranking: Ranking;
  co_best: Array<string>;
  without_evidence: Array<string>;
}

/** What can be said. */
export type Verdict = "better" | "worse" | "equivalent" | "inconclusive" | "invalid";

/** One component of a use case. */
export interface Weight {
  /** Workload label. */
  workload: string;
  /** Metric id. */
  metric: string;
  /** Its share. */
  weight: number;
}
