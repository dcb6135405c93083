//! Soak campaigns: how metrics went over them; no machine was measured.

use crate::campaigns::{Campaign, mixed};
use crate::{absolute_values, drawn, page, widest};
use expect_test::expect_file;
use model::{
    Caveat, CaveatCode, Direction, LevelChange, Slope, SlopeInterval, TREND_FINDINGS_FORMAT, Trend,
    TrendOutcome, TrendPoint, Unit,
};
use report::{Page, page_json, view};

const MIB: f64 = 1_048_576.0;

/// A value each hour, in two stretches.
fn trend(metric: &str, subject: &str, unit: Unit, values: impl Fn(f64) -> f64) -> Trend {
    let point = |block: u32| TrendPoint {
        block,
        hours: f64::from(block),
        value: values(f64::from(block)),
        stretch: u32::from(block > 15),
    };
    Trend {
        workload: "cyclic".to_owned(),
        metric: metric.to_owned(),
        unit,
        direction: Direction::Lower,
        subject: subject.to_owned(),
        margin: 0.02,
        outcome: TrendOutcome::Unshown,
        is_emulated: false,
        reason: None,
        hours: 22.0,
        slope: None,
        changes: Vec::new(),
        points: (0..24).map(point).collect(),
        caveats: Vec::new(),
    }
}

fn slope(per_hour: f64, half: f64, start: f64, adjusted_p: f64) -> Option<Slope> {
    let interval =
        |half: f64| SlopeInterval { low: Some(per_hour - half), high: Some(per_hour + half) };
    Some(Slope {
        per_hour,
        interval: interval(half),
        family_interval: interval(1.5 * half),
        start,
        change: Some(22.0 * per_hour / start),
        p: adjusted_p / 6.0,
        adjusted_p,
    })
}

/// One of each kind.
fn soak() -> Campaign {
    let mut campaign = mixed();
    let bump = |hour: f64| (hour * 7.0) % 5.0 / 5.0;
    campaign.findings.trends = vec![
        Trend {
            outcome: TrendOutcome::Degradation,
            slope: slope(450.0, 120.0, 52_300.0, 0.0004),
            changes: vec![LevelChange { block: 14, ratio: 1.31, low: 1.22, high: 1.4, p: 1e-7 }],
            caveats: vec![Caveat::new(CaveatCode::Autocorr, "by a correlation of 0.31")],
            ..trend("latency_p50", "baseline", Unit::Nanoseconds, |hour| {
                if hour < 14.0 {
                    52_300.0 + 900.0 * bump(hour)
                } else {
                    68_000.0 + 900.0 * bump(hour)
                }
            })
        },
        Trend {
            slope: slope(-12.0, 30.0, 19_900.0, 0.8),
            ..trend("latency_p50", "fifo", Unit::Nanoseconds, |hour| 19_900.0 + 700.0 * bump(hour))
        },
        Trend {
            outcome: TrendOutcome::Leak,
            slope: slope(1.05 * MIB, 0.04 * MIB, 200.0 * MIB, 2e-12),
            ..trend("service_memory", "baseline", Unit::Bytes, |hour| {
                MIB * (200.0 + 1.05 * (hour % 16.0) + bump(hour))
            })
        },
        Trend {
            outcome: TrendOutcome::Slight,
            slope: slope(0.15 * MIB, 0.05 * MIB, 200.0 * MIB, 0.003),
            ..trend("service_memory", "fifo", Unit::Bytes, |hour| MIB * (200.0 + 0.15 * hour))
        },
        Trend {
            slope: Some(Slope {
                interval: SlopeInterval { low: None, high: None },
                family_interval: SlopeInterval { low: None, high: None },
                change: None,
                ..slope(0.0, 0.0, 0.0, 1.0).unwrap()
            }),
            reason: Some("5 blocks are too few to show any trend of 6 series".to_owned()),
            ..trend("misses", "baseline", Unit::Fraction, |_| 0.0)
        },
        Trend {
            outcome: TrendOutcome::Untested,
            reason: Some("no two blocks of one stretch differ".to_owned()),
            ..trend("misses", "fifo", Unit::Fraction, |_| 0.0)
        },
    ];
    TREND_FINDINGS_FORMAT.clone_into(&mut campaign.findings.format);
    campaign.findings.note_caveat(Caveat::new(
        CaveatCode::Leak,
        "cyclic service_memory, baseline: +0.525 % an hour [+0.505, +0.545], +11.6 % in 22.0 h",
    ));
    campaign
}

