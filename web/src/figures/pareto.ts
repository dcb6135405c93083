import * as Plot from "@observablehq/plot";
import { change, endsInTable, intervals, withIntervals } from "../format";
import type { Finding, Ratio, Verdict } from "../generated/page";
import { grouped } from "../grouped";
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
  /** Whether another subject was shown to be better in one of both, and better or equivalent in the other. */
  isBeaten: boolean;
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
/** A verdict on two subjects as it is read from the one that was compared with. */
const TURNED: Record<Verdict, Verdict> = {
  better: "worse", worse: "better", equivalent: "equivalent", inconclusive: "inconclusive", invalid: "invalid",
};

/** A figure for each workload with a metric to be low and another to be high, such as latency and throughput. */
export function tradeOffs(findings: Finding[], subjects: string[]): Choice[] {
  const asked = findings.filter(({ role, effect }) => role === "primary" && effect !== null);
  // What nothing may be said of is no evidence of where a subject lies.
  const estimated = asked.filter(({ is_forbidden }) => !is_forbidden);
  const verdicts = verdictsOf(estimated);
  const kinds = new Map(estimated.map((one) => [alikeKey(one), one]));
  const lower = [...kinds.values()].filter(({ direction }) => direction === "lower");
  const higher = grouped([...kinds.values()].filter(({ direction }) => direction === "higher"), besideKey);
  const [ofEstimated, ofAsked] = [grouped(estimated, alikeKey), grouped(asked, alikeKey)];
  return lower
    .flatMap((x) => (higher.get(besideKey(x)) ?? []).map((y) => ({ x, y })))
    .map(({ x, y }) => ({ x, y, along: alike(ofEstimated, x), up: alike(ofEstimated, y), all: alike(ofAsked, x).length + alike(ofAsked, y).length }))
    .map(({ x, y, along, up, all }) => ({
      x, y, told: [...along, ...up], isPart: along.length + up.length < all, points: points(x.reference, along, up),
    }))
    .filter(({ points }) => points.length >= FEWEST)
    .map(({ x, y, told, isPart, points }, number) => ({
      name: t("{workload}, {along} and {up}, against {reference}", {
        workload: x.workload, along: words(x.metric), up: words(y.metric), reference: x.reference,
      }),
      figures: () => [pareto({ points: beaten(points, verdicts, x, y), barred: barred(told, points), isPart }, x, y, number, subjects)],
    }));
}

const words = (metric: string): string => metric.replaceAll("_", " ");

function side({ ratio, low, high }: Ratio): Side {
  return { ratio, low, high: high ?? Infinity };
}

const alikeKey = ({ workload, metric, reference }: Finding): string => `${workload}\0${metric}\0${reference}`;
const besideKey = ({ workload, reference }: Finding): string => `${workload}\0${reference}`;

/** What was found of every subject where this was found of one. */
function alike(findings: ReadonlyMap<string, Finding[]>, kind: Finding): Finding[] {
  return findings.get(alikeKey(kind)) ?? [];
}

/** The reference, and every subject with both effects against it. */
function points(reference: string, along: Finding[], up: Finding[]): Omit<Point, "isBeaten">[] {
  const of = (findings: Finding[]): Map<string, Side> =>
    new Map(findings.flatMap(({ subject, effect }): [string, Side][] => (effect ? [[subject, side(effect)]] : [])));
  const above = of(up);
  const all = [...of(along)].flatMap(([subject, x]) => {
    const y = above.get(subject);
    return y ? [{ subject, x, y }] : [];
  });
  return [{ subject: reference, x: REFERENCE, y: REFERENCE }, ...all];
}

/** Those of these findings that a bar is drawn of. */
function barred(findings: Finding[], points: Omit<Point, "isBeaten">[]): Finding[] {
  const drawn = new Set(points.map(({ subject }) => subject));
  return withIntervals(findings).filter(({ subject }) => drawn.has(subject));
}

/** Verdicts on pairs of subjects, by workload and metric: all pairs are looked up. */
type Verdicts = Map<string, Map<string, Verdict>>;

const kindOf = ({ workload, metric }: Finding): string => `${workload}\0${metric}`;
const pairOf = (subject: string, reference: string): string => `${subject}\0${reference}`;

/** Of several findings about the same the first counts. */
function verdictsOf(findings: Finding[]): Verdicts {
  const all: Verdicts = new Map();
  for (const finding of findings) {
    const [kind, pair] = [kindOf(finding), pairOf(finding.subject, finding.reference)];
    const own = all.get(kind) ?? new Map<string, Verdict>();
    all.set(kind, own);
    if (!own.has(pair)) own.set(pair, finding.verdict);
  }
  return all;
}

