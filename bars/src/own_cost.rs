//! What `schedlab bench-self` says of a sample and of judging.

use crate::Bar;
use crate::binary::Binary;

/// Nanoseconds that one latency sample may cost.
const LONGEST_SAMPLE_NS: f64 = 50.0;
/// Nanoseconds that the I/O generator may add to one transfer of 4 KiB.
const LONGEST_TRANSFER_NS: f64 = 300.0;
/// Rate of the gateway's generator on 16 connections, over that of a loop that does the least.
const LEAST_RATE: f64 = 0.9;
/// Lateness of its open loop, over that of a loop that only waits for each moment; of each in the turn
/// that was disturbed least.
const MOST_LATENESS: f64 = 1.2;
/// Milliseconds that judging 10,000 records may take.
const LONGEST_JUDGING_MS: f64 = 1_000.0;

pub fn sample(binary: &Binary) -> Result<Bar, String> {
    let cost_ns = binary.cost("latency_sample_ns")?;
    Ok(Bar {
        name: "one latency sample",
        measured: format!("{cost_ns:.1} ns"),
        limit: format!("{LONGEST_SAMPLE_NS} ns"),
        holds: cost_ns <= LONGEST_SAMPLE_NS,
    })
}

pub fn transfer(binary: &Binary) -> Result<Bar, String> {
    io_bar(binary, "io generator cost, one transfer", "io_transfer_ns")
}

pub fn verified_transfer(binary: &Binary) -> Result<Bar, String> {
    io_bar(binary, "io generator cost, one stamped transfer", "io_verified_transfer_ns")
}

fn io_bar(binary: &Binary, name: &'static str, key: &str) -> Result<Bar, String> {
    let cost_ns = binary.cost(key)?;
    Ok(Bar {
        name,
        measured: format!("{cost_ns:.1} ns"),
        limit: format!("{LONGEST_TRANSFER_NS} ns"),
        holds: cost_ns <= LONGEST_TRANSFER_NS,
    })
}

pub fn generator_rate(binary: &Binary) -> Result<Bar, String> {
    let ratio = binary.cost("gateway_rate_ratio")?;
    Ok(Bar {
        name: "gateway generator, rate over a plain epoll loop's",
        measured: format!("{ratio:.2}"),
        limit: format!("{LEAST_RATE} or more"),
        holds: ratio >= LEAST_RATE,
    })
}

pub fn generator_lateness(binary: &Binary) -> Result<Bar, String> {
    let own_ns = binary.cost("gateway_lateness_p99_ns")?;
    let bare_ns = binary.cost("bare_lateness_p99_ns")?;
    let limit_ns = MOST_LATENESS * bare_ns;
    Ok(Bar {
        name: "gateway generator, least p99 of lateness",
        measured: format!("{:.2} us", own_ns / 1e3),
        limit: format!("{:.2} us", limit_ns / 1e3),
        holds: own_ns <= limit_ns,
    })
}

pub fn judging(binary: &Binary) -> Result<Bar, String> {
    let length_ms = binary.cost("judging_ns")? / 1e6;
    Ok(Bar {
        name: "judging 10,000 records",
        measured: format!("{length_ms:.0} ms"),
        limit: format!("{LONGEST_JUDGING_MS} ms"),
        holds: length_ms <= LONGEST_JUDGING_MS,
    })
}
