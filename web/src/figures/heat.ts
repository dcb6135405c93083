import * as Plot from "@observablehq/plot";
import { change, endsInTable, VERDICT_SYMBOLS, verdictWord } from "../format";
import type { Grid, Ratio, Verdict } from "../generated/page";
import { t } from "../words";
import { base, type Canvas, type Figure } from "./figure";
import { tally } from "./finding";
import { longest, rowNames } from "./labels";

interface Cell extends Ratio {
  verdict: Verdict;
  row: string;
  column: string;
}

/** Changes at which the colour steps, as oriented ratios. */
const STEPS = [0.8, 0.9, 0.95, 0.99, 1.01, 1.05, 1.1, 1.25];

/** Pixels; of the left margin the least, and the share of the width that it has at most. */
const LEFT = 84;
const MOST_LEFT = 0.3;
const RIGHT = 20;
const BOTTOM = 44;
const LETTER = 6.4;
/** Degrees of labels that have no room side by side. */
const TURN = 40;

/** Whether the change of a cell is a percentage of values: that of a share is one of its odds. */
function hasPercentages(cells: Grid["comparisons"][number]["cells"]): boolean {
  return cells.flat().some((cell) => cell?.effect && !cell.is_odds && change(cell.effect.ratio).includes("%"));
}

/** Whether a test was made of one of these cells: without one nothing was corrected. */
function areTested(cells: Grid["comparisons"][number]["cells"]): boolean {
  return cells.flat().some((cell) => cell?.effect && cell.effect.adjusted_p !== null);
}

/** A heat map for each comparison of a grid. */
export function heatMaps(grid: Grid, number: number): Figure[] {
  return grid.comparisons
    .filter((comparison) => !comparison.is_control)
    .map((comparison, index) => {
      const cells = comparison.cells.flatMap((row, at) =>
        row.flatMap((cell, column): Cell[] => {
          const [down, across] = [grid.rows.labels[at], grid.columns.labels[column]];
          if (!cell?.effect || !down || !across) return [];
          return [{ ...cell.effect, verdict: cell.verdict, row: down, column: across }];
        }),
      );
      const { measure } = grid;
      const { subject, reference } = comparison;
      return {
        id: `heat-${number}-${index}`,
        title: t("{measure}: {subject} against {reference}", { measure, subject, reference }),
        finding: t("{subject} against {reference}, {measure}: {tally}", {
          subject,
          reference,
          measure,
          tally: tally(comparison.cells.flat().flatMap((cell) => cell?.verdict ?? []), "cell"),
        }),
        reading: [
          t("Changes turned so that + and × are better. Colour, a frame and bold type mark cells whose verdict is better or worse; blue is better. The others are pale."),
          ...(areTested(comparison.cells) ? [t("Each verdict is corrected for all comparisons.")] : []),
          ...(grid.direction === "lower" && hasPercentages(comparison.cells)
            ? [t("Where lower is better, a percentage is of the subject's value: +10 % says that the reference has 10 % more.")]
            : []),
          ...(comparison.cells.flat().some((cell) => cell?.is_odds) ? [t("The effect of a share is that of its odds.")] : []),
        ].join(" "),
        options: (canvas) => plot(grid, cells, canvas),
        table: {
          columns: [grid.rows.name, grid.columns.name, t("ratio"), t("low"), t("high"), t("verdict")],
          rows: cells.map((cell) => [
            cell.row, cell.column, cell.ratio, ...endsInTable(cell), verdictWord(cell.verdict),
          ]),
        },
      };
    });
}

function plot(grid: Grid, cells: Cell[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const isDecided = ({ verdict }: Cell): boolean => verdict === "better" || verdict === "worse";
  const step = (ratio: number): number => STEPS.filter((limit) => ratio >= limit).length;
  const isSmall = width < 620;
  const room = longest(grid.columns.labels) * LETTER;
  const { margin: left, fit } = rowNames(grid.rows.labels, width, MOST_LEFT, LEFT);
  const isTight = room > (width - left - RIGHT) / grid.columns.labels.length;
  const bottom = isTight ? BOTTOM + room * Math.sin((TURN * Math.PI) / 180) : BOTTOM;
  return base(canvas, {
    height: grid.rows.labels.length * 40 + 20 + bottom,
    marginLeft: left,
    marginRight: RIGHT,
    marginBottom: bottom,
    padding: 0.04,
    x: { domain: grid.columns.labels, label: grid.columns.name, tickSize: 0, tickRotate: isTight ? -TURN : 0 },
    y: { domain: grid.rows.labels, label: grid.rows.name, tickSize: 0, tickFormat: fit },
    color: { type: "threshold", domain: STEPS, range: [...theme.diverging] },
    marks: [
      Plot.cell(cells.filter((cell) => !isDecided(cell)), { x: "column", y: "row", fill: theme.band, rx: 3, inset: 0.5 }),
      Plot.cell(cells.filter(isDecided), { x: "column", y: "row", fill: "ratio", rx: 3, inset: 0.5 }),
      ...[true, false].map((wanted) =>
        Plot.text(cells.filter((cell) => isDecided(cell) === wanted), {
          x: "column",
          y: "row",
          text: (cell: Cell) =>
            `${wanted && !isSmall ? `${VERDICT_SYMBOLS[cell.verdict]} ` : ""}${change(cell.ratio, isSmall ? 0 : 1)}`,
          fill: (cell: Cell) => (wanted && theme.onDiverging[step(cell.ratio)]) || theme.ink,
          fontWeight: wanted ? 700 : 400,
          fontVariant: "tabular-nums",
          fontSize: isSmall ? 10 : 12,
        }),
      ),
      Plot.cell(cells.filter(isDecided), {
        x: "column", y: "row", fill: "none", stroke: theme.ink, strokeWidth: 1.2, inset: 1, rx: 3,
      }),
    ],
  });
}
