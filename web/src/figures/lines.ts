import * as Plot from "@observablehq/plot";
import { logLabels } from "../format";
import type { Grid } from "../generated/page";
import { t } from "../words";
import { spaced } from "./axis";
import { base, BY_SUBJECT, type Canvas, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { tally } from "./finding";
import { apart, longest } from "./labels";
import { byDashes, scales } from "./series";

interface Point {
  subject: string;
  label: string;
  at: number;
  value: number;
}

/** Pixels. */
const HEIGHT = 320;
const MARGIN_TOP = 20;
const MARGIN_BOTTOM = 40;
const LEFT = 72;
const LETTER = 7;
const TICK_ROOM = 52;

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
  const title = t("{measure} by {axis}", { measure: grid.columns.labels[column] ?? "", axis: name.replaceAll("_", " ") });
  return {
    id,
    title,
    finding: found(grid, column, title),
    reading: [
      grid.direction === "lower" ? t("Geometric means of all runs, lower is better.") : t("Geometric means of all runs, higher is better."),
      t("Lines join sizes for the eye; nothing was measured between them."),
    ].join(" "),
    options: (canvas) => plot(grid, data, subjects, canvas),
    table: {
      columns: [name, t("subject"), t("value ({unit})", { unit: grid.unit })],
      rows: data.map(({ label, subject, value }) => [label, subject, value]),
    },
  };
}

function plot(grid: Grid, data: Point[], subjects: string[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const { labels, numbers = [], name } = grid.rows;
  const last = grid.subjects.flatMap(({ subject }) => data.findLast((point) => point.subject === subject) ?? []);
  const values = data.map(({ value }) => value);
  const ends = apart(last, values, HEIGHT - MARGIN_TOP - MARGIN_BOTTOM);
  const right = Math.min(longest(grid.subjects.map(({ subject }) => subject), 4) * LETTER + 20, width * 0.3);
  const sizes = data.map(({ at }) => at);
  const span: [number, number] = [Math.min(...sizes), Math.max(...sizes)];
  return base(canvas, {
    height: HEIGHT,
    marginLeft: LEFT,
    marginRight: right,
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    ...scales(subjects, theme),
    x: {
      type: "log",
      // Of ten, labels of sizes such as 64 KiB would be left out as too many between two powers.
      base: 2,
      ticks: spaced(numbers, span, width - LEFT - right, TICK_ROOM),
      tickFormat: (value: number) => labels[numbers.indexOf(value)] ?? "",
      label: `${name} →`,
    },
    y: { type: "log", label: null, grid: true, tickFormat: logLabels(values, grid.unit) },
    marks: [
      ...byDashes(data, subjects, theme).map(([strokeDasharray, rows]) =>
        Plot.line(rows, { x: "at", y: "value", z: "subject", stroke: BY_SUBJECT, strokeWidth: 2, strokeDasharray }),
      ),
      Plot.dot(data, { x: "at", y: "value", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 3.5 }),
      ...ends.map((end) =>
        Plot.text([end], {
          x: "at", y: "value", text: "subject", fill: BY_SUBJECT, dx: 8, dy: end.shift, textAnchor: "start", fontWeight: 600,
          stroke: theme.panel, strokeWidth: 4,
        }),
      ),
    ],
  });
}

/** What was found of one column; of one reference its name is said once. */
function found(grid: Grid, column: number, title: string): string {
  const comparisons = grid.comparisons.filter(({ is_control }) => !is_control);
  const references = [...new Set(comparisons.map(({ reference }) => reference))];
  const [only] = references.length === 1 ? references : [];
  const each = comparisons.map(({ subject, reference, cells }) => {
    const told = tally(cells.flatMap((row) => row[column]?.verdict ?? []), "size");
    return only === undefined ? t("{subject} against {reference} {tally}", { subject, reference, tally: told }) : t("{subject} {tally}", { subject, tally: told });
  });
  const findings = each.join("; ");
  return only === undefined ? `${title}: ${findings}` : t("{title}, against {reference}: {findings}", { title, reference: only, findings });
}

/** Whether a grid's rows can be an axis. */
export function hasLines(grid: Grid): boolean {
  const { numbers = [] } = grid.rows;
  return grid.subjects.length > 0 && numbers.length > 1 && numbers.every((value) => value > 0);
}
