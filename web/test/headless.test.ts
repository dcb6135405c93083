import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createContext, runInContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { allFigures, described, type Described, drawn } from "../src/headless/draw";
import { ElementNode, newDocument, svgElement } from "../src/headless/dom";
import type { Page } from "../src/model";
import { CAMPAIGNS, golden, goldenText, IMPORTS } from "./golden";
import { allGathered, catalogue, englishOf, languages, translated } from "./sentences";

const WIDTH = 960;

describe("outside a browser", () => {
  for (const campaign of [...CAMPAIGNS, ...IMPORTS]) {
    test(`every figure of ${campaign} is drawn, in both themes`, () => {
      for (const { figure } of allFigures(golden(campaign)).slice(0, 40)) {
        for (const theme of ["light", "dark"]) {
          const svg = drawn(figure, theme, WIDTH);
          expect(svg.startsWith("<svg ")).toBe(true);
          expect(svg).not.toMatch(/NaN|undefined|\[object/);
          expect(svg).not.toContain("<style");
          // A picture is SVG alone, and as high as what it shows.
          expect(svg).not.toMatch(/<(figure|div|span)\b/);
          expect(Number(/^<svg [^>]*\bheight="([^"]*)"/.exec(svg)?.[1])).toBeGreaterThan(26);
        }
      }
    });
  }

  test("what answers a question says what it found", () => {
    const [forest, ...others] = allFigures(golden("measured")).map(described);
    expect(forest?.finding).toBe(
      "Better in 1 of 5 comparisons, 1 worse, 1 alike within the margin, 1 undecided, 1 without a valid answer",
    );
    expect(others.find(({ id }) => id === "pairs-0")?.finding).toBe(
      "fifo is clearly better than baseline for cyclic latency p50: ×2.63 [×2.4, ×2.88]",
    );
    expect(others.find(({ id }) => id === "drift-0")?.finding).toBe("");
  });

  test("a legend is part of the picture", () => {
    const found = allFigures(golden("measured")).find(({ figure }) => figure.id === "ecdf-0");
    expect(found && drawn(found.figure, "light", WIDTH)).toContain(">baseline-again</text>");
  });

  test("a legend of parts is, too", () => {
    const found = allFigures(golden("divided")).find(({ figure }) => figure.id === "breakdown-0");
    expect(found && drawn(found.figure, "light", WIDTH)).toContain(">handoff</text>");
  });

  test("a picture says where its numbers come from, where no real machine was measured", () => {
    const pictures = (page: Page, width = WIDTH): string[] => allFigures(page).slice(0, 12).map(({ figure }) => drawn(figure, "light", width));
    const measured = golden("measured");
    const simulated = ">Simulated: no machine was measured.</text>";
    const emulated = ">Emulated processor: no figure is that of real hardware.</text>";
    for (const svg of pictures(measured)) expect(svg).not.toMatch(/>(Simulated|Emulated|Imported)/);
    for (const svg of pictures({ ...measured, is_simulated: true })) expect(svg).toContain(simulated);
    for (const svg of pictures({ ...measured, is_simulated: true }, 358)) expect(svg).toContain(simulated);
    for (const svg of pictures(golden("emulated"))) expect(svg).toContain(emulated);
    for (const campaign of IMPORTS) {
      const page = golden(campaign);
      for (const svg of pictures({ ...page, is_simulated: true })) {
        expect(svg).toContain(`>Imported from ${page.design.imported?.file} (`);
        expect(svg).toContain(simulated);
      }
    }
  });

  test("a picture is higher by what it says of its origin, and no line leaves it", () => {
    const [first] = allFigures(golden("measured"));
    if (!first) throw new Error("the golden campaign has figures");
    const height = (svg: string): number => Number(/^<svg [^>]*\bheight="([^"]*)"/.exec(svg)?.[1]);
    const long = { ...first.figure, origin: [`Imported from ${"x".repeat(400)}.csv (csv).`, "Simulated: no machine was measured."] };
    const [plain, signed] = [drawn(first.figure, "light", 358), drawn(long, "light", 358)];
    expect(height(signed) - height(plain)).toBe(40);
    expect(signed).toMatch(/>Imported from x+….*\.csv \(csv\)\.<\/text>/);
    const places = [...signed.matchAll(/<text x="12" y="([^"]*)"[^>]*font-weight="600">/g)].map(([, y]) => Number(y));
    expect(places.slice(-2).every((y) => y > height(plain) && y < height(signed))).toBe(true);
  });

  test("names are texts, whatever they hold", () => {
    for (const { figure } of allFigures(golden("hostile"))) {
      const svg = drawn(figure, "light", WIDTH);
      expect(svg).not.toMatch(/<(script|img|image|a|foreignObject)\b/);
    }
  });
});

