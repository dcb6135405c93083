import type { Claim, Page, Ranking, UseCase } from "../model";

const MARKS: Record<Claim["outcome"], string> = {
  confirmed: "✓ confirmed",
  refuted: "✕ refuted",
  undecided: "? undecided",
};

/** A rank as far as it is known: `1`, or `2 to 3`. */
function place({ rank, worst }: Ranking["ranks"][number]): string {
  return rank === worst ? String(rank) : `${rank} to ${worst}`;
}

/** A ranking as bars from the best rank a subject can have to the worst. */
function Ranks({ ranking }: { ranking: Ranking }) {
  const count = Math.max(...ranking.ranks.map(({ worst }) => worst));
  const share = (rank: number): string => `${(100 * rank) / count}%`;
  return (
    <table class="ranks">
      <thead>
        <tr>
          <th scope="col">subject</th>
          <th scope="col">rank</th>
          <th scope="col" aria-hidden="true">
            best to worst
          </th>
        </tr>
      </thead>
      <tbody>
        {ranking.ranks.map((rank) => (
          <tr key={rank.subject}>
            <th scope="row">{rank.subject}</th>
            <td>{place(rank)}</td>
            <td class="span" aria-hidden="true">
              <i style={{ marginLeft: share(rank.rank - 1), width: share(rank.worst - rank.rank + 1) }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What serves which use case, with the ranks and what could not be judged. */
function UseCases({ cases }: { cases: UseCase[] }) {
  return (
    <div class="grid">
      {cases.map(({ use_case, weights, ranking, co_best, without_evidence }) => (
        <section class="card" key={use_case}>
          <h3>{use_case}</h3>
          <p>
            {co_best.length === 0
              ? "No subject has evidence to be the best."
              : co_best.length === 1
                ? `Served best by ${co_best[0]}.`
                : `Not told apart as the best: ${co_best.join(", ")}.`}
          </p>
          <Ranks ranking={ranking} />
          <p class="reading">
            {weights.map(({ workload, metric, weight }) => `${workload} ${metric.replaceAll("_", " ")} ${Math.round(weight * 100)} %`).join(", ")}
            {without_evidence.length > 0 && `. No evidence on ${without_evidence.join(", ")}`}
          </p>
        </section>
      ))}
    </div>
  );
}

/** Ranks where every pair was compared, use cases, and what became of published claims. */
export function Standings({ page: { rankings, use_cases, claims } }: { page: Page }) {
  return (
    <div id="standings">
      <UseCases cases={use_cases} />
      {rankings.length > 0 && (
        <section class="card">
          <h2>Ranks</h2>
          <p class="reading">
            Ranks are intervals: subjects that were not told apart share them. From every pair's verdict, corrected for all.
          </p>
          <div class="grid">
            {rankings.map((ranking) => (
              <div key={`${ranking.workload} ${ranking.metric}`}>
                <h3>
                  {ranking.workload}, {ranking.metric.replaceAll("_", " ")}
                </h3>
                <Ranks ranking={ranking} />
              </div>
            ))}
          </div>
        </section>
      )}
      {claims.length > 0 && (
        <section class="card">
          <h2>Published claims</h2>
          <ul class="claims">
            {claims.map(({ says, source, outcome, reason }) => (
              <li key={says}>
                <b>{MARKS[outcome]}</b> “{says}”{source && <small> ({source})</small>}
                <span>{reason}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
