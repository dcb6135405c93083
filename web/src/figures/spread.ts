import * as Plot from "@observablehq/plot";
import { quantity } from "../format";
import type { Series } from "../generated/page";
import type { Run } from "../model";
import { t } from "../words";
import { base, BY_SUBJECT, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { rowNames } from "./labels";
import { scales } from "./series";

/** Every run of each subject as a dot, with the median and the middle half: no density is guessed. */
export function spread(series: Series, all: Run[], bySubject: ReadonlyMap<string, Run[]>, subjects: string[]): Omit<Figure, "id"> {
  const shown = subjects.filter((id) => bySubject.has(id));
  const quartiles = shown.map((subject) => {
    const values = (bySubject.get(subject) ?? []).map(({ value }) => value);
    return { subject, count: values.length, low: quantile(values, 0.25), median: quantile(values, 0.5), high: quantile(values, 0.75) };
  });
  return {
    title: t("{workload}: {metric} of every run", { workload: series.workload, metric: series.metric.replaceAll("_", " ") }),
    reading: [
      t("One dot for each run; the bar is the middle half, its mark the median."),
      series.direction === "lower" ? t("Lower is better.") : t("Higher is better."),
    ].join(" "),
    options: (canvas) => {
      const { margin: left, fit } = rowNames(shown, canvas.width, 0.4);
      return base(canvas, {
        height: shown.length * 44 + 56,
        marginLeft: left,
        marginRight: 24,
        marginBottom: 36,
        ...scales(subjects, canvas.theme),
        x: { label: null, grid: true, nice: true, ticks: Math.max(2, Math.floor((canvas.width - left) / 130)), tickFormat: (value: number) => quantity(value, series.unit) },
        y: { domain: shown, label: null, tickSize: 0, tickFormat: fit },
        marks: [
          Plot.ruleY(quartiles, { y: "subject", x1: "low", x2: "high", stroke: canvas.theme.grid, strokeWidth: 16 }),
          Plot.tickX(quartiles, { x: "median", y: "subject", stroke: canvas.theme.ink, strokeWidth: 2, inset: 8 }),
          Plot.dot(all, { x: "value", y: "subject", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, fillOpacity: 0.75, r: 3.5 }),
        ],
      });
    },
    table: {
      columns: [t("subject"), t("runs"), t("lower quartile ({unit})", { unit: series.unit }), t("median"), t("upper quartile")],
      rows: quartiles.map(({ subject, count, low, median, high }) => [subject, count, low, median, high]),
    },
  };
}

/** Linear between order statistics: Hyndman and Fan 1996, type 7. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return below + (above - below) * (at - Math.floor(at));
}
