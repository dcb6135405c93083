import { describe, expect, test } from "vitest";
import { figuresOf } from "../src/figures/all";
import { breakdown } from "../src/figures/breakdown";
import { said } from "../src/figures/finding";
import { byStrength, forest, sentence } from "../src/figures/forest";
import { heatMaps } from "../src/figures/heat";
import { histories, history } from "../src/figures/history";
import { ladder } from "../src/figures/ladder";
import { hasLines, lines } from "../src/figures/lines";
import { tradeOffs } from "../src/figures/pareto";
import { drift, pairs } from "../src/figures/runs";
import { estimate } from "../src/format";
import type { Finding, ImportedOrder, Series, Verdict } from "../src/generated/page";
import { grouped } from "../src/grouped";
import { allFigures, drawn } from "../src/headless/draw";
import { type Page, runs } from "../src/model";
import { light } from "../src/theme";
import { golden, IMPORTS } from "./golden";
import { twelve } from "./server";

/** What the rows of the effects are called, from the first. */
function labelsOf(findings: Finding[]): string[] {
  const { domain, tickFormat } = forest(findings).options({ theme: light, width: 900 }).y ?? {};
  const format = tickFormat as (key: string, place: number) => string;
  return (domain as string[]).map(format);
}

describe("effects", () => {
  const page = golden("mixed");

  test("have labels that fit into the margin, with both ends of a longer one", () => {
    const [one] = page.findings;
    if (!one) throw new Error("no finding");
    const long = { ...one, workload: `first ${"x".repeat(60)}`, subject: "the-last" };
    const [label = ""] = labelsOf([long, { ...one, subject: "another" }]);
    expect(label).toMatch(/^first x+….*the-last/);
    const { marginLeft = 0 } = forest([long]).options({ theme: light, width: 900 });
    expect(label.length * 6.6).toBeLessThan(marginLeft);
  });

  test("every comparison is in the table, with its numbers where there are some", () => {
    const { table } = forest(page.findings);
    const estimated = page.findings.filter(({ effect }) => effect !== null);
    expect(estimated.length).toBeLessThan(page.findings.length);
    expect(table.rows.length).toBe(page.findings.length);
    expect(table.rows.filter((row) => row[6] === "").length).toBe(page.findings.length - estimated.length);
    expect(table.rows[0]).toEqual([
      estimated[0]?.workload,
      estimated[0]?.metric,
      estimated[0]?.subject,
      estimated[0]?.reference,
      estimated[0]?.subject_value,
      estimated[0]?.reference_value,
      estimated[0]?.effect?.ratio,
      estimated[0]?.effect?.low,
      estimated[0]?.effect?.high,
      estimated[0]?.margin,
      estimated[0]?.pairs,
      estimated[0]?.verdict,
      estimated[0]?.reason ?? "",
    ]);
  });

  test("many are cut to the strongest, and the reader is told", () => {
    const one = page.findings.find(({ effect }) => effect !== null) as Finding;
    const many = Array.from({ length: 90 }, (_, index) => ({ ...one, workload: `w${index}` }));
    const figure = forest(many);
    expect(figure.table.rows.length).toBe(90);
    expect(figure.reading).toContain("The 40 strongest of 90");
  });

  test("what the control shows is not taken for an answer", () => {
    const about = page.findings.filter(({ effect }) => effect !== null).slice(0, 1);
    const labels = labelsOf([...about, ...about.map((one): Finding => ({ ...one, subject: "twin", role: "control" }))]);
    expect(labels.map((label) => label.endsWith(" (A/A)"))).toEqual([false, true]);
  });

  test("every pair has a row of its own that names both", () => {
    const one = page.findings.find(({ effect }) => effect !== null) as Finding;
    const pair = (subject: string, reference: string): Finding => ({ ...one, workload: "w", subject, reference });
    const against = [pair("b", "a"), pair("c", "a")];
    expect(labelsOf(against)).toEqual(["w: b", "w: c"]);
    expect(forest(against).reading).toContain("Each subject against a,");
    const all = [...against, pair("c", "b")];
    expect(labelsOf(all)).toEqual(["w: b against a", "w: c against a", "w: c against b"]);
    expect(forest(all).reading).toContain("One row for each pair,");
    // Not even rows of one name are drawn on each other.
    const same = forest([pair("b", "a"), pair("b", "a")]);
    expect(same.options({ theme: light, width: 900 }).y?.domain).toEqual(["0", "1"]);
  });

  test("on a narrow screen tell all that they tell on a wide one", () => {
    const picture = drawn(forest(page.findings), "light", 358);
    for (const { verdict, subject, effect } of page.findings) {
      for (const text of [verdict, subject, effect ? estimate(effect) : "no estimate"]) expect(picture).toContain(text);
    }
  });

  test("those of shares are said to be of their odds, wherever they stand", () => {
    const one = page.findings.find(({ effect, verdict }) => effect !== null && verdict === "better") as Finding;
    const share: Finding = { ...one, workload: "w", subject: "b", reference: "a", unit: "fraction", is_odds: true };
    const other: Finding = { ...share, is_odds: false };
    const ofOdds = "The effect of a share is that of its odds.";
    expect(labelsOf([share, other])).toEqual(["w: b (odds)", "w: b"]);
    expect([share, other].map((finding) => forest([finding]).reading.includes(ofOdds))).toEqual([true, false]);
    if (!share.effect) throw new Error("it has an effect");
    expect(said(share)).toContain(`: odds ${estimate(share.effect)}`);
    expect(said(other)).not.toContain("odds");
    expect([share, other].map((finding) => sentence(finding).startsWith("odds "))).toEqual([true, false]);
    const [grid] = golden("grid").grids;
    if (!grid) throw new Error("the golden campaign spans a grid");
    const comparisons = grid.comparisons.map((comparison) => ({
      ...comparison, cells: comparison.cells.map((row) => row.map((cell) => cell && { ...cell, is_odds: true })),
    }));
    expect(heatMaps({ ...grid, comparisons }, 0)[0]?.reading).toContain(ofOdds);
    expect(heatMaps(grid, 0)[0]?.reading).not.toContain(ofOdds);
    const { ladders, findings } = golden("multicore");
    const [found] = ladders;
    if (!found) throw new Error("the golden campaign is compared within a factor");
    const rungs = found.rungs.map((rung) => ({ ...rung, cells: rung.cells.map((cell) => cell && { ...cell, is_odds: true }) }));
    expect(ladder({ ...found, rungs }, 0, findings).reading).toContain("that of their odds");
    expect(ladder(found, 0, findings).reading).not.toContain("that of their odds");
  });

  test("have the base of their percentages beside them where lower is better", () => {
    const one = page.findings.find(({ effect }) => effect !== null && estimate(effect).includes("%")) as Finding;
    const base = "+10 % says that the reference has 10 % more";
    const told = (["lower", "higher"] as const).map((direction) => forest([{ ...one, direction }]).reading.includes(base));
    expect(told).toEqual([true, false]);
    const [grid] = golden("grid").grids;
    if (!grid) throw new Error("the golden campaign spans a grid");
    const maps = (["lower", "higher"] as const).map((direction) => heatMaps({ ...grid, direction }, 0)[0]?.reading.includes(base));
    expect(maps).toEqual([true, false]);
    const lower: Finding = { ...one, direction: "lower" };
    const factor = { ratio: 4.2, low: 3.1, high: 5.3 };
    expect(forest([{ ...lower, effect: one.effect && { ...one.effect, ...factor } }]).reading).not.toContain(base);
    expect(forest([{ ...lower, is_odds: true }]).reading).not.toContain(base);
    const cells = (changed: object): typeof grid.comparisons =>
      grid.comparisons.map((comparison) => ({
        ...comparison, cells: comparison.cells.map((row) => row.map((cell) => cell && { ...cell, ...changed })),
      }));
    for (const changed of [{ is_odds: true }, { effect: factor }]) {
      expect(heatMaps({ ...grid, direction: "lower", comparisons: cells(changed) }, 0)[0]?.reading).not.toContain(base);
    }
  });

  test("what is worse is as telling as what is better", () => {
    const of = (verdict: string, ratio: number): Finding =>
      ({ verdict, effect: { ratio, low: ratio, high: ratio, adjusted_p: null } }) as Finding;
    const sorted = [of("better", 1.1), of("inconclusive", 9), of("worse", 0.5)].toSorted(byStrength);
    expect(sorted.map(({ verdict }) => verdict)).toEqual(["worse", "better", "inconclusive"]);
  });
});

