import * as Plot from "@observablehq/plot";
import { change, intervals } from "../format";
import type { Finding, Ratio } from "../generated/page";
import { t } from "../words";
import { effectDomain, effectTicks } from "./axis";
import { base, BY_SUBJECT, type Canvas, type Choice, type Figure, SHAPE_BY_SUBJECT } from "./figure";
import { longest } from "./labels";
import { scales } from "./series";

/** A ratio with its interval; an end without bound is infinite. */
interface Side {
  ratio: number;
  low: number;
  high: number;
}

interface Point {
  subject: string;
  x: Side;
  y: Side;
  isOnFront: boolean;
}

/** Fewer subjects trade nothing off that the effects do not show. */
const FEWEST = 3;
/** Beyond this, the axis is cut. */
const WIDEST = 12;
/** Pixels. */
const HEIGHT = 360;
const LEFT = 64;
const MARGIN_TOP = 24;
const MARGIN_BOTTOM = 40;
const LETTER = 7;
const LINE = 24;
/** What a subject is to itself. */
const REFERENCE: Side = { ratio: 1, low: 1, high: 1 };

/** A figure for each workload with a metric to be low and another to be high, such as latency and throughput. */
export function tradeOffs(findings: Finding[], subjects: string[]): Choice[] {
  const estimated = findings.filter(({ role, effect }) => role === "primary" && effect !== null);
  const kinds = new Map(estimated.map((one) => [`${one.workload}\0${one.metric}\0${one.reference}`, one]));
  const lower = [...kinds.values()].filter(({ direction }) => direction === "lower");
  const higher = [...kinds.values()].filter(({ direction }) => direction === "higher");
  return lower
    .flatMap((x) => higher.filter((y) => y.workload === x.workload && y.reference === x.reference).map((y) => ({ x, y })))
    .map(({ x, y }) => ({ x, y, along: alike(estimated, x), up: alike(estimated, y) }))
    .map(({ x, y, along, up }) => ({ x, y, bars: intervals([...along, ...up]), points: points(x.reference, along, up) }))
    .filter(({ points }) => points.length >= FEWEST)
    .map(({ x, y, bars, points }, number) => ({
      name: t("{workload}, {along} and {up}", { workload: x.workload, along: words(x.metric), up: words(y.metric) }),
      figures: () => [pareto(points, bars, x, y, number, subjects)],
    }));
}

const words = (metric: string): string => metric.replaceAll("_", " ");

function side({ ratio, low, high }: Ratio): Side {
  return { ratio, low, high: high ?? Infinity };
}

/** What was found of every subject where this was found of one. */
function alike(findings: Finding[], kind: Finding): Finding[] {
  return findings.filter(({ workload, metric, reference }) =>
    workload === kind.workload && metric === kind.metric && reference === kind.reference);
}

/** The reference, and every subject with both effects against it. */
function points(reference: string, along: Finding[], up: Finding[]): Point[] {
  const of = (findings: Finding[]): Map<string, Side> =>
    new Map(findings.flatMap(({ subject, effect }): [string, Side][] => (effect ? [[subject, side(effect)]] : [])));
  const above = of(up);
  const all = [...of(along)].flatMap(([subject, x]) => {
    const y = above.get(subject);
    return y ? [{ subject, x, y }] : [];
  });
  return front([{ subject: reference, x: REFERENCE, y: REFERENCE }, ...all]);
}

/**
 * Off the front is what another subject is at least as good as in both, and beyond the end of the
 * interval in one. A subject that is dominated by less than that may be on it as well.
 */
export function front(points: Omit<Point, "isOnFront">[]): Point[] {
  return points.map((point) => ({
    ...point,
    isOnFront: !points.some(
      ({ x, y }) =>
        x.ratio >= point.x.ratio && y.ratio >= point.y.ratio && (x.ratio > point.x.high || y.ratio > point.y.high),
    ),
  }));
}

