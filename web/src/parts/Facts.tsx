import { VERDICT_SYMBOLS, verdictWord } from "../format";
import { colourOf, sentence } from "../figures/forest";
import type { Check, Finding } from "../generated/page";
import type { Page } from "../model";
import type { Theme } from "../theme";
import { noted, say, t } from "../words";
import { Table } from "./Table";

/** How many places of a caveat are shown at once. */
const FIRST_PLACES = 3;

const STATES = {
  passed: noted("✓ passed"),
  warned: noted("! look"),
  failed: noted("✕ failed"),
  not_shown: noted("○ not shown"),
  not_observed: noted("○ not observed"),
  not_applicable: noted("– not asked"),
} as const;

/** What was checked before any of it is believed. */
export function Checks({ checks }: { checks: Check[] }) {
  return (
    <section class="card" id="checks">
      <h2>{t("Validity")}</h2>
      <ul class="checks">
        {checks.map((check) => (
          <li key={check.name} class={check.state}>
            <b>{say(STATES[check.state])}</b> {check.name}
            <span>{check.detail}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The first few answers, large. */
export function KeyFigures({ findings, theme }: { findings: Finding[]; theme: Theme }) {
  return (
    <div class="keys">
      {findings.map((finding) => (
        <div class="card" key={`${finding.workload} ${finding.subject} ${finding.metric}`}>
          <small>
            {finding.workload}, {finding.metric.replaceAll("_", " ")}
          </small>
          <b style={{ color: colourOf(finding.verdict, theme) }}>
            {VERDICT_SYMBOLS[finding.verdict]} {finding.subject} {verdictWord(finding.verdict)}
          </b>
          <small>{sentence(finding)}</small>
          {finding.reason && <small>{finding.reason}</small>}
        </div>
      ))}
    </div>
  );
}

/** What verdicts of so few boots cannot show, where verdicts stand. */
export function FewBoots({ page }: { page: Page }) {
  return page.few_boots ? <p class="boots">{page.few_boots}</p> : null;
}

/** Levels as they are declared: `policy=fifo:1`. */
export function levelsOf(levels: Record<string, string>): string {
  return Object.entries(levels).map((level) => level.join("=")).join(", ") || t("none");
}

function roleOf({ is_reference, is_control }: Page["subjects"][number]): string {
  if (is_control) return t("A/A control: the reference once more");
  return is_reference ? t("reference") : "";
}

function FactList({ facts }: { facts: [string, string][] }) {
  return (
    <dl class="facts">
      {facts.map(([fact, value]) => (
        <div key={fact}>
          <dt>{fact}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What was compared, and how. */
export function Design({ page }: { page: Page }) {
  return (
    <section class="card" id="design">
      <h2>{t("Subjects")}</h2>
      <Table
        look="wraps"
        columns={[t("subject"), t("levels"), t("role")]}
        rows={page.subjects.map((subject) => [
          subject.id,
          page.design.imported && Object.keys(subject.levels).length === 0 ? t("not known") : levelsOf(subject.levels),
          roleOf(subject),
        ])}
      />
      <h2>{t("Design")}</h2>
      <FactList facts={[...page.facts, [t("seed"), page.seed]]} />
    </section>
  );
}

/** The machine, and what of it differed between subjects. */
export function Environment({ page }: { page: Page }) {
  // What every subject has alike is the trials' own, not a difference between subjects.
  const differences = Object.entries(page.differences).filter(([, bySubject]) => {
    const seen = page.subjects.map(({ id }) => JSON.stringify(bySubject[id] ?? []));
    return new Set(seen).size > 1;
  });
  // A file of others shows no machine, a simulator has none, and edited records show nothing.
  const isObserved = page.is_machine_compared ?? false;
  return (
    <section class="card" id="environment">
      <h2>{t("Environment")}</h2>
      <h3>{t("What differed between subjects")}</h3>
      {differences.length === 0 ? (
        <p>{isObserved ? t("Nothing but the declared levels.") : t("Not observed.")}</p>
      ) : (
        <Table
          columns={[t("fact"), ...page.subjects.map(({ id }) => id)]}
          rows={differences.map(([fact, bySubject]) => [fact, ...page.subjects.map(({ id }) => (bySubject[id] ?? []).join(", "))])}
        />
      )}
      <details class="printed">
        <summary>{t("All facts of the machine")}</summary>
        <FactList facts={Object.entries(page.environment)} />
      </details>
    </section>
  );
}

/** Every warning, with its meaning and where it applies. */
export function Caveats({ page }: { page: Page }) {
  return (
    <section class="card" id="caveats">
      <h2>{t("Caveats")}</h2>
      {page.caveats.length === 0 && <p>{t("None.")}</p>}
      <dl>
        {page.caveats.map(({ code, meaning, places }) => (
          <div key={code}>
            <dt>
              <code>{code}</code> {meaning}
            </dt>
            {places.slice(0, FIRST_PLACES).map((place) => (
              <dd key={place}>{place}</dd>
            ))}
            {places.length > FIRST_PLACES && (
              <dd>
                <details class="printed">
                  <summary>{t("{count} more", { count: places.length - FIRST_PLACES })}</summary>
                  {places.slice(FIRST_PLACES).map((place) => (
                    <p key={place}>{place}</p>
                  ))}
                </details>
              </dd>
            )}
          </div>
        ))}
      </dl>
    </section>
  );
}

/** How to get the same campaign again. */
export function Reproduce({ page }: { page: Page }) {
  return (
    <section class="card" id="reproduce">
      <h2>{t("Again")}</h2>
      <ul>
        {page.reproduce.map((line) => (
          <li key={line}>
            <code>{line}</code>
          </li>
        ))}
      </ul>
      <p>
        {t("Plan digest:")} <code>{page.plan_digest}</code>
      </p>
      {page.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </section>
  );
}