describe("what bars are", () => {
  const told = golden("measured").findings;
  const at = (alpha: number, is_sequence = false): Finding[] => told.map((finding) => ({ ...finding, alpha, is_sequence }));

  test("is told with the level that they have", () => {
    expect(forest(at(0.05)).reading).toContain("Bars are 95 % intervals,");
    // One of them is equivalent, and shown with the interval that decided it.
    expect(forest(told).reading).toContain("Bars are 90–95 % intervals,");
    expect(forest(at(0.01)).reading).toContain("Bars are 99 % intervals,");
    const early = figuresOf({ ...golden("measured"), findings: at(0.1, true) });
    expect(early.effects[0]?.reading).toContain("Bars are 90 % confidence sequences,");
    expect(early.effects[0]?.reading).toContain("They hold at every look together");
  });

  test("is told only where there are some", () => {
    const [one] = told;
    if (!one?.effect) throw new Error("it has an effect");
    const unvarying = { ...one, is_sequence: true, effect: { ...one.effect, low: one.effect.ratio, high: one.effect.ratio } };
    for (const without of [{ ...one, effect: null }, unvarying]) {
      const { reading } = forest([without]);
      expect(reading).not.toContain("Bars are");
      expect(reading).not.toContain("They hold at every look");
      // Without any there was no test, so nothing to correct.
      expect(reading).toContain("Symbol and word are the verdict.");
      expect(reading).not.toContain("corrected");
      // Nor do findings without any have a say in the level of the others.
      expect(forest([{ ...without, alpha: 0.2 }, { ...one, alpha: 0.05 }]).reading).toContain("Bars are 95 % intervals,");
    }
  });

  test("is followed by how verdicts were corrected only where something was tested, and not before the end", () => {
    const untested = <One extends { effect: Finding["effect"] }>(one: One): One => ({ ...one, effect: one.effect && { ...one.effect, adjusted_p: null } });
    const [grid] = golden("grid").grids;
    const { ladders: [found], findings } = golden("multicore");
    if (!grid || !found) throw new Error("the golden campaigns have a grid and a ladder");
    const comparisons = grid.comparisons.map((comparison) => ({
      ...comparison, cells: comparison.cells.map((row) => row.map((cell) => cell && untested(cell))),
    }));
    const readings = [
      [forest(told), forest(told.map(untested))],
      [heatMaps(grid, 0)[0], heatMaps({ ...grid, comparisons }, 0)[0]],
      [ladder(found, 0, findings), ladder(found, 0, findings.map(untested))],
    ].map((figures) => figures.map((figure) => figure?.reading.includes("corrected for all comparisons")));
    expect(readings).toEqual([[true, false], [true, false], [true, false]]);
    for (const { reading } of [forest(at(0.05, true), true), ladder(found, 0, findings, true)]) {
      expect(reading).toContain("There is no verdict before the campaign's end.");
      expect(reading).not.toContain("corrected");
    }
  });

  test("of several looks is told from the least to the most", () => {
    const looks = told.map((finding, place) => ({ ...finding, alpha: place === 0 ? 0.0125 : 0.05 }));
    expect(forest(looks).reading).toContain("Bars are 95–98.75 % intervals,");
  });

  test("is told of ladders by their own comparisons", () => {
    const page = golden("multicore");
    const [found] = page.ladders;
    if (!found) throw new Error("the golden campaign is compared within a factor");
    const subjects = found.rungs.flatMap(({ cells }) => cells.flatMap((cell) => cell?.subject ?? []));
    const findings = page.findings.map((finding) => ({
      ...finding, alpha: finding.metric === found.metric && subjects.includes(finding.subject) ? 0.02 : 0.5,
    }));
    expect(ladder(found, 0, findings).reading).toContain("with 98 % intervals");
  });

  test("is told of ladders and trade-offs by those of their findings that have an interval", () => {
    const narrow = (one: Finding): Finding => ({ ...one, alpha: 0.5, effect: one.effect && { ...one.effect, low: one.effect.ratio, high: one.effect.ratio } });
    const none = (one: Finding): Finding => ({ ...one, alpha: 0.5, effect: null });
    const page = golden("multicore");
    const [found] = page.ladders;
    if (!found) throw new Error("the golden campaign is compared within a factor");
    const asked = page.findings.filter(({ metric, effect }) => metric === found.metric && effect !== null).map((one) => ({ ...one, alpha: 0.02 }));
    const drawn = (findings: Finding[]): string => ladder(found, 0, findings).reading;
    expect(drawn(asked.slice(1))).toContain("with 98 % intervals");
    for (const without of [narrow, none]) {
      expect(drawn(asked.map((one, place) => (place === 0 ? without(one) : one)))).toBe(drawn(asked));
      expect(drawn(asked.map(without))).toMatch(/^The ratio of their values, (lower|higher) is better\. /);
    }
    const of = (subject: string, direction: Finding["direction"], alpha = 0.02): Finding => ({
      workload: "w", metric: direction, direction, subject, reference: "base", role: "primary", verdict: "inconclusive", alpha,
      effect: { ratio: 1.1, low: 1, high: 1.2, adjusted_p: null },
    }) as Finding;
    const both = (subject: string): Finding[] => [of(subject, "lower"), of(subject, "higher")];
    const traded = (findings: Finding[]): string | undefined => tradeOffs(findings, ["base", "a", "b", "c"])[0]?.figures()[0]?.reading;
    const two = [...both("a"), ...both("b")];
    expect(traded(two)).toContain("better, with 98 % intervals.");
    // One of the subjects has nothing along the other axis, and no mark.
    expect(traded([...two, of("c", "lower", 0.5)])).toBe(traded(two));
    expect(traded([...both("a"), ...both("b").map(narrow)])).toBe(traded(two));
    expect(traded(two.map(narrow))).toMatch(/^Changes against base, turned so that right and up are better\. /);
  });

  test("is told of histories by those of their points that have an interval", () => {
    const series = twelve();
    const narrow = series.points.map((point) => ({ ...point, alpha: 0.5, low: point.ratio, high: point.ratio }));
    const [first, ...others] = series.points;
    if (!first || !narrow[0]) throw new Error("there are twelve campaigns");
    const figure = history({ ...series, points: [narrow[0], ...others] }, 0);
    expect(figure.reading).toBe(history(series, 0).reading);
    expect(figure.table.rows[0]?.slice(3, 5)).toEqual(["no interval", ""]);
    expect(figure.table.rows[0]?.[8]).toBe("");
    expect(history({ ...series, points: narrow }, 0).reading).toMatch(/so that up is better\. /);
  });

  test("is told of histories by their points", () => {
    const series = twelve();
    expect(history({ ...series, points: series.points.map((point) => ({ ...point, alpha: 0.1 })) }, 0).reading).toContain("its 90 % interval");
  });
});

