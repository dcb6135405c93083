/**
 * Numbers as Plot writes them by default, in an engine without `Intl`. It is the first import of
 * the bundle: what asks for `Intl` while it is loaded comes later.
 */
const SIGNIFICANT = 12;

class NumberFormat {
  format(value: number): string {
    const [whole = "", fraction] = String(Number(value.toPrecision(SIGNIFICANT))).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return fraction === undefined ? grouped : `${grouped}.${fraction}`;
  }
}

class DateTimeFormat {
  format(date: Date): string {
    return date.toISOString();
  }
}

const engine = globalThis as { Intl?: unknown };
engine.Intl ??= { NumberFormat, DateTimeFormat };

export {};
