import { defineConfig } from "vite";
import { sourcesDigest } from "./sources.ts";

/**
 * The figures alone, for an engine without a page: crates/web embeds the one file. It has a
 * folder of its own, because a build empties the folder that it writes to.
 */
export default defineConfig({
  build: {
    target: "es2022",
    outDir: "dist-headless",
    reportCompressedSize: false,
    lib: { entry: "src/headless/main.ts", name: "figures", formats: ["iife"], fileName: () => "figures.js" },
    rollupOptions: { output: { postBanner: `/* schedlab-sources: ${sourcesDigest()} */` } },
  },
});
