/**
 * What a server tells: `schedlab.live/2` as events, and lists as JSON.
 * Times `_ms` are milliseconds since 1970, lengths milliseconds.
 * Written by `cargo xtask docs` from the Rust types; nobody edits it.
 */

import type { Direction, Role, Unit, Verdict } from "./page";

/** All campaigns, the newest first. */
export interface CampaignList {
  format: string;
  campaigns: Array<ListedCampaign>;
  problems: Array<string>;
}

/** One CPU over that time. */
export interface CpuSample {
  /** Its number. */
  cpu: number;
  /** Share of its time in which it worked. */
  busy: number;
  /** Mean number of tasks that waited to run on it; absent on kernels without schedstats. */
  waiting: number | null;
}

/** What the dashboard shows. */
export interface History {
  format: string;
  series: Array<HistorySeries>;
  problems: Array<string>;
}

/** Where the level of a series changed. */
export interface HistoryChange {
  /** The last campaign before it. */
  after: string;
  /** The first one behind it. */
  before: string;
  /** Oriented ratio of the new level to the old one, with its 95 % interval. */
  ratio: number;
  low: number;
  high: number;
  p: number;
}

/** Where numbers come from: those of one origin are never mixed with those of another. */
export type HistoryOrigin =
  | "measured"
  | "emulated"
  | "simulated"
  | "imported"
  | "imported_emulated"
  | "imported_simulated";

/** One campaign of a series. */
export interface HistoryPoint {
  campaign: string;
  /** Oriented ratio to the reference: above 1 is better. */
  ratio: number;
  /** The interval that reports of the campaign show. */
  low: number;
  high: number | null;
  /** The error rate of that interval. */
  alpha: number;
  blocks: number;
  /** The campaign's own margin. */
  margin: number;
  /** Levels that both subjects share, as text: other ones are no other series. */
  shared_levels?: string;
  /** What forbids every verdict on it; no change rests on such a campaign. */
  left_out?: string;
  /** What forbids one verdict on it, that it differs or that it does not, and no other. */
  withheld?: string;
  /** Whether nobody can know if its records were edited. */
  is_unbound?: boolean;
}

/** One question over campaigns: subject against the reference of the same campaign. */
export interface HistorySeries {
  workload: string;
  metric: string;
  subject: string;
  reference: string;
  /** The levels in which the subject is not as the reference, as text; empty without any. */
  subject_levels: string;
  /** Those of the reference. */
  reference_levels: string;
  /** Where its numbers come from. */
  origin: HistoryOrigin;
  /** What tells it from other series of its names and origin, as text: `venue = vm`. */
  conditions?: string;
  /** Changes smaller than this do not count: the largest margin of campaigns that one may rest on. */
  margin: number;
  /** The smallest margin of these, where they differ. */
  least_margin?: number;
  points: Array<HistoryPoint>;
  changes: Array<HistoryChange>;
}

/** Percentiles of one trial; absent where fewer than ten values lie beyond. */
export interface LatencyPoint {
  /** The trial's place in the campaign. */
  order: number;
  /** When it began. */
  at_ms: number;
  /** The subject. */
  subject: string;
  /** The median. */
  p50: number | null;
  /** The 99th percentile. */
  p99: number | null;
  /** The 99.9th. */
  p999: number | null;
}

/** Percentiles of one source of single events. */
export interface LatencySeries {
  /** The workload. */
  workload: string;
  /** The source. */
  source: string;
  /** The unit of values. */
  unit: Unit;
  /** One for each finished trial. */
  points: Array<LatencyPoint>;
}

/** A campaign of the listing. */
export interface ListedCampaign {
  name: string;
  title: string;
  venue: string;
  /** Where its numbers come from. */
  origin: NumberOrigin;
  kernel: string | null;
  begun_ms: number;
  state: RunState;
  trials_done: number;
  trials_total: number;
  is_quick: boolean;
  /** Absent where nothing was judged yet. */
  verdicts: { [key in Verdict]?: number } | null;
}

