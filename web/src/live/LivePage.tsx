import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { forest } from "../figures/forest";
import { choicesWithOrigin, originOf } from "../figures/origin";
import { trialPercentiles } from "../figures/trials";
import { clock, duration, VERDICT_SYMBOLS, verdictWord } from "../format";
import type { LiveCampaign, LiveVerdict, Trial } from "../generated/live";
import type { Finding, Verdict } from "../generated/page";
import type { Page } from "../model";
import { Chooser } from "../parts/Chooser";
import { FewBoots } from "../parts/Facts";
import { FigureCard } from "../parts/FigureCard";
import { Answer, Banners, Keys, ReportBody } from "../parts/Report";
import type { Theme } from "../theme";
import { say, t } from "../words";
import { campaignLink, Campaigns } from "./Campaigns";
import { Health } from "./Health";
import { useFetched, useNews, useNow } from "./hooks";
import { campaignPath, originWord, STATES } from "./protocol";
import { RunQueues } from "./RunQueues";
import type { Stream } from "./stream";

/** A report is drawn anew this often at most: drawing takes time of the machine that is measured. */
const REPORT_SPACING_MS = 10_000;

/** What runs, or that nothing does. */
export function LivePage({ stream, theme }: { stream: Stream; theme: Theme }) {
  useNews(stream, "link");
  useNews(stream, "snapshot");
  const { snapshot, link } = stream;
  if (link.state === "refused") {
    return (
      <>
        <h1>{t("Not connected")}</h1>
        <p class="banner" role="alert">
          {link.why}
        </p>
        <button type="button" onClick={() => stream.open()}>
          {t("Try again")}
        </button>
      </>
    );
  }
  if (!snapshot) {
    return (
      <>
        <h1>{link.state === "lost" ? t("Not connected, trying again") : t("Connecting")}</h1>
        {link.state === "lost" && <p role="alert">{link.why}</p>}
      </>
    );
  }
  if (!snapshot.campaign) {
    return (
      <>
        <h1>{t("Nothing runs")}</h1>
        <p>{t("When a campaign begins, it is shown here by itself.")}</p>
        <Campaigns level="h2" />
      </>
    );
  }
  return <Running key={snapshot.campaign.name} campaign={snapshot.campaign} stream={stream} theme={theme} />;
}

function Running({ campaign, stream, theme }: { campaign: LiveCampaign; stream: Stream; theme: Theme }) {
  const [paused_ms, setPaused] = useState<number | null>(null);
  const isPaused = paused_ms !== null;
  const shown = useRef(campaign);
  if (!isPaused) shown.current = campaign;
  const { name } = campaign;
  const isRunning = campaign.state === "running";
  // At the end there is little time: the server ends soon after the campaign.
  const spacing_ms = isRunning ? REPORT_SPACING_MS : 0;
  const { data: page, problem } = useFetched<Page>(campaignPath(name), shown.current.revision, spacing_ms);
  const isOver = isFinal(campaign);
  // What was drawn while the campaign could still go on is no answer.
  const isAnswered = isOver && page !== null && !page.is_unfinished;
  const isLost = stream.link.state !== "open";
  // What is over stays true when the server that told it is gone.
  const isStale = isLost && !isOver;
  // An import may be simulated and of an emulated processor: its origin is the first of both.
  const isEmulated = campaign.origin === "emulated" || page?.is_emulated === true;
  const subjects = subjectsOf(shown.current, page);
  // Drawn anew when there are more of them, not with every snapshot.
  const count = shown.current.latencies.reduce((sum, { points }) => sum + points.length, 0);
  const latencies = useMemo(
    () => choicesWithOrigin(originOf(campaign.origin), trialPercentiles(shown.current.latencies, subjects)),
    [count, subjects.join("\0"), campaign.origin],
  );
  return (
    <>
      <Announcer campaign={campaign} />
      <header>
        <div>
          <h1>{campaign.title}</h1>
          <p class="answer">
            {isStale ? t("Was {state}", { state: say(STATES[campaign.state]) }) : t("Is {state}", { state: say(STATES[campaign.state]) })}
          </p>
          {isAnswered && page && <Answer text={page.answer} />}
          <Banners
            isSimulated={campaign.origin === "simulated"}
            isEmulated={isEmulated}
            hidesAbsolute={campaign.hides_absolute}
            isQuick={campaign.is_quick}
          />
        </div>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(isPaused ? null : Date.now())}>
          {isPaused ? t("Go on") : t("Pause charts")}
        </button>
      </header>
      {isStale && (
        <p class="banner">
          {t("Connection lost: what follows is as it was at {time}, and may not be true any more.", { time: clock(stream.seen_ms) })}{" "}
          {stream.link.state === "lost" && stream.link.why}
        </p>
      )}
      {isLost && isOver && (
        <p class="banner">{t("The campaign is over, and so is its dashboard, or it cannot be reached: nothing here will change.")}</p>
      )}
      {isPaused && <p class="banner">{t("Charts are paused since {time}. The campaign is not.", { time: clock(paused_ms) })}</p>}
      <div class={isStale ? "stale" : undefined}>
        {isAnswered && page && <Keys page={page} theme={theme} />}
        <Progress campaign={campaign} stream={stream} />
        <Verdicts campaign={shown.current} findings={page?.findings ?? []} theme={theme} />
        {page && <FewBoots page={page} />}
        {!(isLost && isOver) && <Health stream={stream} isPaused={isPaused} />}
        {campaign.hides_absolute ? (
          <p class="banner">
            {campaign.origin === "unknown"
              ? t("Latencies are not shown until it is known whether the guest's processor is a real one.")
              : t("Emulated processor: latencies are not shown, for they are no real processor's.")}
          </p>
        ) : (
          <div id="trials">
            <Chooser label={t("Latency of")} choices={latencies} theme={theme} />
          </div>
        )}
        <RunQueues stream={stream} theme={theme} isPaused={isPaused} />
        <Log lines={campaign.log} />
      </div>
      <h2 id="report">{isAnswered ? t("The report") : t("The report so far")}</h2>
      <p>
        <a href={campaignLink(name)}>
          {isRunning ? t("{name}, drawn anew every ten seconds at most", { name }) : name}
        </a>{" "}
        {problem}
      </p>
      {page && <ReportBody page={page} theme={theme} isServed isBelow />}
    </>
  );
}

