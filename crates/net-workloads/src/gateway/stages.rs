//! Where the time of a round trip went.

use super::frame::{Frame, Stamp};
use super::settings::Stage;
use contract::WordChoice;
use model::Histogram;
use serde::{Deserialize, Serialize};

/// Round trips by the generator's own clock pair, and the stages by the stamps in their frames.
#[derive(Debug, Clone, Default)]
pub(super) struct Stages {
    pub(super) round_trip: Histogram,
    each: [Histogram; Stage::WORDS.len()],
    /// Sums in nanoseconds, exact and which must agree: of round trips, and of each stage.
    sum_ns: u64,
    each_sum_ns: [u64; Stage::WORDS.len()],
}

/// The same in text, as it leaves its process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StagesMessage {
    round_trip: String,
    each: Vec<String>,
    sum_ns: u64,
    each_sum_ns: [u64; Stage::WORDS.len()],
}

/// Most that the two sums may differ, as a fraction.
const MOST_APART: f64 = 0.01;
/// What they may always differ, for each round trip: two readings of the clock, in a build
/// without optimisation.
const READINGS_NS: u64 = 500;

impl Stages {
    /// The stages of a frame that was read then, and the round trip that the generator meant to
    /// begin, began and ended at these moments: by readings of its own, so that a frame whose
    /// stamps are not those of its request is found.
    ///
    /// # Errors
    /// When a stamp is missing or before the one that precedes it.
    pub(super) fn note(
        &mut self,
        frame: &Frame,
        read_ns: u64,
        (due_ns, began_ns, ended_ns): (u64, u64, u64),
    ) -> Result<(), String> {
        let spans = spans(frame, read_ns)?;
        self.round_trip.record(ended_ns.saturating_sub(due_ns));
        self.sum_ns += ended_ns.saturating_sub(began_ns);
        for ((histogram, sum_ns), span) in
            self.each.iter_mut().zip(&mut self.each_sum_ns).zip(spans)
        {
            if let Some(span_ns) = span {
                histogram.record(span_ns);
                *sum_ns += span_ns;
            }
        }
        Ok(())
    }

    /// The stages that round trips went through, each with its times and their sum.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&'static str, &Histogram, u64)> {
        let all = Stage::WORDS.iter().zip(&self.each).zip(self.each_sum_ns);
        all.filter(|((_, histogram), _)| histogram.count() > 0)
            .map(|(((name, _), histogram), sum_ns)| (*name, histogram, sum_ns))
    }

    /// The sum of the round trips, each from its write to its reply's read.
    pub(super) fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Whether the stages add up to the round trips; if not, by how much they miss.
    pub(super) fn disagreement(&self) -> Option<String> {
        let (round_trips, stages) =
            (self.sum_ns as f64, self.each_sum_ns.iter().sum::<u64>() as f64);
        let apart = (stages / round_trips - 1.0).abs();
        let most_ns = READINGS_NS * self.round_trip.count();
        let is_long = (stages - round_trips).abs() > most_ns as f64;
        (is_long && apart > MOST_APART).then(|| {
            format!("the stages add up to {:.1} % of the round trips", 100.0 * stages / round_trips)
        })
    }

    /// In text.
    pub(super) fn message(&self) -> StagesMessage {
        StagesMessage {
            round_trip: self.round_trip.encode(),
            each: self.each.iter().map(Histogram::encode).collect(),
            sum_ns: self.sum_ns,
            each_sum_ns: self.each_sum_ns,
        }
    }
}

impl TryFrom<&StagesMessage> for Stages {
    type Error = model::HistogramError;

    fn try_from(message: &StagesMessage) -> Result<Self, Self::Error> {
        let mut stages = Self {
            round_trip: Histogram::decode(&message.round_trip)?,
            sum_ns: message.sum_ns,
            each_sum_ns: message.each_sum_ns,
            ..Self::default()
        };
        for (histogram, text) in stages.each.iter_mut().zip(&message.each) {
            *histogram = Histogram::decode(text)?;
        }
        Ok(stages)
    }
}

