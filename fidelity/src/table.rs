//! The table of `docs/fidelity.md`.

use crate::comparison::{Printed, Switches};
use crate::pairs::FidelityRow;

/// One row as text.
pub fn line(row: &FidelityRow) -> String {
    let [ratio, low, high] = row.ranks;
    let verdict = if row.holds() { "holds" } else { "not shown" };
    format!(
        "{}: {} pairs, native {}, reference {}, ratio {ratio:.3} [{low:.3}, {high:.3}], {} {:.3} [{:.3}, {:.3}]: {verdict}",
        row.cell.name,
        row.pairs,
        figure(row, row.native),
        figure(row, row.reference),
        beside(&row.cell.switches),
        row.switches[0],
        row.switches[1],
        row.switches[2]
    )
}

/// The page.
pub fn page(rows: &[FidelityRow]) -> Result<String, String> {
    let machine = sys::Machine::host("");
    let kernel = machine.kernel_release().map_err(|error| error.to_string())?;
    let cpus = machine.online_cpus().map_err(|error| error.to_string())?;
    let mut text = format!(
        "# Fidelity of the native workloads\n\n\
         Written by `cargo xtask fidelity` on kernel {kernel}, CPUs {cpus}. Native workload and reference tool run in \
         pairs of random order, pinned to one CPU, until the 95 % interval of the ratio (Hodges-Lehmann, exact signed \
         ranks) reaches no further than 7 % to either side, between 7 and 31 pairs. A cell holds when its whole \
         interval lies in the band and its context switches per run agree within the limit. The t interval stands \
         beside it: where it is much wider, single runs were disturbed. `own spread` is how much the reference's \
         runs differ among themselves in their switches (standard deviation of the log). Where the fair class \
         decides when a task runs, that is tens of percent: agreement within 3 % is not shown there and cannot be \
         by so few pairs; it is shown under FIFO, where the number of switches is the program's own \
         ([ADR 0008](adr/0008-switches-are-compared-under-fifo.md)). Cells of `io` read one loop device with direct I/O, beside a thread that wakes every 10 ms as fio's own does, and compare the \
         CPU time of one transfer in place of switches: they hold where its whole interval does not lie above 1. Cells of `net` are over \
         loopback; the reference is run by the adapter of its name.\n\n\
         | cell | pairs | native | reference | ratio [95 %] | t interval | band | switches [95 %] | own spread | limit | result |\n\
         |---|--:|--:|--:|---|---|---|---|--:|---|---|\n"
    );
    for row in rows {
        let three = |[middle, low, high]: [f64; 3]| format!("{middle:.3} [{low:.3}, {high:.3}]");
        text += &format!(
            "| {} | {} | {} | {} | {} | [{:.3}, {:.3}] | {}–{} | {} | {:.0} % | {} | {} |\n",
            row.cell.name,
            row.pairs,
            figure(row, row.native),
            figure(row, row.reference),
            three(row.ranks),
            row.ratio[1],
            row.ratio[2],
            row.cell.band.0,
            row.cell.band.1,
            three(row.switches),
            100.0 * row.spread,
            limit(&row.cell.switches),
            result(row)
        );
    }
    Ok(text)
}

fn limit(switches: &Switches) -> String {
    match switches {
        Switches::Agree(limit) => format!("{:.0} %", 100.0 * limit),
        Switches::Vary => "not judged: they vary".to_owned(),
        Switches::OtherThreads => "not judged: other threads".to_owned(),
        Switches::CpuPerTransfer => "CPU time, not above 1".to_owned(),
    }
}

fn result(row: &FidelityRow) -> &'static str {
    match (row.holds(), &row.cell.switches) {
        (false, _) => "**not shown**",
        (true, Switches::Agree(_) | Switches::CpuPerTransfer) => "holds",
        (true, Switches::Vary | Switches::OtherThreads) => "time holds",
    }
}

fn beside(switches: &Switches) -> &'static str {
    if matches!(switches, Switches::CpuPerTransfer) { "CPU per transfer" } else { "switches" }
}

fn figure(row: &FidelityRow, value: f64) -> String {
    match row.cell.printed {
        Printed::ByAdapter(load) if load.metric == "throughput" => {
            format!("{:.0} MiB/s", value / f64::from(1 << 20))
        }
        Printed::FioReads => format!("{:.0} MiB/s", value / f64::from(1 << 20)),
        _ => us(value),
    }
}

fn us(value_ns: f64) -> String {
    if value_ns >= 1e6 {
        format!("{:.1} ms", value_ns / 1e6)
    } else {
        format!("{:.2} us", value_ns / 1e3)
    }
}
