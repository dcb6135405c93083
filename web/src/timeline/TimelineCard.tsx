import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { percent, quantity } from "../format";
import type { Timeline } from "../generated/page";
import type { Theme } from "../theme";
import { t } from "../words";
import { classColours, draw, heightOf, type Layout, layoutOf, type Scene, type View } from "./draw";
import { ranAt, type Slices, totalOf, unpack } from "./slices";

/** 20 µs: below, nothing happens in a scheduler. */
const SHORTEST = 200;
/** Share of the view by which a key moves it. */
const STRIDE = 0.2;
const ZOOM = 2;
/** Of a wheel's pixels. */
const WHEEL = 0.0022;
/** Pixels. */
const ROW = 34;
const THIN_ROW = 16;
const MANY_CPUS = 16;
/** A pointer that moved less was a click. */
const CLICK = 3;
const NS_PER_TICK = 100;

const time = (ticks: number): string => quantity(Math.round(ticks * NS_PER_TICK), "nanoseconds");

/** A view of this length from there, moved so that it lies inside. */
export function inside(from: number, length: number, span: number): View {
  const kept = Math.min(Math.max(length, Math.min(SHORTEST, span)), span);
  const begin = Math.min(Math.max(from, 0), span - kept);
  return [begin, begin + kept];
}

/** Nearer or further, while the time at this share of the view stays where it is. */
export function zoomed([from, to]: View, factor: number, share: number, span: number): View {
  const length = Math.min(Math.max((to - from) * factor, Math.min(SHORTEST, span)), span);
  return inside(from + (to - from - length) * share, length, span);
}

interface Shown {
  timeline: Timeline;
  /** Where its numbers come from, in sentences; none of what was measured. */
  origin: readonly string[];
  theme: Theme;
}

/** Which task ran when on which CPU. */
export function TimelineCard({ timeline, origin, theme }: Shown) {
  const [slices, setSlices] = useState<Slices | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    unpack(timeline).then(setSlices, (error: Error) => setProblem(error.message));
  }, [timeline]);
  return (
    <section class="card" id="timeline" aria-label={t("Timeline")}>
      <h2>{t("Timeline: {subject} on {workload}", { subject: timeline.subject, workload: timeline.workload })}</h2>
      <p class="reading">
        {t(
          "A row for each CPU. Far away, the height of a colour is the share of time that such tasks ran; near, each slice has its task's name. The bar below a slice is the time for which the task had waited to run.",
        )}
      </p>
      {problem && <p class="banner">{t("The timeline cannot be read: {problem}.", { problem })}</p>}
      {slices && <Chart timeline={timeline} origin={origin} slices={slices} theme={theme} />}
      {slices && <Totals timeline={timeline} slices={slices} />}
    </section>
  );
}

/** What is done to the view, from whatever control. */
interface Moves {
  zoom: (factor: number, share?: number) => void;
  /** By so much time. */
  move: (by: number) => void;
  fit: () => void;
}

function Chart({ timeline, origin, slices, theme }: Shown & { slices: Slices }) {
  const [view, setView] = useState<View>([0, timeline.span]);
  const [focus, setFocus] = useState<number | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const moves: Moves = {
    zoom: (factor, share = 0.5) => setView((before) => zoomed(before, factor, share, timeline.span)),
    move: (by) => setView(([from, to]) => inside(from + by, to - from, timeline.span)),
    fit: () => setView([0, timeline.span]),
  };
  return (
    <>
      <div class="head">
        <Legend timeline={timeline} theme={theme} />
        <span class="buttons">
          <button type="button" onClick={() => moves.zoom(1 / ZOOM)} aria-label={t("Zoom in")}>+</button>
          <button type="button" onClick={() => moves.zoom(ZOOM)} aria-label={t("Zoom out")}>−</button>
          <button type="button" onClick={moves.fit}>{t("All")}</button>
        </span>
      </div>
      <Drawing chosen={{ timeline, slices, theme, view, focus, origin }} moves={moves} onHover={setHovered} onPick={setFocus} />
      <p class="reading slice">{hovered === null ? viewed(timeline, view, focus) : told(timeline, slices, hovered)}</p>
    </>
  );
}

interface Parts {
  chosen: Scene;
  moves: Moves;
  onHover: (slice: number | null) => void;
  onPick: (task: number | null) => void;
}

