import * as Plot from "@observablehq/plot";
import { endsInTable, intervals, multiple, VERDICT_SYMBOLS, verdictWord, withIntervals } from "../format";
import type { Finding, Ladder, LadderCell } from "../generated/page";
import { t } from "../words";
import { colourOf } from "./forest";
import { base, type Canvas, type Figure } from "./figure";
import { areCorrected, tally } from "./finding";

interface Point {
  workload: string;
  level: string;
  at: number;
  ratio: number;
  low: number;
  high: number;
  cell: LadderCell;
}

/** Levels as numbers where all of them are, so that 2, 4, 8 are equal steps. */
function numbers(levels: string[]): number[] | null {
  const all = levels.map(Number);
  return all.every((value) => Number.isFinite(value) && value > 0) && all.length > 1 ? all : null;
}

/** Pixels of one workload's panel. */
const PANEL = 190;

/** The ratio of two subjects along the factor within which they were compared; the findings are the page's. While a campaign goes on it has no verdict. */
export function ladder(found: Ladder, number: number, findings: Finding[], isUnfinished = false): Figure {
  const levels = found.rungs.map(({ level }) => level);
  const steps = numbers(levels);
  const points = found.rungs.flatMap((rung, index) =>
    rung.cells.flatMap((cell, column): Point[] => {
      const workload = found.workloads[column];
      if (!cell?.ratio || workload === undefined) return [];
      const { ratio, interval } = cell.ratio;
      const high = interval.high ?? Infinity;
      return [{ workload, level: rung.level, at: steps?.[index] ?? index, ratio, low: interval.low, high, cell }];
    }),
  );
  const { subject, reference, factor } = found;
  const cells = found.rungs.flatMap(({ cells }) => cells);
  const told = findings.filter(
    (one) => one.metric === found.metric && cells.some((cell) => cell?.subject === one.subject && cell.reference === one.reference),
  );
  const metric = found.metric.replaceAll("_", " ");
  return {
    id: `ladder-${number}`,
    title: t("{metric}: {subject} over {reference} along {factor}", { metric, subject, reference, factor }),
    finding: t("{subject} against {reference}, {metric} along {factor}: {tally}", {
      subject,
      reference,
      metric,
      factor,
      tally: tally(cells.flatMap((cell) => cell?.verdict ?? []), "step"),
    }),
    reading: [
      ratiosAndBars(found, withIntervals(told)),
      ...(cells.some((cell) => cell?.is_odds) ? [t("The ratio of shares is that of their odds.")] : []),
      isUnfinished
        ? t("There is no verdict before the campaign's end.")
        : areCorrected(told)
          ? t("Symbols are verdicts, corrected for all comparisons.")
          : t("Symbols are verdicts."),
      t("The line at ×1 is no difference."),
    ].join(" "),
    options: (canvas) => plot(found, levels, steps, points, canvas),
    table: {
      columns: [factor, t("workload"), t("ratio"), t("low"), t("high"), t("verdict")],
      rows: points.map((point) => [
        point.level,
        point.workload,
        point.ratio,
        ...endsInTable(point),
        verdictWord(point.cell.verdict),
      ]),
    },
  };
}

/** What points and bars are, where there are any bars. */
function ratiosAndBars({ direction }: Ladder, barred: Finding[]): string {
  const isLower = direction === "lower";
  if (barred.length === 0) return isLower ? t("The ratio of their values, lower is better.") : t("The ratio of their values, higher is better.");
  const bars = { intervals: intervals(barred) };
  return isLower
    ? t("The ratio of their values, lower is better, with {intervals}, each for its point alone.", bars)
    : t("The ratio of their values, higher is better, with {intervals}, each for its point alone.", bars);
}

function plot(
  found: Ladder,
  levels: string[],
  steps: number[] | null,
  points: Point[],
  canvas: Canvas,
): Plot.PlotOptions {
  const { theme, width } = canvas;
  const finite = points.flatMap(({ ratio, low, high }) => [ratio, low, high]).filter((value) => value > 0 && Number.isFinite(value));
  const reach = Math.max(1.2, ...finite.flatMap((value) => [value, 1 / value])) * 1.05;
  const bounded = (value: number): number => Math.min(Math.max(value, 1 / reach), reach);
  const fill = ({ cell }: Point): string => colourOf(cell.verdict, theme);
  const at = steps ?? levels.map((_, index) => index);
  return base(canvas, {
    height: found.workloads.length * PANEL + 40,
    marginLeft: 64,
    marginRight: Math.min(150, width * 0.28),
    marginBottom: 40,
    x: {
      type: steps ? "log" : "linear",
      base: 2,
      ticks: at,
      tickFormat: (value: number) => levels[at.indexOf(value)] ?? "",
      label: `${found.factor} →`,
    },
    y: { type: "log", domain: [1 / reach, reach], label: t("↑ ratio"), ticks: 5, tickFormat: (value: number) => multiple(value), grid: true },
    fy: { label: null, axis: null, domain: found.workloads, padding: 0.12 },
    marks: [
      Plot.ruleY([1], { stroke: theme.ink }),
      Plot.line(points, { x: "at", y: "ratio", fy: "workload", stroke: theme.muted, strokeWidth: 1.5 }),
      Plot.link(points, {
        x1: "at", x2: "at", fy: "workload", stroke: fill, strokeWidth: 2,
        y1: ({ low }: Point) => bounded(low), y2: ({ high }: Point) => bounded(high),
      }),
      Plot.dot(points, { x: "at", y: "ratio", fy: "workload", r: 4.5, fill, stroke: theme.panel }),
      Plot.text(points, {
        x: "at", y: "ratio", fy: "workload", dx: 8, dy: -8, textAnchor: "start", fill, fontWeight: 600,
        stroke: theme.panel, strokeWidth: 4, text: ({ cell, ratio }: Point) => `${VERDICT_SYMBOLS[cell.verdict]} ${multiple(ratio)}`,
      }),
      Plot.text(found.workloads, {
        fy: (workload: string) => workload, frameAnchor: "top-left", dx: 4, dy: 2, fontWeight: 600,
        fill: theme.ink, stroke: theme.panel, strokeWidth: 4, text: (workload: string) => workload,
      }),
    ],
  });
}
