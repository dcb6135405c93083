import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { sourcesDigest } from "./sources.ts";

const PAGE = "dist/index.html";
const NOTICES = "dist/.vite/license.md";

/**
 * Names what the page may do, once all of it is in one file: run this very script, and reach
 * nothing. The binary that serves the page live lets it reach its own origin instead. What the
 * licences of its parts ask to travel with it, and what it was built from, go in as well.
 */
function finish(): Plugin {
  return {
    name: "finish",
    apply: "build",
    enforce: "post",
    closeBundle() {
      const page = readFileSync(PAGE, "utf8")
        .replace('<script type="module" crossorigin>', '<script type="module">')
        .replace('<style rel="stylesheet" crossorigin>', "<style>");
      const scripts = [...page.matchAll(/<script type="module">([\s\S]*?)<\/script>/g)];
      const hashes = scripts.map(([, text]) => {
        const digest = createHash("sha256").update(text ?? "").digest("base64");
        return `'sha256-${digest}'`;
      });
      const policy = [
        "default-src 'none'",
        `script-src ${hashes.join(" ")}`,
        // Observable Plot writes a style element into each figure.
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const heads = [
        `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
        `<meta name="schedlab-sources" content="${sourcesDigest()}" />`,
      ];
      const notices = readFileSync(NOTICES, "utf8").replaceAll("<", "&lt;");
      // Functions, because `$&` and its like in a text would be taken for patterns.
      const finished = page
        .replace("<!--HEAD-->", () => heads.join("\n    "))
        .replace("<!--NOTICES-->", () => notices);
      writeFileSync(PAGE, finished);
    },
  };
}

/** No figure is a map: the page is smaller by all that Observable Plot knows of them. */
function withoutMaps(): Plugin {
  // The bodies of the three functions that make maps, from where one was asked for.
  const maps = /(?<=\nfunction namedProjection\(projection\) {\n|\n  if \(projection == null\) return;\n)[^]*?(?=\n}\n)/g;
  return {
    name: "without-maps",
    transform(code, id) {
      if (!id.endsWith("/plot/src/projection.js")) return null;
      if (code.match(maps)?.length !== 3) this.error(`${id} does not make maps as it did`);
      return { code: code.replace(maps, ""), map: null };
    },
  };
}

export default defineConfig({
  plugins: [withoutMaps(), viteSingleFile({ removeViteModuleLoader: true }), finish()],
  build: {
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
    license: true,
    // No property that the page reads does anything by being read: what is read for nothing is left out.
    rolldownOptions: { treeshake: { propertyReadSideEffects: false } },
  },
});
