/**
 * How subjects are told apart wherever each is a series: by colour, shape and dashes together. Of
 * the first twenty-four no two share both colour and dashes, or both colour and shape.
 */

import type { SymbolType } from "@observablehq/plot";
import type { Theme } from "../theme";

const SHAPES = ["circle", "square", "triangle", "diamond", "star", "cross"] as const satisfies SymbolType[];
/** Lengths of strokes and gaps, pixels. */
const DASHES = ["none", "7 3", "2 3", "9 3 2 3"] as const;

export interface Look {
  colour: string;
  shape: SymbolType;
  dashes: string;
}

/** The look of the subject at this place among all of a campaign's. */
export function look(place: number, { series }: Theme): Look {
  const round = Math.floor(place / series.length);
  return {
    colour: series[place % series.length] ?? "currentColor",
    // Shifted by one each round: shapes differ among the first six already, for those who see no colours.
    shape: SHAPES[(place + round) % SHAPES.length] ?? "circle",
    dashes: DASHES[round % DASHES.length] ?? "none",
  };
}

/** The scales of a figure whose series are subjects. */
export function scales(subjects: string[], theme: Theme, legend = false) {
  const looks = subjects.map((_, place) => look(place, theme));
  return {
    color: { domain: subjects, range: looks.map(({ colour }) => colour) },
    symbol: { domain: subjects, range: looks.map(({ shape }) => shape), legend },
  };
}

/** The rows of each kind of dashes: what is dashed alike is one mark. */
export function byDashes<Row extends { subject: string }>(rows: Row[], subjects: string[], theme: Theme): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const { dashes } = look(Math.max(subjects.indexOf(row.subject), 0), theme);
    groups.set(dashes, [...(groups.get(dashes) ?? []), row]);
  }
  return [...groups];
}
