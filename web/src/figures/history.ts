import * as Plot from "@observablehq/plot";
import { change, confidence, endsInTable, hasNoWidth, inPercent } from "../format";
import type { HistorySeries } from "../generated/live";
import { noted, say, t } from "../words";
import { effectDomain, effectTicks } from "./axis";
import { base, type Canvas, type Choice, type Figure } from "./figure";
import { originOf, withOrigin } from "./origin";

interface Point {
  /** From one, in the order of the campaigns. */
  number: number;
  ratio: number;
  low: number;
  high: number;
  /** Whether something forbids every verdict on it. */
  isLeftOut: boolean;
}

/** What a series is called by where its numbers come from. */
const ORIGINS = {
  measured: noted("{title}, measured"),
  emulated: noted("{title}, emulated"),
  simulated: noted("{title}, simulated"),
  imported: noted("{title}, imported"),
  imported_emulated: noted("{title}, imported from an emulated processor"),
  imported_simulated: noted("{title}, imported from a simulation"),
} as const;
/** Beyond this, an interval is cut. */
const WIDEST = 12;
const MOST_TICKS = 12;
/** Pixels. */
const HEIGHT = 280;
const MARGIN_TOP = 28;
const MARGIN_BOTTOM = 40;
const LINE = 24;

/** A figure for each comparison that more than one campaign made. */
export function histories(series: HistorySeries[]): Choice[] {
  return series.map((one, number) => ({
    name: titleOf(one),
    figures: () => withOrigin(originOf(one.origin), [history(one, number)]),
  }));
}

/** Two series may differ in nothing but what their subjects are set to, or where and how they were measured. */
function titleOf(series: HistorySeries): string {
  const { workload, metric: id, subject, reference, subject_levels, reference_levels, origin, conditions } = series;
  const named = (name: string, levels: string): string => (levels === "" ? name : `${name} (${levels})`);
  const title = t("{workload}, {metric}: {subject} against {reference}", {
    workload, metric: id.replaceAll("_", " "), subject: named(subject, subject_levels), reference: named(reference, reference_levels),
  });
  return named(say(ORIGINS[origin], { title }), conditions ?? "");
}

export function history(series: HistorySeries, number: number): Figure {
  const { margin, least_margin: least, points, changes } = series;
  const barred = points.filter((point) => !hasNoWidth(point));
  const place = (campaign: string): number => points.findIndex((point) => point.campaign === campaign) + 1;
  const rules = changes.map(({ before, after, ratio }) => ({ at: (place(before) + place(after)) / 2, ratio }));
  const data = points.map(({ ratio, low, high, left_out: why }, index): Point => ({
    number: index + 1, ratio, low: Math.max(low, 1 / WIDEST), high: Math.min(high ?? Infinity, WIDEST), isLeftOut: why !== undefined,
  }));
  return {
    id: `history-${number}`,
    title: titleOf(series),
    reading: [
      barred.length === 0
        ? t("One mark for each campaign, the oldest at the left: the ratio to the campaign's own reference, turned so that up is better.")
        : t(
            "One mark for each campaign, the oldest at the left: the ratio to the campaign's own reference, turned so that up is better, with its {level} interval.",
            { level: confidence(barred) },
          ),
      least === undefined
        ? t("The grey band is the margin of {margin}.", { margin: inPercent(margin) })
        : t("The grey band is the largest margin, {margin}; the smallest is {least}.", { margin: inPercent(margin), least: inPercent(least) }),
      changes.length === 0 ? t("No place is known where the level changed.") : t("Dashed: the level changed here, by so much."),
      ...(data.some(({ isLeftOut }) => isLeftOut)
        ? [t("Hollow: something forbids every verdict on the campaign, as the table says, and no change rests on it.")]
        : []),
      ...(points.some(({ is_unbound }) => is_unbound)
        ? [t("Of campaigns with EVIDENCE_UNBOUND in the table nobody can know whether their records were edited.")]
        : []),
    ].join(" "),
    options: (canvas) => plot(data, rules, margin, canvas),
    table: {
      columns: [
        t("number"), t("campaign"), t("ratio"), t("low"), t("high"), t("blocks"), t("level changed before it"), t("p of the change"),
        t("level of the interval"), t("margin"), t("levels of both subjects"), t("why no change rests on it"),
        t("what forbids one of its verdicts"), t("evidence"),
      ],
      rows: points.map((point, index) => {
        const { campaign, ratio, blocks } = point;
        const changed = changes.find(({ before }) => before === campaign);
        return [
          index + 1, campaign, ratio, ...endsInTable(point), blocks, changed ? change(changed.ratio) : "", changed?.p ?? "",
          hasNoWidth(point) ? "" : confidence([point]), inPercent(point.margin), point.shared_levels ?? "", point.left_out ?? "", point.withheld ?? "",
          point.is_unbound ? "EVIDENCE_UNBOUND" : "",
        ];
      }),
    },
  };
}

function plot(data: Point[], rules: { at: number; ratio: number }[], margin: number, canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const every = Math.ceil(data.length / Math.min(MOST_TICKS, Math.max(2, Math.floor(width / 60))));
  const domain = effectDomain([1 / (1 + margin), 1 + margin, ...data.flatMap(({ low, high }) => [low, high])]);
  const ticks = effectTicks(domain, HEIGHT - MARGIN_TOP - MARGIN_BOTTOM, LINE);
  return base(canvas, {
    height: HEIGHT,
    marginLeft: 64,
    marginRight: 24,
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    x: {
      domain: [0.5, data.length + 0.5],
      ticks: data.map(({ number }) => number).filter((number) => (number - 1) % every === 0),
      tickFormat: String,
      label: t("campaign →"),
    },
    y: { type: "log", domain, ticks, grid: true, tickFormat: (ratio: number) => change(ratio, 0), label: t("↑ better") },
    marks: [
      Plot.rect([1], {
        x1: 0.5, x2: data.length + 0.5, y1: 1 / (1 + margin), y2: 1 + margin, fill: theme.band,
      }),
      Plot.ruleY([1], { stroke: theme.ink }),
      Plot.ruleX(rules, { x: "at", stroke: theme.muted, strokeDasharray: "5 4", strokeWidth: 1.5 }),
      Plot.text(rules, {
        x: "at", frameAnchor: "top", dy: -14, fill: theme.ink, fontWeight: 600,
        text: ({ ratio }: { ratio: number }) => change(ratio),
      }),
      Plot.link(data, { x1: "number", x2: "number", y1: "low", y2: "high", stroke: theme.ink, strokeWidth: 2 }),
      Plot.dot(data.filter(({ isLeftOut }) => !isLeftOut), { x: "number", y: "ratio", r: 4, fill: theme.ink, stroke: theme.panel }),
      Plot.dot(data.filter(({ isLeftOut }) => isLeftOut), { x: "number", y: "ratio", r: 4, fill: theme.panel, stroke: theme.ink }),
    ],
  });
}