/** Which of these another one was shown to beat: by verdicts, for estimates show nothing of subjects that nobody compared. */
function beaten(points: Omit<Point, "isBeaten">[], verdicts: Verdicts, x: Finding, y: Finding): Point[] {
  const ofBoth = [x, y].map((kind) => verdicts.get(kindOf(kind)) ?? new Map<string, Verdict>());
  const beats = (one: string, other: string): boolean => {
    const told = ofBoth.map((own) => shown(own, one, other));
    return told.includes("better") && told.every((verdict) => verdict === "better" || verdict === "equivalent");
  };
  return points.map((point) => ({ ...point, isBeaten: points.some(({ subject }) => beats(subject, point.subject)) }));
}

/** The verdict on one subject against another, whichever of both was the reference. */
function shown(verdicts: ReadonlyMap<string, Verdict>, subject: string, other: string): Verdict | undefined {
  const straight = verdicts.get(pairOf(subject, other));
  if (straight) return straight;
  const turned = verdicts.get(pairOf(other, subject));
  return turned && TURNED[turned];
}

/** The points of a figure, of which of them there are bars, and whether some findings are left out. */
interface Drawn {
  points: Point[];
  barred: Finding[];
  isPart: boolean;
}

function pareto({ points, barred, isPart }: Drawn, x: Finding, y: Finding, number: number, subjects: string[]): Figure {
  const told = (side: Side): (string | number)[] => [side.ratio, ...endsInTable(side)];
  return {
    id: `pareto-${number}`,
    title: t("{workload}: {along} against {up}", { workload: x.workload, along: words(x.metric), up: words(y.metric) }),
    reading: [
      barred.length === 0
        ? t("Changes against {reference}, turned so that right and up are better.", { reference: x.reference })
        : t("Changes against {reference}, turned so that right and up are better, with {intervals}.", {
            reference: x.reference, intervals: intervals(barred),
          }),
      ...(x.is_odds || y.is_odds ? [t("The effect of a share is that of its odds.")] : []),
      points.some(({ isBeaten }) => isBeaten)
        ? t("Hollow: another subject was shown to be better in one of both, and better or equivalent in the other. Filled and named: nothing of the kind was shown.")
        : t("Of no subject was it shown that another one is better in one of both, and better or equivalent in the other."),
      ...(isPart ? [t("Left out: comparisons of which something forbids every verdict.")] : []),
    ].join(" "),
    options: (canvas) => plot(points, x, y, subjects, canvas),
    table: {
      columns: [
        t("subject"), words(x.metric), t("low"), t("high"), words(y.metric), t("low of it"), t("high of it"), t("shown to be beaten"),
      ],
      rows: points.map((point) => [point.subject, ...told(point.x), ...told(point.y), point.isBeaten ? t("yes") : t("no")]),
    },
  };
}

function plot(points: Point[], x: Finding, y: Finding, subjects: string[], canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const bound = (value: number): number => Math.min(Math.max(value, 1 / WIDEST), WIDEST);
  const across = { x: ({ x }: Point) => bound(x.ratio), y: ({ y }: Point) => bound(y.ratio) };
  const others = points.filter(({ isBeaten }) => !isBeaten);
  const right = Math.min(longest(others.map(({ subject }) => subject)) * LETTER + 16, width * 0.3);
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
      Plot.link(points, {
        x1: ({ x }: Point) => bound(x.low), x2: ({ x }: Point) => bound(x.high), y1: across.y, y2: across.y,
        stroke: BY_SUBJECT, strokeOpacity: 0.6,
      }),
      Plot.link(points, {
        y1: ({ y }: Point) => bound(y.low), y2: ({ y }: Point) => bound(y.high), x1: across.x, x2: across.x,
        stroke: BY_SUBJECT, strokeOpacity: 0.6,
      }),
      Plot.dot(points.filter(({ isBeaten }) => isBeaten), {
        ...across, stroke: BY_SUBJECT, fill: theme.panel, symbol: SHAPE_BY_SUBJECT, strokeWidth: 2, r: 5,
      }),
      Plot.dot(others, { ...across, fill: BY_SUBJECT, symbol: SHAPE_BY_SUBJECT, r: 5.5 }),
      Plot.text(others, {
        ...across, text: "subject", fill: BY_SUBJECT, dx: 9, dy: -9, textAnchor: "start", fontWeight: 600,
        stroke: theme.panel, strokeWidth: 4,
      }),
    ],
  });
}
