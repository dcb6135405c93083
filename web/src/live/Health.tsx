import { useRef } from "preact/hooks";
import { duration, percent } from "../format";
import type { MachineSample, SampleLimits } from "../generated/live";
import { useNews } from "./hooks";
import { t } from "../words";
import type { Stream } from "./stream";

/** Means over so long: shorter, and the tiles are too restless to be read. */
const WINDOW_MS = 10_000;
const SPACING_MS = 1000;

interface Tile {
  name: string;
  meaning: string;
  /** null where the machine does not tell. */
  value: string | null;
  most: string;
  /** null where nothing is known to be too much. */
  isDisturbing: boolean | null;
}

function share(samples: MachineSample[], recent: MachineSample[], key: "steal" | "foreign" | "pressure") {
  const told = (of: MachineSample[]): number[] => of.flatMap((sample) => sample[key] ?? []);
  const now = told(recent);
  if (now.length === 0) return null;
  return { mean: now.reduce((sum, value) => sum + value, 0) / now.length, most: Math.max(...told(samples)) };
}

/** What disturbs the machine, from the samples of the last minutes. */
export function tiles(samples: MachineSample[], limits: SampleLimits): Tile[] {
  const last = samples.at(-1);
  const recent = samples.filter(({ at_ms }) => last !== undefined && at_ms > last.at_ms - WINDOW_MS);
  const limited = (name: string, meaning: string, key: "steal" | "foreign" | "pressure", limit: number | null): Tile => {
    const found = share(samples, recent, key);
    return {
      name,
      meaning,
      value: found && percent(found.mean),
      most: found ? t("at most {share}", { share: percent(found.most) }) : "",
      isDisturbing: found && limit !== null ? found.mean > limit : null,
    };
  };
  const throttled = last?.throttled ?? null;
  return [
    limited(t("Steal"), t("of CPU time taken by the hypervisor"), "steal", limits.steal),
    limited(t("Used by others"), t("of CPU time used by other programs"), "foreign", limits.foreign),
    {
      name: t("Throttling"),
      meaning: t("times the processor was slowed down since the server began"),
      value: throttled === null ? null : String(throttled),
      most: "",
      isDisturbing: throttled === null ? null : throttled > 0,
    },
    // Workloads fill the machine on purpose: no value of this is a disturbance.
    limited(t("CPU pressure"), t("of the time, some task waited for a CPU"), "pressure", null),
  ];
}

/** Whether the machine is fit to be measured on, in words. */
export function Health({ stream, isPaused }: { stream: Stream; isPaused: boolean }) {
  useNews(stream, "samples", SPACING_MS);
  const shown = useRef(stream.samples);
  if (!isPaused) shown.current = stream.samples;
  const samples = shown.current;
  const [first, last] = [samples[0], samples.at(-1)];
  const { limits } = stream;
  if (!first || !last || !limits) return null;
  return (
    <section aria-label={t("Machine health")}>
      <div class="keys" id="health">
        {tiles(samples, limits).map(({ name, meaning, value, most, isDisturbing }) => (
          <div class={isDisturbing ? "card disturbing" : "card"} key={name}>
            <small>{name}</small>
            <b>{value ?? t("not told")}</b>
            <small>{value === null ? t("Not known on this machine, or not at this moment.") : meaning}</small>
            <small>{[isDisturbing !== null && (isDisturbing ? t("! disturbs") : t("✓ quiet")), most].filter(Boolean).join(", ")}</small>
          </div>
        ))}
      </div>
      <p class="reading">
        {t("Means over ten seconds; at most: of any sample of the last {time}.", { time: duration(last.at_ms - first.at_ms) })}
      </p>
    </section>
  );
}
