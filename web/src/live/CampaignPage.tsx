import type { Page } from "../model";
import { Report } from "../parts/Report";
import type { Theme } from "../theme";
import { t } from "../words";
import { useFetched, useNews } from "./hooks";
import { campaignPath } from "./protocol";
import type { Stream } from "./stream";

/** Drawing takes time of the machine that is measured. */
const SPACING_MS = 10_000;

/** The report of one campaign; of one that runs, so far. */
export function CampaignPage({ name, stream, theme }: { name: string; stream: Stream; theme: Theme }) {
  useNews(stream, "snapshot");
  const live = stream.snapshot?.campaign;
  const isRunning = live?.name === name && live.state === "running";
  const revision = live?.name === name ? live.revision : 0;
  const { data, problem } = useFetched<Page>(campaignPath(name), revision, SPACING_MS);
  return (
    <>
      {problem && <p class="banner" role="alert">{problem}</p>}
      {isRunning && (
        <p class="banner">
          {t("It runs: this is the report so far.")} <a href="#/">{t("Watch it")}</a>
        </p>
      )}
      {data ? <Report page={data} theme={theme} isServed /> : <h1>{name}</h1>}
      {!data && !problem && <p>{t("Loading.")}</p>}
    </>
  );
}
