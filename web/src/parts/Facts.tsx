import { VERDICT_SYMBOLS, verdictWord } from "../format";
import { colourOf, sentence } from "../figures/forest";
import type { Check, Finding, Page } from "../model";
import type { Theme } from "../theme";
import { noted, say, t } from "../words";

/** How many places of a caveat are shown at once. */
const FIRST_PLACES = 3;

const STATES = {
  passed: noted("✓ passed"),
  warned: noted("! look"),
  failed: noted("✕ failed"),
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

/** The machine, and what of it differed between subjects. */
export function Environment({ page }: { page: Page }) {
  // What every subject has alike is the trials' own, not a difference between subjects.
  const differences = Object.entries(page.differences).filter(([, bySubject]) => {
    const seen = page.subjects.map(({ id }) => JSON.stringify(bySubject[id] ?? []));
    return new Set(seen).size > 1;
  });
  return (
    <section class="card" id="environment">
      <h2>{t("Environment")}</h2>
      <h3>{t("What differed between subjects")}</h3>
      {differences.length === 0 ? (
        <p>{t("Nothing but the declared levels.")}</p>
      ) : (
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">{t("fact")}</th>
                {page.subjects.map(({ id }) => (
                  <th key={id} scope="col">{id}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {differences.map(([fact, bySubject]) => (
                <tr key={fact}>
                  <th scope="row">{fact}</th>
                  {page.subjects.map(({ id }) => (
                    <td key={id}>{(bySubject[id] ?? []).join(", ")}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <details>
        <summary>{t("All facts of the machine")}</summary>
        <dl class="facts">
          {Object.entries(page.environment).map(([fact, value]) => (
            <div key={fact}>
              <dt>{fact}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
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
                <details>
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
      {page.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </section>
  );
}
