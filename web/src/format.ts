/** Numbers and verdicts as people read them. */

import type { Finding, Verdict } from "./generated/page";
import { noted, say, t } from "./words";

const MINUS = "\u2212";

/** From here on a ratio is told as a factor: crates/report/src/quantities.rs. */
const FACTOR = 1.9995;

/** Files hold no ratio beyond these, which stand for them: crates/model/src/digits.rs. */
const LARGEST = 1e300;
const LEAST = 1e-300;

const isFactor = (ratio: number): boolean => ratio >= FACTOR || (ratio > 0 && ratio <= 1 / FACTOR);

/** The nearest number of so many digits, of two that are as near the even one: as the terminal rounds. */
function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  const halves = value * 2 ** (digits + 1);
  const isBetween = Number.isInteger(halves) && !Number.isInteger(value * 10 ** digits);
  // Of two that are as near, `toFixed` takes the larger one.
  return isBetween && Number(text.slice(-1)) % 2 === 1 ? (Number(text) - 10 ** -digits).toFixed(digits) : text;
}

/** `×2.4`, and what is worse `÷2.4`. */
function factor(ratio: number | null): string {
  if (ratio === null || !Number.isFinite(ratio) || ratio <= 0) return t("unbounded");
  const sign = ratio < 1 ? "÷" : "×";
  if (ratio >= LARGEST || ratio <= LEAST) return t("more than {size}", { size: `${sign}1e300` });
  const size = significant(Math.max(ratio, 1 / ratio), 3);
  // No direction where none shows.
  return `${size === "1" ? "×" : sign}${size}`;
}

/** A ratio as a change: `+3.1 %`; from two-fold on a factor. */
export function change(ratio: number | null, digits = 1): string {
  if (ratio === null || !Number.isFinite(ratio) || ratio <= 0 || isFactor(ratio)) return factor(ratio);
  const percent = (ratio - 1) * 100;
  // Nothing is left of what is 100 % less.
  const text = fixed(Math.abs(percent), percent <= -99.95 ? 0 : digits);
  if (Number(text) === 0) return `${text} %`;
  return `${percent < 0 ? MINUS : "+"}${text} %`;
}

/** Whether both ends are one number: the replicates do not vary, and there is no interval. */
export function hasNoWidth({ low, high }: { low: number; high: number | null }): boolean {
  return low === high;
}

/** Those of these findings that have an interval: the level of bars is theirs. */
export function withIntervals(findings: Finding[]): Finding[] {
  return findings.filter(({ effect }) => effect !== null && !hasNoWidth(effect));
}

/** Both ends of an interval in a table. */
export function endsInTable({ low, high }: { low: number; high: number | null }): [number | string, number | string] {
  if (hasNoWidth({ low, high })) return [t("no interval"), ""];
  return [low, high !== null && Number.isFinite(high) ? high : t("unbounded")];
}

/** A ratio with its interval: `+3.1 % [+1.2 %, +5.0 %]`; all as factors where one is. */
export function estimate({ ratio, low, high }: { ratio: number; low: number; high: number | null }): string {
  const told = [ratio, low, high ?? 1].some((one) => Number.isFinite(one) && isFactor(one)) ? factor : change;
  if (hasNoWidth({ low, high })) return `${told(ratio)} [${t("no interval")}]`;
  return `${told(ratio)} [${told(low)}, ${told(high)}]`;
}

/** Whether a percentage stands in what `estimate` tells. */
export function tellsPercentage(told: { ratio: number; low: number; high: number | null }): boolean {
  return estimate(told).includes("%");
}

/** An effect, or an estimate, of a finding: that of a share is one of its odds, `odds +3.1 %`. */
export function ofShare({ is_odds }: Pick<Finding, "is_odds">, text: string): string {
  return is_odds ? t("odds {change}", { change: text }) : text;
}

/** A level in percent: four digits, and where these would say that it is certain, as many as tell it from that. */
function levelOf(alpha: number): string {
  if (alpha >= 1e-4) return significant(100 * (1 - alpha), 4);
  const places = Math.min(12, Math.ceil(-Math.log10(alpha)) - 2);
  return Number((100 * (1 - alpha)).toFixed(places)).toString();
}

