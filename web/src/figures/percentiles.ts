import * as Plot from "@observablehq/plot";
import { logLabels, quantity } from "../format";
import type { Curve } from "../generated/page";
import { t } from "../words";
import { spaced } from "./axis";
import { base, BY_SUBJECT, type Canvas, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { apart, longest } from "./labels";
import { byDashes, scales } from "./series";

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

function points(curve: Curve, probabilities: number[]): Point[] {
  const along = (subject: string, run: number, values: (number | null)[]): Point[] =>
    values.flatMap((value, index) => {
      const probability = probabilities[index];
      if (value === null || value <= 0 || probability === undefined || probability >= 1) return [];
      return [{ subject, run, rarity: 1 / (1 - probability), probability, value }];
    });
  return curve.subjects.flatMap(({ subject, pooled, runs }) => [
    ...along(subject, ALL, pooled),
    ...runs.flatMap((values, run) => along(subject, run, values)),
  ]);
}

/** Pixels. */
const HEIGHT = 340;
const LEFT = 64;
const MARGIN_TOP = 20;
const MARGIN_BOTTOM = 40;

/** Pixels of a letter of a label, about, and of the room that a tick's label needs. */
const LETTER = 7;
const TICK_ROOM = 44;

const label = ({ subject, value }: Point, { unit }: Curve): string => `${subject} ${quantity(value, unit)}`;

const percent = (probability: number): string => `${Number((probability * 100).toFixed(4))} %`;

/** Latency against percentile: the tail gets as much room as it deserves. */
export function percentiles(curve: Curve, probabilities: number[], number: number, subjects: string[]): Figure {
  const data = points(curve, probabilities);
  const pooled = data.filter(({ run }) => run === ALL);
  const counts = new Map(curve.subjects.map(({ subject, count }) => [subject, count]));
  return {
    id: `percentiles-${number}`,
    title: `${curve.workload}: ${curve.source.replaceAll("_", " ")}`,
    reading: t(
      "Thick: all runs of a subject together; thin: each run. A curve ends where fewer than ten values lie beyond it.",
    ),
    options: (canvas) => plot(curve, subjects, data, canvas),
    table: {
      columns: [t("subject"), t("percentile"), t("value ({unit})", { unit: curve.unit }), t("values in all")],
      rows: pooled.map((point) => [
        point.subject,
        percent(point.probability),
        point.value,
        counts.get(point.subject) ?? "",
      ]),
    },
  };
}

function plot(curve: Curve, subjects: string[], data: Point[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const pooled = data.filter(({ run }) => run === ALL);
  const last = subjects.flatMap((subject) => pooled.findLast((point) => point.subject === subject) ?? []);
  const ends = apart(last, data.map(({ value }) => value), HEIGHT - MARGIN_TOP - MARGIN_BOTTOM);
  const labelled = longest(last.map((end) => label(end, curve)), 8);
  const reached = Math.max(2, ...data.map(({ rarity }) => rarity));
  const right = Math.min(labelled * LETTER + 20, width * 0.45);
  const marks = spaced(MARKS.map((probability) => 1 / (1 - probability)), [1, reached * 1.01], width - LEFT - right, TICK_ROOM);
  return base(canvas, {
    height: HEIGHT,
    marginLeft: LEFT,
    marginRight: right,
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    ...scales(subjects, theme),
    x: {
      type: "log",
      domain: [1, reached],
      ticks: marks,
      tickFormat: (rarity: number) => percent(1 - 1 / rarity),
      label: t("percentile →"),
    },
    y: {
      type: "log",
      label: `↑ ${curve.source.replaceAll("_", " ")}`,
      tickFormat: logLabels(data.map(({ value }) => value), curve.unit),
      grid: true,
    },
    marks: [
      Plot.line(data.filter(({ run }) => run !== ALL), {
        x: "rarity",
        y: "value",
        z: (point: Point) => `${point.subject} ${point.run}`,
        stroke: BY_SUBJECT,
        strokeOpacity: 0.35,
        strokeWidth: 1,
      }),
      ...byDashes(pooled, subjects, theme).map(([strokeDasharray, rows]) =>
        Plot.line(rows, { x: "rarity", y: "value", z: "subject", stroke: BY_SUBJECT, strokeWidth: 2.6, strokeDasharray }),
      ),
      Plot.dot(ends, { x: "rarity", y: "value", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 4 }),
      ...ends.map((end) =>
        Plot.text([end], {
          x: "rarity",
          y: "value",
          text: (point: Point) => label(point, curve),
          fill: BY_SUBJECT,
          dx: 9,
          dy: end.shift,
          textAnchor: "start",
          fontWeight: 600,
          lineWidth: (right - 9) / 12,
          textOverflow: "ellipsis-middle",
          stroke: theme.panel,
          strokeWidth: 4,
        }),
      ),
    ],
  });
}
