/** What the binary puts into the page, and how it is read. */

import type { PageData as Page, Series } from "./generated/page";

export type { Page };

export interface Run {
  order: number;
  block: number;
  subject: string;
  value: number;
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
