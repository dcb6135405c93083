/** Logarithmic axes: of oriented ratios, with ticks that read well as changes, and of steps that were measured. */

const TICKS = [0.1, 0.2, 1 / 3, 0.5, 2 / 3, 0.8, 0.9, 0.95, 1, 1.05, 1.11, 1.25, 1.5, 2, 3, 5, 10];

/** The ends of an axis that shows all of these, and no difference, with some room. */
export function effectDomain(values: number[]): [number, number] {
  const ends = [1 / LEAST, LEAST, ...values.filter((value) => value > 0 && Number.isFinite(value))];
  return [Math.min(...ends) / ROOM, Math.max(...ends) * ROOM];
}

/** Smaller differences are not blown up to the height of the figure. */
const LEAST = 1.05;
const ROOM = 1.02;

/** Ticks that leave room for their labels; no difference is always one of them. */
export function effectTicks([low, high]: [number, number], pixels: number, room: number): number[] {
  const place = (tick: number): number => (Math.log(tick) / Math.log(high / low)) * pixels;
  const inside = TICKS.filter((tick) => tick > low && tick < high);
  const kept = [1];
  for (const tick of inside.toSorted((one, other) => Math.abs(place(other)) - Math.abs(place(one)))) {
    if (kept.every((other) => Math.abs(place(other) - place(tick)) >= room)) kept.push(tick);
  }
  return kept.toSorted((one, other) => one - other);
}

/** Of rising ticks those with room for their labels, the last one first; `pixels` from the first of `ends` to the last. */
export function spaced(ticks: number[], [low, high]: [number, number], pixels: number, room: number): number[] {
  const kept: number[] = [];
  for (const tick of ticks.toReversed()) {
    const free = (Math.log((kept[0] ?? Infinity) / tick) / Math.log(high / low)) * pixels;
    if (tick >= low && tick <= high && free >= room) kept.unshift(tick);
  }
  return kept;
}