function pareto(points: Point[], bars: string, x: Finding, y: Finding, number: number, subjects: string[]): Figure {
  const ends = ({ ratio, low, high }: Side): (string | number)[] => [ratio, low, Number.isFinite(high) ? high : t("unbounded")];
  return {
    id: `pareto-${number}`,
    title: t("{workload}: {along} against {up}", { workload: x.workload, along: words(x.metric), up: words(y.metric) }),
    reading: t(
      "Changes against {reference}, turned so that right and up are better, with {intervals}. Filled and named: on the front, for nobody is as good in both and better beyond its interval in one. Hollow: somebody is.",
      { reference: x.reference, intervals: bars },
    ),
    options: (canvas) => plot(points, x, y, subjects, canvas),
    table: {
      columns: [
        t("subject"), words(x.metric), t("low"), t("high"), words(y.metric), t("low of it"), t("high of it"), t("on the front"),
      ],
      rows: points.map((point) => [point.subject, ...ends(point.x), ...ends(point.y), point.isOnFront ? t("yes") : t("no")]),
    },
  };
}

function plot(points: Point[], x: Finding, y: Finding, subjects: string[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const bound = (value: number): number => Math.min(Math.max(value, 1 / WIDEST), WIDEST);
  const across = { x: ({ x }: Point) => bound(x.ratio), y: ({ y }: Point) => bound(y.ratio) };
  const best = points.filter(({ isOnFront }) => isOnFront);
  // A step to the right never rises: what lies below and left of the steps is dominated.
  const steps = best
    .filter((one) => !best.some((other) => other.x.ratio > one.x.ratio && other.y.ratio > one.y.ratio))
    .toSorted((one, other) => one.x.ratio - other.x.ratio || other.y.ratio - one.y.ratio);
  const right = Math.min(longest(best.map(({ subject }) => subject)) * LETTER + 16, width * 0.3);
  const ends = (sides: Side[]): [number, number] => effectDomain(sides.flatMap(({ low, high }) => [bound(low), bound(high)]));
  const [along, above] = [ends(points.map(({ x }) => x)), ends(points.map(({ y }) => y))];
  const axis = { type: "log", grid: true, tickFormat: (ratio: number) => change(ratio, 0) } as const;
  return base(canvas, {
    height: HEIGHT,
    marginLeft: LEFT,
    marginRight: right,
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    ...scales(subjects, theme),
    x: {
      ...axis, domain: along, ticks: effectTicks(along, width - LEFT - right, 2 * LINE), label: t("{metric}, better →", { metric: words(x.metric) }),
    },
    y: {
      ...axis, domain: above, ticks: effectTicks(above, HEIGHT - MARGIN_TOP - MARGIN_BOTTOM, LINE),
      label: t("↑ {metric}, better", { metric: words(y.metric) }),
    },
    marks: [
      Plot.ruleX([1], { stroke: theme.muted }),
      Plot.ruleY([1], { stroke: theme.muted }),
      Plot.line(steps, { ...across, curve: "step-before", stroke: theme.muted, strokeWidth: 1.5 }),
      Plot.link(points, {
        x1: ({ x }: Point) => bound(x.low), x2: ({ x }: Point) => bound(x.high), y1: across.y, y2: across.y,
        stroke: BY_SUBJECT, strokeOpacity: 0.6,
      }),
      Plot.link(points, {
        y1: ({ y }: Point) => bound(y.low), y2: ({ y }: Point) => bound(y.high), x1: across.x, x2: across.x,
        stroke: BY_SUBJECT, strokeOpacity: 0.6,
      }),
      Plot.dot(points.filter(({ isOnFront }) => !isOnFront), {
        ...across, stroke: BY_SUBJECT, fill: theme.panel, symbol: SHAPE_BY_SUBJECT, strokeWidth: 2, r: 5,
      }),
      Plot.dot(best, { ...across, fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 5.5 }),
      Plot.text(best, {
        ...across, text: "subject", fill: BY_SUBJECT, dx: 9, dy: -9, textAnchor: "start", fontWeight: 600,
        stroke: theme.panel, strokeWidth: 4,
      }),
    ],
  });
}