describe("histories", () => {
  const series = twelve();
  const [first, ...others] = series.points;
  if (!first) throw new Error("there are twelve campaigns");

  test("are told apart by levels, and by where and how their numbers were measured", () => {
    const about = "wakeup, request latency p99: fifo (policy = fifo:1) against baseline (policy = other)";
    const all = histories([
      series,
      { ...series, origin: "simulated" },
      { ...series, origin: "imported" },
      { ...series, subject_levels: "", reference_levels: "" },
      { ...series, conditions: "venue = vm, wakeup.threads = 64" },
    ]);
    expect(all.map(({ name }) => name)).toEqual([
      `${about}, measured`, `${about}, simulated`, `${about}, imported`, "wakeup, request latency p99: fifo against baseline, measured",
      `${about}, measured (venue = vm, wakeup.threads = 64)`,
    ]);
    expect(all.map(({ figures }) => figures()[0]?.title)).toEqual(all.map(({ name }) => name));
  });

  test("mark what no change rests on, and why, and what nothing binds", () => {
    const clean = history(series, 0);
    expect(clean.reading).not.toContain("Hollow");
    expect(clean.reading).not.toContain("EVIDENCE_UNBOUND");
    const marked = { ...first, left_out: "Values of fifo stand twice", is_unbound: true };
    const withheld = { ...first, withheld: "The order may hide a difference" };
    const figure = history({ ...series, points: [marked, withheld, ...others] }, 0);
    expect(figure.reading).toContain("Hollow: something forbids every verdict on the campaign");
    expect(figure.reading).toContain("EVIDENCE_UNBOUND");
    expect(figure.table.rows.slice(0, 2).map((row) => row.slice(11))).toEqual([["Values of fifo stand twice", "", "EVIDENCE_UNBOUND"], ["", "The order may hide a difference", ""]]);
    expect(drawn(figure, "light", 900)).not.toBe(drawn(clean, "light", 900));
  });

  test("tell the level of each interval and each campaign's margin and levels", () => {
    const other = { ...first, alpha: 0.1, margin: 0.02, shared_levels: "kernel = 6.1" };
    const figure = history({ ...series, least_margin: 0.02, points: [other, ...others] }, 0);
    expect(figure.table.rows.slice(0, 2).map((row) => row.slice(8, 11))).toEqual([["90 %", "2 %", "kernel = 6.1"], ["95 %", "5 %", ""]]);
    expect(figure.reading).toContain("The grey band is the largest margin, 5 %; the smallest is 2 %.");
  });
});

