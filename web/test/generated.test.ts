/** What the binary's own tests keep of its data is what the generated types say. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { CAMPAIGNS, goldenText, IMPORTS } from "./golden";

const WEB = resolve(import.meta.dirname, "..");

/** What the compiler says of values that stand in a module, each with its type; nothing where they fit. */
function complaints(values: { module: "live" | "page"; type: string; json: string }[]): string {
  const lines = values.map(
    ({ module, type, json }, place) =>
      `export const value${place}: import(${JSON.stringify(join(WEB, "src/generated", module))}).${type} = ${json};\n`,
  );
  const directory = mkdtempSync(join(tmpdir(), "schedlab-types-"));
  try {
    writeFileSync(join(directory, "values.ts"), lines.join(""));
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ extends: join(WEB, "tsconfig.json"), include: ["values.ts"] }));
    const { stdout, error } = spawnSync(join(WEB, "node_modules/.bin/tsc"), ["--project", directory], { encoding: "utf8" });
    if (error) throw error;
    return stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("what the page is given and what a server tells are of the generated types", () => {
  const pages = [...CAMPAIGNS, ...IMPORTS].map((campaign) => ({ module: "page", type: "PageData", json: goldenText(campaign) }) as const);
  const told = readFileSync(resolve(WEB, "../crates/live/tests/golden/snapshot.json"), "utf8");
  expect(complaints([...pages, { module: "live", type: "LiveCampaign", json: told }])).toBe("");
});

test("a field that is gone or was never declared is noticed", () => {
  const page = JSON.parse(goldenText("mixed")) as Record<string, unknown>;
  const { answer, ...rest } = page;
  const wrong = [rest, { answer, ...rest, more: 1 }];
  const found = complaints(wrong.map((value) => ({ module: "page", type: "PageData", json: JSON.stringify(value) })));
  expect(found).toMatch(/'answer' is missing/);
  expect(found).toMatch(/more\W+does not exist/);
});
