import * as Plot from "@observablehq/plot";
import { quantity } from "../format";
import type { Breakdown } from "../generated/page";
import { t } from "../words";
import { base, type Figure } from "./figure";
import { rowNames } from "./labels";

/** Pixels of a bar that holds its part's share. */
const ROOM = 38;

/** Where the time of a whole goes: a bar for each subject, a piece for each part. */
export function breakdown({ workload, whole, unit, subjects, said }: Breakdown, number: number): Figure {
  const name = whole.replaceAll("_", " ");
  // In the order of the one that has most of them.
  const longer = subjects.toSorted((one, other) => other.parts.length - one.parts.length);
  const parts = [...new Set(longer.flatMap((one) => one.parts.map((part) => part.name)))];
  const pieces = subjects.flatMap((one) => {
    let end = 0;
    return one.parts.map((part) => {
      const begin = end;
      end += part.mean.mean;
      return { subject: one.subject, part: part.name, begin, end, share: part.share };
    });
  });
  const most = Math.max(...pieces.map(({ end }) => end));
  return {
    id: `breakdown-${number}`,
    title: t("{workload}: where {whole} goes", { workload, whole: name }),
    ...(said[0] ? { finding: said[0] } : {}),
    reading: [
      ...said,
      t("Each bar is the mean of one subject over blocks, its pieces the parts that add up to it, with their shares."),
    ].join(" "),
    options: (canvas) => {
      const ids = subjects.map(({ subject }) => subject);
      const { margin: left, fit } = rowNames(ids, canvas.width, 0.4);
      const room = canvas.width - left - 24;
      // Parts are no subjects: they have the colours of series, and their names in the legend and the table.
      const colours = parts.map((_, place) => canvas.theme.series[place % canvas.theme.series.length] ?? canvas.theme.ink);
      return base(canvas, {
        height: subjects.length * 34 + 52,
        marginLeft: left,
        marginRight: 24,
        marginBottom: 36,
        color: { domain: parts, range: colours, legend: true },
        x: { label: null, grid: true, domain: [0, most], ticks: Math.max(2, Math.floor(room / 110)), tickFormat: (value: number) => quantity(value, unit) },
        y: { domain: ids, label: null, tickSize: 0, tickFormat: fit },
        marks: [
          Plot.barX(pieces, {
            x1: "begin", x2: "end", y: "subject", fill: { value: "part", scale: "color" }, stroke: canvas.theme.panel, insetTop: 3, insetBottom: 3,
          }),
          Plot.text(
            pieces.filter(({ begin, end }) => ((end - begin) / most) * room > ROOM),
            {
              x: (piece: { begin: number; end: number }) => (piece.begin + piece.end) / 2,
              y: "subject",
              text: ({ share }: { share: number }) => `${Math.round(share * 100)} %`,
              fill: canvas.theme.ink,
              stroke: canvas.theme.panel,
              strokeWidth: 3,
              fontVariant: "tabular-nums",
            },
          ),
        ],
      });
    },
    table: {
      columns: [t("subject"), t("part"), t("mean ({unit})", { unit }), t("low"), t("high"), t("share of the whole")],
      rows: subjects.flatMap((one) =>
        one.parts.map(({ name: part, mean, share }) => [
          one.subject, part, mean.mean, mean.interval?.[0] ?? "", mean.interval?.[1] ?? "", share,
        ]),
      ),
    },
  };
}