describe("heat maps", () => {
  test("one for each comparison but the control's, a row for each cell with an effect", () => {
    const [grid] = golden("grid").grids;
    if (!grid) throw new Error("the golden campaign spans a grid");
    const shown = grid.comparisons.filter(({ is_control }) => !is_control);
    const figures = heatMaps(grid, 0);
    expect(figures.length).toBe(shown.length);
    const cells = shown[0]?.cells.flat().filter((cell) => cell?.effect);
    expect(figures[0]?.table.rows.length).toBe(cells?.length);
  });

  test("colours of verdicts serve verdicts alone", () => {
    const [grid] = golden("grid").grids;
    const [comparison] = grid?.comparisons.filter(({ is_control }) => !is_control) ?? [];
    if (!grid || !comparison) throw new Error("the golden campaign spans a grid");
    const cells = comparison.cells.map((row) => row.map((cell) => cell && { ...cell, verdict: "inconclusive" as const }));
    const [undecided] = heatMaps({ ...grid, comparisons: [{ ...comparison, cells }] }, 0);
    const picture = undecided ? drawn(undecided, "light", 960) : "";
    for (const colour of light.diverging) expect(picture).not.toContain(colour);
    expect(picture).toContain(light.band);
  });
});

describe("lines", () => {
  test("have a point for each size and subject with a value", () => {
    const page = golden("grid");
    const [grid] = page.grids;
    if (!grid || !hasLines(grid)) throw new Error("the golden campaign's rows are sizes");
    const { table } = lines(grid, 0, "lines", page.subjects.map(({ id }) => id));
    const values = grid.subjects.flatMap(({ cells }) => cells.map((row) => row[0])).filter((value) => value !== null);
    expect(table.rows.length).toBe(values.length);
  });
});