/** How sure intervals of these error rates are: `95 %`, from the least to the most where they differ. */
export function confidence(of: { alpha: number }[]): string {
  // Each once: an engine passes a function so many arguments and no more.
  const alphas = [...new Set(of.map(({ alpha }) => alpha))];
  const ends = [Math.max(...alphas), Math.min(...alphas)].map(levelOf);
  return `${[...new Set(ends)].join("–")} %`;
}

/** What the bars of these findings are, and how sure. */
export function intervals(findings: Finding[]): string {
  const level = confidence(findings);
  return findings.some(({ is_sequence }) => is_sequence)
    ? t("{level} confidence sequences", { level })
    : t("{level} intervals", { level });
}

/** A ratio as a multiple: `×1.31`. */
export function multiple(ratio: number): string {
  if (ratio >= LARGEST) return ">×1e300";
  if (ratio > 0 && ratio <= LEAST) return "<×1e-300";
  return `×${significant(ratio, 3)}`;
}

export function significant(value: number, digits: number): string {
  return Number(value.toPrecision(digits)).toString();
}

/** The digits of a fraction from 100,000 on in percent: of 1e308 no number holds them. As crates/model/src/digits.rs has it. */
function largePercent(fraction: number): string | null {
  if (!Number.isFinite(fraction) || Math.abs(fraction) < 1e5) return null;
  const [digits = "", power = ""] = fraction.toExponential(2).split("e");
  return `${digits}e${Number(power) + 2}`;
}

/** A fraction in percent, in three significant digits: `5 %`. */
export function inPercent(fraction: number): string {
  return `${largePercent(fraction) ?? significant(fraction * 100, 3)} %`;
}

const TIMES: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
];
const BYTES: readonly (readonly [number, string])[] = [
  [1024 ** 4, "TiB"],
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
  [1, "B"],
];

function scaled(value: number, steps: readonly (readonly [number, string])[]): string {
  const step = steps.find(([size]) => Math.abs(value) >= size) ?? steps[steps.length - 1]!;
  return `${significant(value / step[0], 3)} ${step[1]}`;
}

/** A value with its unit: `12.3 us`, `1.2 GiB/s`. */
export function quantity(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return t("none");
  switch (unit) {
    case "nanoseconds":
      return scaled(value, TIMES);
    case "bytes":
      return scaled(value, BYTES);
    case "bytes_per_second":
      return `${scaled(value, BYTES)}/s`;
    case "per_second":
      return `${significant(value, 4)}/s`;
    case "fraction":
      return inPercent(value);
    default:
      return significant(value, 4);
  }
}

/** A time that passes, as long as people say it: `45 s`, `1 min 21 s`, `2 h 5 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return t("{seconds} s", { seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t("{minutes} min {seconds} s", { minutes, seconds: seconds % 60 });
  return t("{hours} h {minutes} min", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** The time of day at the reader's place. */
export function clock(at_ms: number): string {
  return new Date(at_ms).toTimeString().slice(0, 8);
}

/** The day and the time at the reader's place, in an order that sorts. */
export function day(at_ms: number): string {
  const at = new Date(at_ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(at_ms).slice(0, 5)}`;
}

export function percent(share: number, digits = 1): string {
  return `${largePercent(share) ?? (share * 100).toFixed(digits)} %`;
}

/**
 * Labels for the ticks of a logarithmic axis over these values: powers of ten, and over less than
 * two decades 2 and 5 of each too.
 */
export function logLabels(values: number[], unit: string): (value: number) => string {
  const [low, high] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, 0]);
  const steps = high / low < 100 ? [1, 2, 5] : [1];
  return (value) => {
    const mantissa = Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(3));
    return steps.includes(mantissa) ? quantity(value, unit) : "";
  };
}

export const VERDICT_SYMBOLS = {
  better: "▲",
  worse: "▼",
  equivalent: "■",
  inconclusive: "●",
  invalid: "✕",
} as const;

const VERDICTS = {
  better: noted("better"),
  worse: noted("worse"),
  equivalent: noted("equivalent"),
  inconclusive: noted("inconclusive"),
  invalid: noted("invalid"),
} as const;

export function verdictWord(verdict: Verdict): string {
  return say(VERDICTS[verdict]);
}

/** The verdict with its strength: `clearly better`. */
export function strengthAndVerdict({ verdict, strength }: Pick<Finding, "verdict" | "strength">): string {
  return strength === "clearly" ? t("clearly {verdict}", { verdict: verdictWord(verdict) }) : verdictWord(verdict);
}