/// The length of each stage, in their order; none of those that the frame did not go through.
fn spans(frame: &Frame, read_ns: u64) -> Result<[Option<u64>; Stage::WORDS.len()], String> {
    let mut before_ns = 0;
    let mut at = |stamp: Stamp| -> Result<u64, String> {
        let moment_ns = frame.at(stamp);
        if moment_ns < before_ns || moment_ns == 0 {
            return Err(format!("a reply was {stamp:?} before what precedes it, or never"));
        }
        before_ns = moment_ns;
        Ok(moment_ns)
    };
    let sent = at(Stamp::Sent)?;
    let found = at(Stamp::Found)?;
    at(Stamp::Begun)?;
    let handoff = match frame.at(Stamp::Handed) {
        0 => None,
        _ => Some((at(Stamp::Handed)?, at(Stamp::Taken)?)),
    };
    let exchange = (at(Stamp::Forwarded)?, at(Stamp::Answered)?);
    let handoff_back = match frame.at(Stamp::HandedBack) {
        0 => None,
        _ => Some((at(Stamp::HandedBack)?, at(Stamp::TakenBack)?)),
    };
    let replied = at(Stamp::Replied)?;
    let length = |(begin, end): (u64, u64)| end - begin;
    let (forth, back) = (handoff.map(length), handoff_back.map(length));
    let elsewhere = forth.unwrap_or(0) + back.unwrap_or(0) + length(exchange);
    Ok([
        Some(found - sent),
        Some(replied - found - elsewhere),
        forth,
        Some(length(exchange)),
        back,
        Some(read_ns.saturating_sub(replied)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(stamps: &[(Stamp, u64)]) -> Frame {
        let mut frame = Frame::request(0, 0, 0);
        stamps.iter().for_each(|(stamp, moment)| frame.stamp(*stamp, *moment));
        frame
    }

    const LOCAL: [(Stamp, u64); 6] = [
        (Stamp::Sent, 100),
        (Stamp::Found, 120),
        (Stamp::Begun, 125),
        (Stamp::Forwarded, 130),
        (Stamp::Answered, 160),
        (Stamp::Replied, 165),
    ];

    #[test]
    fn stages_add_up_to_the_round_trip_and_absent_ones_are_absent() {
        let mut stages = Stages::default();
        stages.note(&frame(&LOCAL), 180, (100, 100, 180)).unwrap();
        let seen: Vec<(&str, u64)> =
            stages.seen().map(|(name, one, _)| (name, one.max().unwrap())).collect();
        let expected = [("to_gateway", 20), ("gateway", 15), ("exchange", 30), ("to_client", 15)];
        assert_eq!(seen, expected);
        assert_eq!(stages.disagreement(), None);

        let handed = [
            (Stamp::Handed, 126),
            (Stamp::Taken, 129),
            (Stamp::HandedBack, 161),
            (Stamp::TakenBack, 163),
        ];
        let mut both: Vec<_> = LOCAL.into_iter().chain(handed).collect();
        both.sort_by_key(|(_, moment)| *moment);
        assert_eq!(
            spans(&frame(&both), 180).unwrap(),
            [Some(20), Some(10), Some(3), Some(30), Some(2), Some(15)]
        );
    }

    #[test]
    fn stamps_out_of_order_and_sums_that_miss_are_found() {
        let mut mixed = LOCAL;
        mixed[4].1 = 90;
        assert!(spans(&frame(&mixed), 180).unwrap_err().contains("Answered"));
        assert!(spans(&frame(&LOCAL[..4]), 180).is_err());
        let mut stages = Stages::default();
        stages.note(&frame(&LOCAL), 180, (60, 60, 180)).unwrap();
        assert_eq!(stages.disagreement(), None, "no longer than the readings themselves");
        let long = 180 + 2 * READINGS_NS;
        stages.note(&frame(&LOCAL), 180, (60, 60, long)).unwrap();
        assert_eq!(
            stages.disagreement().as_deref(),
            Some("the stages add up to 12.9 % of the round trips")
        );
    }

    #[test]
    fn what_leaves_a_process_arrives_in_the_other() {
        let mut stages = Stages::default();
        stages.note(&frame(&LOCAL), 180, (100, 100, 180)).unwrap();
        let back = Stages::try_from(&stages.message()).unwrap();
        assert_eq!(back.round_trip.max(), Some(80));
        assert_eq!(back.seen().count(), 4);
        assert_eq!((back.sum_ns, back.each_sum_ns), (stages.sum_ns, stages.each_sum_ns));
    }
}
