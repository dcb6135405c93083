import { describe, expect, test } from "vitest";
import { csv } from "../src/figures/figure";
import { quantile } from "../src/figures/spread";
import { change, confidence, endsInTable, estimate, inPercent, logLabels, multiple, percent, quantity, strengthAndVerdict } from "../src/format";

describe("changes", () => {
  test("are percents below twofold and factors beyond, as on the terminal", () => {
    expect(change(1.031)).toBe("+3.1 %");
    expect(change(0.97)).toBe("−3.0 %");
    expect(change(1)).toBe("0.0 %");
    expect(change(0.9999)).toBe("0.0 %");
    expect(change(1.521, 0)).toBe("+52 %");
    // crates/report/src/quantities.rs says the same of each: rounded once, a tie to the even digit.
    expect(change(1.1104992)).toBe("+11.0 %");
    expect(change(1.0625)).toBe("+6.2 %");
    expect(change(1.1875)).toBe("+18.8 %");
    expect(change(0.9375)).toBe("−6.2 %");
    expect(change(2.521)).toBe("×2.52");
    expect(change(0.24)).toBe("÷4.17");
    expect(estimate({ ratio: 1.9, low: 1.7, high: 2.1 })).toBe("×1.9 [×1.7, ×2.1]");
    expect(estimate({ ratio: 0.9999, low: 0, high: 2.1 })).toBe("×1 [unbounded, ×2.1]");
    expect(estimate({ ratio: 0.9, low: 0.8, high: 1.1 })).toBe("−10.0 % [−20.0 %, +10.0 %]");
    expect(estimate({ ratio: 1.1, low: 0.9, high: null })).toBe("+10.0 % [−10.0 %, unbounded]");
    expect(estimate({ ratio: 1, low: 1, high: 1 })).toBe("0.0 % [no interval]");
    expect(estimate({ ratio: 2.5, low: 2.5, high: 2.5 })).toBe("×2.5 [no interval]");
    // No number may hold what these stand for.
    expect(estimate({ ratio: 1e300, low: 1e300, high: null })).toBe("more than ×1e300 [more than ×1e300, unbounded]");
    expect([1e300, 1e-300].map((ratio) => change(ratio))).toEqual(["more than ×1e300", "more than ÷1e300"]);
    expect([1e300, 1e-300].map(multiple)).toEqual([">×1e300", "<×1e-300"]);
    expect(endsInTable({ low: 1, high: 1 })).toEqual(["no interval", ""]);
    expect(endsInTable({ low: 0.9, high: null })).toEqual([0.9, "unbounded"]);
    expect(change(103)).toBe("×103");
    expect(change(0.1)).toBe("÷10");
    expect(change(0)).toBe("unbounded");
    expect(change(null)).toBe("unbounded");
    expect(multiple(1.314)).toBe("×1.31");
  });
});

describe("quantities", () => {
  test("have the unit in which they are short", () => {
    expect(quantity(12_345, "nanoseconds")).toBe("12.3 us");
    expect(quantity(3 * 1024 ** 2, "bytes_per_second")).toBe("3 MiB/s");
    expect(quantity(0.25, "fraction")).toBe("25 %");
    expect(quantity(0, "nanoseconds")).toBe("0 ns");
    expect(quantity(null, "nanoseconds")).toBe("none");
  });
});

describe("levels", () => {
  test("have the digits that tell them from certainty", () => {
    const told = (...alphas: number[]) => confidence(alphas.map((alpha) => ({ alpha })));
    expect(told(0.05)).toBe("95 %");
    expect(told(0.05 / 3, 0.05)).toBe("95–98.33 %");
    expect(told(1e-4)).toBe("99.99 %");
    // crates/report/src/quantities.rs says the same of each.
    expect(told(5e-5)).toBe("99.995 %");
    expect(told(1.8e-6)).toBe("99.9998 %");
    expect(told(3e-9)).toBe("99.9999997 %");
  });
});

describe("percentages", () => {
  test("have few digits however large they are", () => {
    expect([0.05, 0.0125, 2.5].map(inPercent)).toEqual(["5 %", "1.25 %", "250 %"]);
    // crates/model/src/digits.rs says the same of each.
    expect([1e5, -2.5e304, 1e308].map(inPercent)).toEqual(["1.00e7 %", "-2.50e306 %", "1.00e310 %"]);
    expect(quantity(1e308, "fraction")).toBe("1.00e310 %");
    expect([percent(0.5), percent(1e308)]).toEqual(["50.0 %", "1.00e310 %"]);
  });
});

describe("verdicts", () => {
  test("say how sure they are", () => {
    expect(strengthAndVerdict({ verdict: "better", strength: "clearly" })).toBe("clearly better");
    expect(strengthAndVerdict({ verdict: "worse", strength: "detectable" })).toBe("worse");
    expect(strengthAndVerdict({ verdict: "equivalent", strength: null })).toBe("equivalent");
  });
});

describe("labels of logarithmic axes", () => {
  test("are sparse over many decades and not over few", () => {
    const wide = logLabels([1e3, 1e6], "nanoseconds");
    expect([wide(1e4), wide(2e4)]).toEqual(["10 us", ""]);
    const narrow = logLabels([1e4, 9e4], "nanoseconds");
    expect([narrow(1e4), narrow(2e4), narrow(3e4), narrow(5e4)]).toEqual(["10 us", "20 us", "", "50 us"]);
  });
});

describe("CSV", () => {
  test("quotes what has to be, and no cell becomes a formula", () => {
    const text = csv({ columns: ["a,b", "c"], rows: [["=1+1", -5], ['say "x"', 0.5], ["+cmd|' /C calc'!A0", 1]] });
    expect(text).toBe(`"a,b",c\r\n'=1+1,-5\r\n"say ""x""",0.5\r\n'+cmd|' /C calc'!A0,1\r\n`);
  });
});

describe("CSV in another language", () => {
  test("is marked as UTF-8, which spreadsheets would not guess", () => {
    expect(csv({ columns: ["비교 대상"], rows: [["fifo"]] })).toBe("\ufeff비교 대상\r\nfifo\r\n");
  });
});

describe("quantiles of runs", () => {
  test("lie between order statistics", () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([7], 0.25)).toBe(7);
    expect(quantile([1, 2, 3, 4, 5], 0.25)).toBe(2);
  });
});
