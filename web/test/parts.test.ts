import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { effectDomain, effectTicks, spaced } from "../src/figures/axis";
import { markdown } from "../src/figures/figure";
import { apart, fitted, letters } from "../src/figures/labels";
import { tradeOffs } from "../src/figures/pareto";
import { look } from "../src/figures/series";
import { trialPercentiles } from "../src/figures/trials";
import { duration } from "../src/format";
import type { SampleLimits } from "../src/generated/live";
import type { Finding } from "../src/generated/page";
import { routeOf } from "../src/live/App";
import { design, differing, matched, readingOf } from "../src/live/Compare";
import { tiles } from "../src/live/Health";
import { stripOf } from "../src/live/RunQueues";
import { type Column, sorted } from "../src/parts/SortTable";
import { dark, light } from "../src/theme";
import { golden } from "./golden";
import { halfWay, LIMITS, minute } from "./server";

describe("looks of subjects", () => {
  const MANY = 24;
  const unique = (of: (place: number) => string): number => new Set(Array.from({ length: MANY }, (_, place) => of(place))).size;

  test("differ for two dozen, as lines and as dots", () => {
    for (const theme of [light, dark]) {
      expect(unique((place) => Object.values(look(place, theme)).join())).toBe(MANY);
      expect(unique((place) => look(place, theme).colour + look(place, theme).dashes)).toBe(MANY);
      expect(unique((place) => look(place, theme).colour + look(place, theme).shape)).toBe(MANY);
    }
  });

  test("differ in shape among the first six, for those who see no colours", () => {
    expect(new Set(Array.from({ length: 6 }, (_, place) => look(place, light).shape)).size).toBe(6);
  });

  test("no colour of a verdict is one of a series or of the strip", () => {
    for (const { better, worse, neutral, series, queue } of [light, dark]) {
      for (const colour of [better, worse, neutral]) expect([...series, ...queue]).not.toContain(colour);
    }
  });
});

describe("trade-offs", () => {
  const side = (ratio: number, spread = 1.02) => ({ ratio, low: ratio / spread, high: ratio * spread });
  const finding = (subject: string, direction: "lower" | "higher", ratio: number): Finding =>
    ({
      workload: "w", metric: direction === "lower" ? "latency" : "rate", direction, subject, reference: "base", role: "primary",
      effect: { ...side(ratio), adjusted_p: null },
    }) as Finding;

  test("need a metric of each direction and three subjects, the reference among them", () => {
    const two = [finding("a", "lower", 1.1), finding("a", "higher", 1.1)];
    expect(tradeOffs(two, ["base", "a"])).toEqual([]);
    const [choice] = tradeOffs([...two, finding("b", "lower", 0.9), finding("b", "higher", 1.3)], ["base", "a", "b"]);
    const [figure] = choice?.figures() ?? [];
    expect(figure?.table.rows.map((row) => [row[0], row[1]])).toEqual([["base", 1], ["a", 1.1], ["b", 0.9]]);
    expect(tradeOffs([finding("a", "lower", 1), finding("b", "lower", 1)], ["a", "b"])).toEqual([]);
  });
});

describe("axes of ratios", () => {
  test("show all, and their ticks have room", () => {
    const domain = effectDomain([0.7, 1.3, 0, Infinity]);
    expect(domain[0]).toBeLessThan(0.7);
    expect(domain[1]).toBeGreaterThan(1.3);
    expect(effectTicks(domain, 200, 40)).toContain(1);
    expect(effectTicks(domain, 200, 40).length).toBeLessThanOrEqual(6);
  });
});

describe("axes of steps", () => {
  test("leave out labels that have no room, but never the last", () => {
    expect(spaced([1, 2, 4, 8, 16], [1, 16], 400, 50)).toEqual([1, 2, 4, 8, 16]);
    expect(spaced([1, 2, 4, 8, 16], [1, 16], 100, 50)).toEqual([1, 4, 16]);
    expect(spaced([1, 2, 4, 8, 16], [1, 8], 9, 50)).toEqual([8]);
  });
});

