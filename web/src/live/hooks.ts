import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { t } from "../words";
import { refusal } from "./stream";
import type { Stream, Topic } from "./stream";

/** Users whose system asks for less motion get charts that move this seldom. */
const CALM_MS = 5000;

export function wantsCalm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * Renders anew when the stream has news of this, at most once in so many milliseconds, and never
 * in a hidden tab, which catches up when it is looked at.
 */
export function useNews(stream: Stream, topic: Topic, spacing_ms = 0): void {
  const [, render] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const spacing = topic === "samples" && wantsCalm() ? Math.max(spacing_ms, CALM_MS) : spacing_ms;
    let last = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      timer = undefined;
      if (document.hidden) return;
      last = performance.now();
      render(undefined);
    };
    const news = (): void => {
      if (document.hidden || timer !== undefined) return;
      const wait = last + spacing - performance.now();
      if (wait <= 0) draw();
      else timer = setTimeout(draw, wait);
    };
    const forget = stream.subscribe(topic, news);
    document.addEventListener("visibilitychange", news);
    return () => {
      forget();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", news);
    };
  }, [stream, topic, spacing_ms]);
}

/** The time by this browser's clock, each second while somebody looks. */
export function useNow(): number {
  const [now_ms, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return now_ms;
}

export interface Fetched<T> {
  data: T | null;
  problem: string | null;
}

/** How long a server that does not answer is left alone. */
const RETRY_MS = 5000;

/**
 * JSON of this server, fetched again when the revision changes: one request at a time, and not
 * more often than once in so many milliseconds. What was there before stays until then.
 */
export function useFetched<T>(path: string | null, revision: string | number = 0, spacing_ms = 0): Fetched<T> {
  const [fetched, setFetched] = useState<Fetched<T> & { path: string | null }>({ data: null, problem: null, path });
  const [, look] = useReducer((count: number) => count + 1, 0);
  const isBusy = useRef(false);
  const had = useRef<{ path: string | null; revision: string | number | null; at_ms: number }>({ path: null, revision: null, at_ms: 0 });
  useEffect(() => {
    const isSame = had.current.path === path;
    if (path === null || isBusy.current || (isSame && had.current.revision === revision)) return;
    if (isSame && document.hidden) return;
    const rest_ms = had.current.revision === null ? RETRY_MS : spacing_ms;
    const wait_ms = isSame ? had.current.at_ms + rest_ms - Date.now() : 0;
    if (wait_ms > 0) {
      const timer = setTimeout(() => look(undefined), wait_ms);
      return () => clearTimeout(timer);
    }
    isBusy.current = true;
    void fetchJson<T>(path).then(({ data, problem, isAnswered }) => {
      isBusy.current = false;
      had.current = { path, revision: isAnswered ? revision : null, at_ms: Date.now() };
      setFetched((before) => ({ path, problem, data: data ?? (before.path === path ? before.data : null) }));
      look(undefined);
    });
    return undefined;
  });
  return fetched.path === path ? fetched : { data: null, problem: null };
}

async function fetchJson<T>(path: string): Promise<Fetched<T> & { isAnswered: boolean }> {
  try {
    const answer = await fetch(path);
    if (!answer.ok) return { data: null, problem: refusal(answer.status), isAnswered: true };
    return { data: (await answer.json()) as T, problem: null, isAnswered: true };
  } catch {
    return { data: null, problem: t("The server does not answer."), isAnswered: false };
  }
}
