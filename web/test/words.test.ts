import { afterEach, describe, expect, test } from "vitest";
import { longest } from "../src/figures/labels";
import { noted, say, speak, t } from "../src/words";
import { allGathered, blanks, catalogue, englishOf, gathered, languages } from "./sentences";

describe("what is said", () => {
  afterEach(() => speak({}));

  test("is English where nobody asked for another language", () => {
    expect(t("{count} of {all} trials", { count: 1, all: "2" })).toBe("1 of 2 trials");
  });

  test("is what the data's words say, with the blanks where that language has them", () => {
    speak({ words: { "{count} of {all} trials": "시행 {all}건 중 {count}건" } });
    expect(t("{count} of {all} trials", { count: 1, all: 2 })).toBe("시행 2건 중 1건");
    expect(say(noted("{count} of {all} trials"), { count: 1, all: 2 })).toBe("시행 2건 중 1건");
    expect(t("Nobody translated {this}", { this: "x" })).toBe("Nobody translated x");
  });

  test("is English again for data without words", () => {
    speak({ words: { yes: "예" } });
    speak({});
    expect(t("yes")).toBe("yes");
  });

  test("has values as they are, whatever they hold", () => {
    expect(t("{one} and {other}", { one: "{other}", other: "$&" })).toBe("{other} and $&");
  });
});

describe("what collects sentences", () => {
  test("finds them where they are said and where they are noted", () => {
    const { sentences, problems } = gathered("a.tsx", 'const A = { a: noted("one") }; const b = <p title={t("two {x}", { x: 1 })}>{t("three")}</p>;');
    expect([...sentences].toSorted()).toEqual(["one", "three", "two {x}"]);
    expect(problems).toEqual([]);
  });

  test("refuses what it cannot read, and what is said in English alone", () => {
    const { problems } = gathered("a.tsx", 'const a = t(b);\nconst c = t(`x${b}`);\nconst d = <p aria-label="hello">and\n{b}</p>;');
    expect(problems).toEqual([
      "a.tsx:1: what t() says has to stand there, in one string",
      "a.tsx:2: what t() says has to stand there, in one string",
      "a.tsx:3: aria-label is to be said with t()",
      "a.tsx:3: and: is to be said with t()",
    ]);
  });
});

describe("the sources", () => {
  test("say nothing that nobody could translate", () => {
    expect(allGathered().problems).toEqual([]);
  });

  test("there are languages to compare with", () => {
    expect(languages()).toContain("ko");
  });

  for (const language of languages()) {
    test(`have every sentence translated to ${language}, with its blanks, and the catalogue has no other`, () => {
      const { sentences } = allGathered();
      const words = catalogue(language);
      expect([...sentences].filter((sentence) => !words.get(sentence)).toSorted(), "not translated").toEqual([]);
      expect([...words.keys()].filter((sentence) => !sentences.has(sentence)).toSorted(), "nobody says").toEqual([]);
      for (const [english, other] of words) expect(blanks(other), english).toEqual(blanks(english));
    });
  }
});

describe("what is left in English", () => {
  test("is known by the whole sentence, whatever its blanks hold", () => {
    const sentences = ["better", "{count} of {all} trials", "{symbol} {count}", "Lower is better."];
    expect(englishOf("점 하나. Lower is better.", sentences)).toBe("Lower is better.");
    expect(englishOf("better", sentences)).toBe("better");
    expect(englishOf("3 of 9 (a|b) trials", sentences)).toBe("{count} of {all} trials");
    for (const text of ["better off", "시행 9건 중 3건", "▲ 3", "3 of trials"]) expect(englishOf(text, sentences)).toBe(undefined);
  });
});

describe("the room of a text", () => {
  test("is as if a Korean letter were nearly two", () => {
    expect(longest(["baseline", "판단 보류"])).toBe(8.2);
    expect(longest(["판단 보류 µs"])).toBeCloseTo(11.2);
    expect(longest([], 4)).toBe(4);
  });
});
