/** What a server tells: `schedlab.live/1` as events, and lists as JSON. Times `_ms` are since 1970. */

import type { Direction, Role, Verdict } from "../model";
import { noted } from "../words";

export const EVENTS = "/api/v1/events";
export const CAMPAIGNS = "/api/v1/campaigns";
export const HISTORY = "/api/v1/history";

export const campaignPath = (name: string): string => `${CAMPAIGNS}/${encodeURIComponent(name)}`;

export type State = "running" | "interrupted" | "finished" | "stopped_early";

export interface LiveVerdict {
  workload: string;
  metric: string;
  unit: string;
  direction: Direction;
  subject: string;
  reference: string;
  role: Role;
  verdict: Verdict;
  margin: number;
  pairs: number;
  /** The error rate of its interval. */
  alpha: number;
  /** Whether that holds at every look together; absent where it does not. */
  is_sequence?: boolean;
  /** Oriented, above one is better; null before there are enough blocks. */
  ratio: number | null;
  low: number | null;
  high: number | null;
}

export interface Latency {
  workload: string;
  source: string;
  unit: string;
  /** One for each finished trial. */
  points: {
    order: number;
    at_ms: number;
    subject: string;
    p50: number | null;
    p99: number | null;
    p999: number | null;
  }[];
}

export interface Trial {
  /** From one. */
  block: number;
  blocks: number;
  subject: string;
  workload: string;
  phase: string;
  begun_ms: number;
  expected_ms: number | null;
}

export interface LiveCampaign {
  name: string;
  title: string;
  venue: string;
  is_quick: boolean;
  hides_absolute: boolean;
  state: State;
  begun_ms: number;
  trials: { done: number; total: number; failed: number; invalid: number };
  left_ms: number | null;
  current: Trial | null;
  /** Grows when the campaign's page has news. */
  revision: number;
  /** Trials that were done when it was judged. */
  judged_trials: number;
  verdicts: LiveVerdict[];
  latencies: Latency[];
  log: { at_ms: number; text: string }[];
}

export interface Snapshot {
  format: string;
  at_ms: number;
  campaign: LiveCampaign | null;
  watchers: number;
}

export interface Sample {
  at_ms: number;
  /** Shares of the time since the sample before. */
  cpus: {
    cpu: number;
    busy: number;
    /** Mean number of tasks that wait to run here; null where the kernel does not tell. */
    waiting: number | null;
  }[];
  /** Of all CPUs. */
  steal: number;
  /** Share of all CPUs that other programs used. */
  foreign: number | null;
  /** Events since the server began. */
  throttled: number | null;
  /** Share of the time in which some task waited for a CPU. */
  pressure: number | null;
}

export interface ListedCampaign {
  name: string;
  title: string;
  venue: string;
  kernel: string | null;
  begun_ms: number;
  state: State;
  trials_done: number;
  trials_total: number;
  is_quick: boolean;
  /** Those that there are; null where it was not judged yet. */
  verdicts: Partial<Record<Verdict, number>> | null;
}

export interface CampaignList {
  format: string;
  campaigns: ListedCampaign[];
  problems: string[];
}

export interface HistorySeries {
  workload: string;
  metric: string;
  subject: string;
  reference: string;
  is_emulated?: boolean;
  margin: number;
  /** Oriented ratios to the reference, in the order of the campaigns. */
  points: { campaign: string; ratio: number; low: number; high: number | null; alpha: number; blocks: number }[];
  /** Between the last campaign of the old level, after which it was, and the first of the other, before which. */
  changes: { after: string; before: string; ratio: number; low: number; high: number | null; p: number }[];
}

export interface History {
  format: string;
  series: HistorySeries[];
  problems: string[];
}

export const STATES = {
  running: noted("running"),
  interrupted: noted("interrupted, can go on"),
  finished: noted("finished"),
  stopped_early: noted("stopped early"),
} as const;
