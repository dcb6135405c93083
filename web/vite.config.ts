import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const PAGE = "dist/index.html";

/**
 * Names what the page may do, once all of it is in one file: run this very script, and reach
 * nothing. The binary that serves the page live lets it reach its own origin instead.
 */
function contentSecurityPolicy(): Plugin {
  return {
    name: "content-security-policy",
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
      const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
      writeFileSync(PAGE, page.replace("<!--CSP-->", meta));
    },
  };
}

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), contentSecurityPolicy()],
  build: { target: "es2022", modulePreload: false, reportCompressedSize: false },
});
