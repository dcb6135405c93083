import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { clock } from "../format";
import { ThemeButton } from "../parts/Report";
import { useTheme } from "../parts/useTheme";
import { noted, say, t } from "../words";
import { CampaignPage } from "./CampaignPage";
import { Campaigns } from "./Campaigns";
import { Compare } from "./Compare";
import { HistoryPage } from "./HistoryPage";
import { useNews, useNow } from "./hooks";
import { LivePage } from "./LivePage";
import { Stream } from "./stream";

export type Route =
  | { page: "live" | "campaigns" | "history" }
  | { page: "campaign"; name: string }
  | { page: "compare"; names: [string, string] };

const PAGES = [
  ["live", "#/", noted("Live")],
  ["campaigns", "#/campaigns", noted("Campaigns")],
  ["history", "#/history", noted("History")],
] as const;

/** What an address asks for. A mistyped one gets the live view. */
export function routeOf(hash: string): Route {
  const [, page, ...names] = hash.split("/").map(decoded);
  const [one, other] = names;
  if (page === "campaigns" || page === "history") return { page };
  if (page === "campaign" && one) return { page, name: one };
  if (page === "compare" && one && other) return { page, names: [one, other] };
  return { page: "live" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const follow = (): void => {
      setRoute(routeOf(location.hash));
      scrollTo(0, 0);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

/** No sample for so long is a server that hangs, or a machine that sleeps. */
const SILENCE_MS = 15_000;

const LINKS = {
  connecting: noted("connecting"),
  open: noted("connected"),
  silent: noted("no news"),
  lost: noted("connection lost"),
  refused: noted("not connected"),
} as const;

/** Whether what is shown is still true, in words; said aloud when it changes. */
function LinkState({ stream }: { stream: Stream }) {
  useNews(stream, "link");
  const now_ms = useNow();
  const { link, seen_ms } = stream;
  const isSilent = link.state === "open" && stream.snapshot?.campaign?.state === "running" && now_ms - seen_ms > SILENCE_MS;
  const state = say(LINKS[isSilent ? "silent" : link.state]);
  const isTrue = link.state === "connecting" || (link.state === "open" && !isSilent) || seen_ms === 0;
  return (
    <span role="status" class="link">
      {link.state === "open" && !isSilent ? "●" : "○"} {isTrue ? state : t("{state}, last seen {time}", { state, time: clock(seen_ms) })}
    </span>
  );
}

interface Framed {
  route: Route;
  stream: Stream;
  button: ComponentChildren;
  children: ComponentChildren;
}

function Frame({ route, stream, button, children }: Framed) {
  return (
    <>
      <div class="top">
        <nav aria-label={t("Pages")} class="pages">
          {PAGES.map(([page, href, title]) => (
            <a key={page} href={href} aria-current={route.page === page ? "page" : undefined}>
              {say(title)}
            </a>
          ))}
        </nav>
        <LinkState stream={stream} />
        {button}
      </div>
      <main>{children}</main>
    </>
  );
}

const TITLES = {
  live: noted("live"),
  campaigns: noted("campaigns"),
  history: noted("history"),
  compare: noted("compare"),
} as const;

/** The page where a server shows what runs and what ran. */
export function App() {
  const route = useRoute();
  const [theme, toggle] = useTheme();
  const stream = useMemo(() => new Stream(), []);
  useEffect(() => {
    stream.open();
    return () => stream.close();
  }, [stream]);
  useEffect(() => {
    document.title = `${route.page === "campaign" ? route.name : say(TITLES[route.page])} · schedlab`;
  }, [route]);
  return (
    <Frame route={route} stream={stream} button={<ThemeButton theme={theme} onToggle={toggle} />}>
      {route.page === "live" && <LivePage stream={stream} theme={theme} />}
      {route.page === "campaigns" && <Campaigns />}
      {route.page === "campaign" && <CampaignPage name={route.name} stream={stream} theme={theme} />}
      {route.page === "compare" && <Compare names={route.names} />}
      {route.page === "history" && <HistoryPage theme={theme} />}
    </Frame>
  );
}