describe("the built bundle", () => {
  test("draws in an engine that has nothing, what the sources draw", () => {
    const engine = createContext({});
    runInContext("delete globalThis.Intl; delete globalThis.console;", engine);
    runInContext(readFileSync(resolve(import.meta.dirname, "../dist-headless/figures.js"), "utf8"), engine);
    Object.assign(engine, { json: goldenText("measured") });
    const all = allFigures(golden("measured"));
    expect(JSON.parse(runInContext("figures.open(json)", engine))).toEqual(all.map(described));
    const draw = `JSON.stringify(${JSON.stringify([...all.keys()])}.map((place) => figures.draw(place, "light", ${WIDTH})))`;
    expect(JSON.parse(runInContext(draw, engine))).toEqual(all.map(({ figure }) => drawn(figure, "light", WIDTH)));
  });
});

describe.each(languages())("in %s", (language) => {
  const engine = createContext({});
  runInContext(readFileSync(resolve(import.meta.dirname, "../dist-headless/figures.js"), "utf8"), engine);
  const opened = (json: string): Described[] => JSON.parse(runInContext(`figures.open(${JSON.stringify(json)})`, engine)) as Described[];
  const drawing = (place: number): string => runInContext(`figures.draw(${place}, "light", ${WIDTH})`, engine) as string;

  test("figures speak the language of their data, and those after them their own", () => {
    const words = catalogue(language);
    const { sentences } = allGathered();
    const english = opened(goldenText("measured"));
    const before = english.map((_, place) => drawing(place));
    const other = opened(JSON.stringify(translated("measured", language)));
    expect(other.map(({ id }) => id)).toEqual(english.map(({ id }) => id));
    expect(other[0]?.title).toBe(words.get("Effects"));
    other.forEach(({ title, finding, reading }, place) => {
      const texts = [...drawing(place).matchAll(/>([^<>]+)</g)].map(([, text]) => text ?? "");
      const left = [title, finding, reading, ...texts].flatMap((text) => englishOf(text, sentences) ?? []);
      expect(left, other[place]?.id).toEqual([]);
    });
    expect(drawing(0)).toContain(words.get("← worse"));
    expect(opened(goldenText("measured"))).toEqual(english);
    expect(english.map((_, place) => drawing(place))).toEqual(before);
  });
});

describe("the stand-in for a document", () => {
  test("writes texts and attributes that mean nothing to XML", () => {
    const text = svgElement("text", { class: '"><b>' }, "</text><script>&", "\u0000\ud800");
    expect(String(text)).toBe(
      '<text class="&quot;&gt;&lt;b&gt;">&lt;/text&gt;&lt;script&gt;&amp;\ufffd\ufffd</text>',
    );
  });

  test("keeps hundredths of pixels", () => {
    const path = svgElement("path", { d: "M0.123456,-1e-7L10,20.5", "stroke-width": 1.23456 });
    expect(String(path)).toBe('<path d="M0.12,0L10,20.5" stroke-width="1.23456"/>');
  });

  test("moves a child from where it was", () => {
    const document = newDocument() as unknown as { createElementNS(space: string, name: string): ElementNode };
    const [one, other, child] = ["a", "b", "c"].map((name) => document.createElementNS("", name)) as [
      ElementNode, ElementNode, ElementNode,
    ];
    one.appendChild(child);
    other.insertBefore(child, other.firstChild);
    expect([String(one), String(other)]).toEqual(["<a/>", "<b><c/></b>"]);
  });
});
