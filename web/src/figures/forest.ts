import * as Plot from "@observablehq/plot";
import { change, endsInTable, estimate, hasNoWidth, inPercent, intervals, ofShare, quantity, strengthAndVerdict, tellsPercentage, VERDICT_SYMBOLS, verdictWord, withIntervals } from "../format";
import type { Finding, Verdict } from "../generated/page";
import type { Theme } from "../theme";
import { t } from "../words";
import { effectTicks } from "./axis";
import { base, type Canvas, type Figure } from "./figure";
import { areCorrected, tally } from "./finding";
import { longest, rowNames } from "./labels";

interface Row {
  /** The row's place: two rows of one label stay two rows. */
  key: string;
  label: string;
  finding: Finding;
  verdict: Verdict;
  /** NaN where there is no estimate; the row then tells its verdict alone. */
  ratio: number;
  low: number;
  high: number;
}

/** Pixels of a letter of a label, about, and of the room that a tick's label needs. */
const LETTER = 6.4;
/** The share of the width that labels have at most. */
const MOST_LABEL = 0.45;
const TICK_ROOM = 46;
/** More rows than this no reader compares by eye: the strongest are drawn, the table has all. */
const MOST_ROWS = 40;
/** Pixels of a row's margin. */
const BAND = 20;
/** Pixels of a line of text, and of a row with its interval and two such lines. */
const LINE = 15;
const NARROW_ROW = 66;
/** Beyond this, the axis is cut and an arrow says so. */
const WIDEST = 12;

export function colourOf(verdict: Verdict, theme: Theme): string {
  if (verdict === "better") return theme.better;
  if (verdict === "worse") return theme.worse;
  return theme.neutral;
}

/** Whether every subject is compared with the same one, so that rows need not name it. */
function hasOneReference(findings: Finding[]): boolean {
  return new Set(findings.map(({ reference }) => reference)).size <= 1;
}

function rows(findings: Finding[]): Row[] {
  const several = new Set(findings.map(({ metric }) => metric)).size > 1;
  const isAgainstOne = hasOneReference(findings);
  return findings.map((finding, place) => {
    const { workload, metric, subject, reference, role, effect } = finding;
    const pair = isAgainstOne ? subject : t("{subject} against {reference}", { subject, reference });
    const bound = (value: number): number => Math.min(Math.max(value, 1 / WIDEST), WIDEST);
    return {
      key: String(place),
      label: `${workload}${several ? ` ${metric}` : ""}: ${pair}${finding.is_odds ? ` (${t("odds")})` : ""}${role === "control" ? " (A/A)" : ""}`,
      finding,
      verdict: finding.verdict,
      ratio: bound(effect?.ratio ?? NaN),
      low: bound(effect?.low ?? NaN),
      high: bound(effect ? (effect.high ?? Infinity) : NaN),
    };
  });
}

/** How much a verdict tells: what is decided first, whichever way it went. */
const TELLING: Record<Verdict, number> = { better: 0, worse: 0, equivalent: 1, inconclusive: 2, invalid: 3 };

/** What is decided first, then by how far the estimate lies from no difference. */
export function byStrength(one: Finding, other: Finding): number {
  const distance = ({ effect }: Finding): number => Math.abs(Math.log(effect?.ratio ?? 1));
  return TELLING[one.verdict] - TELLING[other.verdict] || distance(other) - distance(one);
}

/** As many as are drawn, in their order. */
function strongest(all: Row[]): Row[] {
  const sorted = all.toSorted((one, other) => byStrength(one.finding, other.finding));
  const kept = new Set(sorted.slice(0, MOST_ROWS));
  return all.filter((row) => kept.has(row));
}

