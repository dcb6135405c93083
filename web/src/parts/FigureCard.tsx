import * as Plot from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";
import { csv, type Figure } from "../figures/figure";
import { signed } from "../figures/origin";
import type { Theme } from "../theme";
import { t } from "../words";
import { Table } from "./Table";

/** Hands a text to the reader as a file. */
function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}

/** Writes the origin of a figure below what was drawn of it: the picture may leave the page. */
function sign(drawn: Element, figure: Figure, { ink }: Theme): void {
  const svg = drawn.tagName === "svg" ? drawn : drawn.querySelector(":scope > svg:last-of-type");
  if (!svg || !figure.origin) return;
  const width = Number(svg.getAttribute("width"));
  const { lines, height } = signed(figure, width, Number(svg.getAttribute("height")));
  for (const { text, x, y } of lines) {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "text");
    for (const [name, value] of Object.entries({ x, y, fill: ink, "font-weight": 600 })) line.setAttribute(name, String(value));
    line.textContent = text;
    svg.append(line);
  }
  svg.setAttribute("height", String(height));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
}

/** A figure with its table twin and its files. */
export function FigureCard({ figure, theme }: { figure: Figure; theme: Theme }) {
  const place = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    if (place.current) {
      observer.observe(place.current);
      // What is printed without ever being shown is observed by nobody.
      setWidth(Math.floor(place.current.clientWidth));
    }
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return;
    const options = figure.options({ theme, width });
    const drawn = Plot.plot({ ...options, ariaLabel: figure.title, ariaDescription: figure.reading });
    sign(drawn, figure, theme);
    // One picture with a description, not hundreds of nameless parts: the table has the numbers.
    for (const part of drawn.querySelectorAll("g[aria-label]")) part.removeAttribute("aria-label");
    for (const svg of [drawn, ...drawn.querySelectorAll("svg")]) {
      if (svg.hasAttribute("aria-label")) svg.setAttribute("role", "img");
      else svg.setAttribute("aria-hidden", String(svg !== drawn));
    }
    place.current?.replaceChildren(drawn);
  }, [figure, theme, width]);
  const saveSvg = (): void => {
    const svg = place.current?.querySelector("svg:last-of-type");
    if (svg) save(`${figure.id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg));
  };
  return (
    <section class="card" id={figure.id} aria-label={figure.title}>
      <div class="head">
        <h3>{figure.title}</h3>
        <span class="buttons">
          <button type="button" onClick={saveSvg} aria-label={t("Save {figure} as SVG", { figure: figure.title })}>
            SVG
          </button>
          <button
            type="button"
            onClick={() => save(`${figure.id}.csv`, "text/csv", csv(figure.table))}
            aria-label={t("Save the numbers of {figure} as CSV", { figure: figure.title })}
          >
            CSV
          </button>
        </span>
      </div>
      <p class="reading">{figure.reading}</p>
      <figure ref={place} />
      <details>
        <summary>{t("Table")}</summary>
        <Table {...figure.table} isNamed={false} />
      </details>
    </section>
  );
}
