/** A server that speaks `schedlab.live/2` without a machine: what the page is tested against. */

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  CampaignList, History, HistorySeries, ListedCampaign, LiveCampaign, MachineSample, SampleLimits, Samples, Snapshot, RunState,
} from "../src/generated/live";
import type { Page } from "../src/model";

export const LIMITS: SampleLimits = { steal: 0.005, foreign: 0.02 };

export class FakeServer {
  campaign: LiveCampaign | null = null;
  samples: MachineSample[] = [];
  pages = new Map<string, Page>();
  campaigns: CampaignList = { format: "schedlab.campaigns/2", campaigns: [], problems: [] };
  history: History = { format: "schedlab.history/2", series: [], problems: [] };
  /** Instead of an answer to anything but the document. */
  refuses: number | null = null;
  asked: string[] = [];
  /** How long a campaign's page takes, and how many were asked for at the same time at most. */
  delay_ms = 0;
  mostAtOnce = 0;
  private atOnce = 0;
  private readonly clients = new Set<ServerResponse>();
  private server: Server | null = null;
  private port = 0;

  constructor(private readonly document: string) {}

  async start(): Promise<void> {
    this.server = createServer((request, response) => void this.answer(request.url ?? "/", response));
    await new Promise<void>((done) => this.server?.listen(this.port, "127.0.0.1", done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.destroy();
    this.clients.clear();
    this.server?.closeAllConnections();
    await new Promise<void>((done) => (this.server ? this.server.close(() => done()) : done()));
    this.server = null;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get watchers(): number {
    return this.clients.size;
  }

  /** Tells every client what the campaign is. */
  tell(): void {
    for (const client of this.clients) send(client, "snapshot", this.snapshot());
  }

  sample(sample: MachineSample): void {
    this.samples.push(sample);
    for (const client of this.clients) send(client, "sample", sample);
  }

  private snapshot(): Snapshot {
    return { format: "schedlab.live/2", at_ms: Date.now(), campaign: this.campaign, watchers: this.clients.size };
  }

  private async answer(url: string, response: ServerResponse): Promise<void> {
    this.asked.push(url);
    const json = (value: unknown): void => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    const campaign = /^\/api\/v1\/campaigns\/(.+)$/.exec(url)?.[1];
    if (url === "/") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end(this.document.replace("connect-src 'none'", "connect-src 'self'"));
    } else if (url === "/favicon.ico") response.writeHead(204).end();
    else if (this.refuses !== null) response.writeHead(this.refuses, { "content-type": "text/plain" }).end("refused");
    else if (url === "/api/v1/events") this.watch(response);
    else if (url === "/api/v1/campaigns") json(this.campaigns);
    else if (url === "/api/v1/history") json(this.history);
    else if (campaign) await this.page(decodeURIComponent(campaign), response, json);
    else response.writeHead(404).end("no such thing");
  }

  private async page(name: string, response: ServerResponse, json: (value: unknown) => void): Promise<void> {
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    await new Promise((done) => setTimeout(done, this.delay_ms));
    this.atOnce -= 1;
    const page = this.pages.get(name);
    if (page) json(page);
    else response.writeHead(404, { "content-type": "text/plain" }).end("no such campaign");
  }

  private watch(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    // As short as a test's patience; a server leaves it to the browser.
    response.write("retry: 200\n\n");
    this.clients.add(response);
    response.on("close", () => this.clients.delete(response));
    send(response, "snapshot", this.snapshot());
    send(response, "samples", { limits: LIMITS, samples: this.samples } satisfies Samples);
  }
}

function send(client: ServerResponse, event: string, data: unknown): void {
  client.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A campaign half way. */
export function halfWay(): LiveCampaign {
  const begun_ms = Date.now() - 600_000;
  const verdict = (workload: string, metric: string, subject: string, ratio: number, spread: number) =>
    ({
      workload, metric, unit: "nanoseconds", direction: "lower", subject, reference: "baseline", role: "primary",
      verdict: "inconclusive", margin: 0.05, pairs: 5, alpha: 0.05, ratio, low: ratio / spread, high: ratio * spread,
    }) as const;
  return {
    name: "first-look-20261122-101530-ab12",
    title: "Does a shorter slice wake tasks sooner?",
    venue: "host", origin: "measured", is_quick: false, hides_absolute: false, state: "running", begun_ms,
    trials: { done: 24, total: 48, failed: 0, invalid: 1 },
    left_ms: 81_000,
    current: {
      block: 6, blocks: 10, subject: "fifo", workload: "wakeup", phase: "running",
      begun_ms: Date.now() - 2000, expected_ms: 6500,
    },
    revision: 3,
    judged_trials: 20,
    verdicts: [
      { ...verdict("wakeup", "request_latency_p99", "fifo", 1.31, 1.12), is_sequence: true },
      { ...verdict("wakeup", "request_latency_p99", "batch", 0.94, 1.3), is_sequence: true },
      { ...verdict("cyclic", "latency_p50", "fifo", 1, 1), ratio: null, low: null, high: null },
    ],
    latencies: ["wakeup", "cyclic"].map((workload) => ({
      workload, source: "wakeup_latency", unit: "nanoseconds",
      points: Array.from({ length: 24 }, (_, order) => ({
        order, at_ms: begun_ms + order * 20_000, subject: ["baseline", "fifo", "batch"][order % 3] ?? "",
        p50: Math.round(9000 * (1 + (order % 3) * 0.4 + (order % 5) * 0.05)),
        p99: Math.round(90_000 * (1 + (order % 3) * 0.5 + (order % 7) * 0.04)),
        p999: order % 4 === 0 ? null : Math.round(1_100_000 * (1 + (order % 3) * 0.3 + (order % 4) * 0.09)),
      })),
    })),
    log: Array.from({ length: 30 }, (_, line) => ({ at_ms: begun_ms + line * 20_000, text: `trial ${line + 1} of fifo on wakeup is done` })),
  };
}

/** A minute or so of eight CPUs, busiest in the middle. */
export function minute(count = 240, tellsWaiting = true): MachineSample[] {
  return Array.from({ length: count }, (_, at): MachineSample => {
    const load = Math.sin((at / count) * Math.PI);
    return {
      at_ms: Date.now() - (count - at) * 250,
      cpus: Array.from({ length: 8 }, (_, cpu) => {
        const value = Math.max(0, load * 5 - cpu * 0.5 - ((at * 7 + cpu * 3) % 5) * 0.4);
        return { cpu, busy: Math.min(1, value / 3), waiting: tellsWaiting ? value : null };
      }),
      steal: 0.001, foreign: at > count - 60 ? 0.12 : 0.01, throttled: null, pressure: 0.35 * load,
    };
  });
}

const DAY_MS = 86_400_000;

/** A campaign of so many days ago. */
export function listed(name: string, days: number, state: RunState): ListedCampaign {
  return {
    name, title: `Does a shorter slice wake tasks sooner? (${days})`, venue: "vm", origin: "measured", kernel: "6.18.2", begun_ms: Date.now() - days * DAY_MS,
    state, trials_done: 48, trials_total: 48, is_quick: false,
    verdicts: state === "running" ? null : { better: 1, equivalent: 1, inconclusive: 3 },
  };
}

/** Twelve campaigns, whose level changed after the seventh. */
export function twelve(): HistorySeries {
  const campaign = (place: number): string => `first-look-202611${10 + place}-101530-ab12`;
  return {
    workload: "wakeup", metric: "request_latency_p99", subject: "fifo", reference: "baseline",
    subject_levels: "policy = fifo:1", reference_levels: "policy = other", origin: "measured", margin: 0.05,
    points: Array.from({ length: 12 }, (_, place) => {
      const ratio = (place < 7 ? 1 : 1.2) + 0.01 * (place % 3);
      return { campaign: campaign(place), ratio, low: ratio - 0.05, high: ratio + 0.06, alpha: 0.05, blocks: 10, margin: 0.05 };
    }),
    changes: [{ after: campaign(6), before: campaign(7), ratio: 1.2, low: 1.15, high: 1.25, p: 0.0004 }],
  };
}
