import * as Plot from "@observablehq/plot";
import { logLabels, quantity } from "../format";
import type { Latency } from "../live/protocol";
import { base, BY_SUBJECT, type Canvas, type Choice, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { apart } from "./labels";
import { byDashes, scales } from "./series";

const PERCENTILES = [
  ["p50", "p50"],
  ["p99", "p99"],
  ["p999", "p99.9"],
] as const;
type Percentile = (typeof PERCENTILES)[number][0];

interface Point {
  order: number;
  subject: string;
  percentile: string;
  value: number;
}

/** Three curves for each of more subjects than these have no room for their labels. */
const MOST_TOGETHER = 4;
/** Pixels. */
const HEIGHT = 340;
const MARGIN_TOP = 24;
const MARGIN_BOTTOM = 40;
const LETTER = 7;
/** Below this, labels go without their values. */
const NARROW = 520;

/** The name of a unit as figures know it. */
const unitOf = ({ unit }: Latency): string => (unit === "ns" ? "nanoseconds" : unit);

/** Latency of each finished trial, for every workload that tells some. */
export function trialPercentiles(latencies: Latency[], subjects: string[]): Choice[] {
  return latencies.flatMap((latency, number) => {
    const name = `${latency.workload}, ${latency.source.replaceAll("_", " ")}`;
    if (subjects.length <= MOST_TOGETHER) {
      return [{ name, figures: () => [trials(latency, PERCENTILES.map(([key]) => key), `trials-${number}`, subjects)] }];
    }
    return PERCENTILES.map(([key, title]) => ({
      name: `${name}, ${title}`,
      figures: () => [trials(latency, [key], `trials-${number}-${key}`, subjects)],
    }));
  });
}

function trials(latency: Latency, shown: Percentile[], id: string, subjects: string[]): Figure {
  const data = PERCENTILES.filter(([key]) => shown.includes(key)).flatMap(([key, percentile]) =>
    latency.points.flatMap(({ order, subject, [key]: value }): Point[] =>
      value === null || value <= 0 ? [] : [{ order, subject, percentile, value }],
    ),
  );
  return {
    id,
    title: `${latency.workload}: ${latency.source.replaceAll("_", " ")} of each trial`,
    reading: "One mark for each finished trial, in the order in which they were made; colour, shape and dashes tell the subject.",
    options: (canvas) => plot(latency, data, subjects, canvas),
    table: {
      columns: ["trial", "subject", ...PERCENTILES.map(([, percentile]) => `${percentile} (${unitOf(latency)})`)],
      rows: latency.points.map((point) => [
        point.order + 1, point.subject, ...PERCENTILES.map(([key]) => point[key] ?? ""),
      ]),
    },
  };
}

function plot(latency: Latency, data: Point[], subjects: string[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const isNarrow = width < NARROW;
  const label = ({ percentile, subject, value }: Point): string =>
    `${percentile} ${subject}${isNarrow ? "" : ` ${quantity(value, unitOf(latency))}`}`;
  const last = new Map(data.map((point) => [`${point.percentile} ${point.subject}`, point]));
  const height = Math.max(HEIGHT, last.size * 17 + MARGIN_TOP + MARGIN_BOTTOM);
  const ends = apart([...last.values()], data.map(({ value }) => value), height - MARGIN_TOP - MARGIN_BOTTOM);
  const longest = Math.max(...ends.map((end) => label(end).length), 8);
  return base(canvas, {
    height,
    marginLeft: 64,
    marginRight: Math.min(longest * LETTER + 20, width * 0.42),
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    ...scales(subjects, theme),
    x: { label: "trial →", tickFormat: (order: number) => (Number.isInteger(order) ? String(order + 1) : ""), ticks: Math.max(3, Math.floor(width / 120)) },
    y: { type: "log", label: null, grid: true, tickFormat: logLabels(data.map(({ value }) => value), unitOf(latency)) },
    marks: [
      ...byDashes(data, subjects, theme).map(([strokeDasharray, rows]) =>
        Plot.line(rows, {
          x: "order", y: "value", z: ({ subject, percentile }: Point) => `${subject} ${percentile}`,
          stroke: BY_SUBJECT, strokeWidth: 1.5, strokeDasharray,
        }),
      ),
      Plot.dot(data, { x: "order", y: "value", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 3 }),
      ...ends.map((end) =>
        Plot.text([end], {
          x: () => Math.max(...data.map(({ order }) => order)), y: "value", text: label, fill: BY_SUBJECT, dx: 10, dy: end.shift, textAnchor: "start",
          fontWeight: 600, stroke: theme.panel, strokeWidth: 4,
        }),
      ),
    ],
  });
}
