/**
 * Which task ran when on which CPU, as columns of numbers: a hundred thousand slices cost 23 bytes
 * each. Everything is found by binary search, so that no view looks at what lies outside of it.
 */

import type { Timeline } from "../generated/page";

/** Slices in the order of CPUs, and of each CPU in the order of time; times in 0.1 µs. */
export interface Slices {
  count: number;
  start: Float64Array;
  end: Float64Array;
  /** How long the task was runnable before it ran. */
  wait: Uint32Array;
  /** Places among the tasks. */
  task: Uint16Array;
  /** The first slice of each CPU, and after the last CPU the number of all. */
  offsets: Uint32Array;
}

const BYTES_OF_SLICE = 4 + 4 + 4 + 2 + 1;

/** Unpacks base64 of gzip. */
export async function unpack(timeline: Timeline): Promise<Slices> {
  const packed = Uint8Array.from(atob(timeline.columns), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return read(await new Response(plain).arrayBuffer(), timeline);
}

/** Reads the columns; throws where they are not what the timeline says they are. */
export function read(buffer: ArrayBuffer, { slices: count, cpus, tasks }: Timeline): Slices {
  if (buffer.byteLength !== count * BYTES_OF_SLICE) {
    throw new Error(`${count} slices need ${count * BYTES_OF_SLICE} bytes, not ${buffer.byteLength}`);
  }
  const delta = new Uint32Array(buffer, 0, count);
  const lasts = new Uint32Array(buffer, 4 * count, count);
  const wait = new Uint32Array(buffer, 8 * count, count);
  const task = new Uint16Array(buffer, 12 * count, count);
  const cpu = new Uint8Array(buffer, 14 * count, count);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const offsets = new Uint32Array(cpus.length + 1).fill(count);
  let row = -1;
  let before = 0;
  for (let at = 0; at < count; at += 1) {
    const place = cpu[at] as number;
    if (place < row || place >= cpus.length) throw new Error(`slice ${at} is on CPU ${place} of ${cpus.length}`);
    if ((task[at] as number) >= tasks.length) throw new Error(`slice ${at} is of task ${task[at]} of ${tasks.length}`);
    if (place > row) {
      offsets.fill(at, row + 1, place + 1);
      row = place;
      before = 0;
    }
    before += delta[at] as number;
    start[at] = before;
    end[at] = before + (lasts[at] as number);
  }
  return { count, start, end, wait, task, offsets };
}

/** The first slice of this CPU that begins at this time or later. */
export function firstFrom({ start, offsets }: Slices, cpu: number, time: number): number {
  let [low, high] = [offsets[cpu] ?? 0, offsets[cpu + 1] ?? 0];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((start[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The slices of this CPU of which something lies between two times: the first, and after the last. */
export function between(slices: Slices, cpu: number, from: number, to: number): [number, number] {
  const first = firstFrom(slices, cpu, from);
  // The one before may reach into the view.
  const reaching = first > (slices.offsets[cpu] ?? 0) && (slices.end[first - 1] as number) > from ? first - 1 : first;
  return [reaching, firstFrom(slices, cpu, to)];
}

/** The slice that ran on this CPU at this time; null where none did. */
export function ranAt(slices: Slices, cpu: number, time: number, slack = 0): number | null {
  const at = firstFrom(slices, cpu, time + slack) - 1;
  if (at < (slices.offsets[cpu] ?? 0)) return null;
  return (slices.end[at] as number) + slack >= time ? at : null;
}

export interface Total {
  busy: number;
  count: number;
  meanWait: number;
  mostWait: number;
}

/** What one CPU did in all; times in 0.1 µs. */
export function totalOf({ start, end, wait, offsets }: Slices, cpu: number): Total {
  const [first, after] = [offsets[cpu] ?? 0, offsets[cpu + 1] ?? 0];
  let [busy, waited, mostWait] = [0, 0, 0];
  for (let at = first; at < after; at += 1) {
    busy += (end[at] as number) - (start[at] as number);
    waited += wait[at] as number;
    mostWait = Math.max(mostWait, wait[at] as number);
  }
  const count = after - first;
  return { busy, count, meanWait: count === 0 ? 0 : waited / count, mostWait };
}