/** What the bars of these findings are, where there are any, and the words beside them: what was not tested was not corrected. */
function barsAndVerdicts(barred: Finding[], isUnfinished: boolean): string[] {
  const verdicts = isUnfinished
    ? t("There is no verdict before the campaign's end.")
    : areCorrected(barred)
      ? t("Symbol and word are the verdict, corrected for all comparisons.")
      : t("Symbol and word are the verdict.");
  if (barred.length === 0) return [verdicts];
  const bars = barred.some(({ verdict }) => verdict === "equivalent")
    ? t("Bars are {intervals}, each for its row alone; that of an equivalence is the one that decided it.", { intervals: intervals(barred) })
    : t("Bars are {intervals}, each for its row alone.", { intervals: intervals(barred) });
  return [bars, verdicts];
}

/** Every comparison with its interval, the margin and the verdict: right is better. While a campaign goes on it has no verdict. */
export function forest(findings: Finding[], isUnfinished = false): Figure {
  const all = rows(findings);
  const data = all.length <= MOST_ROWS ? all : strongest(all);
  const ends = data.flatMap((row) => [row.high, 1 / row.low]).filter(Number.isFinite);
  const reach = Math.max(1.15, ...ends) * 1.04;
  const margins = [...new Set(all.map(({ finding }) => finding.margin))];
  const barred = withIntervals(findings);
  return {
    id: "forest",
    title: t("Effects"),
    finding: tally(findings.filter(({ role }) => role === "primary").map(({ verdict }) => verdict), "comparison").replace(/^./, (first) => first.toUpperCase()),
    reading: [
      findings[0] && hasOneReference(findings)
        ? t("Each subject against {reference}, turned so that right is better.", { reference: findings[0].reference })
        : t("One row for each pair, turned so that right is better."),
      ...(data.some(({ finding: { direction, effect, is_odds } }) => direction === "lower" && !is_odds && effect && tellsPercentage(effect))
        ? [t("Where lower is better, a percentage is of the subject's value: +10 % says that the reference has 10 % more.")]
        : []),
      ...barsAndVerdicts(barred, isUnfinished),
      ...(findings.some(({ is_odds }) => is_odds) ? [t("The effect of a share is that of its odds.")] : []),
      ...(barred.some(({ is_sequence }) => is_sequence) ? [t("They hold at every look together, however often you look.")] : []),
      margins.length === 1
        ? t("The grey band is the margin of {margin}.", { margin: inPercent(margins[0] ?? 0) })
        : t("The grey band is the margin, each row's own."),
      ...(data.length < all.length
        ? [t("The {count} strongest of {all}; the table has all.", { count: data.length, all: all.length })]
        : []),
    ].join(" "),
    options: (canvas) => plot(data, reach, canvas),
    table: {
      columns: [
        t("workload"), t("metric"), t("subject"), t("reference"), t("subject value"), t("reference value"),
        t("ratio"), t("low"), t("high"), t("margin"), t("replicates"), t("verdict"), t("why"),
      ],
      rows: all.map(({ finding }) => [
        finding.workload,
        finding.metric,
        finding.subject,
        finding.reference,
        finding.subject_value ?? "",
        finding.reference_value ?? "",
        finding.effect?.ratio ?? "",
        ...(finding.effect ? endsInTable(finding.effect) : ["", ""]),
        finding.margin,
        finding.pairs,
        verdictWord(finding.verdict),
        finding.reason ?? "",
      ]),
    },
  };
}

