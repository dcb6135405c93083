/** Every figure of a page, by section. Pure: drawing is left to the caller, which has a canvas. */

import type { Curve, Finding, Ladder, Series } from "../generated/page";
import { grouped } from "../grouped";
import { type Page, type Run, runs } from "../model";
import { t } from "../words";
import { breakdown } from "./breakdown";
import { ecdf } from "./ecdf";
import type { Choice, Figure } from "./figure";
import { said } from "./finding";
import { byStrength, forest } from "./forest";
import { heatMaps } from "./heat";
import { ladder } from "./ladder";
import { hasLines, lines } from "./lines";
import { choicesWithOrigin, originOfPage, withOrigin } from "./origin";
import { tradeOffs } from "./pareto";
import { percentiles } from "./percentiles";
import { drift, pairs } from "./runs";
import { spread } from "./spread";

export type { Choice };

export interface Figures {
  effects: Figure[];
  values: Choice[];
  tradeOffs: Choice[];
  distributions: Choice[];
  runs: Choice[];
}

export function figuresOf(page: Page): Figures {
  const subjects = page.subjects.map(({ id }) => id);
  const { imported } = page.design;
  const { probabilities, of: curves } = page.curves ?? { probabilities: [], of: [] };
  const ofPairs = grouped(page.findings, pairKey);
  const primary = page.findings.filter(({ role }) => role === "primary");
  const ofWorkloads = grouped(primary, ({ workload }) => workload);
  const ofMetrics = recordings(page.series, subjects);
  const origin = originOfPage(page);
  const choices = (all: Choice[]): Choice[] => choicesWithOrigin(origin, all);
  return {
    effects: withOrigin(origin, [
      forest(page.findings, page.is_unfinished),
      ...page.ladders.map((one, number) => ladder(one, number, compared(one, ofPairs), page.is_unfinished)),
      ...page.grids.flatMap(heatMaps),
      ...page.breakdowns.map(breakdown),
    ]),
    values: choices(page.grids.filter(hasLines).flatMap((grid, number) =>
      grid.columns.labels.map((label, column): Choice => ({
        name: `${grid.measure} ${label}`,
        figures: () => [lines(grid, column, `lines-${number}-${column}`, subjects)],
      })),
    )),
    tradeOffs: choices(tradeOffs(page.findings, subjects)),
    distributions: choices(curves.map((curve, number): Choice => ({
      name: `${curve.workload}, ${curve.source.replaceAll("_", " ")}`,
      figures: () => [
        ...[percentiles, ecdf].map((draw) => ({
          ...draw(curve, probabilities, number, subjects),
          ...found(strongestOf(ofWorkloads.get(curve.workload) ?? [], curve)),
        })),
      ],
    }))),
    runs: choices(primary.flatMap((finding, number): Choice[] => {
      const { workload, metric, subject, reference } = finding;
      const recorded = ofMetrics.get(metricKey(finding));
      if (!recorded) return [];
      const name = t("{workload}, {metric}: {subject} against {reference}", {
        workload, metric: metric.replaceAll("_", " "), subject, reference,
      });
      const figures = (): Figure[] => {
        const values = { ...recorded.spread(), id: `spread-${number}`, ...found(finding) };
        // No file tells the order of its runs, and one without blocks no pairs.
        if (imported && imported.design !== "blocked") return [values];
        const ofBlocks = pairs(finding, recorded.bySubject(), number, imported !== undefined);
        return imported ? [ofBlocks, values] : [ofBlocks, { ...recorded.drift(), id: `drift-${number}` }, values];
      };
      return [{ name, figures }];
    })),
  };
}

const metricKey = ({ workload, metric }: Finding | Series): string => `${workload}\0${metric}`;

interface ComparedPair {
  metric: string;
  subject: string;
  reference: string;
}

const pairKey = ({ metric, subject, reference }: ComparedPair): string => `${metric}\0${subject}\0${reference}`;

/** The findings about the pairs of a ladder. */
function compared({ metric, rungs }: Ladder, ofPairs: ReadonlyMap<string, Finding[]>): Finding[] {
  const cells = rungs.flatMap(({ cells }) => cells.flatMap((cell) => cell ?? []));
  const keys = new Set(cells.map(({ subject, reference }) => pairKey({ metric, subject, reference })));
  return [...keys].flatMap((key) => ofPairs.get(key) ?? []);
}

/** What the figures of all comparisons of one metric share: thousands of pairs of subjects may be compared in it. */
interface Recording {
  bySubject: () => ReadonlyMap<string, Run[]>;
  spread: () => Omit<Figure, "id">;
  drift: () => Omit<Figure, "id">;
}

/** The runs of each metric. They are made when a figure of it is asked for, and once. */
function recordings(all: Series[], subjects: string[]): ReadonlyMap<string, Recording> {
  const of = (series: Series): Recording => {
    const rows = once(() => runs(series, subjects));
    const bySubject = once(() => grouped(rows(), ({ subject }) => subject));
    return {
      bySubject,
      spread: once(() => spread(series, rows(), bySubject(), subjects)),
      drift: once(() => drift(series, rows(), subjects)),
    };
  };
  return new Map(all.map((series) => [metricKey(series), of(series)]));
}

function once<Made>(make: () => Made): () => Made {
  let made: { value: Made } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The finding that tells most about the values of a curve, of those of its workload. */
function strongestOf(findings: Finding[], { source }: Curve): Finding | undefined {
  const isAbout = ({ metric }: Finding): boolean => metric === source || metric.startsWith(`${source}_`);
  return findings.filter(isAbout).toSorted(byStrength)[0];
}

const found = (finding: Finding | undefined): Pick<Figure, "finding"> => (finding ? { finding: said(finding) } : {});
