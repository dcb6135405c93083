import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { markdown } from "../figures/figure";
import { t } from "../words";

export interface Column<Row> {
  name: string;
  /** What it is sorted by; of a text by its letters. */
  key: (row: Row) => string | number;
  /** What is copied, and shown where there is no cell; absent of what is only for the hand. */
  text?: (row: Row) => string;
  cell?: (row: Row) => ComponentChildren;
}

interface Order {
  column: number;
  isFalling: boolean;
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

/** In the order asked for; as they came where none is. What is alike keeps its order. */
export function sorted<Row>(rows: Row[], columns: Column<Row>[], order: Order | null): Row[] {
  const column = order && columns[order.column];
  if (!column) return rows;
  const sign = order.isFalling ? -1 : 1;
  return rows.toSorted((one, other) => sign * compare(column.key(one), column.key(other)));
}

/** Copies a text, also where a page that was not served encrypted has no clipboard. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}

interface Sortable<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  id: (row: Row) => string;
}

/** A table that is sorted by any of its columns, and copied as Markdown in that order. */
export function SortTable<Row>({ label, rows, columns, id }: Sortable<Row>) {
  const [order, setOrder] = useState<Order | null>(null);
  const [said, say] = useState("");
  const shown = sorted(rows, columns, order);
  const sortBy = (column: number): void =>
    setOrder({ column, isFalling: order?.column === column && !order.isFalling });
  const copyAll = async (): Promise<void> => {
    const copied = columns.flatMap(({ name, text }) => (text ? [{ name, text }] : []));
    const table = { columns: copied.map(({ name }) => name), rows: shown.map((row) => copied.map(({ text }) => text(row))) };
    say((await copy(markdown(table))) ? t("Copied") : t("Not copied: this browser does not allow it"));
  };
  return (
    <div class="wide">
      <table class="sorts" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name }, column) => {
              const isSorted = order?.column === column;
              return (
                <th key={name} scope="col" aria-sort={isSorted ? (order.isFalling ? "descending" : "ascending") : undefined}>
                  <button type="button" onClick={() => sortBy(column)}>
                    {name} <span aria-hidden="true">{isSorted ? (order.isFalling ? "▾" : "▴") : "↕"}</span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={id(row)}>
              {columns.map(({ name, text, cell }, column) =>
                column === 0 ? (
                  <th key={name} scope="row">{cell ? cell(row) : text?.(row)}</th>
                ) : (
                  <td key={name}>{cell ? cell(row) : text?.(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" onClick={() => void copyAll()} aria-label={t("Copy {table} as Markdown", { table: label })}>
        {t("Copy as Markdown")}
      </button>{" "}
      <small role="status">{said}</small>
    </div>
  );
}

interface Interval {
  ratio: number;
  low: number;
  high: number | null;
}

/** Pixels. */
const BAR_WIDTH = 120;
const BAR_HEIGHT = 14;

/** A ratio with its interval as a small bar; rows are comparable, for all have the same reach. */
export function IntervalBar({ of: { ratio, low, high }, reach }: { of: Interval; reach: number }) {
  const place = (value: number): number => {
    const share = Math.log(Math.min(Math.max(value, 1 / reach), reach)) / Math.log(reach);
    return ((share + 1) / 2) * (BAR_WIDTH - 8) + 4;
  };
  const middle = BAR_HEIGHT / 2;
  return (
    <svg class="interval" width={BAR_WIDTH} height={BAR_HEIGHT} aria-hidden="true">
      <line x1={place(1)} x2={place(1)} y1="0" y2={BAR_HEIGHT} opacity="0.5" />
      <line x1={place(low)} x2={place(high ?? Infinity)} y1={middle} y2={middle} stroke-width="2.5" />
      <circle cx={place(ratio)} cy={middle} r="3.5" />
    </svg>
  );
}

/** How far bars go, so that every end which is not extreme is inside. */
export function reachOf(all: Interval[]): number {
  const ends = all.flatMap(({ low, high }) => [high ?? 1, 1 / low]).filter((end) => Number.isFinite(end));
  return Math.min(Math.max(1.1, ...ends) * 1.02, 12);
}
