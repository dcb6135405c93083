//! A workload whose metrics add up to another, for two subjects of which one has a part more;
//! no machine was measured.

use crate::campaigns::{Campaign, Draft, campaign, emulated};
use crate::{drawn, page};
use model::{Direction, Metric, Parameters, Reduction, TrialValue, Unit, Variant, Verdict};
use report::view;

const LABEL: &str = "pinned";
const BLOCKS: u32 = 4;

/// Means in microseconds of each part by subject, whose blocks differ by a fraction of 1 %.
const PARTS: [(&str, &[(&str, f64)]); 2] = [
    ("local", &[("to_gateway", 3.0), ("gateway", 1.0), ("exchange", 5.0), ("to_client", 3.0)]),
    (
        "handed",
        &[
            ("to_gateway", 3.0),
            ("gateway", 1.2),
            ("handoff", 2.4),
            ("exchange", 5.2),
            ("to_client", 3.2),
        ],
    ),
];

pub fn divided() -> Campaign {
    let finding = Draft::new(LABEL, "round_trip_mean", "handed")
        .against("local")
        .decided(Verdict::Worse, true)
        .effect(12_000.0, 0.8, 0.78, 0.82)
        .finding();
    let mut campaign = campaign("What does a handoff cost?", vec![finding], Vec::new());
    let metric = |name: &str, part_of: Option<&str>| {
        let mut metric = Metric::new(
            format!("{name}_mean"),
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Quotient,
            "Mean time",
        );
        metric.part_of = part_of.map(str::to_owned);
        metric
    };
    let parts = PARTS[1].1.iter().map(|(name, _)| metric(name, Some("round_trip_mean")));
    let mut workload = campaign.plan.workloads[0].clone();
    workload.label = LABEL.to_owned();
    workload.metrics = std::iter::once(metric("round_trip", None)).chain(parts).collect();
    workload.primary = vec!["round_trip_mean".to_owned()];
    let variant = |(id, parts): (&str, &[(&str, f64)])| {
        let names = parts.iter().map(|(name, _)| *name).chain(["round_trip"]);
        let metrics = names.map(|name| format!("{name}_mean")).collect();
        (id.to_owned(), Variant { parameters: Parameters::default(), metrics, expected_ns: 1 })
    };
    workload.variants = PARTS.into_iter().map(variant).collect();
    campaign.plan.workloads = vec![workload];
    let subject = |id: &str, route: &str| fixtures::subject(id, &[("gateway.route", route)]);
    campaign.plan.subjects = vec![subject("local", "local"), subject("handed", "one_way")];
    campaign.values = PARTS.into_iter().flat_map(|(id, parts)| values(id, parts)).collect();
    campaign
}

fn values(subject: &str, parts: &[(&str, f64)]) -> Vec<TrialValue> {
    let of_block = |block: u32| {
        let factor = 1.0 + 0.001 * f64::from(block);
        let whole: f64 = parts.iter().map(|(_, us)| us).sum();
        let all = parts.iter().copied().chain([("round_trip", whole)]);
        all.map(move |(name, us)| TrialValue {
            block,
            subject: subject.into(),
            workload: LABEL.into(),
            metric: format!("{name}_mean").into(),
            value: 1e3 * us * factor,
        })
        .collect::<Vec<_>>()
    };
    (0..BLOCKS).flat_map(of_block).collect()
}

#[test]
fn where_the_time_goes_is_told_in_every_kind_of_text() {
    let terminal = drawn(&divided(), "terminal", page(80));
    for told in [
        "pinned: where round trip mean goes",
        "local 12.0 us: to gateway 3.00 us (25 %), gateway 1.00 us (8 %), exchange",
        "Change exchange first: it takes 42 % of local's time",
        "handoff takes 2.40 us (2.40 us to 2.41 us) of handed's time.",
        "takes 3.00 us (3.00 us to 3.01 us) more than local.",
    ] {
        assert!(terminal.contains(told), "{told:?} is not in\n{terminal}");
    }
    let markdown = drawn(&divided(), "markdown", page(80));
    assert!(markdown.contains("| handed | handoff | 2.40 us (2.40 us to 2.41 us) | 16 % |"));
    let shares = &view(&divided().inputs()).breakdowns[0].subjects;
    for divided in shares {
        let sum: f64 = divided.parts.iter().map(|part| part.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert_eq!(divided.blocks, BLOCKS as usize);
    }
}

/// A block in which one part was not measured would make the others look smaller.
#[test]
fn a_block_without_a_part_is_left_out_and_one_block_has_no_interval() {
    let mut campaign = divided();
    campaign.values.retain(|one| one.block == 0 || one.metric != "handoff_mean");
    let report = view(&campaign.inputs());
    let [local, handed] = report.breakdowns[0].subjects.as_slice() else { panic!("two subjects") };
    assert_eq!((local.blocks, handed.blocks), (BLOCKS as usize, 1));
    assert!(local.whole.interval.is_some() && handed.whole.interval.is_none());
    campaign.values.retain(|one| one.metric != "handoff_mean");
    assert_eq!(view(&campaign.inputs()).breakdowns[0].subjects.len(), 1);
}

#[test]
fn times_of_an_emulated_processor_are_not_divided() {
    let mut campaign = divided();
    campaign.findings.findings = emulated().findings.findings;
    assert_eq!(view(&campaign.inputs()).breakdowns, []);
}
