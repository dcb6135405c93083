import { useEffect, useRef, useState } from "preact/hooks";
import { duration, percent } from "../format";
import type { MachineSample } from "../generated/live";
import type { Theme } from "../theme";
import { noted, type Noted, say, t } from "../words";
import { useNews } from "./hooks";
import type { Stream } from "./stream";

/** From where on each step of the colours begins. */
const WAITING_STEPS = [0, 0.25, 1, 2, 4];
const WAITING_NAMES = [noted("hardly any"), noted("up to 1"), noted("up to 2"), noted("up to 4"), noted("more")];
const BUSY_STEPS = [0, 0.2, 0.4, 0.6, 0.8];
const BUSY_NAMES = [noted("up to 20 %"), noted("up to 40 %"), noted("up to 60 %"), noted("up to 80 %"), noted("more")];
/** Pixels. */
const COLUMN = 3;
const LABELS = 56;
const GAP = 2;
const TALLEST_ROW = 18;
/** On many CPUs rows are thinner, so that the strip fits a screen. */
const MOST_HEIGHT = 420;
const LABEL_ROOM = 13;

export interface Strip {
  cpus: number[];
  /** What a cell tells: tasks that wait, or where the kernel does not tell them, how busy a CPU was. */
  tells: "waiting" | "busy";
  /** For each CPU a step for each sample; null where a sample has no such CPU. */
  steps: (number | null)[][];
}

export function stripOf(samples: MachineSample[]): Strip {
  const cpus = [...new Set(samples.flatMap((sample) => sample.cpus.map(({ cpu }) => cpu)))].toSorted((one, other) => one - other);
  const isTold = samples.some((sample) => sample.cpus.some(({ waiting }) => waiting !== null));
  const limits = isTold ? WAITING_STEPS : BUSY_STEPS;
  const bySample = samples.map((sample) => new Map(sample.cpus.map((one) => [one.cpu, isTold ? one.waiting : one.busy])));
  const steps = cpus.map((cpu) =>
    bySample.map((values) => {
      const value = values.get(cpu) ?? null;
      return value === null ? null : limits.findLastIndex((limit) => value >= limit);
    }),
  );
  return { cpus, tells: isTold ? "waiting" : "busy", steps };
}

const rowHeight = (cpus: number): number => Math.max(3, Math.min(TALLEST_ROW, Math.floor(MOST_HEIGHT / Math.max(cpus, 1))));

function draw(canvas: HTMLCanvasElement, { cpus, steps }: Strip, theme: Theme, width: number): void {
  const row = rowHeight(cpus.length);
  const height = cpus.length * row;
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(scale, scale);
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const every = Math.ceil(LABEL_ROOM / row);
  const gap = row > 2 * GAP ? GAP : 0;
  cpus.forEach((cpu, place) => {
    const top = place * row;
    pen.fillStyle = theme.muted;
    if (place % every === 0) pen.fillText(`CPU ${cpu}`, LABELS - 8, top + row / 2);
    const cells = steps[place] ?? [];
    cells.forEach((step, index) => {
      // The latest is at the right end, wherever the first is.
      const left = width - (cells.length - index) * COLUMN;
      if (step === null) return;
      pen.fillStyle = theme.queue[step] ?? theme.ink;
      pen.fillRect(left, top, COLUMN, row - gap);
    });
  });
}

function Legend({ tells, theme }: { tells: Strip["tells"]; theme: Theme }) {
  const names = tells === "waiting" ? WAITING_NAMES : BUSY_NAMES;
  return (
    <p class="legend">
      {tells === "waiting" ? t("Tasks waiting:") : t("Busy:")}
      {names.map((name: Noted, step) => (
        <span key={name}>
          <i style={{ background: theme.queue[step] }} /> {say(name)}
        </span>
      ))}
    </p>
  );
}

/** Means over the time shown, and the last sample, of each CPU. */
function Numbers({ samples }: { samples: MachineSample[] }) {
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const number = (values: number[], of: (values: number[]) => number): string => (values.length === 0 ? t("not told") : of(values).toFixed(2));
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            {["CPU", t("busy"), t("mean busy"), t("waiting"), t("mean waiting"), t("most waiting")].map((name) => (
              <th key={name} scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {samples.at(-1)?.cpus.map(({ cpu, busy, waiting }) => {
            const all = samples.flatMap((sample) => sample.cpus.find((one) => one.cpu === cpu) ?? []);
            const waits = all.flatMap((one) => one.waiting ?? []);
            return (
              <tr key={cpu}>
                <th scope="row">{cpu}</th>
                <td>{percent(busy, 0)}</td>
                <td>{percent(mean(all.map((one) => one.busy)), 0)}</td>
                <td>{waiting === null ? t("not told") : waiting.toFixed(2)}</td>
                <td>{number(waits, mean)}</td>
                <td>{number(waits, (values) => Math.max(...values))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Tasks that wait: a row for each CPU, a column for each sample, the latest at the right. */
export function RunQueues({ stream, theme, isPaused }: { stream: Stream; theme: Theme; isPaused: boolean }) {
  useNews(stream, "samples");
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const kept = useRef(stream.samples);
  if (!isPaused) kept.current = stream.samples;
  const samples = kept.current.slice(-Math.max(1, Math.floor((width - LABELS) / COLUMN)));
  const strip = stripOf(samples);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    if (canvas.current?.parentElement) observer.observe(canvas.current.parentElement);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, strip, theme, width);
  }, [kept.current, theme, width]);
  const [first, last] = [samples[0], samples.at(-1)];
  const title = strip.tells === "waiting" ? t("Tasks that wait for each CPU") : t("How busy each CPU is");
  return (
    <section class="card" id="queues" aria-label={title}>
      <h3>{title}</h3>
      <p class="reading">
        {t("The last {time}, the latest at the right; the stronger, the more.", {
          time: duration(first && last ? last.at_ms - first.at_ms : 0),
        })}
        {strip.tells === "busy" && ` ${t("This kernel does not tell waiting tasks.")}`}
      </p>
      <Legend tells={strip.tells} theme={theme} />
      <figure>
        <canvas ref={canvas} role="img" aria-label={t("{title}: the table below has the numbers", { title })} />
      </figure>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t("Table")}</summary>
        {isOpen && <Numbers samples={samples} />}
      </details>
    </section>
  );
}
