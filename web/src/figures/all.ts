/** Every figure of a page, by section. Pure: drawing is left to the caller, which has a canvas. */

import type { Curve, Finding } from "../generated/page";
import { type Page, runs } from "../model";
import { t } from "../words";
import { breakdown } from "./breakdown";
import { ecdf } from "./ecdf";
import type { Choice, Figure } from "./figure";
import { said } from "./finding";
import { byStrength, forest } from "./forest";
import { heatMaps } from "./heat";
import { ladder } from "./ladder";
import { hasLines, lines } from "./lines";
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
  return {
    effects: [
      forest(page.findings),
      ...page.ladders.map((one, number) => ladder(one, number, page.findings)),
      ...page.grids.flatMap(heatMaps),
      ...page.breakdowns.map(breakdown),
    ],
    values: page.grids.filter(hasLines).flatMap((grid, number) =>
      grid.columns.labels.map((label, column): Choice => ({
        name: `${grid.measure} ${label}`,
        figures: () => [lines(grid, column, `lines-${number}-${column}`, subjects)],
      })),
    ),
    tradeOffs: tradeOffs(page.findings, subjects),
    distributions: curves.map((curve, number): Choice => ({
      name: `${curve.workload}, ${curve.source.replaceAll("_", " ")}`,
      figures: () => [
        ...[percentiles, ecdf].map((draw) => ({
          ...draw(curve, probabilities, number, subjects),
          ...found(strongestOf(page.findings, curve)),
        })),
      ],
    })),
    runs: page.findings
      .filter(({ role }) => role === "primary")
      .flatMap((finding, number): Choice[] => {
        const { workload, metric, subject, reference } = finding;
        const series = page.series.find((one) => one.workload === workload && one.metric === metric);
        if (!series) return [];
        const name = t("{workload}, {metric}: {subject} against {reference}", {
          workload, metric: metric.replaceAll("_", " "), subject, reference,
        });
        const figures = (): Figure[] => {
          const all = runs(series, subjects);
          const values = { ...spread(series, all, number, subjects), ...found(finding) };
          // No file tells the order of its runs, and one without blocks no pairs.
          if (imported) return imported.design === "blocked" ? [pairs(finding, all, number, true), values] : [values];
          return [pairs(finding, all, number, false), drift(series, all, number, subjects), values];
        };
        return [{ name, figures }];
      }),
  };
}

/** The finding that tells most about the values of a curve. */
function strongestOf(findings: Finding[], { workload, source }: Curve): Finding | undefined {
  const isAbout = ({ role, metric, ...finding }: Finding): boolean =>
    role === "primary" && finding.workload === workload && (metric === source || metric.startsWith(`${source}_`));
  return findings.filter(isAbout).toSorted(byStrength)[0];
}

const found = (finding: Finding | undefined): Pick<Figure, "finding"> => (finding ? { finding: said(finding) } : {});