describe("labels at the ends of curves", () => {
  const places = (values: number[], room: number): number[] =>
    apart(values.map((value) => ({ value })), [1, 100], room).map(({ value, shift }) => (1 - Math.log(value) / Math.log(100)) * room + shift);

  test("keep their distance, and stay where they are if they have it", () => {
    expect(places([100, 10, 1], 300)).toEqual([0, 150, 300]);
    const close = places([10, 10.1, 10.2, 1], 300);
    close.slice(1).forEach((place, at) => expect(place - (close[at] ?? NaN)).toBeGreaterThanOrEqual(15 - 1e-9));
  });

  test("do not leave the axis at its lower end", () => {
    expect(places([1.1, 1.05, 1], 300).map(Math.round)).toEqual([270, 285, 300]);
  });
});

describe("tables", () => {
  const rows = ["b10", "a", "b9"].map((name, place) => ({ name, value: place % 2 }));
  const columns: Column<(typeof rows)[number]>[] = [
    { name: "name", key: ({ name }) => name, text: ({ name }) => name },
    { name: "value", key: ({ value }) => value, text: ({ value }) => String(value) },
  ];

  test("are sorted by numbers as numbers, also within names, and what is alike keeps its order", () => {
    const names = (column: number, isFalling: boolean) => sorted(rows, columns, { column, isFalling }).map(({ name }) => name);
    expect(sorted(rows, columns, null)).toBe(rows);
    expect(names(0, false)).toEqual(["a", "b9", "b10"]);
    expect(names(1, false)).toEqual(["b10", "b9", "a"]);
    expect(names(1, true)).toEqual(["a", "b10", "b9"]);
  });

  test("are Markdown in which no cell is more than text", () => {
    expect(markdown({ columns: ["a", "b"], rows: [["x|y", "<img>\n# z"], [1.5, "`c` @team"]] })).toBe(
      "| a | b |\n| --- | --- |\n| x\\|y | \\<img\\> \\# z |\n| 1.5 | \\`c\\` @&#8203;team |\n",
    );
  });
});

describe("the live view", () => {
  test("addresses name pages, and a mistyped one is the live view", () => {
    expect(routeOf("#/compare/a%2Fb/c")).toEqual({ page: "compare", names: ["a/b", "c"] });
    expect(routeOf("#/campaign/first")).toEqual({ page: "campaign", name: "first" });
    expect(routeOf("#/history")).toEqual({ page: "history" });
    for (const hash of ["", "#/", "#checks", "#/campaign/", "#/compare/a", "#/%zz"]) expect(routeOf(hash)).toEqual({ page: "live" });
  });

  test("time left is told as people tell it", () => {
    expect([-5, 45_400, 81_000, 7_500_000].map(duration)).toEqual(["0 s", "45 s", "1 min 21 s", "2 h 5 min"]);
  });

  test("health has the limits of caveats and the names of `top`, and what is not told is no number", () => {
    const [steal, foreign, throttling, pressure] = tiles(minute(), LIMITS);
    expect(steal).toMatchObject({ value: "0.1 %", isDisturbing: false });
    expect(foreign).toMatchObject({ name: "Used by others", value: "12.0 %", isDisturbing: true });
    expect(throttling).toMatchObject({ value: null, isDisturbing: null });
    expect(pressure).toMatchObject({ isDisturbing: null });
  });

  test("the limits of health are those that the server tells", () => {
    const isDisturbing = (limits: SampleLimits) => tiles(minute(), limits).slice(0, 2).map((tile) => tile.isDisturbing);
    expect(isDisturbing(LIMITS)).toEqual([false, true]);
    expect(isDisturbing({ steal: 0.0005, foreign: 0.2 })).toEqual([true, false]);
  });

  test("the strip has steps of waiting tasks, or of busy CPUs where those are not told", () => {
    const sample = (waiting: number | null) =>
      ({ at_ms: 0, cpus: [{ cpu: 3, busy: 0.5, waiting }], steal: 0, foreign: null, throttled: null, pressure: null });
    expect(stripOf([0, 0.3, 1.5, 2, 9].map(sample))).toEqual({ cpus: [3], tells: "waiting", steps: [[0, 1, 2, 3, 4]] });
    expect(stripOf([sample(null)])).toEqual({ cpus: [3], tells: "busy", steps: [[2]] });
  });

  test("more than four subjects have a figure for each percentile, with all numbers", () => {
    const { latencies } = halfWay();
    expect(trialPercentiles(latencies, ["a", "b", "c"]).length).toBe(latencies.length);
    const names = ["a", "b", "c", "d", "e"];
    const crowded = latencies.map((latency) => ({
      ...latency, points: latency.points.map((point, place) => ({ ...point, subject: names[place % names.length] ?? "" })),
    }));
    const many = trialPercentiles(crowded, names);
    expect(many.length).toBe(latencies.length * 3);
    expect(many[0]?.figures()[0]?.table.rows.length).toBe(latencies[0]?.points.length);
  });
});