/** The canvas, and what is done to it with keys, wheel and pointer. */
function Drawing({ chosen, moves, onHover, onPick }: Parts) {
  const { timeline, slices, theme, view, focus, origin } = chosen;
  const [from, to] = view;
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useRef<Layout>(layoutOf(0, ROW));
  const held = useRef<{ x: number; moved: number } | null>(null);
  const width = useWidth(canvas);
  useWheel(canvas, layout, moves);
  useEffect(() => {
    if (!canvas.current || width === 0) return;
    layout.current = layoutOf(width, timeline.cpus.length > MANY_CPUS ? THIN_ROW : ROW);
    paint(canvas.current, chosen, layout.current);
  }, [timeline, slices, theme, view, focus, origin, width]);

  const sliceAt = ({ offsetX, offsetY }: PointerEvent): number | null => {
    const { left, top, width, row } = layout.current;
    const perPixel = (to - from) / width;
    return ranAt(slices, Math.floor((offsetY - top) / row), from + (offsetX - left) * perPixel, perPixel);
  };
  const drag = (event: PointerEvent): void => {
    if (!held.current) {
      onHover(sliceAt(event));
      return;
    }
    const by = held.current.x - event.offsetX;
    held.current = { x: event.offsetX, moved: held.current.moved + Math.abs(by) };
    moves.move((by / layout.current.width) * (to - from));
  };
  const release = (event: PointerEvent): void => {
    const at = sliceAt(event);
    if (held.current && held.current.moved < CLICK) onPick(at === null ? null : (slices.task[at] ?? null));
    held.current = null;
  };
  const hold = (event: PointerEvent): void => {
    held.current = { x: event.offsetX, moved: 0 };
    canvas.current?.setPointerCapture(event.pointerId);
  };
  return (
    <figure>
      <canvas
        ref={canvas}
        class="slices"
        tabIndex={0}
        role="img"
        aria-label={t(
          "Timeline of {cpus} CPUs, {slices} slices. Plus and minus zoom, arrows move, 0 shows all. The table below has the totals.",
          { cpus: timeline.cpus.length, slices: slices.count },
        )}
        onKeyDown={(event) => press(event, view, moves, onPick)}
        onPointerDown={hold}
        onPointerMove={drag}
        onPointerUp={release}
        onPointerCancel={() => (held.current = null)}
        onPointerLeave={() => onHover(null)}
      />
    </figure>
  );
}

function press(event: KeyboardEvent, [from, to]: View, { zoom, move, fit }: Moves, onPick: Parts["onPick"]): void {
  const keys: Record<string, () => void> = {
    "+": () => zoom(1 / ZOOM), "=": () => zoom(1 / ZOOM), "-": () => zoom(ZOOM), "0": fit, Escape: () => onPick(null),
    ArrowLeft: () => move((from - to) * STRIDE), ArrowRight: () => move((to - from) * STRIDE),
  };
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** How wide what holds the canvas is. */
function useWidth(canvas: RefObject<HTMLCanvasElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    if (canvas.current?.parentElement) observer.observe(canvas.current.parentElement);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** By hand, because a listener that may refuse to scroll has to say so. */
function useWheel(canvas: RefObject<HTMLCanvasElement | null>, layout: RefObject<Layout>, { zoom }: Moves): void {
  useEffect(() => {
    const wheel = (event: WheelEvent): void => {
      if ((!event.ctrlKey && !event.metaKey) || !layout.current) return;
      event.preventDefault();
      zoom(Math.exp(event.deltaY * WHEEL), (event.offsetX - layout.current.left) / layout.current.width);
    };
    const place = canvas.current;
    place?.addEventListener("wheel", wheel, { passive: false });
    return () => place?.removeEventListener("wheel", wheel);
  }, []);
}

function paint(canvas: HTMLCanvasElement, scene: Scene, layout: Layout): void {
  const begun_ms = performance.now();
  const scale = devicePixelRatio || 1;
  const width = canvas.parentElement?.clientWidth ?? 0;
  const height = heightOf(scene, layout, width);
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  draw(pen, scene, layout);
  canvas.dataset["paint_ms"] = (performance.now() - begun_ms).toFixed(1);
}

function viewed({ span, tasks, slices }: Timeline, [from, to]: View, focus: number | null): string {
  const shown = { slices, length: time(to - from), span: time(span), from: time(from) };
  return focus === null
    ? t("{slices} slices, {length} of {span} from {from}; Ctrl and wheel zoom, dragging moves, a click picks out a task.", shown)
    : t("{slices} slices, {length} of {span} from {from}; Ctrl and wheel zoom, dragging moves, only {task}; Escape shows all.", {
        ...shown,
        task: tasks[focus]?.name ?? "",
      });
}

function told({ tasks }: Timeline, { start, end, wait, task }: Slices, at: number): string {
  const begin = start[at] ?? 0;
  return t("{task} ran {length} from {from} and had waited {wait}.", {
    task: tasks[task[at] ?? 0]?.name ?? "",
    length: time((end[at] ?? 0) - begin),
    from: time(begin),
    wait: time(wait[at] ?? 0),
  });
}

function Legend({ timeline, theme }: { timeline: Timeline; theme: Theme }) {
  const colours = classColours(theme);
  return (
    <p class="legend">
      {timeline.classes.map((name, kind) => (
        <span key={name}>
          <i style={{ background: colours[kind] }} /> {name}
        </span>
      ))}
      <span>
        <i style={{ background: theme.ink, height: "4px", verticalAlign: "2px" }} /> {t("waiting to run")}
      </span>
    </p>
  );
}

function Totals({ timeline, slices }: { timeline: Timeline; slices: Slices }) {
  return (
    <details>
      <summary>{t("Table")}</summary>
      <div class="wide">
        <table>
          <thead>
            <tr>
              {["CPU", t("busy"), t("slices"), t("mean wait"), t("longest wait")].map((name) => (
                <th key={name} scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {timeline.cpus.map((cpu, place) => {
              const { busy, count, meanWait, mostWait } = totalOf(slices, place);
              return (
                <tr key={cpu}>
                  <th scope="row">{cpu}</th>
                  <td>{percent(busy / timeline.span)}</td>
                  <td>{count}</td>
                  <td>{time(meanWait)}</td>
                  <td>{time(mostWait)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