function plot(data: Row[], reach: number, canvas: Canvas): Plot.PlotOptions {
  const { theme, width } = canvas;
  const isNarrow = width < 640;
  const named = rowNames(data.map(({ label }) => label), width, MOST_LABEL);
  const left = isNarrow ? 8 : named.margin;
  const right = isNarrow ? 8 : 306;
  // Names have lines of their own where one line has no room for them.
  const isBroken = isNarrow && (longest(data.map(({ label }) => label)) + 2) * LETTER > width - left - right;
  const lines = isBroken ? 2 : 1;
  const shown = effectTicks([1 / reach, reach], width - left - right, TICK_ROOM);
  const estimated = data.filter(({ finding }) => finding.effect !== null);
  const varying = estimated.filter(({ finding: { effect } }) => effect !== null && !hasNoWidth(effect));
  const fill = (row: Row): string => colourOf(row.verdict, theme);
  const word = ({ verdict, finding }: Row): string => `${VERDICT_SYMBOLS[verdict]} ${strengthAndVerdict(finding)}`;
  const told = ({ finding: { effect } }: Row): string => (effect === null ? t("no estimate") : estimate(effect));
  const below = { dy: isNarrow ? (LINE * (lines + 1)) / 2 : 0 };
  const worded = isNarrow ? below.dy - BAND / 2 - LINE / 2 - 2 : 0;
  return base(canvas, {
    height: data.length * (isNarrow ? NARROW_ROW + (lines - 1) * LINE : 28) + 70,
    marginLeft: left,
    marginRight: right,
    marginTop: 28,
    marginBottom: 34,
    x: {
      type: "log",
      domain: [1 / reach, reach],
      ticks: shown,
      tickFormat: (tick: number) => change(tick, 0),
      label: null,
    },
    y: {
      domain: data.map(({ key }) => key),
      tickFormat: (_: string, place: number) => named.fit(data[place]?.label ?? ""),
      axis: isNarrow ? null : "left",
      label: null,
      tickSize: 0,
    },
    marks: [
      Plot.link(data, {
        ...below,
        x1: ({ finding }: Row) => 1 / (1 + finding.margin),
        x2: ({ finding }: Row) => 1 + finding.margin,
        y1: "key",
        y2: "key",
        stroke: theme.band,
        strokeWidth: BAND,
      }),
      Plot.gridX(shown, { stroke: theme.grid, strokeOpacity: 1 }),
      Plot.ruleX([1], { stroke: theme.ink }),
      Plot.link(varying, { ...below, x1: "low", x2: "high", y1: "key", y2: "key", stroke: fill, strokeWidth: 2.5 }),
      Plot.dot(estimated, { ...below, x: "ratio", y: "key", r: 5, fill, stroke: theme.panel }),
      Plot.text(isNarrow ? data : [], {
        y: "key",
        text: ({ label }: Row) => (isBroken ? label.replace(": ", ":\n") : label),
        frameAnchor: "left",
        textAnchor: "start",
        lineAnchor: "bottom",
        lineHeight: LINE / 12,
        dy: below.dy - BAND / 2 - LINE - 6,
        fill: theme.ink,
        stroke: theme.panel,
        strokeWidth: 4,
        lineWidth: (width - left - right) / 12,
        textOverflow: "ellipsis-middle",
      }),
      Plot.text(data, {
        y: "key",
        text: word,
        frameAnchor: isNarrow ? "left" : "right",
        textAnchor: "start",
        dx: isNarrow ? 0 : 10,
        dy: worded,
        fill,
        fontWeight: 600,
        stroke: theme.panel,
        strokeWidth: 4,
      }),
      Plot.text(data, {
        y: "key",
        text: told,
        frameAnchor: "right",
        textAnchor: "end",
        dx: isNarrow ? 0 : right - 4,
        dy: worded,
        fill: theme.ink,
        stroke: theme.panel,
        strokeWidth: 4,
        fontVariant: "tabular-nums",
      }),
      Plot.text([t("← worse")], {
        frameAnchor: "top-left", dy: -20, fill: theme.worse, fontWeight: 600,
      }),
      Plot.text([t("better →")], {
        frameAnchor: "top-right", dy: -20, fill: theme.better, fontWeight: 600,
      }),
    ],
  });
}

/** One line about a finding, for its card. */
export function sentence(finding: Finding): string {
  const { unit, effect, subject_value, reference_value } = finding;
  if (subject_value === null) return effect === null ? "" : ofShare(finding, change(effect.ratio));
  const values = t("{value} against {reference}", { value: quantity(subject_value, unit), reference: quantity(reference_value, unit) });
  return effect === null ? values : `${ofShare(finding, change(effect.ratio))}, ${values}`;
}
