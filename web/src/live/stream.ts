/**
 * The connection to a server: keeps the last snapshot and the last minutes of samples, tells its
 * listeners, and says whether what it has is still true. Nothing here draws.
 */

import type { MachineSample, SampleLimits, Samples, Snapshot } from "../generated/live";
import { t } from "../words";
import { EVENTS } from "./protocol";

/** As many as a server keeps. */
const MOST_SAMPLES = 600;
/** A server that is up answers within this, and one that refuses is not asked more often. */
const RETRY_MS = 3000;
const BUSY_RETRY_MS = 10_000;
const FORMAT = "schedlab.live/2";

export type Link =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "lost"; why: string }
  /** For good, until the reader does something. */
  | { state: "refused"; why: string };

export type Topic = "snapshot" | "samples" | "link";

export class Stream {
  snapshot: Snapshot | null = null;
  samples: MachineSample[] = [];
  /** Told with the first samples. */
  limits: SampleLimits | null = null;
  link: Link = { state: "connecting" };
  /** When anything came last, by the clock of this browser. */
  seen_ms = 0;
  /** When the snapshot came, by the same clock. */
  snapshot_seen_ms = 0;
  private source: EventSource | null = null;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Map<Topic, Set<() => void>>();

  subscribe(topic: Topic, listener: () => void): () => void {
    const all = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, all.add(listener));
    return () => all.delete(listener);
  }

  open(): void {
    this.close();
    const source = new EventSource(EVENTS);
    this.source = source;
    source.onopen = () => this.become({ state: "open" });
    source.onerror = () => {
      this.become({ state: "lost", why: "" });
      // A broken connection is made anew by the browser; a refused one is not.
      if (source.readyState === EventSource.CLOSED) void this.askWhy();
    };
    source.addEventListener("snapshot", ({ data }) => this.take(data, (value) => this.takeSnapshot(value as Snapshot)));
    source.addEventListener("samples", ({ data }) =>
      this.take(data, (value) => {
        const { limits, samples } = value as Samples;
        this.limits = limits;
        this.takeSamples(samples);
      }),
    );
    source.addEventListener("sample", ({ data }) => this.take(data, (value) => this.takeSamples([...this.samples, value as MachineSample])));
  }

  close(): void {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  private tell(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }

  private become(link: Link): void {
    this.link = link;
    this.tell("link");
  }

  private take(text: string, use: (value: unknown) => void): void {
    this.seen_ms = Date.now();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.refuse(t("The server sent what this page cannot read."));
      return;
    }
    use(value);
  }

  private takeSnapshot(snapshot: Snapshot): void {
    if (snapshot.format !== FORMAT) {
      this.refuse(t("The server speaks {its}, and this page {ours}. Load the page again.", { its: snapshot.format, ours: FORMAT }));
      return;
    }
    this.snapshot = snapshot;
    this.snapshot_seen_ms = Date.now();
    this.tell("snapshot");
  }

  private takeSamples(samples: MachineSample[]): void {
    this.samples = samples.slice(-MOST_SAMPLES);
    this.tell("samples");
  }

  private refuse(why: string): void {
    this.close();
    this.become({ state: "refused", why });
  }

  /** An EventSource does not tell why it was refused; the same address does. */
  private async askWhy(): Promise<void> {
    this.close();
    const asking = new AbortController();
    const again = (delay_ms: number): void => {
      this.retry = setTimeout(() => this.open(), delay_ms);
    };
    try {
      const { ok, status } = await fetch(EVENTS, { signal: asking.signal });
      asking.abort();
      if (ok) again(0);
      else if (status === 401 || status === 403 || status === 421) this.refuse(refusal(status));
      else {
        this.become({ state: "lost", why: refusal(status) });
        again(BUSY_RETRY_MS);
      }
    } catch {
      again(RETRY_MS);
    }
  }
}

/** What a reader can do about an answer of the server. */
export function refusal(status: number): string {
  switch (status) {
    case 401:
      return t(
        "The server does not know this browser, or was started anew. Open the address that it printed when it began: the address has the key to it.",
      );
    case 403:
      return t("The server answers only to its own pages. Open the address that it printed when it began.");
    case 404:
      return t("There is no such campaign. It may have been moved or deleted.");
    case 421:
      return t("The server does not answer to this host name. Open the address that it printed when it began.");
    case 503:
      return t("Too many pages watch this server. Close one of them.");
    default:
      return t("The server answered with status {status}.", { status });
  }
}