describe("ladders", () => {
  test("a row for each level and workload with a ratio", () => {
    const [found] = golden("multicore").ladders;
    if (!found) throw new Error("the golden campaign is compared within a factor");
    const cells = found.rungs.flatMap(({ cells }) => cells).filter((cell) => cell?.ratio);
    expect(ladder(found, 0, golden("multicore").findings).table.rows.length).toBe(cells.length);
  });
});

describe("breakdowns", () => {
  const [found] = golden("divided").breakdowns;
  if (!found) throw new Error("the golden campaign's round trips have parts");
  const figure = breakdown(found, 0);

  test("have a row for each part of each subject, and pieces that lie end to end", () => {
    expect(figure.table.rows.length).toBe(9);
    expect(figure.table.rows.find(([subject, part]) => subject === "handed" && part === "handoff")?.[2]).toBeCloseTo(2403.6, 1);
    const picture = drawn(figure, "light", 960);
    expect(picture.match(/<rect/g)?.length).toBeGreaterThanOrEqual(9);
    expect(picture).toContain("42 %");
  });

  test("begin with what to change first", () => {
    expect(figure.finding).toContain("Change exchange first");
    expect(figure.reading).toContain("handoff takes 2.40 us (2.40 us to 2.41 us) of handed's time");
    expect(figure.reading).toContain("In all, handed takes 3.00 us (3.00 us to 3.01 us) more than local");
    expect(figure.reading).toContain("Change exchange first");
  });
});

