import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "../src/model";

export const CAMPAIGNS = ["mixed", "measured", "grid", "multicore", "divided", "hostile", "emulated"] as const;
/** Tables of others, with blocks and without. */
export const IMPORTS = ["imported-blocks", "imported-rows"] as const;
export type Campaign = (typeof CAMPAIGNS)[number] | (typeof IMPORTS)[number];

/** What the binary gives to the page of a campaign; its own tests keep these files. */
export function goldenText(campaign: Campaign): string {
  return readFileSync(resolve(import.meta.dirname, `../../crates/report/tests/golden/page-${campaign}.json`), "utf8");
}

export function golden(campaign: Campaign): Page {
  return JSON.parse(goldenText(campaign)) as Page;
}
