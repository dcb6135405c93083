import * as Plot from "@observablehq/plot";
import { logLabels } from "../format";
import type { Grid } from "../model";
import { base, BY_SUBJECT, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { byDashes, scales } from "./series";

interface Point {
  subject: string;
  label: string;
  at: number;
  value: number;
}

/** One column of a grid: each subject's values along the rows, which are numbers such as sizes. */
export function lines(grid: Grid, column: number, id: string, subjects: string[]): Figure {
  const { labels, numbers = [], name } = grid.rows;
  const data = grid.subjects.flatMap(({ subject, cells }) =>
    cells.flatMap((row, index): Point[] => {
      const [value, at, label] = [row[column], numbers[index], labels[index]];
      if (value === null || value === undefined || value <= 0 || !at || label === undefined) return [];
      return [{ subject, label, at, value }];
    }),
  );
  const ends = grid.subjects.flatMap(({ subject }) => data.findLast((point) => point.subject === subject) ?? []);
  const title = grid.columns.labels[column] ?? "";
  return {
    id,
    title: `${title} by ${name.replaceAll("_", " ")}`,
    reading: `Geometric means of all runs, ${grid.direction} is better. Lines join sizes for the eye; nothing was measured between them.`,
    options: (canvas) =>
      base(canvas, {
        height: 320,
        marginLeft: 72,
        marginRight: Math.min(Math.max(...grid.subjects.map(({ subject }) => subject.length), 4) * 7 + 20, canvas.width * 0.3),
        marginBottom: 40,
        ...scales(subjects, canvas.theme),
        x: {
          type: "log",
          ticks: numbers,
          tickFormat: (value: number) => labels[numbers.indexOf(value)] ?? "",
          label: `${name} →`,
        },
        y: { type: "log", label: null, grid: true, tickFormat: logLabels(data.map(({ value }) => value), grid.unit) },
        marks: [
          ...byDashes(data, subjects, canvas.theme).map(([strokeDasharray, rows]) =>
            Plot.line(rows, { x: "at", y: "value", z: "subject", stroke: BY_SUBJECT, strokeWidth: 2, strokeDasharray }),
          ),
          Plot.dot(data, { x: "at", y: "value", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 3.5 }),
          Plot.text(ends, {
            x: "at", y: "value", text: "subject", fill: BY_SUBJECT, dx: 8, textAnchor: "start", fontWeight: 600,
            stroke: canvas.theme.panel, strokeWidth: 4,
          }),
        ],
      }),
    table: {
      columns: [name, "subject", `value (${grid.unit})`],
      rows: data.map(({ label, subject, value }) => [label, subject, value]),
    },
  };
}

/** Whether a grid's rows can be an axis. */
export function hasLines(grid: Grid): boolean {
  const { numbers = [] } = grid.rows;
  return grid.subjects.length > 0 && numbers.length > 1 && numbers.every((value) => value > 0);
}
