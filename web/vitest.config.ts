import { defineConfig } from "vitest/config";

// Apart from Vite's own, whose last step writes the page.
export default defineConfig({
  // Limits of time only end what hangs: a machine that is shared with others is slow at some hours.
  test: {
    include: ["test/**/*.test.ts"], pool: "threads", testTimeout: 300_000, hookTimeout: 300_000,
    expect: { poll: { timeout: 40_000 } },
  },
});
