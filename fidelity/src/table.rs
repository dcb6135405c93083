//! The table of `docs/fidelity.md`.

use crate::pairs::Row;

/// One row as text.
pub fn line(row: &Row) -> String {
    let [ratio, low, high] = row.ranks;
    let verdict = if row.holds() { "holds" } else { "not shown" };
    format!(
        "{}: {} pairs, ratio {ratio:.3} [{low:.3}, {high:.3}], switches {:.3}: {verdict}",
        row.cell.name, row.pairs, row.switches[0]
    )
}

/// The page.
pub fn page(rows: &[Row]) -> Result<String, String> {
    let machine = sys::Machine::host("");
    let kernel = machine.kernel_release().map_err(|error| error.to_string())?;
    let cpus = machine.online_cpus().map_err(|error| error.to_string())?;
    let mut text = format!(
        "# Fidelity of the native workloads\n\n\
         Written by `cargo xtask fidelity` on kernel {kernel}, CPUs {cpus}. Native workload and reference tool run in \
         pairs of random order, pinned to one CPU, until the 95 % interval of the ratio (Hodges-Lehmann, exact signed \
         ranks) reaches no further than 7 % to either side, between 7 and 31 pairs. A cell holds when its whole \
         interval lies in the band and its context switches per run agree within the limit. The t interval stands \
         beside it: where it is much wider, single runs were disturbed.\n\n\
         | cell | pairs | native | reference | ratio [95 %] | t interval | band | switches [95 %] | limit | result |\n\
         |---|--:|--:|--:|---|---|---|---|---|---|\n"
    );
    for row in rows {
        let three = |[middle, low, high]: [f64; 3]| format!("{middle:.3} [{low:.3}, {high:.3}]");
        text += &format!(
            "| {} | {} | {} | {} | {} | [{:.3}, {:.3}] | {}–{} | {} | {} | {} |\n",
            row.cell.name,
            row.pairs,
            us(row.native),
            us(row.reference),
            three(row.ranks),
            row.ratio[1],
            row.ratio[2],
            row.cell.band.0,
            row.cell.band.1,
            three(row.switches),
            row.cell.switches.map_or("none".to_owned(), |limit| format!("{:.0} %", 100.0 * limit)),
            if row.holds() { "holds" } else { "**not shown**" }
        );
    }
    Ok(text)
}

fn us(value_ns: f64) -> String {
    if value_ns >= 1e6 {
        format!("{:.1} ms", value_ns / 1e6)
    } else {
        format!("{:.2} us", value_ns / 1e3)
    }
}
