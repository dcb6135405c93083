import * as Plot from "@observablehq/plot";
import { logLabels } from "../format";
import type { Curve } from "../generated/page";
import { t } from "../words";
import { base, BY_SUBJECT, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { byDashes, scales } from "./series";

interface Point {
  subject: string;
  probability: number;
  value: number;
}

/** Where a curve has its subject's shape. */
const MARKED = [0.1, 0.5, 0.9];

/** The share of values up to each value, all runs of a subject together. */
export function ecdf(curve: Curve, probabilities: number[], number: number, subjects: string[]): Figure {
  const data = curve.subjects.flatMap(({ subject, pooled }) =>
    pooled.flatMap((value, index): Point[] => {
      const probability = probabilities[index];
      return value === null || value <= 0 || probability === undefined ? [] : [{ subject, probability, value }];
    }),
  );
  return {
    id: `ecdf-${number}`,
    title: t("{workload}: distribution of {metric}", { workload: curve.workload, metric: curve.source.replaceAll("_", " ") }),
    reading: t(
      "The share of values that were at most so large: a curve further left is faster. The tail is hidden here; the percentiles show it.",
    ),
    options: (canvas) =>
      base(canvas, {
        height: 340,
        marginLeft: 48,
        marginRight: 24,
        marginTop: 20,
        marginBottom: 40,
        ...scales(subjects, canvas.theme, true),
        x: {
          type: "log",
          label: `${curve.source.replaceAll("_", " ")} →`,
          tickFormat: logLabels(data.map(({ value }) => value), curve.unit),
        },
        y: { domain: [0, 1], label: t("↑ share"), grid: true, tickFormat: "%" },
        marks: [
          ...byDashes(data, subjects, canvas.theme).map(([strokeDasharray, rows]) =>
            Plot.line(rows, { x: "value", y: "probability", stroke: BY_SUBJECT, strokeWidth: 2.2, strokeDasharray, z: "subject" }),
          ),
          Plot.dot(data.filter(({ probability }) => MARKED.includes(probability)), {
            x: "value", y: "probability", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 4,
          }),
        ],
      }),
    table: {
      columns: [t("subject"), t("share"), t("value ({unit})", { unit: curve.unit })],
      rows: data.map(({ subject, probability, value }) => [subject, probability, value]),
    },
  };
}
