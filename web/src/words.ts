/**
 * What the page says, in the language of its data. The English sentence is the key, as in the
 * catalogues of crates/phrases: it stands where it is said, and what nobody translated is said in
 * English.
 */

type Words = Readonly<Record<string, string>>;

let words: Words = {};

/** Says what follows as these data ask for: set before anything is drawn, and for each page anew. */
export function speak(page: { words?: Words }): void {
  words = page.words ?? {};
}

/** The names of the blanks of a sentence. */
type Names<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

type Filled<Sentence extends string> = [Names<Sentence>] extends [never]
  ? []
  : [Record<Names<Sentence>, string | number>];

declare const NOTED: unique symbol;
/** A sentence that a table keeps, and that is said elsewhere. */
export type Noted<Sentence extends string = string> = Sentence & { readonly [NOTED]: true };

/** Notes a sentence for a table: what collects sentences finds it here. */
export function noted<const Sentence extends string>(english: Sentence): Noted<Sentence> {
  return english as Noted<Sentence>;
}

type Blanks = Readonly<Record<string, string | number>>;

/** Says a sentence that stands here, its blanks filled by name. */
export const t: <const Sentence extends string>(english: Sentence, ...blanks: Filled<Sentence>) => string = said;

/** Says a sentence that was noted. */
export const say: <Sentence extends string>(english: Noted<Sentence>, ...blanks: Filled<Sentence>) => string = said;

function said(english: string, blanks: Blanks = {}): string {
  return (words[english] ?? english).replace(/\{(\w+)\}/g, (blank, name: string) => String(blanks[name] ?? blank));
}
