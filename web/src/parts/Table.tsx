import type { ComponentChildren } from "preact";

interface Cells {
  columns: string[];
  rows: ComponentChildren[][];
  /** Whether the first cell of a row names it. */
  isNamed?: boolean;
  /** How it looks. */
  look?: string;
}

/** A table that is wide where it has to be, and the page is not. */
export function Table({ columns, rows, isNamed = true, look }: Cells) {
  return (
    <div class="wide">
      <table class={look}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) =>
                isNamed && column === 0 ? <th key={column} scope="row">{cell}</th> : <td key={column}>{cell}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
