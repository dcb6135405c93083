/**
 * Draws slices on a canvas. Far away, the height within each column of pixels is the share of its
 * time that each class of tasks ran; near, each slice has its name. Either costs as much as there
 * are pixels and slices in the view.
 */

import { signed } from "../figures/origin";
import type { Timeline } from "../generated/page";
import type { Theme } from "../theme";
import { between, type Slices } from "./slices";

/** From when to when, in 0.1 µs. */
export type View = readonly [number, number];

/** Where things are, so that a pointer finds them; pixels. */
export interface Layout {
  left: number;
  top: number;
  row: number;
  width: number;
}

/** Pixels. */
const LEFT = 56;
const TOP = 22;
const RIGHT = 4;
const GAP = 3;
const WAIT = 3;
const LABEL = 62;
const LETTER = 6.6;
const TICK_ROOM = 84;
/** With more slices than this for each pixel no slice is seen by itself. */
const CROWDED = 1;
/** What is not of the task that was picked out. */
const FADED = 0.25;
const TICKS_PER_MS = 1e4;
const FONT = "11px system-ui, sans-serif";

/** Series colours that no one takes for the bars of waiting tasks, which have the colour of text. */
const CLASS_SERIES = [1, 4, 2, 3, 5];

export function classColours({ series }: Theme): string[] {
  return CLASS_SERIES.map((place) => series[place] ?? "currentColor");
}

export function layoutOf(width: number, row: number): Layout {
  return { left: LEFT, top: TOP, row, width: Math.max(1, width - LEFT - RIGHT) };
}

export interface Scene {
  timeline: Timeline;
  slices: Slices;
  theme: Theme;
  view: View;
  /** Place among the tasks; null where none was picked out. */
  focus: number | null;
  /** Where its numbers come from, in sentences; none of what was measured. */
  origin: readonly string[];
}

/** Pixels of a picture so wide: its times, its rows, and what it says of its origin. */
export function heightOf({ timeline, origin }: Pick<Scene, "timeline" | "origin">, { top, row }: Layout, width: number): number {
  return signed({ origin }, width, top + timeline.cpus.length * row).height;
}

export function draw(pen: CanvasRenderingContext2D, scene: Scene, layout: Layout): void {
  const { timeline, slices, theme, view } = scene;
  const { left, top, row, width } = layout;
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.clearRect(0, 0, left + width + RIGHT, heightOf(scene, layout, left + width + RIGHT));
  drawTicks(pen, scene, layout);
  timeline.cpus.forEach((cpu, place) => {
    const y = top + place * row;
    pen.textAlign = "right";
    pen.fillStyle = theme.ink;
    pen.fillText(`CPU ${cpu}`, left - 8, y + row / 2);
    pen.fillStyle = theme.band;
    pen.fillRect(left, y, width, row - GAP);
    const [first, after] = between(slices, place, view[0], view[1]);
    if (after - first > width * CROWDED) drawShares(pen, scene, layout, first, after, y);
    else drawSlices(pen, scene, layout, first, after, y);
  });
  drawOrigin(pen, scene, layout);
}

/** Below the rows: the picture may leave its page. */
function drawOrigin(pen: CanvasRenderingContext2D, { timeline, theme, origin }: Scene, { left, top, row, width }: Layout): void {
  pen.font = `600 ${FONT}`;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.fillStyle = theme.ink;
  for (const { text, x, y } of signed({ origin }, left + width + RIGHT, top + timeline.cpus.length * row).lines) pen.fillText(text, x, y);
}

/** Steps of 1, 2 and 5 of a power of ten. */
export function stepOf(span: number, width: number): number {
  const least = (span / width) * TICK_ROOM;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

function drawTicks(pen: CanvasRenderingContext2D, { theme, view, timeline }: Scene, { left, top, row, width }: Layout): void {
  const [from, to] = view;
  const step = stepOf(to - from, width);
  const digits = Math.max(0, Math.ceil(-Math.log10(step / TICKS_PER_MS)));
  pen.textAlign = "center";
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const x = left + ((time - from) / (to - from)) * width;
    pen.fillStyle = theme.grid;
    pen.fillRect(x, top - 5, 1, timeline.cpus.length * row + 5);
    pen.fillStyle = theme.muted;
    if (x > left + TICK_ROOM / 4 && x < left + width - TICK_ROOM / 4) pen.fillText(`${(time / TICKS_PER_MS).toFixed(digits)} ms`, x, 8);
  }
}

/**
 * Adds to the columns from one place to another as much as each is covered, as differences between
 * neighbours: a slice of a thousand columns costs no more than one of two. Two columns beyond the
 * last take what ends there.
 */
