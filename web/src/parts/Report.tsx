import { useMemo } from "preact/hooks";
import { type Figures, figuresOf } from "../figures/all";
import { byStrength } from "../figures/forest";
import { originOfPage } from "../figures/origin";
import type { Finding } from "../generated/page";
import type { Page } from "../model";
import type { Theme } from "../theme";
import { TimelineCard } from "../timeline/TimelineCard";
import { noted, say, t } from "../words";
import { Chooser } from "./Chooser";
import { Caveats, Checks, Design, Environment, FewBoots, KeyFigures, Reproduce } from "./Facts";
import { FigureCard } from "./FigureCard";
import { Standings } from "./Standings";

/** More of them would push the figures off the first screen. */
const KEY_FIGURES = 4;

const SECTIONS = [
  ["checks", noted("Validity")],
  ["effects", noted("Effects")],
  ["standings", noted("Ranks")],
  ["distributions", noted("Distributions")],
  ["timeline", noted("Timeline")],
  ["runs", noted("Runs")],
  ["design", noted("Design")],
  ["environment", noted("Environment")],
  ["caveats", noted("Caveats")],
  ["reproduce", noted("Again")],
] as const;

/** The first few answers. */
export function Keys({ page, theme }: { page: Page; theme: Theme }) {
  return <KeyFigures findings={keyFindings(page.findings)} theme={theme} />;
}

/** The strongest answer about each subject, then what else is strong. */
function keyFindings(findings: Finding[]): Finding[] {
  const primary = findings.filter(({ role }) => role === "primary").toSorted(byStrength);
  const first = primary.filter(({ subject }, index) => primary.findIndex((one) => one.subject === subject) === index);
  const others = primary.filter((finding) => !first.includes(finding));
  return [...first, ...others].slice(0, KEY_FIGURES).toSorted(byStrength);
}

/** The answer, a line for each of its clauses; no number parts from its sign of percent. */
export function Answer({ text }: { text: string }) {
  const clauses = text.replaceAll(" %", "\u00a0%").split("; ");
  if (clauses.length === 1) return <p class="answer">{clauses}</p>;
  return (
    <ul class="answer">
      {clauses.map((clause) => (
        <li key={clause}>{clause}</li>
      ))}
    </ul>
  );
}

export function ThemeButton({ theme, onToggle }: { theme: Theme; onToggle: () => void }) {
  return (
    <button type="button" onClick={onToggle}>
      {theme.name === "dark" ? t("Light") : t("Dark")}
    </button>
  );
}

interface Warned {
  isSimulated: boolean;
  isEmulated: boolean;
  /** Whether values of an emulated processor are left out. */
  hidesAbsolute: boolean;
  isQuick: boolean;
}

export const warnedOf = ({ is_simulated, is_emulated, hides_absolute, design }: Page): Warned => ({
  isSimulated: is_simulated === true,
  isEmulated: is_emulated === true,
  hidesAbsolute: hides_absolute,
  isQuick: design.is_quick,
});

/** What a reader has to know before any number. */
export function Banners({ isSimulated, isEmulated, hidesAbsolute, isQuick }: Warned) {
  return (
    <>
      {isSimulated && <p class="banner">{t("Simulated: no machine was measured.")}</p>}
      {isEmulated && (
        <p class="banner">
          {hidesAbsolute
            ? t("Emulated processor: ratios between subjects are shown, values are not, for they are no real processor's.")
            : t("Emulated processor: values are shown as you asked, and are no real processor's.")}
        </p>
      )}
      {isQuick && <p class="banner">{t("Quick: fewer blocks and shorter trials than declared.")}</p>}
    </>
  );
}

/** Links to the sections. Where the address names a page of the live view, it has to stay. */
function Sections({ has, keepsAddress }: { has: Record<string, boolean>; keepsAddress: boolean }) {
  const jump = (event: Event, id: string): void => {
    if (!keepsAddress) return;
    event.preventDefault();
    const section = document.getElementById(id);
    section?.scrollIntoView();
    section?.setAttribute("tabindex", "-1");
    section?.focus({ preventScroll: true });
  };
  return (
    <nav aria-label={t("Sections")}>
      {SECTIONS.filter(([id]) => has[id] ?? true).map(([id, title]) => (
        <a key={id} href={`#${id}`} onClick={(event) => jump(event, id)}>
          {say(title)}
        </a>
      ))}
    </nav>
  );
}

function Body({ page, figures, has, theme }: { page: Page; figures: Figures; has: Record<string, boolean>; theme: Theme }) {
  // The same one at every draw, for what is drawn with it is drawn anew with another.
  const origin = useMemo(() => originOfPage(page), [page]);
  return (
    <>
      <Checks checks={page.checks} />
      <div id="effects">
        {figures.effects.map((figure) => (
          <FigureCard key={figure.id} figure={figure} theme={theme} />
        ))}
        <FewBoots page={page} />
      </div>
      <Chooser label={t("Trade-off of")} choices={figures.tradeOffs} theme={theme} />
      <Chooser label={t("Values of")} choices={figures.values} theme={theme} />
      {has["standings"] && <Standings page={page} />}
      <div id="distributions">
        <Chooser label={t("Distribution of")} choices={figures.distributions} theme={theme} />
      </div>
      {page.timeline && <TimelineCard timeline={page.timeline} origin={origin} theme={theme} />}
      <div id="runs">
        <Chooser label={t("Runs of")} choices={figures.runs} theme={theme} />
      </div>
      <Design page={page} />
      <Environment page={page} />
      <Caveats page={page} />
      <Reproduce page={page} />
    </>
  );
}

interface Parts {
  page: Page;
  theme: Theme;
  /** In the live view the address is not the section's. */
  isServed?: boolean;
  /** The answer and the banners stand above it already. */
  isBelow?: boolean;
}

/** All of a campaign from its answer on, but for the header. */
export function ReportBody({ page, theme, isServed = false, isBelow = false }: Parts) {
  const figures = useMemo(() => figuresOf(page), [page]);
  const has: Record<string, boolean> = {
    standings: page.rankings.length + page.use_cases.length + page.claims.length > 0,
    distributions: figures.distributions.length > 0,
    timeline: page.timeline !== undefined,
    runs: figures.runs.length > 0,
  };
  const body = (
    <>
      {!isBelow && <Keys page={page} theme={theme} />}
      {!isBelow && <FewBoots page={page} />}
      <Body page={page} figures={figures} has={has} theme={theme} />
    </>
  );
  return (
    <>
      {!isBelow && <Banners {...warnedOf(page)} />}
      <p class="paper">{t("On paper, figures are without their tables; the page on a screen has them.")}</p>
      <Sections has={has} keepsAddress={isServed} />
      {isServed ? body : <main>{body}</main>}
    </>
  );
}

/** A report: the title, the answer, and all of the rest. */
export function Report({ page, theme, onToggle, isServed = false }: Parts & { onToggle?: () => void }) {
  return (
    <>
      <header>
        <div>
          <h1>{page.title}</h1>
          <Answer text={page.answer} />
          {page.attempt && <p class="attempt">{page.attempt}</p>}
        </div>
        {onToggle && <ThemeButton theme={theme} onToggle={onToggle} />}
      </header>
      <ReportBody page={page} theme={theme} isServed={isServed} />
    </>
  );
}
