/** Where a server tells what, and how its words read. */

import type { RunState } from "../generated/live";
import { noted } from "../words";

export const EVENTS = "/api/v1/events";
export const CAMPAIGNS = "/api/v1/campaigns";
export const HISTORY = "/api/v1/history";

export const campaignPath = (name: string): string => `${CAMPAIGNS}/${encodeURIComponent(name)}`;

export const STATES = {
  running: noted("running"),
  interrupted: noted("interrupted, can go on"),
  finished: noted("finished"),
  stopped_early: noted("stopped early"),
} as const satisfies Record<RunState, string>;