function cover(rise: Float32Array, from: number, to: number): void {
  const first = from | 0;
  const last = to | 0;
  if (first === last) {
    rise[first]! += to - from;
    rise[first + 1]! -= to - from;
    return;
  }
  rise[first]! += first + 1 - from;
  rise[first + 1]! += from - first;
  rise[last]! += to - last - 1;
  rise[last + 1]! -= to - last;
}

function drawShares(pen: CanvasRenderingContext2D, scene: Scene, layout: Layout, first: number, after: number, y: number): void {
  const { timeline, theme, view, focus } = scene;
  const { start, end, wait, task } = scene.slices;
  const { left, width, row } = layout;
  const [from] = view;
  const scale = width / (view[1] - from);
  const columns = Math.ceil(width);
  const colours = classColours(theme);
  const kinds = Uint8Array.from(timeline.tasks, (one) => one.class);
  const rises = colours.map(() => new Float32Array(columns + 2));
  const waits = new Float32Array(columns + 2);
  // Plain arithmetic: the first time that a page draws, nothing of this is compiled yet.
  for (let at = first; at < after; at += 1) {
    const of = task[at]!;
    const rise = rises[kinds[of]!];
    const begin = (start[at]! - from) * scale;
    const begun = begin < 0 ? 0 : begin;
    const ended = (end[at]! - from) * scale;
    if (rise && (focus === null || focus === of)) cover(rise, begun, ended > width ? width : ended);
    if (wait[at] === 0) continue;
    const since = begin - wait[at]! * scale;
    cover(waits, since < 0 ? 0 : since, begun);
  }
  const foot = y + row - GAP;
  // Each class stands on those before it, and is drawn before them, so that they cover its foot.
  const shares = rises.map(summed);
  shares.forEach((share, kind) => {
    const below = shares[kind - 1];
    if (below) share.forEach((value, column) => (share[column] = value + (below[column] as number)));
  });
  for (let kind = shares.length - 1; kind >= 0; kind -= 1) {
    pen.fillStyle = colours[kind] ?? theme.ink;
    fillUnder(pen, shares[kind] as Float32Array, left, foot - WAIT, row - GAP - WAIT);
  }
  pen.fillStyle = theme.ink;
  // Higher where more of the column's time was waited through.
  fillUnder(pen, summed(waits), left, foot, WAIT);
}

function summed(rise: Float32Array): Float32Array {
  let share = 0;
  return rise.subarray(0, -2).map((value) => (share += value));
}

/** Fills what lies under the shares, in one stroke: thousands of small rectangles take ten times as long. */
function fillUnder(pen: CanvasRenderingContext2D, shares: Float32Array, left: number, foot: number, height: number): void {
  pen.beginPath();
  pen.moveTo(left, foot);
  shares.forEach((share, column) => {
    const top = foot - Math.min(Math.max(share, 0), 1) * height;
    pen.lineTo(left + column, top);
    pen.lineTo(left + column + 1, top);
  });
  pen.lineTo(left + shares.length, foot);
  pen.closePath();
  pen.fill();
}

function drawSlices(pen: CanvasRenderingContext2D, scene: Scene, layout: Layout, first: number, after: number, y: number): void {
  const { timeline, slices, theme, view, focus } = scene;
  const { left, width, row } = layout;
  const scale = width / (view[1] - view[0]);
  const place = (time: number): number => left + Math.min(Math.max((time - view[0]) * scale, 0), width);
  const colours = classColours(theme);
  const height = row - GAP - WAIT;
  pen.textAlign = "left";
  for (let at = first; at < after; at += 1) {
    const start = slices.start[at] as number;
    const task = slices.task[at] as number;
    const [from, to] = [place(start), place(slices.end[at] as number)];
    const { name, class: kind } = timeline.tasks[task] ?? { name: "", class: 0 };
    const colour = colours[kind] ?? theme.ink;
    pen.fillStyle = colour;
    pen.globalAlpha = focus === null || focus === task ? 1 : FADED;
    // What is wide enough has a line between it and the next.
    pen.fillRect(from, y, Math.max(0.6, to - from - (to - from > 4 ? 1 : 0)), height);
    pen.globalAlpha = 1;
    if (to - from > LABEL) {
      pen.fillStyle = readable(colour);
      pen.fillText(name.slice(0, Math.floor((to - from - 8) / LETTER)), from + 4, y + height / 2, to - from - 8);
    }
    const wait = slices.wait[at] as number;
    if (wait > 0) {
      pen.fillStyle = theme.ink;
      pen.fillRect(place(start - wait), y + row - GAP - WAIT, Math.max(1, from - place(start - wait)), WAIT);
    }
  }
}

/** Black or white, whichever has more contrast on a colour `#rrggbb` (WCAG relative luminance). */
function readable(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  // At this luminance black and white have the same contrast.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
