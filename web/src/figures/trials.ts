import * as Plot from "@observablehq/plot";
import { logLabels, quantity } from "../format";
import type { LatencySeries } from "../generated/live";
import { t } from "../words";
import { base, BY_SUBJECT, type Canvas, type Choice, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { apart, longest } from "./labels";
import { byDashes, scales } from "./series";

const PERCENTILES = [
  ["p50", "p50"],
  ["p99", "p99"],
  ["p999", "p99.9"],
] as const;
type Percentile = (typeof PERCENTILES)[number][0];

interface Point {
  /** From one. */
  trial: number;
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
/** Around the values, so that two ticks with a label are among few of them. */
const ROOM = 1.4;

/** Latency of each finished trial, for every workload that tells some. */
export function trialPercentiles(latencies: LatencySeries[], subjects: string[]): Choice[] {
  return latencies.flatMap((latency, number) => {
    const name = `${latency.workload}, ${latency.source.replaceAll("_", " ")}`;
    if (new Set(latency.points.map(({ subject }) => subject)).size <= MOST_TOGETHER) {
      return [{ name, figures: () => [trials(latency, PERCENTILES.map(([key]) => key), `trials-${number}`, subjects)] }];
    }
    return PERCENTILES.map(([key, title]) => ({
      name: `${name}, ${title}`,
      figures: () => [trials(latency, [key], `trials-${number}-${key}`, subjects)],
    }));
  });
}

function trials(latency: LatencySeries, shown: Percentile[], id: string, subjects: string[]): Figure {
  const data = PERCENTILES.filter(([key]) => shown.includes(key)).flatMap(([key, percentile]) =>
    latency.points.flatMap(({ order, subject, [key]: value }): Point[] =>
      value === null || value <= 0 ? [] : [{ trial: order + 1, subject, percentile, value }],
    ),
  );
  return {
    id,
    title: t("{workload}: {metric} of each trial", { workload: latency.workload, metric: latency.source.replaceAll("_", " ") }),
    reading: t("One mark for each finished trial, in the order in which they were made; colour, shape and dashes tell the subject."),
    options: (canvas) => plot(latency, data, subjects, canvas),
    table: {
      columns: [t("trial"), t("subject"), ...PERCENTILES.map(([, percentile]) => `${percentile} (${latency.unit})`)],
      rows: latency.points.map((point) => [
        point.order + 1, point.subject, ...PERCENTILES.map(([key]) => point[key] ?? ""),
      ]),
    },
  };
}

function plot(latency: LatencySeries, data: Point[], subjects: string[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const isNarrow = width < NARROW;
  const label = ({ percentile, subject, value }: Point): string =>
    `${percentile} ${subject}${isNarrow ? "" : ` ${quantity(value, latency.unit)}`}`;
  const last = new Map(data.map((point) => [`${point.percentile} ${point.subject}`, point]));
  const height = Math.max(HEIGHT, last.size * 17 + MARGIN_TOP + MARGIN_BOTTOM);
  const latest = Math.max(...data.map(({ trial }) => trial));
  const values = data.map(({ value }) => value);
  const domain = [Math.min(...values) / ROOM, Math.max(...values) * ROOM];
  const ends = apart([...last.values()], domain, height - MARGIN_TOP - MARGIN_BOTTOM);
  return base(canvas, {
    height,
    marginLeft: 64,
    marginRight: Math.min(longest(ends.map(label), 8) * LETTER + 20, width * 0.42),
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    ...scales(subjects, theme),
    x: {
      label: t("trial →"), ticks: Math.max(3, Math.floor(width / 120)),
      tickFormat: (trial: number) => (Number.isInteger(trial) ? String(trial) : ""),
    },
    y: {
      type: "log", domain, label: null, grid: true,
      tickFormat: logLabels(values, latency.unit),
    },
    marks: [
      ...byDashes(data, subjects, theme).map(([strokeDasharray, rows]) =>
        Plot.line(rows, {
          x: "trial", y: "value", z: ({ subject, percentile }: Point) => `${subject} ${percentile}`,
          stroke: BY_SUBJECT, strokeWidth: 1.5, strokeDasharray,
        }),
      ),
      Plot.dot(data, { x: "trial", y: "value", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 3 }),
      ...ends.map((end) =>
        Plot.text([end], {
          x: () => latest, y: "value", text: label, fill: BY_SUBJECT, dx: 10, dy: end.shift, textAnchor: "start", fontWeight: 600,
          stroke: theme.panel, strokeWidth: 4,
        }),
      ),
    ],
  });
}
