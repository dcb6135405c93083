//! Campaigns as the program wrote them (`golden/campaigns`), of each origin: run on a machine, run
//! in emulated guests, simulated, and imported. Their secondary metrics are left out.

use crate::campaigns::Campaign;
use model::{Binding, Caveat, CaveatCode, Findings, Records};
use report::Language;
use std::collections::BTreeMap;

macro_rules! stored {
    ($origin:literal) => {
        read(
            include_str!(concat!("../golden/campaigns/", $origin, "/plan.json")),
            include_str!(concat!("../golden/campaigns/", $origin, "/records.jsonl")),
            include_str!(concat!("../golden/campaigns/", $origin, "/findings.json")),
            include_str!(concat!("../golden/campaigns/", $origin, "/environment.json")),
        )
    };
}

fn read(plan: &str, records: &str, findings: &str, environment: &str) -> Campaign {
    // As the store reads them: earlier versions told some facts by caveats alone.
    let findings: Findings = serde_json::from_str(findings).unwrap();
    // Records of the first formats name neither their plan nor the record before them.
    let is_bound = |line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["chain"].is_object()
    };
    let binding = if records.lines().all(is_bound) { Binding::Checked } else { Binding::Absent };
    let records: Records =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Campaign {
        plan: serde_json::from_str(plan).unwrap(),
        records,
        values: model::TrialValues::default(),
        findings: findings.with_facts_of_caveats(),
        language: Language::default(),
        environment: serde_json::from_str(environment).unwrap(),
        store_caveats: Vec::new(),
        is_stopped_early: false,
        shares_few_boots: false,
        binding,
        factors: BTreeMap::new(),
    }
}

/// Six blocks of three subjects on a machine that did other things as well.
pub fn measured() -> Campaign {
    Campaign { shares_few_boots: true, ..stored!("measured") }
}

/// The first three sittings of a block in guests of an emulated processor.
pub fn emulated() -> Campaign {
    stored!("emulated")
}

/// Six blocks of the simulator.
pub fn simulated() -> Campaign {
    stored!("simulated")
}

/// The simulator's: twenty blocks were planned, and it was stopped by a signal in the tenth.
pub fn unfinished() -> Campaign {
    stored!("unfinished")
}

/// The same, ended on purpose (`judge --end`).
pub fn ended() -> Campaign {
    let findings = include_str!("../golden/campaigns/ended/findings.json");
    let findings: Findings = serde_json::from_str(findings).unwrap();
    let stopped = Caveat::new(CaveatCode::StoppedEarly, "ended on purpose after 28 trials");
    Campaign {
        findings: findings.with_facts_of_caveats(),
        store_caveats: vec![stopped],
        is_stopped_early: true,
        ..unfinished()
    }
}

/// Two blocks of the simulator: fewer than any test of order and drift needs.
pub fn two_blocks() -> Campaign {
    stored!("two-blocks")
}

/// A table of twelve rows with a column of blocks.
pub fn in_blocks() -> Campaign {
    stored!("blocks")
}

/// The same table without that column.
pub fn in_rows() -> Campaign {
    stored!("rows")
}

/// One of each origin.
pub fn of_each_origin() -> [(&'static str, Campaign); 5] {
    [
        ("measured", measured()),
        ("emulated", emulated()),
        ("simulated", simulated()),
        ("blocks", in_blocks()),
        ("rows", in_rows()),
    ]
}
