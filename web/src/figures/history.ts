import * as Plot from "@observablehq/plot";
import { change, confidence } from "../format";
import type { HistorySeries } from "../generated/live";
import { t } from "../words";
import { effectDomain, effectTicks } from "./axis";
import { base, type Canvas, type Choice, type Figure } from "./figure";

interface Point {
  /** From one, in the order of the campaigns. */
  number: number;
  ratio: number;
  low: number;
  high: number;
}

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
    name: one.is_emulated ? t("{title}, emulated", { title: titleOf(one) }) : titleOf(one),
    figures: () => [history(one, number)],
  }));
}

function titleOf({ workload, metric: id, subject, reference }: HistorySeries): string {
  return t("{workload}, {metric}: {subject} against {reference}", { workload, metric: id.replaceAll("_", " "), subject, reference });
}

export function history(series: HistorySeries, number: number): Figure {
  const { margin, points, changes } = series;
  const place = (campaign: string): number => points.findIndex((point) => point.campaign === campaign) + 1;
  const rules = changes.map(({ before, after, ratio }) => ({ at: (place(before) + place(after)) / 2, ratio }));
  const data = points.map(({ ratio, low, high }, index): Point => ({
    number: index + 1, ratio, low: Math.max(low, 1 / WIDEST), high: Math.min(high ?? Infinity, WIDEST),
  }));
  return {
    id: `history-${number}`,
    title: titleOf(series),
    reading: [
      t(
        "One mark for each campaign, the oldest at the left: the ratio to the campaign's own reference, turned so that up is better, with its {level} interval.",
        { level: confidence(points) },
      ),
      t("The grey band is the margin of {margin}.", { margin: `${Number((margin * 100).toPrecision(3))} %` }),
      changes.length === 0 ? t("No place is known where the level changed.") : t("Dashed: the level changed here, by so much."),
    ].join(" "),
    options: (canvas) => plot(data, rules, margin, canvas),
    table: {
      columns: [
        t("number"), t("campaign"), t("ratio"), t("low"), t("high"), t("blocks"), t("level changed before it"), t("p of the change"),
      ],
      rows: points.map(({ campaign, ratio, low, high, blocks }, index) => {
        const changed = changes.find(({ before }) => before === campaign);
        return [index + 1, campaign, ratio, low, high ?? t("unbounded"), blocks, changed ? change(changed.ratio) : "", changed?.p ?? ""];
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
      Plot.dot(data, { x: "number", y: "ratio", r: 4, fill: theme.ink, stroke: theme.panel }),
    ],
  });
}
