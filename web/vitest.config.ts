import { defineConfig } from "vitest/config";

// Apart from Vite's own, whose last step writes the page.
export default defineConfig({
  test: { include: ["test/**/*.test.ts"], pool: "threads", testTimeout: 60_000, hookTimeout: 60_000 },
});
