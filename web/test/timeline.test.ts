import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Timeline } from "../src/generated/page";
import { classColours, draw, heightOf, layoutOf, stepOf } from "../src/timeline/draw";
import { between, ranAt, read, totalOf } from "../src/timeline/slices";
import { inside, zoomed } from "../src/timeline/TimelineCard";
import { light } from "../src/theme";
import { findBrowser, serious } from "./browser";
import { golden } from "./golden";

const CPUS = 8;
const NAMES = ["dispatcher", "worker", "hog", "kthread", "migration"];

/** Always the same numbers below one (Lehmer's, with the constants of Park and Miller). */
function seeded(): () => number {
  let state = 20261122;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function columns(count: number): { bytes: ArrayBuffer; span: number } {
  const bytes = new ArrayBuffer(count * 15);
  const random = seeded();
  const [delta, lasts, wait] = [0, 4, 8].map((at) => new Uint32Array(bytes, at * count, count));
  const task = new Uint16Array(bytes, 12 * count, count);
  const cpu = new Uint8Array(bytes, 14 * count, count);
  let span = 0;
  for (let at = 0, end = 0, start = 0; at < count; at += 1) {
    const place = Math.floor((at / count) * CPUS);
    if (at > 0 && place !== cpu[at - 1]) [end, start] = [0, 0];
    const begin = end + Math.floor(random() * 300);
    delta![at] = begin - start;
    lasts![at] = 1 + Math.floor(random() ** 3 * 9000);
    wait![at] = random() < 0.5 ? 0 : Math.floor(random() * 4000);
    task[at] = Math.floor(random() * NAMES.length);
    cpu[at] = place;
    [start, end] = [begin, begin + lasts![at]!];
    span = Math.max(span, end);
  }
  return { bytes, span };
}

function timelineOf(count: number): { timeline: Timeline; bytes: ArrayBuffer } {
  const { bytes, span } = columns(count);
  const timeline: Timeline = {
    workload: "wakeup", subject: "fifo", span, cpus: Array.from({ length: CPUS }, (_, cpu) => cpu),
    classes: NAMES, tasks: NAMES.map((name, kind) => ({ name: `${name}/${kind}`, class: kind })), slices: count,
    columns: gzipSync(Buffer.from(bytes)).toString("base64"),
  };
  return { timeline, bytes };
}

describe("slices", () => {
  const { timeline, bytes } = timelineOf(4000);
  const slices = read(bytes, timeline);

  test("are found by their time as a look at all of them finds them", () => {
    const random = seeded();
    for (let turn = 0; turn < 2000; turn += 1) {
      const [cpu, time] = [Math.floor(random() * CPUS), Math.floor(random() * timeline.span)];
      const [first, after] = [slices.offsets[cpu]!, slices.offsets[cpu + 1]!];
      const all = Array.from({ length: after - first }, (_, at) => first + at);
      const running = all.findLast((at) => slices.start[at]! < time && slices.end[at]! >= time) ?? null;
      expect(ranAt(slices, cpu, time)).toBe(running);
      const to = time + Math.floor(random() * 20_000);
      const seen = all.filter((at) => slices.end[at]! > time && slices.start[at]! < to);
      const [from, until] = between(slices, cpu, time, to);
      expect(until - from).toBe(seen.length);
      if (seen.length > 0) expect(from).toBe(seen[0]);
    }
  });

  test("in all are the same as one by one", () => {
    const counts = timeline.cpus.map((_, cpu) => totalOf(slices, cpu).count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(slices.count);
    const longest = Math.max(...timeline.cpus.map((_, cpu) => totalOf(slices, cpu).mostWait));
    expect(longest).toBe(Math.max(...slices.wait));
  });

  test("a CPU without slices has none", () => {
    const empty = read(new ArrayBuffer(0), { ...timeline, slices: 0 });
    expect([...empty.offsets]).toEqual(new Array(CPUS + 1).fill(0));
    expect(totalOf(empty, 3)).toEqual({ busy: 0, count: 0, meanWait: 0, mostWait: 0 });
    expect(ranAt(empty, 3, 100)).toBe(null);
  });

  test("that are not what they are said to be are refused", () => {
    expect(() => read(bytes, { ...timeline, slices: 3999 })).toThrow("3999 slices need 59985 bytes, not 60000");
    expect(() => read(bytes, { ...timeline, cpus: [0] })).toThrow("is on CPU 1 of 1");
    expect(() => read(bytes, { ...timeline, tasks: [] })).toThrow("of 0");
  });
});

describe("drawing", () => {
  /** The area that was filled in each row and colour, in pixels. */
  function areas(count: number, view: [number, number]): Map<string, number> {
    const { timeline, bytes } = timelineOf(count);
    const found = new Map<string, number>();
    let path: [number, number][] = [];
    const to = (x: number, y: number): void => void path.push([x, y]);
    const pen = {
      fillStyle: "", clearRect() {}, fillText() {}, fillRect() {}, closePath() {}, moveTo: to, lineTo: to,
      beginPath: () => (path = []),
      fill() {
        // Half the sum of the cross products of neighbours is the area of a polygon.
        const twice = path.reduce((sum, [x, y], at) => {
          const [nextX, nextY] = path[(at + 1) % path.length]!;
          return sum + x * nextY - nextX * y;
        }, 0);
        found.set(this.fillStyle, (found.get(this.fillStyle) ?? 0) + Math.abs(twice) / 2);
      },
    };
    const scene = { timeline, slices: read(bytes, timeline), theme: light, view, focus: null, origin: [] };
    draw(pen as unknown as CanvasRenderingContext2D, scene, layoutOf(1060, 34));
    return found;
  }

  test("from far away, each colour has as much area as its tasks ran", () => {
    const { timeline, bytes } = timelineOf(40_000);
    const slices = read(bytes, timeline);
    const ran = timeline.classes.map(() => 0);
    for (let at = 0; at < slices.count; at += 1) ran[slices.task[at]!]! += slices.end[at]! - slices.start[at]!;
    const filled = areas(40_000, [0, timeline.span]);
    const height = 34 - 3 - 3;
    let below = 0;
    classColours(light).forEach((colour, kind) => {
      below += ran[kind]!;
      expect(filled.get(colour)! / ((below / timeline.span) * 1000 * height)).toBeCloseTo(1, 3);
    });
  });

  test("the picture says below its rows where its numbers come from, where no real machine was measured", () => {
    const { timeline, bytes } = timelineOf(40);
    const slices = read(bytes, timeline);
    for (const [width, row] of [[1060, 34], [358, 16]] as const) {
      const layout = layoutOf(width, row);
      const foot = layout.top + CPUS * row;
      const texts = (origin: readonly string[]): { text: string; y: number }[] => {
        const found: { text: string; y: number }[] = [];
        const pen = {
          clearRect() {}, fillRect() {}, beginPath() {}, moveTo() {}, lineTo() {}, closePath() {}, fill() {},
          fillText: (text: string, _: number, y: number) => void found.push({ text, y }),
        };
        draw(pen as unknown as CanvasRenderingContext2D, { timeline, slices, theme: light, view: [0, timeline.span], focus: null, origin }, layout);
        return found.filter(({ y }) => y > foot);
      };
      const origin = ["Imported from a.csv (csv).", "Simulated: no machine was measured."];
      expect(texts([])).toEqual([]);
      expect(texts(origin).map(({ text }) => text)).toEqual(origin);
      expect(heightOf({ timeline, origin: [] }, layout, width)).toBe(foot);
      for (const { y } of texts(origin)) expect(y).toBeLessThan(heightOf({ timeline, origin }, layout, width));
    }
  });

  test("views stay inside, and what is pointed at stays where it is", () => {
    expect(inside(-50, 1000, 5000)).toEqual([0, 1000]);
    expect(inside(4800, 1000, 5000)).toEqual([4000, 5000]);
    expect(inside(0, 1, 5000)).toEqual([0, 200]);
    const [from, to] = zoomed([1000, 3000], 0.5, 0.25, 5000);
    expect(from + (to - from) * 0.25).toBe(1500);
    expect(zoomed([1000, 3000], 100, 0.5, 5000)).toEqual([0, 5000]);
    expect([stepOf(10_000, 1000), stepOf(77, 100)]).toEqual([1000, 100]);
  });
});

const program = findBrowser();

describe.skipIf(!program)("in a browser", () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "schedlab-timeline-"));
    browser = await chromium.launch({ executablePath: program as string, args: ["--no-sandbox", "--disable-gpu"] });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(timeline: Timeline, width = 1440, facts: { is_simulated?: boolean } = {}): Promise<{ page: Page; wrong: string[] }> {
    const bundle = readFileSync(resolve(import.meta.dirname, "../dist/index.html"), "utf8");
    const data = JSON.stringify({ ...golden("measured"), ...facts, timeline }).replaceAll("<", "\\u003c");
    const file = join(folder, "timeline.html");
    writeFileSync(file, bundle.replace("<!--SCHEDLAB_DATA-->", () => `<script type="application/json" id="schedlab-data">${data}</script>`));
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const wrong: string[] = [];
    page.on("console", (message) => wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(error.message));
    await page.goto(`file://${file}`);
    await page.waitForSelector("#timeline canvas[data-paint_ms], #timeline .banner");
    return { page, wrong };
  }

  const painted = (page: Page): Promise<number> =>
    page.$eval("#timeline canvas", (canvas) => Number((canvas as HTMLElement).dataset["paint_ms"]));

  test("a hundred thousand slices are drawn, and how long it takes is printed", async () => {
    const { page, wrong } = await open(timelineOf(100_000).timeline);
    const all = await painted(page);
    await page.focus("#timeline canvas");
    for (let press = 0; press < 12; press += 1) await page.keyboard.press("+");
    await page.waitForTimeout(100);
    const near = await painted(page);
    await page.keyboard.press("0");
    await page.waitForTimeout(200);
    console.log(`100,000 slices: ${all} ms at first, ${near} ms the nearest view, ${await painted(page)} ms all of them again`);
    expect(await page.textContent("#timeline .slice")).toContain("100000 slices");
    expect(wrong).toEqual([]);
    await page.close();
  });

  test("is moved with keys, wheel and pointer, and tells what lies under it", async () => {
    const { timeline } = timelineOf(4000);
    const { page, wrong } = await open(timeline, 820);
    const says = () => page.textContent("#timeline .slice");
    const before = await says();
    await page.focus("#timeline canvas");
    await page.keyboard.press("+");
    await expect.poll(says).not.toBe(before);
    const near = await says();
    await page.keyboard.press("ArrowRight");
    await expect.poll(says).not.toBe(near);
    await page.keyboard.press("0");
    await expect.poll(says).toBe(before);
    const box = (await page.locator("#timeline canvas").boundingBox())!;
    await page.mouse.move(box.x + 300, box.y + 40);
    await page.keyboard.down("Control");
    for (let turn = 0; turn < 12; turn += 1) await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    // Somewhere along a row something ran.
    await expect
      .poll(async () => {
        await page.mouse.move(box.x + 100 + Math.random() * 500, box.y + 40);
        return says();
      })
      .toMatch(/\/\d ran .* and had waited/);
    expect(wrong).toEqual([]);
    await page.close();
  });

  test("is higher by a line where its numbers are simulated", async () => {
    const heights: number[] = [];
    for (const is_simulated of [false, true]) {
      const { page, wrong } = await open(timelineOf(40).timeline, 1440, { is_simulated });
      heights.push(await page.$eval("#timeline canvas", (canvas) => canvas.clientHeight));
      expect(wrong).toEqual([]);
      await page.close();
    }
    const [measured = 0, simulated = 0] = heights;
    expect(simulated - measured).toBe(20);
  });

  test("its table has the totals of each CPU", async () => {
    const { timeline, bytes } = timelineOf(4000);
    const { page } = await open(timeline);
    const slices = read(bytes, timeline);
    const rows = await page.$$eval("#timeline tbody tr", (all) => all.map((row) => [...row.children].map(({ textContent }) => textContent)));
    expect(rows.map((row) => [row[0], row[2]])).toEqual(
      timeline.cpus.map((cpu, place) => [String(cpu), String(totalOf(slices, place).count)]),
    );
    expect(await serious(page)).toEqual([]);
    await page.close();
  });

  test("one that cannot be read is said to be so, and the rest of the page is there", async () => {
    const { page } = await open({ ...timelineOf(40).timeline, slices: 41 });
    expect(await page.textContent("#timeline .banner")).toContain("41 slices need 615 bytes, not 600");
    await page.waitForSelector("#forest svg");
    await page.close();
  });
});
