// Builds what crates/web embeds: `node web/build.mjs`. `--fetch` only installs the modules for it.
//
// It needs node and npm alone, so that `make` has not to compile anything before.

import { spawnSync } from "node:child_process";
import { readFileSync, statSync, utimesSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What is embedded. */
const BUNDLES = ["dist/index.html", "dist-headless/figures.js"];

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

function npm(...words) {
  const { status, error } = spawnSync("npm", words, { stdio: "inherit" });
  if (error || status !== 0) {
    console.error(`web/build.mjs: npm ${words.join(" ")} failed${error ? `: ${error.message}` : ""}`);
    console.error("The page needs node 20.19 or later with npm: `./setup --page` installs them, and prints where.");
    process.exit(1);
  }
}

const stat = (path) => statSync(path, { throwIfNoEntry: false });

// Modules are installed where they are not those of the lock file, which has their digests. None
// of them runs for that.
const installed = stat("node_modules/.package-lock.json");
if (!installed || installed.mtimeMs < stat("package-lock.json").mtimeMs) npm("ci", "--ignore-scripts", "--no-audit", "--no-fund");
if (process.argv[2] === "--fetch") process.exit();

const before = BUNDLES.map((path) => {
  const found = stat(path);
  return found && { bytes: readFileSync(path), found };
});
npm("run", "--silent", "build");
// The same bytes are no reason to build the binary anew.
BUNDLES.forEach((path, at) => {
  const one = before[at];
  if (one && readFileSync(path).equals(one.bytes)) utimesSync(path, one.found.atime, one.found.mtime);
});
