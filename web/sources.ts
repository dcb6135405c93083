import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the page is made from, files and folders. */
const SOURCES = [
  "index.html", "package-lock.json", "package.json", "sources.ts", "src", "tsconfig.json", "vite.config.ts",
  "vite.headless.config.ts",
];

/**
 * SHA-256 over path and content of every source, so that a binary can tell whether the page it
 * embeds is the one of its tree: crates/web/build.rs computes the same.
 */
export function sourcesDigest(): string {
  const hash = createHash("sha256");
  const files = SOURCES.flatMap((source) =>
    source.includes(".")
      ? [source]
      : readdirSync(source, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const file of files.sort()) {
    const content = readFileSync(file);
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}
