import * as Plot from "@observablehq/plot";
import { change, quantity } from "../format";
import type { Finding, Series } from "../model";
import { base, BY_SUBJECT, type Figure } from "./figure";

/** Every run in the order in which it was made, with a moving median: warm-up and drift show. */
export function drift(series: Series, number: number, subjects: string[]): Figure {
  return {
    id: `drift-${number}`,
    title: `${series.workload}: ${series.metric.replaceAll("_", " ")} by order`,
    reading: "One dot for each run, in the order they were made; the line is a median over five runs.",
    options: (canvas) =>
      base(canvas, {
        height: 250,
        marginLeft: 72,
        marginRight: 16,
        marginBottom: 38,
        color: { domain: subjects, range: [...canvas.theme.series], legend: true },
        x: { label: "order of runs →" },
        y: { label: null, grid: true, nice: true, tickFormat: (value: number) => quantity(value, series.unit) },
        marks: [
          Plot.line(
            series.runs,
            Plot.windowY(
              { k: 5, anchor: "middle", reduce: "median", strict: true },
              { x: "order", y: "value", stroke: BY_SUBJECT, strokeWidth: 1.6 },
            ),
          ),
          Plot.dot(series.runs, { x: "order", y: "value", fill: BY_SUBJECT, r: 3 }),
        ],
      }),
    table: {
      columns: ["order", "block", "subject", `value (${series.unit})`],
      rows: series.runs.map(({ order, block, subject, value }) => [order, block + 1, subject, value]),
    },
  };
}

/** One line for each block, from the reference to the subject. */
export function pairs(finding: Finding, number: number): Figure {
  const { question, blocks } = finding;
  const ends = [question.reference, question.subject];
  return {
    id: `pairs-${number}`,
    title: `${question.workload}: ${question.subject} against ${question.reference}, block by block`,
    reading: "One line for each block: runs of a block were made close to each other. Dashed is worse.",
    options: (canvas) =>
      base(canvas, {
        height: 250,
        marginLeft: 72,
        marginRight: 72,
        marginBottom: 28,
        x: { type: "point", domain: ends, label: null, padding: 0.2 },
        y: { label: null, grid: true, tickFormat: (value: number) => quantity(value, question.unit) },
        marks: [
          ...[true, false].map((isWorse) =>
            Plot.link(blocks.filter(({ log_difference }) => log_difference < 0 === isWorse), {
              x1: () => question.reference,
              x2: () => question.subject,
              y1: "reference",
              y2: "subject",
              stroke: canvas.theme.muted,
              strokeWidth: 1.5,
              strokeDasharray: isWorse ? "4 3" : "none",
            }),
          ),
          Plot.dot(blocks, { x: () => question.reference, y: "reference", fill: canvas.theme.ink, r: 2.5 }),
          Plot.dot(blocks, { x: () => question.subject, y: "subject", fill: canvas.theme.ink, r: 2.5 }),
        ],
      }),
    table: {
      columns: ["block", question.reference, question.subject, "change"],
      rows: blocks.map(({ block, reference, subject, log_difference }) => [
        block + 1, reference, subject, change(Math.exp(log_difference)),
      ]),
    },
  };
}
