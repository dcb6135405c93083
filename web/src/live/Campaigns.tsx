import { useState } from "preact/hooks";
import { day, VERDICT_SYMBOLS, verdictWord } from "../format";
import type { CampaignList, ListedCampaign } from "../generated/live";
import type { Verdict } from "../generated/page";
import { type Column, SortTable } from "../parts/SortTable";
import { say, t } from "../words";
import { useFetched } from "./hooks";
import { CAMPAIGNS, originWord, STATES } from "./protocol";

/** As many as are compared with each other. */
const PAIR = 2;

export const campaignLink = (name: string): string => `#/campaign/${encodeURIComponent(name)}`;

function counted(verdicts: ListedCampaign["verdicts"]): string {
  if (!verdicts) return t("not judged yet");
  const words = Object.entries(VERDICT_SYMBOLS).flatMap(([id, symbol]) => {
    const [verdict, count] = [id as Verdict, verdicts[id as Verdict] ?? 0];
    return count === 0 ? [] : [t("{symbol} {count} {verdict}", { symbol, count, verdict: verdictWord(verdict) })];
  });
  return words.join(", ") || t("none asked");
}

/** What was said of verdicts, behind where their numbers come from. */
function marked({ origin, verdicts }: ListedCampaign): string {
  const word = originWord(origin);
  return word === null ? counted(verdicts) : `${word}: ${counted(verdicts)}`;
}

function columnsOf(chosen: string[], choose: (name: string) => void): Column<ListedCampaign>[] {
  return [
    {
      name: t("campaign"),
      key: ({ title }) => title,
      text: ({ name, title }) => `${title} (${name})`,
      cell: ({ name, title }) => (
        <>
          <a href={campaignLink(name)}>{title}</a>
          <small>{name}</small>
        </>
      ),
    },
    {
      name: t("compare"),
      key: ({ name }) => (chosen.includes(name) ? 0 : 1),
      cell: ({ name, title }) => (
        <input type="checkbox" aria-label={t("Compare {title}, {name}", { title, name })} checked={chosen.includes(name)} onChange={() => choose(name)} />
      ),
    },
    { name: t("begun"), key: ({ begun_ms }) => begun_ms, text: ({ begun_ms }) => day(begun_ms) },
    {
      name: t("state"),
      key: ({ state }) => state,
      text: ({ state, is_quick }) => is_quick ? t("{state}, quick", { state: say(STATES[state]) }) : say(STATES[state]),
    },
    {
      name: t("trials"),
      key: ({ trials_done }) => trials_done,
      text: ({ trials_done, trials_total }) => t("{count} of {all}", { count: Math.min(trials_done, trials_total), all: trials_total }),
    },
    { name: t("venue"), key: ({ venue }) => venue, text: ({ venue, kernel }) => [venue, kernel].filter(Boolean).join(", ") },
    {
      name: t("verdicts"),
      key: ({ verdicts }) => (verdicts ? -((verdicts.better ?? 0) + (verdicts.worse ?? 0)) : 1),
      text: marked,
    },
  ];
}

/** All campaigns of a server, the newest first, any two of which can be compared. */
export function Campaigns({ level: Heading = "h1" }: { level?: "h1" | "h2" }) {
  const { data, problem } = useFetched<CampaignList>(CAMPAIGNS);
  const [chosen, setChosen] = useState<string[]>([]);
  // A third takes the place of the first.
  const choose = (name: string): void =>
    setChosen(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name].slice(-PAIR));
  const columns = columnsOf(chosen, choose);
  const campaigns = (data?.campaigns ?? []).toSorted((one, other) => other.begun_ms - one.begun_ms);
  return (
    <>
      <Heading>{t("Campaigns")}</Heading>
      {problem && <p class="banner" role="alert">{problem}</p>}
      {!data && !problem && <p>{t("Loading.")}</p>}
      {data && campaigns.length === 0 && <p>{t("None yet.")}</p>}
      {campaigns.length > 0 && (
        <section class="card campaigns">
          <p>
            {chosen.length === PAIR ? (
              <a href={`#/compare/${chosen.map(encodeURIComponent).join("/")}`}>{t("Compare the two")}</a>
            ) : (
              t("Choose two to compare them.")
            )}
          </p>
          <SortTable label={t("campaigns")} rows={campaigns} columns={columns} id={({ name }) => name} />
        </section>
      )}
      {data?.problems.map((text) => (
        <p key={text} class="banner">
          {text}
        </p>
      ))}
    </>
  );
}