describe("what a server tells", () => {
  /** Names alone: of lists those of their first. */
  const shape = (value: unknown): unknown => {
    if (Array.isArray(value)) return [shape(value[0])];
    if (typeof value !== "object" || value === null) return "value";
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shape(part)]));
  };

  test("is in tests what the real one tells", () => {
    const file = resolve(import.meta.dirname, "../../crates/live/tests/golden/snapshot.json");
    expect(shape(halfWay())).toEqual(shape(JSON.parse(readFileSync(file, "utf8"))));
  });
});

describe("two campaigns", () => {
  test("are matched by question, and what only one asked is kept", () => {
    const { findings } = golden("measured");
    const rows = matched(findings, findings.slice(1));
    expect(rows.length).toBe(findings.length);
    expect(rows.at(-1)?.findings).toEqual([findings[0], null]);
    expect(rows.slice(0, -1).every(({ findings: [one, other] }) => one === other)).toBe(true);
  });

  test("are designed by facts in words, and by the levels of subjects of both", () => {
    const one = golden("measured");
    const other = { ...golden("measured"), subjects: one.subjects.slice(1).map((subject, place) => (place === 0 ? { ...subject, levels: { policy: "rr:1" } } : subject)) };
    const [left, right] = [design(one, other), design(other, one)];
    const changed = `levels of ${one.subjects[1]?.id}`;
    expect(differing(left, right).map(([name, [, told]]) => [name, told])).toEqual([[changed, "policy=rr:1"]]);
    expect(left).not.toHaveProperty(`levels of ${one.subjects[0]?.id}`);
    expect(left).toMatchObject({ venue: "host", confidence: "95 %", numbers: "measured" });
    expect(Object.values(left).join()).not.toContain("[object");
  });

  test("have the level of those findings that have an interval, and none where none has one", () => {
    const [one] = golden("measured").findings.filter(({ effect }) => effect !== null);
    if (!one) throw new Error("it has an effect");
    const without: Finding = { ...one, effect: null, alpha: 0.3 };
    expect(readingOf([{ ...one, alpha: 0.05 }, without])).toContain("with 95 % intervals");
    for (const findings of [[], [without]]) expect(readingOf(findings)).toBe("Turned so that above 0 % is better.");
  });

  test("differ where they do not say the same", () => {
    expect(differing({ a: "1", b: "2" }, { a: "1", b: "3", c: "4" })).toEqual([
      ["b", ["2", "3"]],
      ["c", ["not told", "4"]],
    ]);
  });
});

test("a text that has no room loses its middle, whatever its letters are", () => {
  expect(fitted("short", 5)).toBe("short");
  expect(fitted("a-long-name-of-two", 9)).toBe("a-lo…-two");
  for (const text of ["스케줄러 비교 대상 이름", "plain letters of a name"]) {
    for (const room of [1, 2, 5, 10]) expect(letters(fitted(text, room))).toBeLessThanOrEqual(room);
  }
});