const isFinal = ({ state }: LiveCampaign): boolean => state === "finished" || state === "stopped_early";

/** In the campaign's order where it is known, else as they came. */
function subjectsOf({ latencies, verdicts }: LiveCampaign, page: Page | null): string[] {
  const seen = [
    ...(page?.subjects.map(({ id }) => id) ?? []),
    ...verdicts.flatMap(({ reference, subject }) => [reference, subject]),
    ...latencies.flatMap(({ points }) => points.map(({ subject }) => subject)),
  ];
  return [...new Set(seen)];
}

/** How far it is, what is left, and what runs at this moment. */
function Progress({ campaign, stream }: { campaign: LiveCampaign; stream: Stream }) {
  const now_ms = useNow();
  const { trials, current, left_ms, state } = campaign;
  const done = Math.min(trials.done, trials.total);
  // Counted on by this browser's clock, which need not agree with the server's.
  const since_ms = stream.link.state === "open" ? Math.max(0, now_ms - stream.snapshot_seen_ms) : 0;
  const isRunning = state === "running";
  const running_ms = current && stream.snapshot ? stream.snapshot.at_ms - current.begun_ms + since_ms : 0;
  const facts = [
    trials.total === 1 ? t("{count} of 1 trial", { count: done }) : t("{count} of {all} trials", { count: done, all: trials.total }),
    isRunning && left_ms !== null && t("about {time} left", { time: duration(left_ms - since_ms) }),
    trials.failed > 0 && t("{count} failed", { count: trials.failed }),
    trials.invalid > 0 && t("{count} invalid", { count: trials.invalid }),
  ];
  return (
    <section class="card" id="progress" aria-label={t("Progress")}>
      <div class="head">
        <h2>{facts.filter(Boolean).join(" · ")}</h2>
        <span>
          {[campaign.venue, originWord(campaign.origin), campaign.is_quick && t("quick"), t("since {time}", { time: clock(campaign.begun_ms) })]
            .filter(Boolean)
            .join(", ")}
        </span>
      </div>
      <progress max={Math.max(trials.total, 1)} value={done} aria-label={t("Trials done")}>
        {t("{count} of {all}", { count: done, all: trials.total })}
      </progress>
      {isRunning && current && (
        <p>
          <b>{t("{subject} on {workload}", { subject: current.subject, workload: current.workload })}</b>
          {" · "}
          {phaseOf(current, duration(running_ms))}
        </p>
      )}
      {isRunning && !current && <p>{t("Between trials.")}</p>}
    </section>
  );
}

function phaseOf({ block: at, blocks, phase: id, expected_ms }: Trial, time: string): string {
  const block = Math.min(at, blocks);
  const phase = id.replaceAll("_", " ");
  return expected_ms === null
    ? t("block {block} of {blocks}: {phase} for {time}", { block, blocks, phase, time })
    : t("block {block} of {blocks}: {phase} for {time} of about {expected}", { block, blocks, phase, time, expected: duration(expected_ms) });
}

