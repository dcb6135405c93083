import "./intl";
import type { Figure } from "../figures/figure";
import type { Page } from "../model";
import { speak } from "../words";
import { allFigures, described, drawn } from "./draw";

/**
 * What an embedded engine calls (crates/figures): texts in, texts out, so that nothing but texts
 * crosses between it and us.
 */
let figures: Figure[] = [];

/** Takes the data of a page, `schedlab.page/1`, and tells its figures as JSON. */
export function open(json: string): string {
  figures = [];
  const page = JSON.parse(json) as Page;
  // Of each page anew: the one before may have spoken another language.
  speak(page);
  const all = allFigures(page);
  figures = all.map(({ figure }) => figure);
  return JSON.stringify(all.map(described));
}

/** A figure by its place, as SVG. */
export function draw(place: number, theme: string, width: number): string {
  const figure = figures[place];
  if (!figure) throw new RangeError(`there is no figure ${place}`);
  return drawn(figure, theme, width);
}
