/** What the binary puts into the page: `schedlab.page/1`. Figures need no more than this. */

export type Verdict = "better" | "worse" | "equivalent" | "inconclusive" | "invalid";
export type Role = "primary" | "control" | "screen";
export type Direction = "higher" | "lower";

export interface Interval {
  low: number;
  /** null where unbounded. */
  high: number | null;
}

export interface Question {
  workload: string;
  metric: string;
  unit: string;
  direction: Direction;
  subject: string;
  reference: string;
  role: Role;
  family: string;
}

export interface BlockEffect {
  block: number;
  reference: number;
  subject: number;
  log_difference: number;
}

export interface Caveat {
  code: string;
  detail: string;
}

export interface Finding {
  question: Question;
  verdict: Verdict;
  strength: "clearly" | "detectable" | null;
  reason: string | null;
  margin: number;
  pairs: number;
  reference_value: number | null;
  subject_value: number | null;
  effect: { ratio: number; raw_ratio: number; interval: Interval; family_interval: Interval } | null;
  blocks: BlockEffect[];
  caveats: Caveat[];
}

export interface Rank {
  subject: string;
  rank: number;
}

export interface GridEffect {
  verdict: Verdict;
  ratio: number | null;
  low: number | null;
  high: number | null;
}

export interface Grid {
  measure: string;
  unit: string;
  direction: Direction;
  rows: { name: string; labels: string[] };
  columns: { name: string; labels: string[] };
  comparisons: { subject: string; reference: string; is_control?: boolean; cells: (GridEffect | null)[][] }[];
}

/** Quantiles of one latency: of all runs of a subject together, and of each. */
export interface Curve {
  workload: string;
  source: string;
  unit: string;
  /** Shares, rising; the columns of every row below. */
  probabilities: number[];
  subjects: {
    subject: string;
    count: number;
    /** null where fewer than ten values lie beyond. */
    pooled: (number | null)[];
    runs: (number | null)[][];
  }[];
}

/** Every run of one metric, in the order in which they were made. */
export interface Series {
  workload: string;
  metric: string;
  unit: string;
  direction: Direction;
  runs: { order: number; block: number; subject: string; value: number }[];
}

export interface Check {
  name: string;
  state: "passed" | "warned" | "failed" | "not_applicable";
  detail: string;
}

export interface Report {
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
    seed: number;
    alpha: number;
    is_quick: boolean;
  };
  subjects: { id: string; levels: Record<string, string>; is_reference: boolean; is_control: boolean }[];
  findings: { findings: Finding[] };
  grids?: Grid[];
  caveats: { code: string; meaning: string; places: string[] }[];
  environment: Record<string, string>;
  differences: Record<string, Record<string, string[]>>;
  notes: string[];
  reproduce: string[];
  hides_absolute?: boolean;
}

export interface Page {
  format: string;
  report: Report;
  checks: Check[];
  curves: Curve[];
  series: Series[];
}

/** The page's data; null where it is served live. */
export function embedded(document: Document): Page | null {
  const node = document.getElementById("schedlab-data");
  return node?.textContent ? (JSON.parse(node.textContent) as Page) : null;
}
