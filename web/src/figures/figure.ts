import type { PlotOptions } from "@observablehq/plot";
import type { Theme } from "../theme";

/** What a figure is drawn on. */
export interface Canvas {
  theme: Theme;
  /** Pixels. */
  width: number;
}

/** The numbers of a figure once more, for those who do not see it and those who calculate on. */
export interface Table {
  columns: string[];
  rows: (string | number)[][];
}

/** A figure: pure, so that the same code draws in the page and on the command line. */
export interface Figure {
  id: string;
  /** What it shows. */
  title: string;
  /** What was found, one sentence; absent where it answers no question. */
  finding?: string;
  /** How to read it. */
  reading: string;
  /** Where its numbers come from, in sentences that stand in the picture; absent of what was measured. */
  origin?: readonly string[];
  options(canvas: Canvas): PlotOptions;
  table: Table;
}

/** Something a reader may look at: figures that belong together. */
export interface Choice {
  name: string;
  /** Made when chosen. */
  figures: () => Figure[];
}

/**
 * Colours and shapes by the names of subjects. The scale is named because a subject may be called `none` or
 * `red`, which would be taken for the colour itself.
 */
export const BY_SUBJECT = { value: "subject", scale: "color" } as const;
export const SHAPE_BY_SUBJECT = { value: "subject", scale: "symbol" } as const;

/** What all figures share. */
export function base({ theme, width }: Canvas, options: PlotOptions): PlotOptions {
  return {
    width,
    style: {
      background: "transparent",
      color: theme.ink,
      fontFamily: "system-ui, sans-serif",
      fontSize: "12px",
      overflow: "visible",
    },
    ...options,
  };
}

/** Comma-separated values by RFC 4180; what a spreadsheet would calculate stays text. */
export function csv({ columns, rows }: Table): string {
  const cell = (value: string | number): string => {
    const text = String(value);
    const inert = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  };
  // Without the mark, a spreadsheet takes headings that are not Latin for letters of another code.
  const mark = /[^\0-\x7f]/.test(columns.join("")) ? "\ufeff" : "";
  return mark + [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** A Markdown table; no text of a cell is more than text. */
export function markdown({ columns, rows }: Table): string {
  const cell = (value: string | number): string =>
    String(value)
      .replace(/[\\`*_{}[\]<>#|~&]/g, "\\$&")
      // GitHub notifies the user whom a sign before a name mentions, escaped or not.
      .replaceAll("@", "@&#8203;")
      .replace(/\s+/g, " ");
  const line = (cells: (string | number)[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(columns), `|${" --- |".repeat(columns.length)}`, ...rows.map(line)].join("\n") + "\n";
}