/** Reasons come with the report. */
function findingOf(live: LiveVerdict, findings: Finding[]): Finding {
  const { ratio, low, high } = live;
  const reported = findings.find(
    ({ workload, metric, subject, reference }) =>
      workload === live.workload && metric === live.metric && subject === live.subject && reference === live.reference,
  );
  return {
    ...live,
    strength: reported?.verdict === live.verdict ? reported.strength : null,
    reason: reported?.verdict === live.verdict ? reported.reason : null,
    subject_value: null,
    reference_value: null,
    effect: ratio === null ? null : { ratio, low: low ?? 0, high, adjusted_p: null },
    caveats: [],
  };
}

/** After how many trials live verdicts were made. */
function judgedAfter({ judged_trials, trials: { total: all } }: LiveCampaign): string {
  const count = Math.min(judged_trials, all);
  return all === 1 ? t("Judged after {count} of 1 trial.", { count }) : t("Judged after {count} of {all} trials.", { count, all });
}

function Verdicts({ campaign, findings, theme }: { campaign: LiveCampaign; findings: Finding[]; theme: Theme }) {
  const isOver = isFinal(campaign);
  const figure = useMemo(() => {
    const live = campaign.verdicts.map((verdict) => findingOf(verdict, findings));
    const blocks = campaign.verdicts.map(({ pairs }) => pairs);
    const [fewest, most] = [Math.min(...blocks), Math.max(...blocks)];
    const drawn = forest(live, !isOver);
    return {
      ...drawn,
      origin: originOf(campaign.origin),
      id: "verdicts",
      title: isOver
        ? t("Verdicts")
        : t("Verdicts so far, complete blocks: {count}", {
            count: fewest === most ? fewest : t("{rank} to {worst}", { rank: fewest, worst: most }),
          }),
    };
  }, [JSON.stringify(campaign.verdicts), findings, isOver, campaign.origin]);
  if (campaign.verdicts.length === 0) {
    return (
      <section class="card" id="verdicts">
        <h3>{t("Verdicts so far")}</h3>
        <p>{t("None yet: the first block is not complete.")}</p>
      </section>
    );
  }
  return (
    <>
      <p class="counts">
        {counted(campaign.verdicts)}
        {!isOver && (
          <small>
            {" "}
            {judgedAfter(campaign)}{" "}
            {t("Nothing is final while a campaign can go on.")}
          </small>
        )}
      </p>
      <FigureCard figure={figure} theme={theme} />
    </>
  );
}

function counted(verdicts: LiveVerdict[]): string {
  const words = Object.entries(VERDICT_SYMBOLS).flatMap(([id, symbol]) => {
    const count = verdicts.filter(({ verdict, role }) => verdict === id && role === "primary").length;
    return count === 0 ? [] : [t("{symbol} {count} {verdict}", { symbol, count, verdict: verdictWord(id as Verdict) })];
  });
  return words.join(" · ");
}

/** Says changes of the state and of verdicts aloud, and nothing else: samples would never end. */
function Announcer({ campaign }: { campaign: LiveCampaign }) {
  const before = useRef(new Map<string, string>());
  const [text, setText] = useState("");
  useEffect(() => {
    const now = new Map<string, string>([[t("The campaign"), say(STATES[campaign.state])]]);
    for (const { subject, workload, metric, reference, verdict } of campaign.verdicts) {
      const about = { subject, reference, workload, metric: metric.replaceAll("_", " ") };
      now.set(t("{subject} against {reference} on {workload}, {metric}", about), verdictWord(verdict));
    }
    const news = [...now].filter(([what, word]) => (before.current.get(what) ?? word) !== word);
    before.current = now;
    if (news.length > 0) setText(news.map(([what, word]) => `${what}: ${word}`).join(". "));
  }, [campaign]);
  return (
    <p class="unseen" aria-live="polite" id="news">
      {text}
    </p>
  );
}

/** What happened, the latest first. */
function Log({ lines }: { lines: LiveCampaign["log"] }) {
  return (
    <section class="card" id="log" aria-label={t("Log")}>
      <h2>{t("Log")}</h2>
      {lines.length === 0 ? (
        <p>{t("Nothing yet.")}</p>
      ) : (
        <ol class="log" tabIndex={0} aria-label={t("Log, latest first")}>
          {lines.toReversed().map(({ at_ms, text }, index) => (
            <li key={lines.length - index}>
              <time>{clock(at_ms)}</time> {text}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
