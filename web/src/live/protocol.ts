/** Where a server tells what, and how its words read. */

import type { NumberOrigin, RunState } from "../generated/live";
import { noted, say } from "../words";

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

const ORIGINS = {
  simulated: noted("simulated"),
  emulated: noted("emulated"),
  unknown: noted("origin unknown"),
  imported: noted("imported"),
  measured: null,
} as const satisfies Record<NumberOrigin, string | null>;

/** Where numbers come from; nothing of what was measured. */
export function originWord(origin: NumberOrigin): string | null {
  const word = ORIGINS[origin];
  return word === null ? null : say(word);
}
