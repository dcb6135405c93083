/** What figures found, in words made from verdicts. */

import { estimate, hasNoWidth, ofShare } from "../format";
import type { Finding, Verdict } from "../generated/page";
import { noted, say, t } from "../words";

/** Of each verdict how it begins a count, and how it goes on with one. */
const WORDS = [
  ["better", noted("better"), noted("{count} better")],
  ["worse", noted("worse"), noted("{count} worse")],
  ["equivalent", noted("alike within the margin"), noted("{count} alike within the margin")],
  ["inconclusive", noted("undecided"), noted("{count} undecided")],
  ["invalid", noted("without a valid answer"), noted("{count} without a valid answer")],
] as const;

/** What is counted: none of it, one and several. */
const UNITS = {
  comparison: [
    noted("no comparison was judged"),
    noted("{verdict} in {count} of {all} comparison"),
    noted("{verdict} in {count} of {all} comparisons"),
  ],
  cell: [noted("no cell was judged"), noted("{verdict} in {count} of {all} cell"), noted("{verdict} in {count} of {all} cells")],
  step: [noted("no step was judged"), noted("{verdict} in {count} of {all} step"), noted("{verdict} in {count} of {all} steps")],
  size: [noted("no size was judged"), noted("{verdict} in {count} of {all} size"), noted("{verdict} in {count} of {all} sizes")],
} as const;

/** How many of each verdict: `better in 3 of 9 cells, 6 undecided`. */
export function tally(verdicts: Verdict[], unit: keyof typeof UNITS): string {
  const [none, one, several] = UNITS[unit];
  const all = verdicts.length;
  const counts = WORDS.map(([verdict, ...words]) => [verdicts.filter((one) => one === verdict).length, ...words] as const);
  const [first, ...others] = counts.filter(([count]) => count > 0);
  if (!first) return say(none);
  const [count, word] = first;
  const begin = { verdict: say(word), count, all };
  return [all === 1 ? say(one, begin) : say(several, begin), ...others.map(([count, , other]) => say(other, { count }))].join(", ");
}

/** Whether something of these was corrected for the others: a test, or an interval that holds at every look. */
export function areCorrected(findings: Finding[]): boolean {
  return findings.some(
    ({ effect, is_sequence }) => effect !== null && (effect.adjusted_p !== null || (is_sequence === true && !hasNoWidth(effect))),
  );
}

/** One comparison: `a is better than b for wakeup latency p99: +3.1 % [+1.2 %, +5.0 %]`. */
export function said(finding: Finding): string {
  const { verdict, effect } = finding;
  return `${answered(finding)}${effect && verdict !== "invalid" ? `: ${ofShare(finding, estimate(effect))}` : ""}`;
}

function answered({ subject, reference, workload, metric: id, verdict, strength }: Finding): string {
  const about = { subject, reference, workload, metric: id.replaceAll("_", " ") };
  const isClear = strength === "clearly";
  switch (verdict) {
    case "better":
      return isClear
        ? t("{subject} is clearly better than {reference} for {workload} {metric}", about)
        : t("{subject} is better than {reference} for {workload} {metric}", about);
    case "worse":
      return isClear
        ? t("{subject} is clearly worse than {reference} for {workload} {metric}", about)
        : t("{subject} is worse than {reference} for {workload} {metric}", about);
    case "equivalent":
      return t("{subject} is like {reference} within the margin for {workload} {metric}", about);
    case "inconclusive":
      return t("Undecided: {subject} against {reference} for {workload} {metric}", about);
    case "invalid":
      return t("No valid answer: {subject} against {reference} for {workload} {metric}", about);
  }
}
