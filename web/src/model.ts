/** What the binary puts into the page, and what nothing but the page knows of it. */

import type { PageData, Series } from "./generated/page";

export interface Page extends PageData {
  /** Absent where nothing was recorded. */
  timeline?: Timeline;
}

export interface Run {
  order: number;
  block: number;
  subject: string;
  value: number;
}

/**
 * Which task ran when on which CPU in one recorded trial. Times are in 0.1 µs since it began.
 *
 * `columns` is base64 of gzip of five columns, one after the other, little-endian, with a value
 * for each slice: u32 the start, as the difference to the start of the slice before on the same CPU
 * (of its first, to the beginning); u32 how long it ran; u32 how long the task had been runnable
 * before; u16 the task's place among `tasks`; u8 the CPU's place among `cpus`. Slices are in the
 * order of CPUs, and of each CPU in the order of time; those of one CPU do not overlap.
 */
export interface Timeline {
  workload: string;
  subject: string;
  span: number;
  /** Their numbers. */
  cpus: number[];
  /** Kinds of tasks, at most five. */
  classes: string[];
  /** `class` is the place among the classes. */
  tasks: { name: string; class: number }[];
  /** How many. */
  slices: number;
  columns: string;
}

/** The runs of a series as rows. */
export function runs(series: Series, subjects: string[]): Run[] {
  return series.value.map((value, index) => ({
    order: series.order[index] ?? 0,
    block: series.block[index] ?? 0,
    subject: subjects[series.subject[index] ?? -1] ?? "",
    value,
  }));
}

/** The page's data; null where it is served live. Long ones are compressed. */
export async function embedded(document: Document): Promise<Page | null> {
  const node = document.getElementById("schedlab-data");
  const text = node?.textContent;
  if (!text) return null;
  if (node.getAttribute("type") === "application/json") return JSON.parse(text) as Page;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(plain).json()) as Page;
}
