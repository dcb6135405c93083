import * as Plot from "@observablehq/plot";
import { quantity } from "../format";
import type { Curve } from "../model";
import { base, type Canvas, type Figure } from "./figure";

interface Point {
  subject: string;
  run: number;
  /** 1 / (1 - p), so that each nine takes the same room. */
  rarity: number;
  probability: number;
  value: number;
}

const MARKS = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
/** The pooled curve. */
const ALL = -1;

function points(curve: Curve): Point[] {
  const along = (subject: string, run: number, values: (number | null)[]): Point[] =>
    values.flatMap((value, index) => {
      const probability = curve.probabilities[index];
      if (value === null || value <= 0 || probability === undefined || probability >= 1) return [];
      return [{ subject, run, rarity: 1 / (1 - probability), probability, value }];
    });
  return curve.subjects.flatMap(({ subject, pooled, runs }) => [
    ...along(subject, ALL, pooled),
    ...runs.flatMap((values, run) => along(subject, run, values)),
  ]);
}

const percent = (probability: number): string => `${Number((probability * 100).toFixed(4))} %`;

/** Latency against percentile: the tail gets as much room as it deserves. */
export function percentiles(curve: Curve, number: number): Figure {
  const data = points(curve);
  const subjects = curve.subjects.map(({ subject }) => subject);
  const pooled = data.filter(({ run }) => run === ALL);
  return {
    id: `percentiles-${number}`,
    title: `${curve.workload}: ${curve.source.replaceAll("_", " ")}`,
    reading:
      "Thick: all runs of a subject together; thin: each run. A curve ends where fewer than ten " +
      "values lie beyond it.",
    options: (canvas) => plot(curve, subjects, data, canvas),
    table: {
      columns: ["subject", "percentile", `value (${curve.unit})`, "values in all"],
      rows: pooled.map((point) => [
        point.subject,
        percent(point.probability),
        point.value,
        curve.subjects.find(({ subject }) => subject === point.subject)?.count ?? "",
      ]),
    },
  };
}

function plot(curve: Curve, subjects: string[], data: Point[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const pooled = data.filter(({ run }) => run === ALL);
  const ends = subjects.flatMap((subject) => pooled.findLast((point) => point.subject === subject) ?? []);
  const reached = Math.max(2, ...data.map(({ rarity }) => rarity));
  const marks = MARKS.filter((probability) => 1 / (1 - probability) <= reached * 1.01);
  return base(canvas, {
    height: 340,
    marginLeft: 64,
    marginRight: width < 560 ? 92 : 132,
    marginBottom: 40,
    color: { domain: subjects, range: [...theme.series] },
    x: {
      type: "log",
      domain: [1, reached],
      ticks: marks.map((probability) => 1 / (1 - probability)),
      tickFormat: (rarity: number) => percent(1 - 1 / rarity),
      label: "percentile →",
    },
    y: {
      type: "log",
      label: `↑ ${curve.source.replaceAll("_", " ")}`,
      tickFormat: (value: number) =>
        Number.isInteger(Math.log10(value)) || data.length < 3 ? quantity(value, curve.unit) : "",
      grid: true,
    },
    marks: [
      Plot.line(data.filter(({ run }) => run !== ALL), {
        x: "rarity",
        y: "value",
        z: (point: Point) => `${point.subject} ${point.run}`,
        stroke: "subject",
        strokeOpacity: 0.35,
        strokeWidth: 1,
      }),
      Plot.line(pooled, { x: "rarity", y: "value", stroke: "subject", strokeWidth: 2.6 }),
      Plot.dot(ends, { x: "rarity", y: "value", fill: "subject", r: 3.5 }),
      Plot.text(ends, {
        x: "rarity",
        y: "value",
        text: (point: Point) => `${point.subject}\n${quantity(point.value, curve.unit)}`,
        fill: "subject",
        dx: 9,
        textAnchor: "start",
        fontWeight: 600,
        stroke: theme.panel,
        strokeWidth: 4,
      }),
    ],
  });
}
