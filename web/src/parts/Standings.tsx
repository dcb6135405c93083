import { areCorrected } from "../figures/finding";
import { estimate, ofShare } from "../format";
import type { Finding, Ranking, UseCase } from "../generated/page";
import type { Page } from "../model";
import { noted, say, t } from "../words";
import { type Column, IntervalBar, reachOf, SortTable } from "./SortTable";

const MARKS = {
  confirmed: noted("✓ confirmed"),
  refuted: noted("✕ refuted"),
  refuted_in_size: noted("✕ refuted in size"),
  immaterial: noted("= immaterial"),
  refuted_and_immaterial: noted("✕ refuted as stated, and immaterial"),
  undecided: noted("? undecided"),
} as const;

/** A rank as far as it is known: `1`, or `2 to 3`. */
function place({ rank, worst }: Ranking["ranks"][number]): string {
  return rank === worst ? String(rank) : t("{rank} to {worst}", { rank, worst });
}

interface Ranked {
  rank: Ranking["ranks"][number];
  /** Against the reference, where the ranking is of one metric; null of the reference itself. */
  finding: Finding | null;
}

const isRanked = (one: Finding, { workload, metric }: Ranking): boolean => one.workload === workload && one.metric === metric;

const changed = ({ finding }: Ranked): string => (finding?.effect ? ofShare(finding, estimate(finding.effect)) : "");

/** A ranking with a bar from the best rank a subject can have to the worst, and its effects. */
function Ranks({ ranking, page }: { ranking: Ranking; page: Page }) {
  const { workload, metric, ranks } = ranking;
  const count = Math.max(...ranks.map(({ worst }) => worst));
  const share = (rank: number): string => `${(100 * rank) / count}%`;
  const references = new Set(page.subjects.filter(({ is_reference }) => is_reference).map(({ id }) => id));
  const rows = ranks.map((rank): Ranked => {
    const found = page.findings.find(
      (one) => one.workload === workload && one.metric === metric && one.subject === rank.subject && references.has(one.reference),
    );
    return { rank, finding: found ?? null };
  });
  const reach = reachOf(rows.flatMap(({ finding }) => finding?.effect ?? []));
  const columns: Column<Ranked>[] = [
    { name: t("subject"), key: ({ rank }) => rank.subject, text: ({ rank }) => rank.subject },
    {
      name: t("rank"),
      key: ({ rank }) => rank.rank + rank.worst / 1000,
      text: ({ rank }) => place(rank),
      cell: ({ rank }) => (
        <>
          <span class="place">{place(rank)}</span>
          <span class="ranks" aria-hidden="true">
            <i class="bar" style={{ marginLeft: share(rank.rank - 1), width: share(rank.worst - rank.rank + 1) }} />
          </span>
        </>
      ),
    },
  ];
  if (rows.some(({ finding }) => finding?.effect)) {
    columns.push({
      name: t("against the reference"),
      key: ({ finding }) => finding?.effect?.ratio ?? 1,
      text: changed,
      cell: (row) => (
        <>
          {row.finding?.effect && <IntervalBar of={row.finding.effect} reach={reach} />} {changed(row)}
        </>
      ),
    });
  }
  const label = metric === "" ? workload : `${workload}, ${metric.replaceAll("_", " ")}`;
  return <SortTable label={t("Ranks of {what}", { what: label })} rows={rows} columns={columns} id={({ rank }) => rank.subject} />;
}

/** What serves which use case, with the ranks and what could not be judged. */
function UseCases({ cases, page }: { cases: UseCase[]; page: Page }) {
  return (
    <div class="grid">
      {cases.map(({ use_case, weights: all, ranking, co_best, without_evidence: missing }) => {
        const weights = all.map(({ workload, metric, weight }) => `${workload} ${metric.replaceAll("_", " ")} ${Math.round(weight * 100)} %`).join(", ");
        return (
        <section class="card" key={use_case}>
          <h3>{use_case}</h3>
          <p>
            {co_best.length === 0
              ? t("No subject has evidence to be the best.")
              : co_best.length === 1
                ? t("Served best by {subject}.", { subject: co_best[0] ?? "" })
                : t("Not told apart as the best: {subjects}.", { subjects: co_best.join(", ") })}
          </p>
          <Ranks ranking={ranking} page={page} />
          <p class="reading">
            {missing.length === 0 ? weights : t("{weights}. No evidence on {metrics}", { weights, metrics: missing.join(", ") })}
          </p>
        </section>
        );
      })}
    </div>
  );
}

/** Ranks where every pair was compared, use cases, and what became of published claims. */
export function Standings({ page }: { page: Page }) {
  const { rankings, use_cases, claims } = page;
  return (
    <div id="standings">
      <UseCases cases={use_cases} page={page} />
      {rankings.length > 0 && (
        <section class="card">
          <h2>{t("Ranks")}</h2>
          <p class="reading">
            {t("Ranks are intervals: subjects that were not told apart share them.")}{" "}
            {page.is_unfinished
              ? t("There is no verdict before the campaign's end.")
              : areCorrected(page.findings.filter((one) => rankings.some((ranking) => isRanked(one, ranking))))
                ? t("They follow from the verdict on every pair, corrected for all comparisons.")
                : t("They follow from the verdict on every pair.")}
          </p>
          <div class="grid">
            {rankings.map((ranking) => (
              <div key={`${ranking.workload} ${ranking.metric}`}>
                <h3>
                  {ranking.workload}, {ranking.metric.replaceAll("_", " ")}
                </h3>
                <Ranks ranking={ranking} page={page} />
              </div>
            ))}
          </div>
        </section>
      )}
      {claims.length > 0 && (
        <section class="card">
          <h2>{t("Published claims")}</h2>
          <ul class="claims">
            {claims.map(({ says, source, outcome, reason }) => (
              <li key={says}>
                <b>{say(MARKS[outcome])}</b> “{says}”{source && <small> ({source})</small>}
                <span>{reason}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
