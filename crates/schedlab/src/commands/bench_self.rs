//! `schedlab bench-self`: what observing costs on this machine.

use super::machine;
use crate::cli::{Common, Json};
use crate::exit::ExitCode;
use crate::output::print;
use contract::{Error, Result};
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) fn run(common: &Common, arguments: &Json) -> Result<ExitCode> {
    let machine = machine(common)?;
    let sample_ns = workloads::sample_cost();
    let mut probe_rows: Vec<Value> = Vec::new();
    let mut text = format!(
        "one latency sample      {sample_ns:>10.1} ns (clock read and histogram)\n\nprobe                   attach, start and stop\n"
    );
    for probe in crate::catalogue().probes {
        let id = probe.describe().id;
        let missing =
            probe.requires().iter().find_map(|requirement| requirement.met(&machine).err());
        let row = match missing {
            Some(missing) => {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "  {id:<20}  unsupported here: {missing}");
                json!({ "probe": id, "unsupported": missing.to_string() })
            }
            None => {
                let cost_ns = probes::cost_of(*probe, &machine)?;
                let _ = writeln!(
                    text,
                    "  {id:<20} {:>11.1} us  {:?}",
                    cost_ns as f64 / 1e3,
                    probe.cost()
                );
                json!({ "probe": id, "attach_start_stop_ns": cost_ns, "cost": format!("{:?}", probe.cost()) })
            }
        };
        probe_rows.push(row);
    }
    if arguments.json {
        let all = json!({ "latency_sample_ns": sample_ns, "probes": probe_rows });
        text = serde_json::to_string_pretty(&all)
            .map_err(|error| Error::environment("cannot encode the result", error))?
            + "\n";
    }
    print(&text)?;
    Ok(ExitCode::Done)
}