#[test]
fn a_person_reads_what_got_worse_and_when() {
    let text = drawn(&soak(), "terminal", page(80));
    expect_file!["../golden/soak-80.txt"].assert_eq(&text);
    let plain = Page { is_unicode: false, is_verbose: true, ..page(60) };
    expect_file!["../golden/soak-ascii-verbose-60.txt"].assert_eq(&drawn(
        &soak(),
        "terminal",
        plain,
    ));
    for width in 60..130 {
        for is_verbose in [false, true] {
            let text = drawn(&soak(), "terminal", Page { is_verbose, ..page(width) });
            assert!(widest(&text) <= width, "{width}: {text}");
        }
    }
    expect_file!["../golden/soak.md"].assert_eq(&drawn(&soak(), "markdown", page(80)));
    let report = view(&soak().inputs());
    assert_eq!(report.format, "schedlab.report/19");
    let said = "Over 22 h 0 min it got worse: cyclic service_memory of baseline leaks (+11.5 %), \
                cyclic latency_p50 of baseline gets worse (+18.9 %).";
    assert!(report.answer.ends_with(said), "{}", report.answer);
}

#[test]
fn the_page_is_given_values_and_what_was_said_of_them() {
    let value: serde_json::Value =
        serde_json::from_str(&page_json(&view(&soak().inputs())).unwrap()).unwrap();
    let leak = &value["trends"][2];
    assert_eq!(
        (leak["outcome"].as_str(), leak["metric"].as_str()),
        (Some("leak"), Some("service_memory"))
    );
    assert!(leak["said"].as_str().unwrap().starts_with("leak; +1.05 MiB an hour"), "{leak}");
    let count = |key: &str| leak[key].as_array().unwrap().len();
    assert_eq!(["hours", "block", "stretch", "value"].map(count), [24; 4]);
    let ordinary: serde_json::Value =
        serde_json::from_str(&page_json(&view(&mixed().inputs())).unwrap()).unwrap();
    assert_eq!(ordinary.get("trends"), None);
}

#[test]
fn a_campaign_without_leaks_says_so_and_one_that_goes_on_does_not() {
    let mut campaign = soak();
    campaign.findings.trends.retain(|trend| !trend.outcome.is_bad());
    let report = view(&campaign.inputs());
    let said = "Over 22 h 0 min no leak and no degradation was shown.";
    assert!(report.answer.ends_with(said), "{}", report.answer);
    for trend in &mut campaign.findings.trends {
        (trend.slope, trend.outcome) = (None, TrendOutcome::Untested);
    }
    assert!(!view(&campaign.inputs()).answer.contains("leak"));
}

#[test]
fn slopes_of_an_emulated_processor_are_shares() {
    let mut campaign = crate::emulated();
    campaign.findings.trends = soak().findings.trends;
    for trend in &mut campaign.findings.trends {
        trend.is_emulated = true;
    }
    let page_text = page_json(&view(&campaign.inputs())).unwrap();
    let value: serde_json::Value = serde_json::from_str(&page_text).unwrap();
    assert_eq!(value["trends"][2]["value"], serde_json::json!([]));
    for format in ["terminal", "markdown"] {
        let text = drawn(&campaign, format, Page { is_verbose: true, ..page(100) });
        assert_eq!(absolute_values(&text), Vec::<&str>::new(), "{text}");
        assert!(!text.contains("MiB"), "{text}");
        assert!(text.contains("+0.525 %"), "{text}");
    }
}

#[test]
fn a_warning_decides_of_no_trend_whether_its_values_are_shown() {
    let mut campaign = crate::emulated();
    campaign.findings.trends = soak().findings.trends;
    for trend in &mut campaign.findings.trends {
        trend.caveats.push(Caveat::new(CaveatCode::Tcg, "QEMU's TCG"));
    }
    let page_text = page_json(&view(&campaign.inputs())).unwrap();
    let value: serde_json::Value = serde_json::from_str(&page_text).unwrap();
    assert_eq!(value["trends"][2]["value"].as_array().unwrap().len(), 24);
}
