//! `schedlab bench-self`: what observing costs on this machine.

use super::machine;
use crate::cli::{Common, Json};
use crate::exit::ExitCode;
use crate::output::print_data;
use contract::{Error, Interrupt, Result, Venue};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use venues::Sim;

/// A campaign of 10,000 trials.
const LARGE: &str = "title = \"10,000 records\"\nvenue = \"sim\"\nblocks = 500\nseed = 1\ncontrol = false\n\
    invocations = 1\nprobes = []\n\
    [subjects.a]\n[subjects.b]\nsim_effect = \"1%\"\n[subjects.c]\nsim_effect = \"2%\"\n\
    [subjects.d]\nsim_effect = \"3%\"\n[subjects.e]\nsim_effect = \"4%\"\n\
    [[workloads]]\nuse = \"messaging\"\nlabel = \"one\"\n[[workloads]]\nuse = \"messaging\"\nlabel = \"two\"\n\
    [[workloads]]\nuse = \"messaging\"\nlabel = \"three\"\n[[workloads]]\nuse = \"messaging\"\nlabel = \"four\"\n";

/// Records of a simulated campaign, and the time it takes to judge them.
fn judging() -> Result<(usize, u64)> {
    let failed = |problems: Vec<plan::ExperimentProblem>| {
        Error::environment(
            "cannot plan the benchmark",
            plan::render_problems(&problems, "benchmark", LARGE),
        )
    };
    let request =
        plan::PlanRequest { text: LARGE, name: "benchmark", ..plan::PlanRequest::default() };
    let plan = plan::plan(&crate::catalogue(), &[], &request).map_err(failed)?;
    let venue = Sim::new(crate::catalogue().trials);
    let mut session = venue.open(&plan, Path::new(""), &Interrupt::default(), &mut |_| {})?;
    let mut records = Vec::with_capacity(plan.trial_count());
    for block in &plan.blocks {
        for trial in plan::trials(&plan, block) {
            records.push(session.run(&trial, &mut |_| {})?);
        }
    }
    session.close()?;
    let start_ns = sys::monotonic_ns();
    let findings = analysis::judge(&plan, &records);
    let length_ns = sys::monotonic_ns() - start_ns;
    // The findings are the work that was timed.
    std::hint::black_box(findings);
    Ok((records.len(), length_ns))
}

/// Costs of a guest of the newest kernel that is here, emulated and with KVM.
fn guests(common: &Common, text: &mut String) -> Result<Value> {
    let host = super::vm_host(common)?;
    let parts = venues::inspect(&host)?;
    let kernel = host.kernels.cached().map_err(venues::artefact_error)?.pop();
    let lacking = parts.iter().find_map(|(id, part)| match part {
        Err(lack) if matches!(*id, "qemu" | "agent" | "kernels") => Some(lack.to_string()),
        _ => None,
    });
    let (Some(kernel), None) = (kernel, &lacking) else {
        let why = lacking.unwrap_or_default();
        let _ = writeln!(text, "\nguests                  unsupported here: {why}");
        return Ok(json!({ "unsupported": why }));
    };
    let mut rows = Vec::new();
    for accelerator in [model::Accelerator::Kvm, model::Accelerator::Tcg] {
        let cost = venues::guest_cost(&host, &kernel.name, accelerator, &Interrupt::default())?;
        let Some(cost) = cost else {
            let _ = writeln!(text, "\na guest under KVM       unsupported here");
            continue;
        };
        let (ms, mib) = (|ns: u64| ns as f64 / 1e6, |bytes: u64| bytes as f64 / f64::from(1 << 20));
        let _ = writeln!(
            text,
            "\na guest of {} under {}\n  boot                 {:>11.1} ms\n  round trip p50, p99  {:>11.3} ms, {:.3} ms\n  save, restore        {:>11.1} ms, {:.1} ms ({:.0} MiB)\n  initramfs, agent     {:>11.1} MiB, {:.1} MiB resident",
            cost.kernel,
            cost.engine,
            ms(cost.boot_ns),
            ms(cost.round_trip_p50_ns),
            ms(cost.round_trip_p99_ns),
            ms(cost.save_ns),
            ms(cost.restore_ns),
            mib(cost.state_bytes),
            mib(cost.image_bytes),
            mib(cost.agent_bytes),
        );
        rows.push(json!(cost));
    }
    Ok(json!(rows))
}

fn generator_line(generator: net_workloads::GeneratorCost) -> String {
    format!(
        "generator of gateway    {:>10.1} % of a plain epoll loop's rate; late by {:.2} us (p99 of the least disturbed turn), a bare loop by {:.2} us\n",
        100.0 * generator.rate_ratio,
        generator.lateness_p99_ns / 1e3,
        generator.bare_lateness_p99_ns / 1e3
    )
}

pub(super) fn run(common: &Common, arguments: &Json) -> Result<ExitCode> {
    let machine = machine(common)?;
    let sample_ns = workload_parts::sample_cost::sample_cost();
    let transfer_ns = |is_verified| {
        io_workloads::io_transfer_cost(is_verified)
            .map_err(|why| Error::environment("cannot measure the cost of a transfer", why))
    };
    let (transfer_ns, verified_ns) = (transfer_ns(false)?, transfer_ns(true)?);
    let generator = net_workloads::gateway_generator_cost()
        .map_err(|why| Error::environment("cannot measure the generator of `gateway`", why))?;
    let (records, judging_ns) = judging()?;
    let judging_ms = judging_ns as f64 / 1e6;
    let mut probe_rows: Vec<Value> = Vec::new();
    let mut text = format!(
        "one latency sample      {sample_ns:>10.1} ns (clock read and histogram)\none transfer of io      {transfer_ns:>10.1} ns (without the transfer; {verified_ns:.1} ns with stamps)\njudging {records} records   {judging_ms:>10.1} ms\n\nprobe                   attach, start and stop\n"
    );
    text.insert_str(0, &generator_line(generator));
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
                    "  {id:<20} {:>11.1} us  {}",
                    cost_ns as f64 / 1e3,
                    probe.cost()
                );
                json!({ "probe": id, "attach_start_stop_ns": cost_ns, "cost": probe.cost().to_string() })
            }
        };
        probe_rows.push(row);
    }
    let guests = guests(common, &mut text)?;
    if arguments.json {
        let all = json!({ "guests": guests, "latency_sample_ns": sample_ns, "io_transfer_ns": transfer_ns, "io_verified_transfer_ns": verified_ns, "gateway_rate_ratio": generator.rate_ratio, "gateway_lateness_p99_ns": generator.lateness_p99_ns, "bare_lateness_p99_ns": generator.bare_lateness_p99_ns, "records": records, "judging_ns": judging_ns, "probes": probe_rows });
        text = serde_json::to_string_pretty(&all)
            .map_err(|error| Error::environment("cannot encode the result", error))?
            + "\n";
    }
    print_data(&text)?;
    Ok(ExitCode::Done)
}
