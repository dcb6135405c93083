import { confidence, estimate, ofShare, strengthAndVerdict, VERDICT_SYMBOLS, withIntervals } from "../format";
import type { Finding } from "../generated/page";
import type { Page } from "../model";
import { FewBoots, levelsOf } from "../parts/Facts";
import { Banners, warnedOf } from "../parts/Report";
import { type Column, IntervalBar, reachOf, SortTable } from "../parts/SortTable";
import { Table } from "../parts/Table";
import { t } from "../words";
import { campaignLink } from "./Campaigns";
import { useFetched } from "./hooks";
import { campaignPath } from "./protocol";

type Pair<T> = readonly [T, T];

interface Row {
  key: string;
  /** null where a campaign did not ask it. */
  findings: Pair<Finding | null>;
}

const keyOf = ({ workload, metric, subject, reference }: Finding): string => [workload, metric, subject, reference].join("\0");

/** The questions of both campaigns, those that both ask first. */
export function matched(one: Finding[], other: Finding[]): Row[] {
  const [left, right] = [one, other].map((findings) => new Map(findings.map((finding) => [keyOf(finding), finding])));
  const keys = [...new Set([...one, ...other].map(keyOf))];
  const rows = keys.map((key): Row => ({ key, findings: [left?.get(key) ?? null, right?.get(key) ?? null] }));
  const isBoth = ({ findings }: Row): boolean => findings.every((finding) => finding !== null);
  return [...rows.filter(isBoth), ...rows.filter((row) => !isBoth(row))];
}

/** What each campaign says of each name, of those on which they do not agree. */
export function differing(one: Record<string, string>, other: Record<string, string>): [string, Pair<string>][] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted();
  return names
    .map((name): [string, Pair<string>] => [name, [one[name] ?? t("not told"), other[name] ?? t("not told")]])
    .filter(([, [left, right]]) => left !== right);
}

/** How a campaign was designed, with the levels of those subjects that the other has as well. */
export function design({ facts, subjects }: Page, other: Page): Record<string, string> {
  const ofBoth = subjects.filter(({ id }) => other.subjects.some((one) => one.id === id));
  const levels = ofBoth.map(({ id, levels }): [string, string] => [
    t("levels of {subject}", { subject: id }),
    levelsOf(levels),
  ]);
  return Object.fromEntries([...facts, ...levels]);
}

interface Compared {
  id: string;
  title: string;
  names: Pair<string>;
  facts: Pair<Record<string, string>>;
}

function Differences({ id, title, names, facts: [one, other] }: Compared) {
  const rows = differing(one, other);
  const alike = Object.keys(one).length - rows.filter(([name]) => name in one).length;
  return (
    <section class="card" id={id}>
      <h2>{title}</h2>
      <p class="reading">
        {rows.length === 0
          ? t("Nothing differs, {alike} are alike.", { alike })
          : t("{count} differ, {alike} are alike.", { count: rows.length, alike })}
      </p>
      {rows.length > 0 && (
        <Table look="wraps" columns={[t("fact"), ...names]} rows={rows.map(([name, values]) => [name, ...values])} />
      )}
    </section>
  );
}

function told(finding: Finding | null): string {
  if (!finding) return t("not asked");
  const { effect, verdict } = finding;
  return `${effect ? ofShare(finding, estimate(effect)) : t("no estimate")} ${VERDICT_SYMBOLS[verdict]} ${strengthAndVerdict(finding)}`;
}

function Effects({ names, rows }: { names: Pair<string>; rows: Row[] }) {
  const reach = reachOf(rows.flatMap(({ findings }) => findings.flatMap((finding) => finding?.effect ?? [])));
  const asked = ({ findings: [one, other] }: Row): Finding => (one ?? other) as Finding;
  const fact = (name: string, of: (finding: Finding) => string): Column<Row> => ({
    name,
    key: (row) => of(asked(row)),
    text: (row) => of(asked(row)),
  });
  const columns: Column<Row>[] = [
    fact(t("workload and metric"), ({ workload, metric }) => `${workload}, ${metric.replaceAll("_", " ")}`),
    fact(t("subject"), ({ subject, reference }) => t("{subject} against {reference}", { subject, reference })),
    ...names.map((name, side): Column<Row> => ({
      name: `${side === 0 ? "A" : "B"}: ${name}`,
      key: ({ findings }) => findings[side]?.effect?.ratio ?? -1,
      text: ({ findings }) => told(findings[side] ?? null),
      cell: ({ findings }) => {
        const finding = findings[side] ?? null;
        return (
          <>
            {finding?.effect && <IntervalBar of={finding.effect} reach={reach} />}
            <div>{told(finding)}</div>
          </>
        );
      },
    })),
  ];
  return <SortTable label={t("effects of both campaigns")} rows={rows} columns={columns} id={({ key }) => key} />;
}

/** What has to be known of a campaign before its effects are read, whether the other has it too or not. */
function Premises({ page }: { page: Page }) {
  const { attempt, evidence, design } = page;
  return (
    <>
      {attempt && <p class="attempt">{attempt}</p>}
      {design.imported && (
        <p class="banner">
          {t("Imported from {file} ({format}).", { file: design.imported.file, format: design.imported.format })}
        </p>
      )}
      <Banners {...warnedOf(page)} />
      {evidence?.map((sentence) => (
        <p key={sentence} class="banner">
          {sentence}
        </p>
      ))}
      <FewBoots page={page} />
    </>
  );
}

/** What the numbers and bars of these findings are: the level is that of those that have an interval. */
export function readingOf(findings: Finding[]): string {
  const barred = withIntervals(findings);
  return barred.length === 0
    ? t("Turned so that above 0 % is better.")
    : t("Turned so that above 0 % is better, with {level} intervals; bars have one scale.", { level: confidence(barred) });
}

/** Two campaigns side by side. What differs between them was not drawn by lot, so nothing is judged. */
export function Compare({ names }: { names: [string, string] }) {
  const one = useFetched<Page>(campaignPath(names[0]));
  const other = useFetched<Page>(campaignPath(names[1]));
  const problems = [one.problem, other.problem].filter((problem) => problem !== null);
  return (
    <>
      <h1>{t("Two campaigns")}</h1>
      <ul>
        {[one, other].map(({ data }, side) => (
          <li key={side}>
            {side === 0 ? "A" : "B"}: <a href={campaignLink(names[side] ?? "")}>{data?.title ?? names[side]}</a>{" "}
            <small>{names[side]}</small>
            {data && <Premises page={data} />}
          </li>
        ))}
      </ul>
      <p class="banner">
        {t(
          "No verdict is made across campaigns: they ran at different times, and what else differed was not drawn by lot. Each ratio is to its own reference, in its own campaign.",
        )}
      </p>
      {problems.map((problem, index) => (
        <p key={index} class="banner" role="alert">
          {problem}
        </p>
      ))}
      {one.data && other.data ? (
        <>
          <section class="card" id="matched">
            <h2>{t("Effects")}</h2>
            <p class="reading">
              {readingOf([...one.data.findings, ...other.data.findings])}
            </p>
            <Effects names={names} rows={matched(one.data.findings, other.data.findings)} />
          </section>
          <Differences
            id="designs"
            title={t("Design")}
            names={names}
            facts={[design(one.data, other.data), design(other.data, one.data)]}
          />
          <Differences
            id="environments"
            title={t("Environment")}
            names={names}
            facts={[one.data.environment, other.data.environment]}
          />
        </>
      ) : (
        problems.length === 0 && <p>{t("Loading.")}</p>
      )}
    </>
  );
}
