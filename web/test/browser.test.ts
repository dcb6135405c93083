import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBrowser, serious } from "./browser";
import { CAMPAIGNS, golden, goldenText } from "./golden";
import { allGathered, catalogue, englishOf, languages, translated } from "./sentences";

const program = findBrowser();
/** A file of so many KiB compressed loads at once from disk and from a slow link. */
const MOST_KIB = 120;
/** Each width and both themes; none of what a theme changes has a width. */
const SCREENS = [[390, "light"], [820, "dark"], [1440, "dark"], [1440, "light"]] as const;
/** The narrowest and the widest of them. */
const TWO_SCREENS = [[390, "dark"], [1440, "light"]] as const;
const bundle = readFileSync(resolve(import.meta.dirname, "../dist/index.html"), "utf8");

test("the page is small", () => {
  const kib = gzipSync(bundle).length / 1024;
  console.log(`the page: ${kib.toFixed(1)} KiB compressed of at most ${MOST_KIB}`);
  expect(kib).toBeLessThan(MOST_KIB);
});

test("the licences of its parts travel with it", () => {
  expect(bundle).toContain("Observable");
  expect(bundle).toContain("Permission to use, copy, modify");
});

describe.skipIf(!program)("in a browser", () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "schedlab-page-"));
    browser = await chromium.launch({
      executablePath: program as string,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a report with these data, and notes whatever it does that it should not. */
  async function open(json: string, width: number, scheme: "light" | "dark"): Promise<{ page: Page; wrong: string[] }> {
    const file = join(folder, "report.html");
    const node = `<script type="application/json" id="schedlab-data">${json.replaceAll("<", "\\u003c")}</script>`;
    writeFileSync(file, bundle.replace("<!--SCHEDLAB_DATA-->", () => node));
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
    const wrong: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => wrong.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => wrong.push(`dialog: ${dialog.message()}`));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`file://${file}`);
    await drawn(page);
    if (requests.length !== 1) wrong.push(`requests: ${requests.join(" ")}`);
    return { page, wrong };
  }

  const drawn = (page: Page) => page.waitForSelector("figure svg", { timeout: 40_000 });

  /** Loads an open report anew on another screen: a new page would be a new process of the browser. */
  async function reopen(page: Page, width: number, colorScheme: "light" | "dark"): Promise<void> {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.reload();
    await drawn(page);
  }

  test("each picture of simulated numbers says so in itself", async () => {
    const { page, wrong } = await open(JSON.stringify({ ...golden("measured"), is_simulated: true }), 1440, "light");
    await page.waitForFunction(() => {
      const pictures = [...document.querySelectorAll("section.card > figure")];
      const last = pictures.map((picture) => [...picture.querySelectorAll("svg")].at(-1)?.lastElementChild?.textContent);
      return pictures.length > 0 && last.every((text) => text === "Simulated: no machine was measured.");
    });
    expect(wrong).toEqual([]);
    await page.close();
  });

  for (const campaign of CAMPAIGNS) {
    test(`${campaign} fits every width, and both themes`, async () => {
      const { page, wrong } = await open(goldenText(campaign), 1440, "light");
      for (const [width, scheme] of SCREENS) {
        await reopen(page, width, scheme);
        const screen = `${width} pixels, ${scheme}`;
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, screen).toBeLessThanOrEqual(0);
        expect(await page.evaluate(() => document.documentElement.dataset["theme"]), screen).toBe(scheme);
        expect(await page.textContent("h1"), screen).toBe(golden(campaign).title);
        expect(wrong, screen).toEqual([]);
      }
      await page.close();
    });
  }

  describe.each(languages())("in %s", (language) => {
    const { sentences } = allGathered();

    /** Which task ran when, as short as can be. */
    const timeline = {
      workload: "wakeup", subject: "fifo", span: 900, cpus: [0], classes: ["worker"], tasks: [{ name: "a/1", class: 0 }], slices: 1,
      columns: gzipSync(Buffer.from(new Uint32Array([100, 500, 30, 0]).buffer, 0, 15)).toString("base64"),
    };
    const data = (campaign: (typeof CAMPAIGNS)[number]): string => JSON.stringify({ ...translated(campaign, language), timeline });

    /** All that is read or read out, where it stands and how it stands there. */
    const texts = (page: Page): Promise<string[]> =>
      page.evaluate(() => {
        const found: string[] = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          if (node instanceof Element) found.push(...["aria-label", "aria-description"].map((name) => node.getAttribute(name) ?? ""));
          else if (!node.parentElement?.closest("script, style, noscript, [lang=en]")) found.push(node.textContent ?? "");
        }
        return found.map((text) => text.trim()).filter((text) => text !== "");
      });

    for (const campaign of CAMPAIGNS) {
      test(`nothing of ${campaign} is left in English, and it fits every screen`, async () => {
        const { page, wrong } = await open(data(campaign), 1440, "light");
        for (const [width, scheme] of TWO_SCREENS) {
          await reopen(page, width, scheme);
          expect(await page.getAttribute("html", "lang")).toBe(language);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          await page.waitForSelector("#timeline canvas");
          // A subject may be called as a word of ours.
          const names = new Set(golden(campaign).subjects.map(({ id }) => id));
          const left = (await texts(page)).filter((text) => !names.has(text)).flatMap((text) => englishOf(text, sentences) ?? []);
          expect(left).toEqual([]);
          expect(wrong).toEqual([]);
        }
        await page.close();
      });
    }

    test("headings, buttons and figures are the catalogue's", async () => {
      const words = catalogue(language);
      const { page } = await open(data("measured"), 1440, "light");
      const seen = new Set(await texts(page));
      for (const english of ["Validity", "Effects", "Caveats", "Dark", "Table", "verdict", "← worse", "order of runs →", "busy"]) {
        expect([...seen], english).toContain(words.get(english));
      }
      expect(await page.textContent("footer summary")).toBe(words.get("Licences of what this page is made with"));
      await page.close();
    });

    test("nothing serious for those who use a screen reader or other colours", async () => {
      for (const scheme of ["light", "dark"] as const) {
        const { page } = await open(data("measured"), 1440, scheme);
        expect(await serious(page)).toEqual([]);
        await page.close();
      }
    });
  });

  test("nothing serious for those who use a screen reader or other colours", async () => {
    for (const scheme of ["light", "dark"] as const) {
      const { page } = await open(goldenText("measured"), 1440, scheme);
      expect(await serious(page)).toEqual([]);
      await page.close();
    }
  });

  test("a table beside each figure has the figure's numbers", async () => {
    const { page } = await open(goldenText("measured"), 1440, "light");
    const rows = await page.$$eval("#forest tbody tr", (all) =>
      all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
    );
    const expected = golden("measured").findings;
    expect(rows.map((row) => [row[0], row[2], row[6], row[11]])).toEqual(
      expected.map(({ workload, subject, effect, verdict }) => [workload, subject, String(effect?.ratio ?? ""), verdict]),
    );
    await page.close();
  });

  test("what so few boots cannot show stands below the first answers and below the effects", async () => {
    const told = golden("measured").few_boots ?? "";
    expect(told).toContain("one boot");
    const { page } = await open(goldenText("measured"), 1440, "light");
    expect(await page.locator(".keys + .boots").textContent()).toBe(told);
    expect(await page.locator("#effects > .boots").textContent()).toBe(told);
    await page.close();
  });

  test("an emulated processor is told above every number, whether its values are shown or not", async () => {
    const told = golden("emulated");
    const says = async (hides_absolute: boolean): Promise<string[]> => {
      const { page } = await open(JSON.stringify({ ...told, hides_absolute }), 1440, "light");
      const banners = await page.locator(".banner", { hasText: "Emulated" }).allTextContents();
      await page.close();
      return banners;
    };
    expect(await says(true)).toEqual(["Emulated processor: ratios between subjects are shown, values are not, for they are no real processor's."]);
    expect(await says(false)).toEqual(["Emulated processor: values are shown as you asked, and are no real processor's."]);
  });

  test("that numbers were simulated is told by a fact, whatever the warnings are", async () => {
    const says = async (is_simulated: boolean): Promise<number> => {
      const { page } = await open(JSON.stringify({ ...golden("measured"), is_simulated, caveats: [] }), 1440, "light");
      const count = await page.locator(".banner", { hasText: "Simulated: no machine was measured." }).count();
      await page.close();
      return count;
    };
    expect(await says(true)).toBe(1);
    expect(await says(false)).toBe(0);
  });

  test("the subjects are told by their levels, and the design by its numbers", async () => {
    const { page } = await open(goldenText("measured"), 1440, "light");
    const rows = await page.$$eval("#design tbody tr", (all) => all.map((row) => [...row.children].map(({ textContent }) => textContent)));
    expect(rows).toEqual([
      ["baseline", "policy=other", "reference"],
      ["fifo", "policy=fifo:1", ""],
      ["batch", "policy=batch", ""],
      ["baseline-again", "policy=other", "A/A control: the reference once more"],
    ]);
    const facts = await page.$$eval("#design dl div", (all) => all.map((fact) => [...fact.children].map(({ textContent }) => textContent)));
    expect(facts).toEqual([...golden("measured").facts, ["seed", "42"]]);
    await page.close();
  });

  test("paper has the machine's facts and the places of caveats, and says what only a screen has", async () => {
    const told = golden("measured");
    const places = ["first", "second", "third", "fourth place"];
    const caveats = told.caveats.map((caveat) => ({ ...caveat, places }));
    const { page } = await open(JSON.stringify({ ...told, caveats }), 1440, "light");
    await page.emulateMedia({ media: "print" });
    const isSeen = (selector: string, text: string) => page.locator(selector).filter({ hasText: text }).first().isVisible();
    const [fact] = Object.keys(told.environment);
    expect(await isSeen("#environment details dt", fact ?? "")).toBe(true);
    expect(await isSeen("#caveats details p", "fourth place")).toBe(true);
    expect(await isSeen("#runs .paper", "This is one of")).toBe(true);
    expect(await isSeen(".paper", "On paper, figures are without their tables")).toBe(true);
    expect(await page.locator("#forest details").isVisible()).toBe(false);
    await page.emulateMedia({ media: "screen" });
    expect(await page.locator(".paper").first().isVisible()).toBe(false);
    await page.close();
  });

  test("everything is reached with the keyboard", async () => {
    const { page } = await open(goldenText("measured"), 1440, "light");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Dark");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe("#checks");
    const reached = new Set<string>();
    for (let presses = 0; presses < 90; presses += 1) {
      await page.keyboard.press("Tab");
      reached.add((await page.evaluate(() => document.activeElement?.textContent)) ?? "");
    }
    for (const wanted of ["SVG", "CSV", "Table", "All facts of the machine"]) expect([...reached]).toContain(wanted);
    await page.close();
  });

  test("text of a campaign is never more than text", async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
    const page = golden("hostile");
    page.title = evil;
    page.answer = evil;
    page.notes = [evil];
    page.reproduce = [evil];
    page.environment = { [evil]: evil };
    page.caveats = [{ code: evil, meaning: evil, places: [evil] }];
    for (const finding of page.findings) finding.workload = evil;
    const opened = await open(JSON.stringify(page), 820, "light");
    expect(await opened.page.textContent("h1")).toBe(evil);
    expect(await opened.page.locator("img").count()).toBe(0);
    expect(await opened.page.evaluate(() => document.scripts.length)).toBe(2);
    expect(opened.wrong).toEqual([]);
    await opened.page.close();
  });

  test("long data are unpacked", async () => {
    const packed = gzipSync(goldenText("grid")).toString("base64");
    const file = join(folder, "packed.html");
    const node = `<script type="application/gzip" id="schedlab-data">${packed}</script>`;
    writeFileSync(file, bundle.replace("<!--SCHEDLAB_DATA-->", () => node));
    const page = await browser.newPage();
    await page.goto(`file://${file}`);
    await page.waitForSelector("figure svg");
    expect(await page.textContent("h1")).toBe(golden("grid").title);
    await page.close();
  });
});