describe("runs", () => {
  const series: Series = {
    workload: "w", metric: "m", unit: "nanoseconds", direction: "lower",
    order: [0, 1, 2, 3, 4], block: [0, 0, 1, 1, 2], subject: [0, 1, 1, 0, 0], value: [10, 20, 5, 10, 30],
  };
  const all = runs(series, ["a", "b"]);

  test("are told by the subjects' names", () => {
    expect(all[2]).toEqual({ order: 2, block: 1, subject: "b", value: 5 });
    expect(drift(series, all, ["a", "b"]).table.rows.length).toBe(5);
  });

  test("only complete blocks are pairs", () => {
    const finding = { workload: "w", metric: "m", unit: "nanoseconds", direction: "lower", subject: "b", reference: "a" } as Finding;
    const bySubject = grouped(all, ({ subject }) => subject);
    const { table } = pairs(finding, bySubject, 0, false);
    expect(table.rows).toEqual([
      [1, 10, 20, "÷2"],
      [2, 10, 5, "×2"],
    ]);
    const higher = pairs({ ...finding, direction: "higher" }, bySubject, 0, false).table;
    expect(higher.rows.map((row) => row[3])).toEqual(["×2", "÷2"]);
    // That of a share is one of odds, and no ratio of shares.
    const share = pairs({ ...finding, unit: "fraction", is_odds: true }, bySubject, 0, false).table;
    expect(share.columns).toEqual(["block", "a", "b"]);
    expect(share.rows).toEqual([[1, 10, 20], [2, 10, 5]]);
    // A file tells which runs are of one block, and nothing of when they ran.
    const readings = [false, true].map((isImported) => pairs(finding, bySubject, 0, isImported).reading);
    expect(readings[0]).toContain("a value of both");
    expect(readings[1]).not.toContain("ran");
  });
});

