/** Labels at the ends of curves, so that no reader has to match a legend. */

/** Pixels. */
const LINE = 15;

/**
 * The ends of curves on a logarithmic axis from the least to the most of these values, each with how far its label is moved
 * so that none covers another.
 */
export function apart<End extends { value: number }>(ends: End[], values: number[], room: number): (End & { shift: number })[] {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const place = ({ value }: End): number => ((high - Math.log(value)) / (high - low || 1)) * room;
  let next = -Infinity;
  return ends
    .toSorted((one, other) => place(one) - place(other))
    .map((end) => {
      const at = Math.max(place(end), next);
      next = at + LINE;
      return { ...end, shift: at - place(end) };
    });
}
