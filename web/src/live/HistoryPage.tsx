import { useMemo } from "preact/hooks";
import { histories } from "../figures/history";
import type { History } from "../generated/live";
import { Chooser } from "../parts/Chooser";
import type { Theme } from "../theme";
import { t } from "../words";
import { useFetched } from "./hooks";
import { HISTORY } from "./protocol";

/** Every comparison over all campaigns that made it. */
export function HistoryPage({ theme }: { theme: Theme }) {
  const { data, problem } = useFetched<History>(HISTORY);
  const choices = useMemo(() => histories(data?.series ?? []), [data]);
  return (
    <>
      <h1>{t("History")}</h1>
      {problem && <p class="banner" role="alert">{problem}</p>}
      {!data && !problem && <p>{t("Loading.")}</p>}
      {data && choices.length === 0 && <p>{t("No comparison was made by more than one campaign.")}</p>}
      <Chooser label={t("History of")} choices={choices} theme={theme} />
      {data?.problems.map((text) => (
        <p key={text} class="banner">
          {text}
        </p>
      ))}
    </>
  );
}
