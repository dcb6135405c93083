/** Labels beside curves and rows: how much room they take, and that none covers another. */

/** Pixels; of a letter about, between a name and its axis, and of the least margin for names of rows. */
const LINE = 15;
const LETTER = 6.6;
const GAP = 14;
const LEAST_MARGIN = 42;

/** As wide as they are high: Hangul, kana, Chinese and full forms, nearly all of "W" and "F" in UAX 11. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]/;
/** In letters of Latin: of 12 pixels, one takes 11.3 in Nanum Gothic and 12 in Noto, and Latin 6.9 in DejaVu Sans, measured. */
const WIDE_LETTERS = 1.8;

/** How long a text is, in letters of Latin. */
export function letters(text: string): number {
  let count = 0;
  for (const letter of text) count += WIDE.test(letter) ? WIDE_LETTERS : 1;
  return count;
}

/** The longest of these texts, in letters of Latin; at least as many as asked for. */
export function longest(texts: string[], least = 0): number {
  return Math.max(...texts.map(letters), least);
}

/** A text that has room for so many letters of Latin; of a longer one the middle is left out, as both ends tell names apart. */
export function fitted(text: string, room: number): string {
  if (letters(text) <= room) return text;
  const all = [...text];
  let [begin, end, left] = ["", "", room - 1];
  for (let [front, back] = [0, all.length - 1]; front < back; front += 1, back -= 1) {
    const [first, last] = [all[front] ?? "", all[back] ?? ""];
    left -= letters(first) + letters(last);
    if (left < 0) break;
    begin += first;
    end = last + end;
  }
  return `${begin}…${end}`;
}

/** The left margin for names of rows, of at most this share of the width, and what each name is where it has no room there. */
export function rowNames(names: string[], width: number, share: number, least = LEAST_MARGIN): { margin: number; fit: (name: string) => string } {
  const margin = Math.max(Math.min(longest(names) * LETTER + GAP, width * share), least);
  return { margin, fit: (name) => fitted(name, (margin - GAP) / LETTER) };
}

/**
 * The ends of curves on a logarithmic axis from the least to the most of these values, each with how far its label is moved
 * so that none covers another, nor leaves the axis while it has room for all.
 */
export function apart<End extends { value: number }>(ends: End[], values: number[], room: number): (End & { shift: number })[] {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const place = ({ value }: End): number => ((high - Math.log(value)) / (high - low || 1)) * room;
  let next = -Infinity;
  const down = ends
    .toSorted((one, other) => place(one) - place(other))
    .map((end) => {
      const at = Math.max(place(end), next);
      next = at + LINE;
      return { end, at };
    });
  let most = room;
  return down
    .toReversed()
    .map(({ end, at }) => {
      const kept = Math.min(at, most);
      most = kept - LINE;
      return { ...end, shift: kept - place(end) };
    })
    .toReversed();
}
