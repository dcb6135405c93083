import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findBrowser, serious } from "./browser";
import { golden } from "./golden";
import { FakeServer, halfWay, listed, minute, twelve } from "./server";

const program = findBrowser();
const bundle = readFileSync(resolve(import.meta.dirname, "../dist/index.html"), "utf8");
/** Each width and both themes; none of what a theme changes has a width. */
const SCREENS = [[390, "light"], [820, "dark"], [1440, "dark"], [1440, "light"]] as const;
const PAGES = ["", "campaigns", "campaign/one", "compare/one/other", "history"];
const PATIENCE_MS = 40_000;
/** The console of a browser tells failed requests, which some tests provoke. */
const PROVOKED = /Failed to load resource|net::ERR/;

test("what a server replaces is in the page once", () => {
  expect(bundle.split("connect-src 'none'").length).toBe(2);
  expect(bundle.split("<!--SCHEDLAB_DATA-->").length).toBe(2);
});

describe.skipIf(!program)("the live view", () => {
  let browser: Browser;
  let server: FakeServer;
  let opened: Page[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: program as string,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
  });
  afterAll(async () => browser?.close());
  beforeEach(async () => {
    server = new FakeServer(bundle);
    server.campaign = halfWay();
    server.samples = minute();
    server.pages.set(server.campaign.name, golden("measured"));
    server.pages.set("one", golden("measured"));
    server.pages.set("other", golden("mixed"));
    server.campaigns.campaigns = [listed("one", 2, "finished"), listed("other", 1, "running"), listed("third", 3, "stopped_early")];
    server.history.series = [twelve()];
    await server.start();
  });
  afterEach(async () => {
    for (const page of opened) await page.close();
    opened = [];
    await server.stop();
  });

  /** Opens a page of the server, and notes whatever it does that it should not. */
  async function open(hash: string, width = 1440, options: BrowserContextOptions = {}): Promise<{ page: Page; wrong: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, ...options });
    opened.push(page);
    const wrong: string[] = [];
    page.on("console", (message) => wrong.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => wrong.push(`dialog: ${dialog.message()}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(server.origin)) wrong.push(`request: ${request.url()}`);
    });
    await page.goto(`${server.origin}/#/${hash}`);
    await page.waitForSelector("h1");
    return { page, wrong };
  }

  const says = async (page: Page, text: string | RegExp): Promise<void> => {
    await page.getByText(text).first().waitFor({ timeout: PATIENCE_MS });
  };

  for (const hash of PAGES) {
    test(`fits every width, and both themes: ${hash || "live"}`, async () => {
      const { page, wrong } = await open(hash);
      for (const [width, colorScheme] of SCREENS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.reload();
        await page.waitForSelector("figure svg, table", { timeout: PATIENCE_MS });
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe(colorScheme);
        const ids = await page.$$eval("[id]", (all) => all.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        expect(wrong).toEqual([]);
      }
    });

    test(`nothing serious for those who use a screen reader or other colours: ${hash || "live"}`, async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await open(hash, 1440, { colorScheme });
        await page.waitForSelector("figure svg, table", { timeout: PATIENCE_MS });
        expect(await serious(page)).toEqual([]);
      }
    });
  }

  test("tells progress, what runs, and that its intervals hold at every look", async () => {
    const { page } = await open("");
    await says(page, /24 of 48 trials · about 1 min/);
    await says(page, /block 6 of 10: running/);
    await says(page, "Verdicts so far, complete blocks: 5");
    await says(page, /confidence sequences/);
    await says(page, "Judged after 20 of 48 trials.");
    expect(await page.getAttribute("progress", "value")).toBe("24");
    // One sentence, so that any language can order its words.
    expect(await page.textContent("#report + p a")).toBe(`${halfWay().name}, drawn anew every ten seconds at most`);
    // Also when the server counts more trials than were planned.
    server.campaign = { ...halfWay(), trials: { done: 104, total: 48, failed: 0, invalid: 0 } };
    server.tell();
    await says(page, /48 of 48 trials/);
    server.campaign = { ...halfWay(), trials: { done: 1, total: 1, failed: 0, invalid: 0 } };
    server.tell();
    await says(page, /1 of 1 trial /);
    await says(page, "Judged after 1 of 1 trial.");
  });

  test("what so few boots cannot show stands below the verdicts so far", async () => {
    const { page } = await open("");
    expect(await page.locator("#verdicts + .boots").textContent()).toBe(golden("measured").few_boots);
  });

  test("numbers that no machine gave are told as such above every verdict, and in the list", async () => {
    server.campaign = { ...halfWay(), origin: "simulated" };
    const { page, wrong } = await open("");
    await says(page, "Verdicts so far, complete blocks: 5");
    await page.waitForSelector("#effects");
    expect(await page.textContent("main header .banner")).toBe("Simulated: no machine was measured.");
    expect(await page.locator(".banner", { hasText: "Simulated" }).count()).toBe(1);
    expect(await page.textContent("#progress .head span")).toMatch(/^host, simulated, since /);
    server.campaign = { ...halfWay(), origin: "imported" };
    server.tell();
    await says(page, /^host, imported, since /);
    expect(wrong).toEqual([]);
    server.campaign = { ...halfWay(), origin: "unknown", venue: "vm", hides_absolute: true };
    server.tell();
    await says(page, /^vm, origin unknown, since /);
    await says(page, "Latencies are not shown until it is known whether the guest's processor is a real one.");
    expect(await page.locator(".banner", { hasText: "Emulated" }).count()).toBe(0);
    const origins = ["simulated", "emulated", "unknown", "imported", "measured"] as const;
    server.campaigns.campaigns = origins.map((origin, days) => ({ ...listed(origin, days, "finished"), origin }));
    const { page: list } = await open("campaigns");
    await list.waitForSelector(".campaigns tbody tr");
    const cells = await list.$$eval(".campaigns tbody td:last-child", (all) => all.map(({ textContent }) => textContent ?? ""));
    expect(cells.map((text) => text.split("▲")[0])).toEqual(["simulated: ", "emulated: ", "origin unknown: ", "imported: ", ""]);
  });

  test("what was simulated for an emulated processor is told as both", async () => {
    server.campaign = { ...halfWay(), origin: "simulated", hides_absolute: true };
    server.pages.set(server.campaign.name, { ...golden("measured"), is_emulated: true, hides_absolute: true });
    const { page } = await open("");
    await page.waitForSelector("#effects");
    const banners = await page.locator("main header .banner").allTextContents();
    expect(banners[0]).toBe("Simulated: no machine was measured.");
    expect(banners[1]).toContain("values are not, for they are no real processor's.");
  });

  test("tables have the numbers of the figures", async () => {
    const { page } = await open("");
    await page.waitForSelector("#verdicts tbody tr", { state: "attached" });
    const cells = (selector: string) =>
      page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.querySelectorAll("th, td")].map(({ textContent }) => textContent)));
    const { verdicts, latencies } = halfWay();
    expect((await cells("#verdicts")).map((row) => [row[0], row[2], row[6], row[7], row[8], row[10]])).toEqual(
      verdicts.map(({ workload, subject, ratio, low, high, pairs }) =>
        [workload, subject, ...[ratio, low, high].map((value) => String(value ?? "")), String(pairs)],
      ),
    );
    expect(await cells("#trials-0")).toEqual(
      latencies[0]?.points.map(({ order, subject, p50, p99, p999 }) => [order + 1, subject, p50, p99, p999 ?? ""].map(String)),
    );
    await page.click("#queues summary");
    await page.waitForSelector("#queues tbody tr");
    const last = server.samples.at(-1)?.cpus ?? [];
    expect((await cells("#queues")).map((row) => [row[0], row[1], row[3]])).toEqual(
      last.map(({ cpu, busy, waiting }) => [String(cpu), `${(busy * 100).toFixed(0)} %`, waiting?.toFixed(2)]),
    );
  });

  test("follows what changes, and says only verdicts and the state aloud", async () => {
    const { page, wrong } = await open("");
    await says(page, /24 of 48 trials/);
    const changed = halfWay();
    changed.trials.done = 25;
    changed.verdicts = changed.verdicts.map((verdict, place) => (place === 0 ? { ...verdict, verdict: "better" } : verdict));
    server.campaign = changed;
    server.tell();
    await says(page, /25 of 48 trials/);
    await page.waitForFunction(() => document.querySelector("#news")?.textContent?.includes("better"));
    expect(await page.textContent("#news")).toBe("fifo against baseline on wakeup, request latency p99: better");
    server.campaign = { ...changed, state: "finished", current: null };
    server.tell();
    await page.waitForFunction(() => document.querySelector("#news")?.textContent === "The campaign: finished");
    await says(page, "Verdicts");
    // What bars are is told with them: a campaign that was ended early keeps its sequences.
    server.campaign = { ...server.campaign, state: "stopped_early" };
    server.tell();
    await page.waitForFunction(() => document.querySelector("#news")?.textContent === "The campaign: stopped early");
    expect(await page.textContent("#verdicts h3")).toBe("Verdicts");
    expect(await page.textContent("#verdicts .reading")).toContain("95 % confidence sequences");
    server.campaign = {
      ...server.campaign, state: "finished", verdicts: changed.verdicts.map(({ is_sequence: _, ...verdict }) => verdict),
    };
    server.tell();
    await page.waitForFunction(() => document.querySelector("#verdicts .reading")?.textContent?.includes("Bars are 95 % intervals"));
    expect(wrong).toEqual([]);
  });

  test("a loss is told with its time, and mended by itself", async () => {
    const { page, wrong } = await open("");
    await says(page, "connected");
    await server.stop();
    await says(page, /connection lost, last seen \d\d:\d\d:\d\d/);
    await says(page, /as it was at/);
    server.campaign = { ...halfWay(), trials: { done: 30, total: 48, failed: 0, invalid: 0 } };
    await server.start();
    await says(page, /30 of 48 trials/);
    await page.waitForSelector(".stale", { state: "detached" });
    expect(wrong.filter((one) => !PROVOKED.test(one))).toEqual([]);
  });

  test("what is over says its answer first, and stays true when its server has ended", async () => {
    server.campaign = { ...halfWay(), state: "finished", current: null, left_ms: null };
    const { page, wrong } = await open("");
    await says(page, "Is finished");
    const { answer } = golden("measured");
    await page.waitForSelector("header .answer li");
    expect(await page.textContent("header .answer li")).toBe(answer.replaceAll(" %", "\u00a0%").split("; ")[0]);
    expect(await page.locator(".keys:not(#health) .card").count()).toBeGreaterThan(0);
    await server.stop();
    await says(page, /The campaign is over, and so is its dashboard/);
    expect(await page.locator("main").textContent()).toMatch(/Is finished/);
    expect(await page.locator("main").textContent()).not.toMatch(/Was finished|may not be true/);
    expect(await page.locator(".stale").count()).toBe(0);
    expect(wrong.filter((one) => !PROVOKED.test(one))).toEqual([]);
  });

  test("at the end the last report is asked for at once, and an earlier one is no answer", async () => {
    const whole = golden("measured");
    const soFar = { ...whole, is_unfinished: true };
    const running = halfWay();
    const pages = server.pages;
    server.pages = new Map([[running.name, soFar]]);
    server.campaign = running;
    const { page, wrong } = await open("");
    await says(page, "The report so far");
    await page.waitForSelector("#effects");
    server.campaign = { ...running, state: "finished", current: null, left_ms: null };
    server.tell();
    await says(page, "Is finished");
    expect(await page.locator("header .answer li").count()).toBe(0);
    server.pages = new Map([[running.name, whole]]);
    server.campaign = { ...server.campaign, revision: running.revision + 1 };
    server.tell();
    // Sooner than reports are asked for while a campaign runs, which is every 10 s.
    await page.waitForSelector("header .answer li", { timeout: 7000 });
    server.pages = pages;
    expect(wrong).toEqual([]);
  });

  test("a server with too many watchers says so", async () => {
    server.refuses = 503;
    const { page } = await open("");
    await says(page, /Too many pages watch this server/);
  });

  test("a refusal says what to do, and there is a way back", async () => {
    server.refuses = 401;
    const { page, wrong } = await open("");
    await says(page, /Open the address that it printed/);
    server.refuses = null;
    await page.click("text=Try again");
    await says(page, /24 of 48 trials/);
    expect(wrong.filter((one) => !PROVOKED.test(one))).toEqual([]);
    server.refuses = 404;
    await page.goto(`${server.origin}/#/campaign/nowhere`);
    await says(page, /no such campaign/);
  });

  test("a second page and a page loaded anew see the same", async () => {
    const { page: one } = await open("");
    const { page: other } = await open("", 820);
    for (const page of [one, other]) await says(page, /24 of 48 trials/);
    expect(server.watchers).toBe(2);
    await one.reload();
    await says(one, /24 of 48 trials/);
    await other.close();
    await expect.poll(() => server.watchers).toBe(1);
  });

  test("asks for one report at a time, and not for every revision", async () => {
    server.delay_ms = 300;
    const { page } = await open("");
    for (let revision = 4; revision < 12; revision += 1) {
      server.campaign = { ...halfWay(), revision };
      server.tell();
      await page.waitForTimeout(50);
    }
    await page.waitForSelector("#effects figure svg", { timeout: PATIENCE_MS });
    expect(server.mostAtOnce).toBe(1);
    expect(server.asked.filter((url) => url.startsWith("/api/v1/campaigns/")).length).toBe(1);
  });

  test("paused charts stand still while the campaign goes on", async () => {
    const { page } = await open("");
    await says(page, /24 of 48 trials/);
    const picture = () => page.$eval("#queues canvas", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
    await page.click("text=Pause charts");
    await says(page, /Charts are paused since/);
    const before = await picture();
    for (const sample of minute(40)) server.sample(sample);
    server.campaign = { ...halfWay(), trials: { done: 31, total: 48, failed: 0, invalid: 0 } };
    server.tell();
    await says(page, /31 of 48 trials/);
    expect(await picture()).toBe(before);
    await page.click("text=Go on");
    await expect.poll(picture).not.toBe(before);
  });

  test("a hidden page draws nothing, and catches up when it is looked at", async () => {
    const { page } = await open("");
    await says(page, /24 of 48 trials/);
    const hide = (isHidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await hide(true);
    server.campaign = { ...halfWay(), trials: { done: 33, total: 48, failed: 0, invalid: 0 } };
    server.tell();
    await page.waitForTimeout(1500);
    expect(await page.textContent("#progress h2")).toContain("24 of 48");
    await hide(false);
    await says(page, /33 of 48 trials/);
  });

  test("who asked for less motion gets charts that move seldom", async () => {
    const { page } = await open("", 1440, { reducedMotion: "reduce" });
    await page.waitForSelector("#queues canvas");
    const picture = () => page.$eval("#queues canvas", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
    await page.waitForTimeout(500);
    const before = await picture();
    for (const sample of minute(20)) server.sample(sample);
    await page.waitForTimeout(1000);
    expect(await picture()).toBe(before);
    await expect.poll(picture, { timeout: PATIENCE_MS }).not.toBe(before);
  });

  test("a kernel that does not tell waiting tasks is said not to", async () => {
    server.samples = minute(100, false);
    const { page } = await open("");
    await says(page, /This kernel does not tell waiting tasks/);
    await says(page, "How busy each CPU is");
  });

  test("health is told in words", async () => {
    const { page } = await open("");
    await page.waitForSelector("#health .card");
    const tiles = await page.$$eval("#health .card", (all) => all.map(({ textContent }) => textContent));
    expect(tiles[0]).toContain("✓ quiet");
    expect(tiles[1]).toContain("12.0 %");
    expect(tiles[1]).toContain("! disturbs");
    expect(tiles[2]).toContain("Not known on this machine");
    expect(tiles[3]).not.toContain("quiet");
  });

  test("nothing runs, and what ran is listed", async () => {
    server.campaign = null;
    const { page, wrong } = await open("");
    await says(page, "Nothing runs");
    await page.waitForSelector(".campaigns tbody tr");
    expect(wrong).toEqual([]);
  });

  test("two campaigns are chosen and compared with the keyboard", async () => {
    const { page, wrong } = await open("campaigns");
    await page.waitForSelector(".campaigns tbody tr");
    // The newest first, whatever the order in which they came.
    expect(await page.$$eval(".campaigns tbody small", (all) => all.map(({ textContent }) => textContent))).toEqual(["other", "one", "third"]);
    const boxes = await page.$$(".campaigns input");
    for (const box of boxes.slice(0, 2)) {
      await box.focus();
      await page.keyboard.press("Space");
    }
    await page.focus("text=Compare the two");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#matched tbody tr");
    await says(page, /No verdict is made across campaigns/);
    await says(page, /▲ clearly better/);
    // What has to be known of either stands below its name, whether they differ in it or not.
    expect(await page.locator("li .attempt").count()).toBe(2);
    expect(await page.locator("li .boots").allTextContents()).toEqual([golden("mixed").few_boots, golden("measured").few_boots]);
    const rows = await page.$$eval("#matched tbody tr", (all) => all.length);
    expect(rows).toBe(golden("measured").findings.length);
    await page.focus("#matched th:nth-child(3) button");
    await page.keyboard.press("Enter");
    expect(await page.getAttribute("#matched th:nth-child(3)", "aria-sort")).toBe("ascending");
    expect(wrong).toEqual([]);
  });

  test("nothing is said of boots of edited records where they are compared, and once that nothing binds others", async () => {
    // Whatever caveats there are.
    const edited = { ...golden("measured"), evidence: ["EVIDENCE_CHANGED: Edited."], caveats: [] };
    delete edited.few_boots;
    const attempt = "Attempt 1. Bound to nothing.";
    server.pages.set("one", edited);
    const unbound = { code: "EVIDENCE_UNBOUND", meaning: "Bound to nothing.", places: [] };
    server.pages.set("other", { ...golden("mixed"), attempt, caveats: [unbound] });
    const { page } = await open("compare/one/other");
    await page.waitForSelector("#matched tbody tr");
    expect(await page.locator("li .banner").allTextContents()).toEqual(["EVIDENCE_CHANGED: Edited."]);
    expect(await page.locator("li .boots").allTextContents()).toEqual([golden("mixed").few_boots]);
    expect(await page.locator("li .attempt").last().textContent()).toBe(attempt);
  });

  test("a table is copied as Markdown in the order in which it is sorted", async () => {
    const { page } = await open("campaigns");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click(".campaigns th:nth-child(3) button");
    await page.click("text=Copy as Markdown");
    await says(page, "Copied");
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
    expect(lines[0]).toBe("| campaign | begun | state | trials | venue | verdicts |");
    expect(lines.slice(2, 5).map((line) => /\((\w+)\) \|/.exec(line)?.[1])).toEqual(["third", "one", "other"]);
  });

  test("history has a rule where the level changed, and its table says so", async () => {
    const { page } = await open("history");
    await page.waitForSelector("#history-0 figure svg");
    const { points, changes } = twelve();
    const rows = await page.$$eval("#history-0 tbody tr", (all) =>
      all.map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => textContent)),
    );
    expect(rows.map((row) => [row[1], row[2]])).toEqual(points.map(({ campaign, ratio }) => [campaign, String(ratio)]));
    expect(rows.filter((row) => row[6] !== "").map((row) => row[1])).toEqual(changes.map(({ before }) => before));
  });

  test("sections are reached without losing the page's address", async () => {
    const { page } = await open("campaign/one");
    await page.click("nav[aria-label=Sections] a[href='#caveats']");
    expect(page.url()).toBe(`${server.origin}/#/campaign/one`);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("caveats");
  });

  test("text of a campaign is never more than text", async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
    const campaign = halfWay();
    campaign.title = evil;
    campaign.log = [{ at_ms: Date.now(), text: evil }];
    campaign.current = { ...campaign.current!, subject: evil, phase: evil };
    campaign.verdicts = campaign.verdicts.map((verdict) => ({ ...verdict, subject: evil }));
    server.campaign = campaign;
    server.campaigns.campaigns = [{ ...listed("x", 1, "finished"), title: evil }];
    server.campaigns.problems = [evil];
    for (const hash of ["", "campaigns", `compare/${encodeURIComponent(evil)}/one`]) {
      const { page, wrong } = await open(hash);
      await says(page, "alert(2)");
      expect(await page.locator("img").count()).toBe(0);
      expect(wrong.filter((one) => !PROVOKED.test(one))).toEqual([]);
    }
  });
});
