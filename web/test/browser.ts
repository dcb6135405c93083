import { existsSync } from "node:fs";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser of this machine; where there is none, whoever asks skips aloud. */
export function findBrowser(): string | undefined {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (!program) {
    const lack = "no Chromium is installed: the page is not tested in a browser";
    if (process.env["SCHEDLAB_SKIPS"] === "refused") throw new Error(lack);
    console.warn(`SKIPPED: ${lack}`);
  }
  return program;
}
