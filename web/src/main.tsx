import "./style.css";
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { byStrength, forest } from "./figures/forest";
import { ecdf } from "./figures/ecdf";
import { heatMaps } from "./figures/heat";
import { ladder } from "./figures/ladder";
import { percentiles } from "./figures/percentiles";
import { hasLines, lines } from "./figures/lines";
import { drift, pairs } from "./figures/runs";
import { spread } from "./figures/spread";
import type { Figure } from "./figures/figure";
import { embedded, type Finding, type Page, runs } from "./model";
import { Caveats, Checks, Environment, KeyFigures, Reproduce } from "./parts/Facts";
import { type Choice, Chooser } from "./parts/Chooser";
import { FigureCard } from "./parts/FigureCard";
import { Standings } from "./parts/Standings";
import { dark, light } from "./theme";

/** More of them would push the figures off the first screen. */
const KEY_FIGURES = 4;

const SECTIONS = [
  ["checks", "Validity"],
  ["effects", "Effects"],
  ["standings", "Ranks"],
  ["distributions", "Distributions"],
  ["runs", "Runs"],
  ["environment", "Environment"],
  ["caveats", "Caveats"],
  ["reproduce", "Again"],
] as const;

function preferred(): "light" | "dark" {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** The strongest answer about each subject, then what else is strong. */
function keyFindings(findings: Finding[]): Finding[] {
  const primary = findings.filter(({ role }) => role === "primary").toSorted(byStrength);
  const first = primary.filter(({ subject }, index) => primary.findIndex((one) => one.subject === subject) === index);
  const others = primary.filter((finding) => !first.includes(finding));
  return [...first, ...others].slice(0, KEY_FIGURES).toSorted(byStrength);
}

/** The answer, a line for each of its clauses. */
function Answer({ text }: { text: string }) {
  const clauses = text.split("; ");
  if (clauses.length === 1) return <p class="answer">{text}</p>;
  return (
    <ul class="answer">
      {clauses.map((clause) => (
        <li key={clause}>{clause}</li>
      ))}
    </ul>
  );
}

/** Every figure of a page. Drawing is put off until one is chosen. */
function figuresOf(page: Page) {
  const subjects = page.subjects.map(({ id }) => id);
  const { probabilities, of: curves } = page.curves ?? { probabilities: [], of: [] };
  return {
    effects: [forest(page.findings), ...page.ladders.map(ladder), ...page.grids.flatMap(heatMaps)],
    values: page.grids.filter(hasLines).flatMap((grid, number) =>
      grid.columns.labels.map((label, column): Choice => ({
        name: `${grid.measure} ${label}`,
        figures: () => [lines(grid, column, `lines-${number}-${column}`, subjects)],
      })),
    ),
    distributions: curves.map((curve, number): Choice => ({
      name: `${curve.workload}, ${curve.source.replaceAll("_", " ")}`,
      figures: () => [
        percentiles(curve, probabilities, number, subjects),
        ecdf(curve, probabilities, number, subjects),
      ],
    })),
    runs: page.findings
      .filter(({ role }) => role === "primary")
      .flatMap((finding, number): Choice[] => {
        const { workload, metric, subject } = finding;
        const series = page.series.find((one) => one.workload === workload && one.metric === metric);
        if (!series) return [];
        const name = `${workload}, ${metric.replaceAll("_", " ")}: ${subject}`;
        const figures = (): Figure[] => {
          const all = runs(series, subjects);
          return [pairs(finding, all, number), drift(series, all, number, subjects), spread(series, all, number, subjects)];
        };
        return [{ name, figures }];
      }),
  };
}

function ReportPage({ page }: { page: Page }) {
  const [name, setName] = useState(preferred);
  const theme = name === "dark" ? dark : light;
  useEffect(() => {
    document.documentElement.dataset["theme"] = name;
  }, [name]);
  const figures = useMemo(() => figuresOf(page), [page]);
  const has: Record<string, boolean> = {
    standings: page.rankings.length + page.use_cases.length + page.claims.length > 0,
    distributions: figures.distributions.length > 0,
    runs: figures.runs.length > 0,
  };
  return (
    <>
      <header>
        <div>
          <h1>{page.title}</h1>
          <Answer text={page.answer} />
        </div>
        <button type="button" onClick={() => setName(name === "dark" ? "light" : "dark")}>
          {name === "dark" ? "Light" : "Dark"}
        </button>
      </header>
      {page.design.venue === "sim" && <p class="banner">Simulated: no machine was measured.</p>}
      {page.hides_absolute && (
        <p class="banner">
          Emulated processor: ratios between subjects are shown, values are not, for they are no real processor's.
        </p>
      )}
      {page.design.is_quick && <p class="banner">Quick: fewer blocks and shorter trials than declared.</p>}
      <nav aria-label="Sections">
        {SECTIONS.filter(([id]) => has[id] ?? true).map(([id, title]) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
      <main>
        <KeyFigures findings={keyFindings(page.findings)} theme={theme} />
        <Checks checks={page.checks} />
        <div id="effects">
          {figures.effects.map((figure) => (
            <FigureCard key={figure.id} figure={figure} theme={theme} />
          ))}
        </div>
        <Chooser label="Values of" choices={figures.values} theme={theme} />
        {has["standings"] && <Standings page={page} />}
        <div id="distributions">
          <Chooser label="Distribution of" choices={figures.distributions} theme={theme} />
        </div>
        <div id="runs">
          <Chooser label="Runs of" choices={figures.runs} theme={theme} />
        </div>
        <Environment page={page} />
        <Caveats page={page} />
        <Reproduce page={page} />
      </main>
    </>
  );
}

const page = await embedded(document);
const root = document.getElementById("page");
if (page && root) {
  document.title = `${page.title} · schedlab`;
  render(<ReportPage page={page} />, root);
}
