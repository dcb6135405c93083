/** What the binary puts into the page: `schedlab.page/1` (crates/report/src/page.rs). */

export type Verdict = "better" | "worse" | "equivalent" | "inconclusive" | "invalid";
export type Role = "primary" | "control";
export type Direction = "higher" | "lower";

/** An oriented ratio, above one is better, with its interval for this comparison alone. */
export interface Ratio {
  ratio: number;
  low: number;
  /** null where unbounded. */
  high: number | null;
  /** Of no difference, adjusted over the family. */
  adjusted_p: number | null;
}

/** One comparison. */
export interface Finding {
  workload: string;
  metric: string;
  unit: string;
  direction: Direction;
  subject: string;
  reference: string;
  role: Role;
  verdict: Verdict;
  strength: "clearly" | "detectable" | null;
  reason: string | null;
  margin: number;
  pairs: number;
  /** The error rate of its interval. */
  alpha: number;
  /** Whether that holds at every look together; absent where it does not. */
  is_sequence?: boolean;
  subject_value: number | null;
  reference_value: number | null;
  effect: Ratio | null;
  caveats: string[];
}

/** Every subject's rank on one workload and metric, with its interval. */
export interface Ranking {
  workload: string;
  /** Empty of a use case. */
  metric: string;
  ranks: { subject: string; rank: number; worst: number }[];
}

export interface UseCase {
  use_case: string;
  weights: { workload: string; metric: string; weight: number }[];
  ranking: Ranking;
  co_best: string[];
  without_evidence: string[];
}

export interface Claim {
  says: string;
  source: string | null;
  outcome: "confirmed" | "refuted" | "undecided";
  reason: string;
}

export interface LadderCell {
  subject: string;
  reference: string;
  /** In the metric's own direction. */
  ratio: { ratio: number; interval: { low: number; high: number | null } } | null;
  verdict: Verdict;
}

/** How a ratio changes along the factor within which subjects are compared. */
export interface Ladder {
  metric: string;
  direction: Direction;
  factor: string;
  subject: string;
  reference: string;
  workloads: string[];
  rungs: { level: string; cells: (LadderCell | null)[] }[];
}

/** Where the time of a whole goes. */
export interface Breakdown {
  workload: string;
  whole: string;
  unit: string;
  /** What it says in words. */
  said: string[];
  subjects: { subject: string; blocks: number; whole: BlockMean; parts: { metric: string; name: string; mean: BlockMean; share: number }[] }[];
}

/** A mean over blocks; no interval where there is but one. */
export interface BlockMean {
  mean: number;
  interval: [number, number] | null;
}

export interface Axis {
  name: string;
  labels: string[];
  /** The steps as numbers; absent where they are none. */
  numbers?: number[];
}

/** Workloads and metrics that span a table; cells by row, then by column. */
export interface Grid {
  measure: string;
  unit: string;
  direction: Direction;
  rows: Axis;
  columns: Axis;
  subjects: { subject: string; cells: (number | null)[][] }[];
  comparisons: {
    subject: string;
    reference: string;
    is_control: boolean;
    cells: ({ verdict: Verdict; effect: Ratio | null } | null)[][];
  }[];
}

/** Quantiles of one latency: of all runs of a subject together, and of each. */
export interface Curve {
  workload: string;
  source: string;
  unit: string;
  subjects: {
    subject: string;
    count: number;
    /** null where fewer than ten values lie beyond. */
    pooled: (number | null)[];
    runs: (number | null)[][];
  }[];
}

/** Every run of one metric in the order in which they were made, a column for each fact. */
export interface Series {
  workload: string;
  metric: string;
  unit: string;
  direction: Direction;
  order: number[];
  block: number[];
  /** Places among the page's subjects. */
  subject: number[];
  value: number[];
}

export interface Run {
  order: number;
  block: number;
  subject: string;
  value: number;
}

/**
 * Who ran when on which CPU in one recorded trial. Times are in 0.1 µs since the recording began.
 *
 * `columns` is base64 of gzip of five columns, one after the other, little-endian, with a value
 * for each slice: u32 the start, as the difference to the start of the slice before on the same CPU
 * (of its first, to the beginning); u32 how long it ran; u32 how long the task had been runnable
 * before; u16 the task's place among `tasks`; u8 the CPU's place among `cpus`. Slices are in the
 * order of CPUs, and of each CPU in the order of time; those of one CPU do not overlap.
 */
export interface Timeline {
  workload: string;
  subject: string;
  span: number;
  /** Their numbers. */
  cpus: number[];
  /** Kinds of tasks, at most five. */
  classes: string[];
  /** `class` is the place among the classes. */
  tasks: { name: string; class: number }[];
  /** How many. */
  slices: number;
  columns: string;
}

export interface Check {
  name: string;
  state: "passed" | "warned" | "failed" | "not_applicable";
  detail: string;
}

export interface Page {
  format: string;
  /** ISO 639-1. */
  language: string;
  /** What is said in place of the page's English; absent where that is its language. */
  words?: Record<string, string>;
  campaign: string;
  title: string;
  answer: string;
  design: {
    venue: string;
    kernel: string;
    cpus: string;
    blocks: number;
    subjects: number;
    workloads: string[];
    trials: number;
    boots: number;
    duration_ns: number;
    alpha: number;
    is_quick: boolean;
  };
  /** The design in words, by name: what two campaigns are compared by. */
  facts: [string, string][];
  /** Of the order; of 64 bits, which a number does not have here. */
  seed: string;
  subjects: { id: string; levels: Record<string, string>; is_reference: boolean; is_control: boolean }[];
  checks: Check[];
  findings: Finding[];
  rankings: Ranking[];
  use_cases: UseCase[];
  claims: Claim[];
  ladders: Ladder[];
  breakdowns: Breakdown[];
  grids: Grid[];
  ejections: { subject: string; ejected: number; trials: number; reasons: Record<string, number> }[];
  /** Shares, rising: the columns of every curve. */
  curves: { probabilities: number[]; of: Curve[] } | null;
  series: Series[];
  caveats: { code: string; meaning: string; places: string[] }[];
  environment: Record<string, string>;
  differences: Record<string, Record<string, string[]>>;
  notes: string[];
  reproduce: string[];
  plan_digest: string;
  hides_absolute: boolean;
  /** Absent where nothing was recorded. */
  timeline?: Timeline;
}

/** The runs of a series as rows. */
export function runs(series: Series, subjects: string[]): Run[] {
  return series.value.map((value, index) => ({
    order: series.order[index] ?? 0,
    block: series.block[index] ?? 0,
    subject: subjects[series.subject[index] ?? -1] ?? "",
    value,
  }));
}

/** The page's data; null where it is served live. Long ones are compressed. */
export async function embedded(document: Document): Promise<Page | null> {
  const node = document.getElementById("schedlab-data");
  const text = node?.textContent;
  if (!text) return null;
  if (node.getAttribute("type") === "application/json") return JSON.parse(text) as Page;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(plain).json()) as Page;
}
