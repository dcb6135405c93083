//! What a campaign looks like at one moment, `schedlab.live/2`. Times are milliseconds since
//! 1970, lengths milliseconds.

use model::{Direction, NumberOrigin, Role, Unit, Verdict};
use serde::Serialize;
use std::ops::Not;
use store::CampaignState;

/// A campaign at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "LiveCampaign"))]
pub struct LiveCampaign {
    /// Its directory's name.
    pub name: String,
    /// The question.
    pub title: String,
    /// Where trials run.
    pub venue: String,
    /// Where its numbers come from.
    pub origin: NumberOrigin,
    /// Whether it is smaller than declared.
    pub is_quick: bool,
    /// Whether its values are those of no real processor.
    pub hides_absolute: bool,
    /// Whether somebody runs it.
    pub state: RunState,
    /// When it was created.
    pub begun_ms: u64,
    /// How far it is.
    pub trials: Trials,
    /// Time left, scaled by how the estimates held so far; absent where nothing runs.
    pub left_ms: Option<u64>,
    /// The trial that runs.
    pub current: Option<Current>,
    /// Grows when there is more to judge.
    pub revision: usize,
    /// Trials that were done when it was judged.
    pub judged_trials: usize,
    /// What may be said so far.
    pub verdicts: Vec<LiveVerdict>,
    /// Percentiles of each finished trial.
    pub latencies: Vec<LatencySeries>,
    /// What a person must read, the newest last.
    pub log: Vec<LogLine>,
}

/// Whether a campaign runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process runs it.
    Running,
    /// Nobody runs it, and it can go on.
    Interrupted,
    /// Every planned trial has its record.
    Finished,
    /// It was ended before its last block.
    StoppedEarly,
}

impl RunState {
    /// What the campaign's own files say; `runs` is asked where they say that it can go on.
    pub fn of(recorded: CampaignState, runs: impl FnOnce() -> bool) -> Self {
        match recorded {
            CampaignState::Finished => Self::Finished,
            CampaignState::StoppedEarly => Self::StoppedEarly,
            CampaignState::Unfinished if runs() => Self::Running,
            CampaignState::Unfinished => Self::Interrupted,
        }
    }
}

/// Counts of trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Trials {
    /// Recorded and not to be repeated.
    pub done: usize,
    /// In all, as far as can be told.
    pub total: usize,
    /// Whose workload failed.
    pub failed: usize,
    /// Whose subject was not active throughout.
    pub invalid: usize,
}

/// The trial that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Trial"))]
pub struct Current {
    /// Its block, from 1.
    pub block: u32,
    /// Blocks in all.
    pub blocks: usize,
    /// Its subject.
    pub subject: String,
    /// Its workload.
    pub workload: String,
    /// What it does: `setting`, `running`, …
    pub phase: String,
    /// When it began.
    pub begun_ms: u64,
    /// How long it should take; absent where the plan does not know.
    pub expected_ms: Option<u64>,
}

/// A comparison so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LiveVerdict {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// The subject.
    pub subject: String,
    /// What it is compared with.
    pub reference: String,
    /// Whether a verdict is asked, or the set-up is tested.
    pub role: Role,
    /// Inconclusive as long as the campaign can go on.
    pub verdict: Verdict,
    /// The difference that would matter, as a fraction.
    pub margin: f64,
    /// Complete pairs of blocks.
    pub pairs: usize,
    /// The error rate of its interval.
    pub alpha: f64,
    /// Whether that holds at every look together.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub is_sequence: bool,
    /// Oriented: above one is better.
    pub ratio: Option<f64>,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end; absent where it is unbounded.
    pub high: Option<f64>,
}

/// Percentiles of one source of single events.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LatencySeries {
    /// The workload.
    pub workload: String,
    /// The source.
    pub source: String,
    /// The unit of values.
    pub unit: Unit,
    /// One for each finished trial.
    pub points: Vec<LatencyPoint>,
}

/// Percentiles of one trial; absent where fewer than ten values lie beyond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LatencyPoint {
    /// The trial's place in the campaign.
    pub order: u64,
    /// When it began.
    pub at_ms: u64,
    /// The subject.
    pub subject: String,
    /// The median.
    pub p50: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The 99.9th.
    pub p999: Option<u64>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LogLine {
    /// When.
    pub at_ms: u64,
    /// What.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    /// The page's tests compare what they pretend to be told with this file.
    #[test]
    fn a_server_tells_what_the_page_is_tested_with() {
        let snapshot = LiveCampaign {
            name: "first-20261122-101530-ab12".to_owned(),
            title: "Which one?".to_owned(),
            venue: "host".to_owned(),
            origin: NumberOrigin::Measured,
            is_quick: false,
            hides_absolute: false,
            state: RunState::Running,
            begun_ms: 1,
            trials: Trials { done: 3, total: 12, failed: 1, invalid: 0 },
            left_ms: Some(81_500),
            current: Some(Current {
                block: 2,
                blocks: 6,
                subject: "fifo".to_owned(),
                workload: "wakeup".to_owned(),
                phase: "running".to_owned(),
                begun_ms: 4,
                expected_ms: Some(6_500),
            }),
            revision: 3,
            judged_trials: 2,
            verdicts: vec![LiveVerdict {
                workload: "wakeup".to_owned(),
                metric: "wakeup_latency_p99".to_owned(),
                unit: Unit::Nanoseconds,
                direction: Direction::Lower,
                subject: "fifo".to_owned(),
                reference: "baseline".to_owned(),
                role: Role::Primary,
                verdict: Verdict::Inconclusive,
                margin: 0.05,
                pairs: 3,
                alpha: 0.05,
                is_sequence: true,
                ratio: Some(1.25),
                low: Some(1.1),
                high: None,
            }],
            latencies: vec![LatencySeries {
                workload: "wakeup".to_owned(),
                source: "wakeup_latency".to_owned(),
                unit: Unit::Nanoseconds,
                points: vec![LatencyPoint {
                    order: 0,
                    at_ms: 2,
                    subject: "fifo".to_owned(),
                    p50: Some(9_000),
                    p99: Some(90_000),
                    p999: None,
                }],
            }],
            log: vec![LogLine { at_ms: 3, text: "block 1 again".to_owned() }],
        };
        let told = serde_json::to_string_pretty(&snapshot).unwrap();
        expect_file!["../tests/golden/snapshot.json"].assert_eq(&format!("{told}\n"));
    }

    #[test]
    fn a_process_is_looked_for_only_where_a_campaign_can_go_on() {
        let of = |recorded| RunState::of(recorded, || panic!("nobody runs what is over"));
        assert_eq!(of(CampaignState::Finished), RunState::Finished);
        assert_eq!(of(CampaignState::StoppedEarly), RunState::StoppedEarly);
        assert_eq!(RunState::of(CampaignState::Unfinished, || true), RunState::Running);
        assert_eq!(RunState::of(CampaignState::Unfinished, || false), RunState::Interrupted);
    }
}
