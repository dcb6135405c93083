import "./style.css";
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { forest } from "./figures/forest";
import { heatMaps } from "./figures/heat";
import { percentiles } from "./figures/percentiles";
import { drift, pairs } from "./figures/runs";
import { embedded, type Finding, type Page } from "./model";
import { Caveats, Checks, Environment, KeyFigures, Reproduce } from "./parts/Facts";
import { type Choice, Chooser } from "./parts/Chooser";
import { FigureCard } from "./parts/FigureCard";
import { dark, light } from "./theme";

/** More of them would push the figures off the first screen. */
const KEY_FIGURES = 4;

const SECTIONS = [
  ["checks", "Validity"],
  ["effects", "Effects"],
  ["distributions", "Distributions"],
  ["runs", "Runs"],
  ["environment", "Environment"],
  ["caveats", "Caveats"],
  ["reproduce", "Again"],
] as const;

function preferred(): "light" | "dark" {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** The strongest answers first; what says nothing comes last. */
function keyFindings(findings: Finding[]): Finding[] {
  const order = ["better", "worse", "equivalent", "inconclusive", "invalid"];
  return findings
    .filter(({ question }) => question.role === "primary")
    .toSorted((one, other) => order.indexOf(one.verdict) - order.indexOf(other.verdict))
    .slice(0, KEY_FIGURES);
}

function ReportPage({ page }: { page: Page }) {
  const [name, setName] = useState(preferred);
  const theme = name === "dark" ? dark : light;
  const { report } = page;
  useEffect(() => {
    document.documentElement.dataset["theme"] = name;
  }, [name]);
  const figures = useMemo(() => {
    const subjects = report.subjects.map(({ id }) => id);
    const primary = report.findings.findings.filter(({ question }) => question.role === "primary");
    return {
      effects: [forest(report), ...(report.grids ?? []).flatMap(heatMaps)],
      distributions: page.curves.map((curve, number): Choice => {
        const name = `${curve.workload}, ${curve.source.replaceAll("_", " ")}`;
        return { name, figures: [percentiles(curve, number, subjects)] };
      }),
      runs: primary
        .filter(({ blocks }) => blocks.length > 1)
        .map((finding, number): Choice => {
          const { workload, metric, subject } = finding.question;
          const series = page.series.find((one) => one.workload === workload && one.metric === metric);
          const name = `${workload}, ${metric.replaceAll("_", " ")}: ${subject}`;
          return { name, figures: [pairs(finding, number), ...(series ? [drift(series, number, subjects)] : [])] };
        }),
    };
  }, [page]);
  return (
    <>
      <header>
        <div>
          <h1>{report.title}</h1>
          <p class="answer">{report.answer}</p>
        </div>
        <button type="button" onClick={() => setName(name === "dark" ? "light" : "dark")}>
          {name === "dark" ? "Light" : "Dark"}
        </button>
      </header>
      {report.design.venue === "sim" && <p class="banner">Simulated: no machine was measured.</p>}
      {report.design.is_quick && <p class="banner">Quick: fewer blocks and shorter trials than declared.</p>}
      <nav aria-label="Sections">
        {SECTIONS.map(([id, title]) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
      <main>
        <KeyFigures findings={keyFindings(report.findings.findings)} theme={theme} />
        <Checks checks={page.checks} />
        <div id="effects">
          {figures.effects.map((figure) => (
            <FigureCard key={figure.id} figure={figure} theme={theme} />
          ))}
        </div>
        <div id="distributions">
          <Chooser label="Distribution of" choices={figures.distributions} theme={theme} />
        </div>
        <div id="runs">
          <Chooser label="Runs of" choices={figures.runs} theme={theme} />
        </div>
        <Environment report={report} />
        <Caveats report={report} />
        <Reproduce page={page} />
      </main>
    </>
  );
}

const page = embedded(document);
const root = document.getElementById("page");
if (page && root) {
  document.title = `${page.report.title} · schedlab`;
  render(<ReportPage page={page} />, root);
}