describe("trade-offs", () => {
  /** Estimates alone: `a` is far better than `base` and `b` in both metrics. */
  const RATIOS: Record<string, number> = { a: 2, b: 1, c: 1.01 };
  const of = (subject: string, reference: string, verdicts: [Verdict, Verdict]): Finding[] =>
    (["lower", "higher"] as const).map((direction, place) => {
      const ratio = (RATIOS[subject] ?? 1) / (RATIOS[reference] ?? 1);
      return {
        workload: "w", metric: direction === "lower" ? "latency" : "rate", direction, subject, reference, role: "primary",
        verdict: verdicts[place], alpha: 0.05, effect: { ratio, low: ratio / 1.01, high: ratio * 1.01, adjusted_p: null },
      } as Finding;
    });
  const SUBJECTS = ["base", "a", "b", "c"];
  const first = (findings: Finding[]) => {
    const figure = tradeOffs(findings, SUBJECTS)[0]?.figures()[0];
    if (!figure) throw new Error("there are three subjects");
    return figure;
  };
  /** Whom a figure shows as beaten. */
  const beaten = (findings: Finding[]): unknown[] =>
    first(findings).table.rows.filter((row) => row[7] === "yes").map(([subject]) => subject);

  test("nobody is beaten by somebody with whom it was never compared", () => {
    const apart = [...of("a", "base", ["inconclusive", "inconclusive"]), ...of("b", "base", ["inconclusive", "inconclusive"])];
    expect(beaten(apart)).toEqual([]);
    expect(first(apart).reading).not.toContain("Hollow");
    expect(beaten([...apart, ...of("b", "a", ["worse", "worse"])])).toEqual(["b"]);
  });

  test("one is beaten by verdicts alone, whichever of both was the reference", () => {
    const cases: [[Verdict, Verdict], string[]][] = [
      [["better", "better"], ["base"]],
      [["better", "equivalent"], ["base"]],
      [["equivalent", "worse"], ["a"]],
      [["better", "inconclusive"], []],
      [["better", "worse"], []],
      [["equivalent", "equivalent"], []],
      [["invalid", "worse"], []],
    ];
    for (const [verdicts, expected] of cases) {
      const findings = [...of("a", "base", verdicts), ...of("b", "base", ["inconclusive", "inconclusive"])];
      expect(beaten(findings), verdicts.join()).toEqual(expected);
      expect(first(findings).reading.includes("Hollow"), verdicts.join()).toBe(expected.length > 0);
    }
  });

  test("of several verdicts on the same the first counts", () => {
    const twice = [...of("a", "base", ["better", "better"]), ...of("a", "base", ["worse", "worse"])];
    const figure = first([...twice, ...of("b", "base", ["inconclusive", "inconclusive"])]);
    expect(figure.table.rows.filter((row) => row[7] === "yes").map(([subject]) => subject)).toEqual(["base"]);
    expect(figure.reading).toContain("Filled and named: nothing of the kind was shown.");
  });

  test("look at each finding a few times, however many subjects there are", () => {
    const subjects = Array.from({ length: 60 }, (_, number) => `s${number}`);
    let reads = 0;
    const counted = (finding: Finding): Finding =>
      Object.defineProperty({ ...finding }, "workload", {
        get: () => {
          reads += 1;
          return "w";
        },
      });
    const findings = subjects.flatMap((subject) => of(subject, "base", ["worse", "worse"])).map(counted);
    const rows = tradeOffs(findings, ["base", ...subjects])[0]?.figures()[0]?.table.rows ?? [];
    expect(rows.filter((row) => row[7] === "yes").length).toBe(subjects.length);
    expect(reads).toBeLessThan(20 * findings.length);
  });

  test("what nothing may be said of is not drawn, and the reader is told", () => {
    const undecided: [Verdict, Verdict] = ["inconclusive", "inconclusive"];
    const others = [...of("b", "base", undecided), ...of("c", "base", undecided)];
    const all = [...of("a", "base", undecided), ...others];
    expect(first(all).reading).not.toContain("Left out");
    const [latency, ...rest] = all;
    if (!latency) throw new Error("there are two metrics");
    const figure = first([{ ...latency, is_forbidden: true }, ...rest]);
    expect(figure.table.rows.map(([subject]) => subject)).toEqual(["base", "b", "c"]);
    expect(figure.reading).toContain("Left out: comparisons of which something forbids every verdict.");
    expect(tradeOffs(all.map((one) => ({ ...one, is_forbidden: true })), SUBJECTS)).toEqual([]);
  });

  test("have a name for each reference", () => {
    const undecided: [Verdict, Verdict] = ["inconclusive", "inconclusive"];
    const pairs = [["a", "base"], ["b", "base"], ["b", "a"], ["c", "a"]] as const;
    const names = tradeOffs(pairs.flatMap(([subject, reference]) => of(subject, reference, undecided)), SUBJECTS).map(({ name }) => name);
    expect(names).toEqual(["w, latency and rate, against base", "w, latency and rate, against a"]);
  });
});

