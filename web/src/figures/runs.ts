import * as Plot from "@observablehq/plot";
import { change, quantity } from "../format";
import type { Finding, Series } from "../generated/page";
import type { Run } from "../model";
import { t } from "../words";
import { base, BY_SUBJECT, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { said } from "./finding";
import { byDashes, scales } from "./series";

/** Every run in the order in which it was made, with a moving median: warm-up and drift show. */
export function drift(series: Series, all: Run[], subjects: string[]): Omit<Figure, "id"> {
  return {
    title: t("{workload}: {metric} by order", { workload: series.workload, metric: series.metric.replaceAll("_", " ") }),
    reading: t("One dot for each run, in the order they were made; the line is a median over five runs."),
    options: (canvas) =>
      base(canvas, {
        height: 250,
        marginLeft: 72,
        marginRight: 16,
        marginBottom: 38,
        ...scales(subjects, canvas.theme, true),
        x: { label: t("order of runs →") },
        y: { label: null, grid: true, nice: true, tickFormat: (value: number) => quantity(value, series.unit) },
        marks: [
          ...byDashes(all, subjects, canvas.theme).map(([strokeDasharray, rows]) =>
            Plot.line(
              rows,
              Plot.windowY(
                { k: 5, anchor: "middle", reduce: "median", strict: true },
                { x: "order", y: "value", z: "subject", stroke: BY_SUBJECT, strokeWidth: 1.6, strokeDasharray },
              ),
            ),
          ),
          Plot.dot(all, { x: "order", y: "value", fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 3.5 }),
        ],
      }),
    table: {
      columns: [t("order"), t("block"), t("subject"), t("value ({unit})", { unit: series.unit })],
      rows: all.map(({ order, block, subject, value }) => [order, block + 1, subject, value]),
    },
  };
}

/** One line for each block, from the reference to the subject. */
export function pairs(finding: Finding, bySubject: ReadonlyMap<string, Run[]>, number: number, isImported: boolean): Figure {
  const { workload, unit, direction, subject, reference } = finding;
  const of = (id: string): Map<number, number> =>
    new Map((bySubject.get(id) ?? []).map(({ block, value }) => [block, value]));
  const after = of(subject);
  const blocks = [...of(reference)].flatMap(([block, before]) => {
    const value = after.get(block);
    return value === undefined ? [] : [{ block, before, after: value }];
  });
  /**
   * Turned as the finding's effect is, which stands above: a table has no other sign for the same. That of a share is
   * one of odds, which are made of counts that the page does not have: then there is none.
   */
  const effect = ({ before, after }: (typeof blocks)[number]): string =>
    before > 0 && after > 0 ? change(direction === "lower" ? before / after : after / before) : "";
  const isWorse = (pair: (typeof blocks)[number]): boolean =>
    direction === "lower" ? pair.after > pair.before : pair.after < pair.before;
  return {
    id: `pairs-${number}`,
    title: t("{workload}: {subject} against {reference}, block by block", { workload, subject, reference }),
    finding: said(finding),
    reading: isImported
      ? t("One line for each block of the file. Dashed is worse.")
      : t("One line for each block with a value of both. Dashed is worse."),
    options: (canvas) =>
      base(canvas, {
        height: 250,
        marginLeft: 72,
        marginRight: 72,
        marginBottom: 28,
        x: { type: "point", domain: [reference, subject], label: null, padding: 0.2 },
        y: { label: null, grid: true, tickFormat: (value: number) => quantity(value, unit) },
        marks: [
          ...[true, false].map((wanted) =>
            Plot.link(blocks.filter((pair) => isWorse(pair) === wanted), {
              x1: () => reference,
              x2: () => subject,
              y1: "before",
              y2: "after",
              stroke: canvas.theme.muted,
              strokeWidth: 1.5,
              strokeDasharray: wanted ? "4 3" : "none",
            }),
          ),
          Plot.dot(blocks, { x: () => reference, y: "before", fill: canvas.theme.ink, r: 2.5 }),
          Plot.dot(blocks, { x: () => subject, y: "after", fill: canvas.theme.ink, r: 2.5 }),
        ],
      }),
    table: {
      columns: [t("block"), reference, subject, ...(finding.is_odds ? [] : [t("effect (+ and × are better)")])],
      rows: blocks.map((pair) => [pair.block + 1, pair.before, pair.after, ...(finding.is_odds ? [] : [effect(pair)])]),
    },
  };
}
