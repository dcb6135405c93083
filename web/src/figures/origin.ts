/** Where the numbers of a picture come from, said in the picture itself: it may leave its page. */

import type { HistoryOrigin, NumberOrigin } from "../generated/live";
import type { Page } from "../model";
import { noted, say, t } from "../words";
import type { Choice, Figure } from "./figure";
import { fitted } from "./labels";

/** Pixels of a line, from the left edge to its first letter, and of a letter, about. */
const LINE = 20;
const LEFT = 12;
const LETTER = 6.9;

const SENTENCES = {
  simulated: noted("Simulated: no machine was measured."),
  emulated: noted("Emulated processor: no figure is that of real hardware."),
  imported: noted("Imported: these numbers were not measured by schedlab."),
  unknown: noted("Nothing shows where these numbers come from."),
} as const;
type Told = keyof typeof SENTENCES;

const ORIGINS: Readonly<Record<NumberOrigin | HistoryOrigin, readonly Told[]>> = {
  measured: [],
  emulated: ["emulated"],
  simulated: ["simulated"],
  imported: ["imported"],
  unknown: ["unknown"],
  imported_emulated: ["imported", "emulated"],
  imported_simulated: ["imported", "simulated"],
};

/** Of numbers of this origin; nothing of what was measured on real processors. */
export function originOf(origin: NumberOrigin | HistoryOrigin): string[] {
  return ORIGINS[origin].map((told) => say(SENTENCES[told]));
}

/** Of the numbers of a page, which may be of several origins. */
export function originOfPage({ is_simulated, is_emulated, design: { imported } }: Page): string[] {
  return [
    ...(imported ? [t("Imported from {file} ({format}).", { file: imported.file, format: imported.format })] : []),
    ...(is_simulated ? [say(SENTENCES.simulated)] : []),
    ...(is_emulated ? [say(SENTENCES.emulated)] : []),
  ];
}

/** The same figures, with their origin. */
export function withOrigin(origin: readonly string[], figures: Figure[]): Figure[] {
  return origin.length === 0 ? figures : figures.map((figure) => ({ ...figure, origin }));
}

export function choicesWithOrigin(origin: readonly string[], choices: Choice[]): Choice[] {
  return choices.map(({ name, figures }) => ({ name, figures: () => withOrigin(origin, figures()) }));
}

/** A line of a picture of this height and width: what it says, and where. */
export interface OriginLine {
  text: string;
  x: number;
  y: number;
}

/** The lines below a picture that tell its origin, and how high they make it. */
export function signed({ origin = [] }: Pick<Figure, "origin">, width: number, height: number): { lines: OriginLine[]; height: number } {
  const lines = origin.map((text, place) => ({
    text: fitted(text, Math.floor((width - 2 * LEFT) / LETTER)),
    x: LEFT,
    y: height + (place + 0.7) * LINE,
  }));
  return { lines, height: height + origin.length * LINE };
}