/** A campaign at one moment. */
export interface LiveCampaign {
  /** Its directory's name. */
  name: string;
  /** The question. */
  title: string;
  /** Where trials run. */
  venue: string;
  /** Where its numbers come from. */
  origin: NumberOrigin;
  /** Whether it is smaller than declared. */
  is_quick: boolean;
  /** Whether its values are those of no real processor. */
  hides_absolute: boolean;
  /** Whether somebody runs it. */
  state: RunState;
  /** When it was created. */
  begun_ms: number;
  /** How far it is. */
  trials: Trials;
  /** Time left, scaled by how the estimates held so far; absent where nothing runs. */
  left_ms: number | null;
  /** The trial that runs. */
  current: Trial | null;
  /** Grows when there is more to judge. */
  revision: number;
  /** Trials that were done when it was judged. */
  judged_trials: number;
  /** What may be said so far. */
  verdicts: Array<LiveVerdict>;
  /** Percentiles of each finished trial. */
  latencies: Array<LatencySeries>;
  /** What a person must read, the newest last. */
  log: Array<LogLine>;
}

/** A comparison so far. */
export interface LiveVerdict {
  /** The workload. */
  workload: string;
  /** The metric. */
  metric: string;
  /** Its unit. */
  unit: Unit;
  /** Which way is better. */
  direction: Direction;
  /** The subject. */
  subject: string;
  /** What it is compared with. */
  reference: string;
  /** Whether a verdict is asked, or the set-up is tested. */
  role: Role;
  /** Inconclusive as long as the campaign can go on. */
  verdict: Verdict;
  /** The difference that would matter, as a fraction. */
  margin: number;
  /** Complete pairs of blocks. */
  pairs: number;
  /** The error rate of its interval. */
  alpha: number;
  /** Whether that holds at every look together. */
  is_sequence?: boolean;
  /** Oriented: above one is better. */
  ratio: number | null;
  /** The lower end of its interval. */
  low: number | null;
  /** The upper end; absent where it is unbounded. */
  high: number | null;
}

/** A line of the log. */
export interface LogLine {
  /** When. */
  at_ms: number;
  /** What. */
  text: string;
}

/** The machine over the time since the sample before. */
export interface MachineSample {
  /** Milliseconds since 1970. */
  at_ms: number;
  /** Each CPU that is online. */
  cpus: Array<CpuSample>;
  /** Share of all CPUs' time that a hypervisor took. */
  steal: number;
  /**
   * Share of all CPUs' time used by what is not the campaign's: other programs, interrupts
   * and the kernel's own work. Absent where no campaign runs.
   */
  foreign: number | null;
  /** Throttling events since the first sample; absent where the machine does not tell. */
  throttled: number | null;
  /** Share of the time in which some task waited for a CPU; absent without PSI. */
  pressure: number | null;
}

/** Where the numbers of a campaign come from; of several origins the first that holds. */
export type NumberOrigin = "simulated" | "emulated" | "unknown" | "imported" | "measured";

/** Whether a campaign runs. */
export type RunState = "running" | "interrupted" | "finished" | "stopped_early";

/** Shares of the CPUs' time above which a trial gets a caveat. */
export interface SampleLimits {
  /** Taken by a hypervisor. */
  steal: number;
  /** Used by what is not the campaign's. */
  foreign: number;
}

/** What an event `samples` holds, the first one of a connection. An event `sample` holds one. */
export interface Samples {
  limits: SampleLimits;
  /** The oldest first. */
  samples: Array<MachineSample>;
}

/** What an event `snapshot` holds. */
export interface Snapshot {
  format: string;
  at_ms: number;
  campaign: LiveCampaign | null;
  watchers: number;
}

/** The trial that runs. */
export interface Trial {
  /** Its block, from 1. */
  block: number;
  /** Blocks in all. */
  blocks: number;
  /** Its subject. */
  subject: string;
  /** Its workload. */
  workload: string;
  /** What it does: `setting`, `running`, … */
  phase: string;
  /** When it began. */
  begun_ms: number;
  /** How long it should take; absent where the plan does not know. */
  expected_ms: number | null;
}

/** Counts of trials. */
export interface Trials {
  /** Recorded and not to be repeated. */
  done: number;
  /** In all, as far as can be told. */
  total: number;
  /** Whose workload failed. */
  failed: number;
  /** Whose subject was not active throughout. */
  invalid: number;
}
