/** What the page says, gathered from its sources, and what the catalogues say for it. */

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { po } from "gettext-parser";
import { parseSync, Visitor } from "vite";
import type { Page } from "../src/model";
import { type Campaign, golden } from "./golden";

const SOURCES = resolve(import.meta.dirname, "../src");
const LANGUAGES = resolve(import.meta.dirname, "../../crates/phrases/languages");

/** The functions of src/words.ts whose first argument is a sentence that stands there. */
const LITERAL = new Set(["t", "noted"]);

export interface Sources {
  /** Every sentence that is said or noted. */
  sentences: Set<string>;
  /** Places that say something which nobody could translate. */
  problems: string[];
}

/** Reads one file: its sentences, and where it says something in English alone. */
export function gathered(name: string, text: string): Sources {
  const sentences = new Set<string>();
  const problems: string[] = [];
  const { program, errors } = parseSync(name, text);
  problems.push(...errors.map(({ message }) => `${name}: ${message}`));
  const refuse = (start: number, why: string): void => {
    problems.push(`${name}:${text.slice(0, start).split("\n").length}: ${why}`);
  };
  const hidden: { start: number; end: number }[] = [];
  const isSeen = (start: number): boolean => !hidden.some((one) => one.start <= start && start < one.end);
  new Visitor({
    NewExpression({ callee, start, end }) {
      if (callee.type === "Identifier" && callee.name.endsWith("Error")) hidden.push({ start, end });
    },
    CallExpression({ callee, arguments: [first], start }) {
      if (callee.type !== "Identifier" || !LITERAL.has(callee.name)) return;
      if (first?.type === "Literal" && typeof first.value === "string") sentences.add(first.value);
      else refuse(start, `what ${callee.name}() says has to stand there, in one string`);
    },
    JSXText({ value, start }) {
      if (/\p{Letter}/u.test(value) && !NAMES.has(value.trim())) refuse(start, `${value.trim()}: is to be said with t()`);
    },
    Literal({ value, start }) {
      const isSaid = typeof value !== "string" || sentences.has(value) || UNREAD.has(value);
      if (!isSaid && WORDS.test(value) && isSeen(start)) refuse(start, `${value}: is to be said with t()`);
    },
    TemplateElement({ value, start }) {
      if (WORDS.test(value.raw) && isSeen(start)) refuse(start, `${value.raw}: is to be said with t()`);
    },
    JSXAttribute({ name: attribute, value, start, end }) {
      if (attribute.name === "class") hidden.push({ start, end });
      const isRead = attribute.type === "JSXIdentifier" && READ.has(attribute.name);
      if (isRead && value?.type === "Literal") refuse(start, `${String(attribute.name)} is to be said with t()`);
    },
  }).visit(program);
  return { sentences, problems };
}

/** What reads as a sentence: letters, a space and letters again. */
const WORDS = /\p{Letter}[,:;]? \p{Letter}/u;
/** What is for the browser alone. */
const UNREAD = new Set([
  "footer summary", "system-ui, sans-serif", "11px system-ui, sans-serif", "(prefers-reduced-motion: reduce)",
  "(prefers-color-scheme: dark)",
]);
/** Names of formats, which every language has. */
const NAMES = new Set(["SVG", "CSV"]);
/** Attributes that are read out or shown. */
const READ = new Set(["aria-label", "aria-description", "label", "title", "alt", "placeholder"]);

/** All of the page. */
export function allGathered(): Sources {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => /(?<!\.d)\.tsx?$/.test(file));
  const all = files.map((file) => gathered(file, readFileSync(resolve(SOURCES, file), "utf8")));
  return {
    sentences: new Set(all.flatMap(({ sentences }) => [...sentences])),
    problems: all.flatMap(({ problems }) => problems),
  };
}

/** The languages that have a catalogue. */
export function languages(): string[] {
  return readdirSync(LANGUAGES);
}

/** What a language says for each sentence; what is marked as a guess is not said, as in the binary. */
export function catalogue(language: string): Map<string, string> {
  const { translations } = po.parse(readFileSync(resolve(LANGUAGES, language, "page.po")));
  const entries = Object.values(translations[""] ?? {}).filter(({ msgid, comments }) => msgid !== "" && !comments?.flag?.includes("fuzzy"));
  return new Map(entries.map(({ msgid, msgstr }) => [msgid, msgstr[0] ?? ""]));
}

/** The names of a sentence's blanks. */
export function blanks(sentence: string): string[] {
  return [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "").toSorted();
}

/** A golden campaign as its page is given it in another language: sentences of the campaign itself are cut out. */
export function translated(campaign: Campaign, language: string): Page {
  const page = golden(campaign);
  const cut = "—";
  return {
    ...page,
    language,
    words: Object.fromEntries(catalogue(language)),
    title: cut,
    answer: cut,
    attempt: cut,
    few_boots: cut,
    facts: page.facts.map((_, place) => [`${cut} ${place}`, cut]),
    checks: page.checks.map((check, place) => ({ ...check, name: `${cut} ${place}`, detail: cut })),
    findings: page.findings.map((finding) => ({ ...finding, reason: finding.reason && cut })),
    breakdowns: page.breakdowns.map((one) => ({ ...one, said: one.said.map(() => cut) })),
    claims: page.claims.map((claim, place) => ({ ...claim, says: `${cut} ${place}`, source: cut, reason: cut })),
    caveats: page.caveats.map(({ code }) => ({ code, meaning: cut, places: [cut] })),
    notes: [],
  };
}

/** What each sentence looks like with its blanks filled; nothing for one without letters of its own. */
const patterns = new Map<string, RegExp | undefined>();

function patternOf(sentence: string): RegExp | undefined {
  if (patterns.has(sentence)) return patterns.get(sentence);
  const escaped = (part: string): string => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const fixed = sentence.split(/\{\w+\}/);
  // One that ends is found within others, too.
  const [begin, end] = sentence.endsWith(".") ? ["", ""] : ["^", "$"];
  const hasLetters = /\p{Letter}/u.test(fixed.join(""));
  const pattern = hasLetters ? new RegExp(begin + fixed.map(escaped).join(".+") + end, "s") : undefined;
  patterns.set(sentence, pattern);
  return pattern;
}

/** Whether a text is one of the sentences of the page in English, its blanks filled. */
export function englishOf(text: string, sentences: Iterable<string>): string | undefined {
  for (const sentence of sentences) {
    if (patternOf(sentence)?.test(text)) return sentence;
  }
  return undefined;
}