describe("what a reader chooses from", () => {
  test("names the pair, so that two of one subject are told apart", () => {
    const page = golden("measured");
    const one = page.findings.find((finding) =>
      finding.role === "primary" && page.series.some(({ workload, metric }) => workload === finding.workload && metric === finding.metric));
    if (!one) throw new Error("the golden campaign has values of a comparison");
    const findings = ["baseline", "batch"].map((reference): Finding => ({ ...one, subject: "fifo", reference }));
    const about = `${one.workload}, ${one.metric.replaceAll("_", " ")}`;
    expect(figuresOf({ ...page, findings }).runs.map(({ name }) => name)).toEqual([
      `${about}: fifo against baseline`, `${about}: fifo against batch`,
    ]);
  });
});

describe("many comparisons", () => {
  /** A list that counts how often its length is asked for, which each way through it does. */
  function counting<Row>(rows: Row[]): { rows: Row[]; passes: () => number } {
    let passes = 0;
    const counted = new Proxy(rows, {
      get(target, name, receiver): unknown {
        if (name === "length") passes += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    return { rows: counted, passes: () => passes };
  }

  /** Of so many comparisons in one metric: ways through its values, and through all series. */
  function passesOf(comparisons: number): number[] {
    const page = golden("imported-rows");
    const [one] = page.findings.filter(({ role }) => role === "primary");
    const [first] = page.series;
    if (!one || !first) throw new Error("the golden import has values of a comparison");
    const value = counting(first.value);
    const series = counting([{ ...first, value: value.rows }]);
    const finding: Finding = { ...one, workload: first.workload, metric: first.metric };
    const figures = allFigures({ ...page, findings: Array<Finding>(comparisons).fill(finding), series: series.rows });
    expect(figures.filter(({ section }) => section === "runs").length).toBe(comparisons);
    return [value.passes(), series.passes()];
  }

  test("go through what they share as often as few do", () => {
    expect(passesOf(200)).toEqual(passesOf(2));
  });

  test("are looked up by what they share, each in its order", () => {
    expect([...grouped(["a1", "b1", "a2"], (row) => row.charAt(0))]).toEqual([["a", ["a1", "a2"]], ["b", ["b1"]]]);
  });
});

describe("an import", () => {
  /** Ids of the figures of runs, without the number of the comparison, each once. */
  const kinds = (page: Page): string[] =>
    [...new Set(allFigures(page).filter(({ section }) => section === "runs").map(({ figure }) => figure.id.replace(/-\d+$/, "")))];

  /** The same, of whose order this is known. */
  function ordered(page: Page, order: ImportedOrder): Page {
    const { imported } = page.design;
    if (!imported) throw new Error("the golden campaign was imported");
    return { ...page, design: { ...page.design, imported: { ...imported, order } } };
  }

  test.each(["unknown", "rows", "column"] as const)("without blocks has no pairs and no order, where its order is %s", (order) => {
    expect(kinds(golden("imported-rows"))).toEqual(["spread"]);
    expect(kinds(ordered(golden("imported-rows"), order))).toEqual(["spread"]);
  });

  test.each(["unknown", "rows", "column"] as const)("with blocks has pairs and no runs in the order they were made, where its order is %s", (order) => {
    expect(golden("imported-blocks").design.imported?.order).toBeUndefined();
    expect(kinds(golden("imported-blocks"))).toEqual(["pairs", "spread"]);
    expect(kinds(ordered(golden("imported-blocks"), order))).toEqual(["pairs", "spread"]);
  });

  test("is told apart from what was measured in blocks of a drawn order", () => {
    expect(kinds(golden("measured"))).toEqual(["pairs", "drift", "spread"]);
  });

  test("says nowhere of its runs when they were made", () => {
    for (const campaign of IMPORTS) {
      for (const { figure } of allFigures(golden(campaign))) {
        const picture = drawn(figure, "light", 960);
        for (const words of ["in the order they were made", "order of runs", "by order"]) {
          expect(figure.title + figure.reading + picture, `${campaign} ${figure.id}`).not.toContain(words);
        }
      }
    }
  });
});
