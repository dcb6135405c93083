import * as Plot from "@observablehq/plot";
import { figuresOf } from "../figures/all";
import { base, BY_SUBJECT, type Figure, SHAPE_BY_SUBJECT } from "../figures/figure";
import { letters } from "../figures/labels";
import { signed } from "../figures/origin";
import type { Page } from "../model";
import { dark, light, type Theme } from "../theme";
import { t } from "../words";
import { ElementNode, newDocument, svgElement } from "./dom";

/** Where in a report a figure stands. */
export type Section = "effects" | "values" | "distributions" | "runs";

/** What is told of a figure beside its picture. */
export interface Described {
  id: string;
  section: Section;
  title: string;
  /** What was found, one sentence; empty where the figure answers no question. */
  finding: string;
  reading: string;
}

/** Pixels of the line that names the colours, and of a letter of it, about. */
const LEGEND = 26;
const LETTER = 6.8;

/** Every figure of a page with its place, in the page's order. */
export function allFigures(page: Page): { section: Section; figure: Figure }[] {
  const { effects, values, tradeOffs, distributions, runs } = figuresOf(page);
  const marked = ({ finding, ...figure }: Figure): Figure =>
    finding === undefined ? figure : { ...figure, finding: page.is_emulated ? t("emulated: {finding}", { finding }) : finding };
  const all = (section: Section, figures: Figure[]) => figures.map((figure) => ({ section, figure: marked(figure) }));
  return [
    ...all("effects", effects),
    ...all("values", values.flatMap(({ figures }) => figures())),
    ...all("values", tradeOffs.flatMap(({ figures }) => figures())),
    ...all("distributions", distributions.flatMap(({ figures }) => figures())),
    ...all("runs", runs.flatMap(({ figures }) => figures())),
  ];
}

export function described({ section, figure }: { section: Section; figure: Figure }): Described {
  const { id, title, finding = "", reading } = figure;
  return { id, section, title, finding, reading };
}

/** A figure as a file of its own: with its background, its legend, its origin and its description. */
export function drawn(figure: Figure, name: string, width: number): string {
  const theme = name === "dark" ? dark : light;
  const { symbol, color, ...options } = figure.options({ theme, width });
  // A legend of Plot is HTML around the picture, which would be lost here.
  const named = symbol?.legend === true || color?.legend === true ? legend({ symbol, color }, theme, width) : null;
  const plotted = plot({
    ...options,
    ...(symbol && { symbol: { ...symbol, legend: false } }),
    ...(color && { color: { ...color, legend: false } }),
  });
  const top = Number(named?.getAttribute("height") ?? 0);
  const { lines, height } = signed(figure, width, Number(plotted.getAttribute("height")) + top);
  plotted.setAttribute("y", top);
  return svgElement(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "font-family": "system-ui, sans-serif",
      "font-size": 12,
    },
    svgElement("title", {}, figure.finding ?? figure.title),
    svgElement("desc", {}, [`${figure.title}.`, figure.reading, ...(figure.origin ?? [])].join(" ")),
    svgElement("rect", { width, height, fill: theme.panel }),
    ...(named ? [named] : []),
    plotted,
    ...lines.map(({ text, x, y }) => svgElement("text", { x, y, fill: theme.ink, "font-weight": 600 }, text)),
  ).toString();
}

function plot(options: Plot.PlotOptions): ElementNode {
  const plotted = Plot.plot({ ...options, document: newDocument() }) as unknown as ElementNode;
  // What they say is for a page: in a file it styles nothing, and is read aloud part by part.
  for (const part of within(plotted)) {
    part.removeAttribute("aria-label");
    if (part.tagName === "style") part.remove();
  }
  return plotted;
}

function within(element: ElementNode): ElementNode[] {
  return [element, ...element.children.flatMap(within)];
}

/** What a figure tells series apart by: subjects have shapes, the parts of a whole have none. */
interface Looks {
  symbol: Plot.ScaleOptions | undefined;
  color: Plot.ScaleOptions | undefined;
}

/** The looks of a figure's series with their names, in as many rows as they need. */
function legend({ symbol, color }: Looks, theme: Theme, width: number): ElementNode {
  let [left, row] = [12, 0];
  const names = (symbol?.domain ?? color?.domain ?? []) as string[];
  const entries = names.map((name) => {
    const room = letters(name) * LETTER + 36;
    if (left + room > width && left > 12) [left, row] = [12, row + 1];
    const entry = { subject: name, left, middle: row * LEGEND + LEGEND / 2 };
    left += room;
    return entry;
  });
  return plot(
    base({ theme, width }, {
      height: (row + 1) * LEGEND,
      margin: 0,
      x: { type: "identity", axis: null },
      y: { type: "identity", axis: null },
      ...(symbol && { symbol: { ...symbol, legend: false } }),
      ...(color && { color: { ...color, legend: false } }),
      marks: [
        Plot.dot(entries, { x: "left", y: "middle", fill: BY_SUBJECT, symbol: symbol ? SHAPE_BY_SUBJECT : "square", r: 5 }),
        Plot.text(entries, { x: "left", y: "middle", dx: 10, text: "subject", textAnchor: "start", fill: theme.ink }),
      ],
    }),
  );
}
