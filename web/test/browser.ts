import { existsSync } from "node:fs";
import axe from "axe-core";
import type { Page } from "playwright-core";

/** The first is Chromium without windows: the same engine, and half the time. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser of this machine; where there is none, the test skips aloud. */
export function findBrowser(): string | undefined {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (!program) {
    const lack = "no Chromium is installed: the page is not tested in a browser";
    if (process.env["SCHEDLAB_SKIPS"] === "refused") throw new Error(lack);
    console.warn(`SKIPPED: ${lack}`);
  }
  return program;
}

/** What keeps somebody with a screen reader, a keyboard or other colours from reading a page. */
export async function serious(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof import("axe-core") }).axe.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}
