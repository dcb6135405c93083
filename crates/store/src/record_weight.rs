//! How much a record's text is reckoned to need for what it lists, counted before any of it is held:
//! caveats, levels, differences, invocations, samples, and whatever a key that is not named here
//! holds. Buckets and values are counted where they are read (`model::counting_numbers`).

use crate::unread_json::most_unread;
use model::{
    CAMPAIGN_EXPANSION, CAMPAIGN_FREE_BYTES, CAMPAIGN_HELD, CAMPAIGN_PARTS, CountedNumbers,
    OverLimit,
};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Bytes that a caveat takes while a campaign is shown, by measurement (480; a difference 330, a level
/// 380), and that are reckoned for anything that nobody measured.
const HEAVY: u64 = 480;
/// The same of an invocation, a sample (60 to 80), and a reading of a level.
const LIGHT: u64 = 96;
/// A text of no more bytes counts with what holds it.
const SHORT_TEXT: u64 = 256;
/// A longer one is held, and once more where it is told.
const TIMES_HELD: u64 = 2;
/// Bytes of what else a record says, where no other record says the same.
const CIRCUMSTANCES: u64 = 640;
/// Bytes of a filled bucket of a histogram.
const BUCKET: u64 = 16;
/// Bytes of a value of a sample.
const VALUE: u64 = 8;
/// Shorter lines are within every limit of one record, whatever they list.
const LONG_LINE: usize = 1 << 20;

/// What the records of a campaign are reckoned to need, up to one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReckonedParts {
    /// For what they list.
    parts: u64,
    /// For what else they say, each of its own.
    circumstances: u64,
    /// Bytes of their text.
    text: u64,
}

impl ReckonedParts {
    /// Adds a line before it is parsed.
    ///
    /// # Errors
    /// When what the lines list is more than a campaign may have.
    pub(crate) fn add_line(&mut self, line: &[u8]) -> Result<(), OverLimit> {
        self.parts = self.parts.saturating_add(weight_of(line));
        self.text = self.text.saturating_add(line.len() as u64);
        CAMPAIGN_PARTS.check(self.parts)
    }

    /// Adds a record that shares with no other what it says of its trial.
    pub(crate) fn add_circumstances(&mut self) {
        self.circumstances = self.circumstances.saturating_add(CIRCUMSTANCES);
    }

    /// Holds what the lines list against their length.
    ///
    /// # Errors
    /// When it is more than their bytes allow.
    pub(crate) fn check_expansion(&self) -> Result<(), OverLimit> {
        let beyond = self.parts.saturating_sub(CAMPAIGN_FREE_BYTES);
        CAMPAIGN_EXPANSION.check(beyond.div_ceil(self.text.max(1)))
    }

    /// Holds all that is reckoned, with these numbers, against what a campaign may need.
    ///
    /// # Errors
    /// When it is more.
    pub(crate) fn check_with(&self, numbers: CountedNumbers) -> Result<(), OverLimit> {
        let buckets = numbers.buckets.saturating_mul(BUCKET);
        let values = numbers.values.saturating_mul(VALUE);
        let listed = self.parts.saturating_add(self.circumstances);
        CAMPAIGN_HELD.check(buckets.saturating_add(values).saturating_add(listed))
    }
}

/// Whether a record may be read again, and held, by what its line lists.
///
/// # Errors
/// When it lists more than a campaign may.
pub(crate) fn check_line(line: &[u8]) -> Result<(), OverLimit> {
    if line.len() <= LONG_LINE { Ok(()) } else { CAMPAIGN_PARTS.check(weight_of(line)) }
}

/// Bytes that are reckoned for what a record's text lists. Text that is no record is weighed as far as
/// it can be read: its parser holds as much of it before it says what is wrong.
fn weight_of(line: &[u8]) -> u64 {
    let mut weight = 0;
    let walk = Walk { node: RecordNode::Record, weight: &mut weight };
    // What cannot be read ends the walk, but not always its parser.
    let walked = walk.deserialize(&mut serde_json::Deserializer::from_slice(line));
    weight.saturating_add(most_unread(line, walked).saturating_mul(HEAVY))
}

/// Where in a record a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordNode {
    Record,
    Outcome,
    Invocations,
    Invocation,
    Samples,
    Sample,
    Run,
    Usage,
    Disturbance,
    Levels,
    Level,
    Readings,
    Differences,
    Caveats,
    Caveat,
    Facts,
    Chain,
    /// A text or a number that has a field of its own.
    Field,
    /// Counted where it is read.
    Numbers,
    /// Anywhere else.
    Other,
}

/// Keys, and where their values stand.
type Keys = &'static [(&'static str, RecordNode)];

/// The keys of a record.
const RECORD_KEYS: Keys = &[
    ("format", RecordNode::Field),
    ("sequence", RecordNode::Field),
    ("block", RecordNode::Field),
    ("position", RecordNode::Field),
    ("subject", RecordNode::Field),
    ("workload", RecordNode::Field),
    ("started_unix_ns", RecordNode::Field),
    ("duration_ns", RecordNode::Field),
    ("boot_id", RecordNode::Field),
    ("seed", RecordNode::Field),
    ("outcome", RecordNode::Outcome),
    ("invocations", RecordNode::Invocations),
    ("levels", RecordNode::Levels),
    ("fingerprint", RecordNode::Field),
    ("fingerprint_difference", RecordNode::Differences),
    ("caveats", RecordNode::Caveats),
    ("facts", RecordNode::Facts),
    ("chain", RecordNode::Chain),
];
/// Those of what an invocation used.
const USAGE_KEYS: Keys = &[
    ("user_ns", RecordNode::Field),
    ("system_ns", RecordNode::Field),
    ("max_rss_bytes", RecordNode::Field),
    ("voluntary_switches", RecordNode::Field),
    ("involuntary_switches", RecordNode::Field),
    ("minor_faults", RecordNode::Field),
    ("major_faults", RecordNode::Field),
];
/// Those of what else a machine did meanwhile.
const DISTURBANCE_KEYS: Keys = &[
    ("foreign_share", RecordNode::Field),
    ("stolen_share", RecordNode::Field),
    ("throttles", RecordNode::Field),
    ("stood_still_ns", RecordNode::Field),
    ("starved_ns", RecordNode::Field),
    ("suspended_ns", RecordNode::Field),
    ("unseen_ns", RecordNode::Field),
];

impl RecordNode {
    /// The keys that it has of its own, and where their values stand.
    fn own_keys(self) -> Keys {
        match self {
            Self::Record => RECORD_KEYS,
            Self::Outcome => &[
                ("kind", Self::Field),
                ("reason", Self::Field),
                ("rule", Self::Field),
                ("detail", Self::Field),
            ],
            Self::Invocation => &[
                ("samples", Self::Samples),
                ("run", Self::Run),
                ("failure", Self::Field),
                ("disturbance", Self::Disturbance),
            ],
            Self::Sample => &[
                ("source", Self::Field),
                ("values", Self::Numbers),
                ("histogram", Self::Numbers),
                ("quotient", Self::Numbers),
                ("proportion", Self::Numbers),
            ],
            Self::Run => {
                &[("wall_ns", Self::Field), ("operations", Self::Field), ("usage", Self::Usage)]
            }
            Self::Usage => USAGE_KEYS,
            Self::Disturbance => DISTURBANCE_KEYS,
            Self::Level => {
                &[("before", Self::Field), ("during", Self::Readings), ("after", Self::Field)]
            }
            Self::Caveat => &[("code", Self::Field), ("detail", Self::Field)],
            Self::Chain => &[
                ("plan", Self::Field),
                ("previous", Self::Field),
                ("beginning", Self::Other),
                ("resumption", Self::Other),
            ],
            _ => &[],
        }
    }

    /// Where the value of a key stands, and what is reckoned for it.
    fn of_key(self, key: &str) -> (Self, u64) {
        let own = self.own_keys().iter().find(|(name, _)| *name == key);
        match (own, self) {
            (Some((_, node)), _) => (*node, 0),
            (None, Self::Levels) => (Self::Level, HEAVY),
            (None, Self::Differences) => (Self::Field, HEAVY),
            _ => (Self::Other, HEAVY),
        }
    }

    /// Where an element of a list stands, and what is reckoned for it. The first invocation and the
    /// first sample are held in place.
    fn of_element(self, is_first: bool) -> (Self, u64) {
        let but_first = if is_first { 0 } else { LIGHT };
        match self {
            Self::Invocations => (Self::Invocation, but_first),
            Self::Samples => (Self::Sample, but_first),
            Self::Readings | Self::Facts => (Self::Field, LIGHT),
            Self::Caveats => (Self::Caveat, HEAVY),
            _ => (Self::Other, HEAVY),
        }
    }
}

/// What is reckoned for a text.
fn of_text(text: &str) -> u64 {
    let bytes = text.len() as u64;
    if bytes > SHORT_TEXT { bytes.saturating_mul(TIMES_HELD) } else { 0 }
}

/// Weighs a value and all that is in it.
struct Walk<'w> {
    node: RecordNode,
    weight: &'w mut u64,
}

impl Walk<'_> {
    fn add(&mut self, weight: u64) {
        *self.weight = self.weight.saturating_add(weight);
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.node == RecordNode::Numbers {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.add(of_text(text));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let mut is_first = true;
        loop {
            let (node, weight) = self.node.of_element(is_first);
            let element = list.next_element_seed(Walk { node, weight: &mut *self.weight })?;
            if element.is_none() {
                return Ok(());
            }
            self.add(weight);
            is_first = false;
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut table: A) -> Result<(), A::Error> {
        while let Some((node, weight)) = table.next_key_seed(KeyOf(self.node))? {
            self.add(weight);
            table.next_value_seed(Walk { node, weight: &mut *self.weight })?;
        }
        Ok(())
    }
}

/// Reads a key of what stands here, and holds none of it.
struct KeyOf(RecordNode);

impl<'de> DeserializeSeed<'de> for KeyOf {
    type Value = (RecordNode, u64);

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<(RecordNode, u64), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyOf {
    type Value = (RecordNode, u64);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(RecordNode, u64), E> {
        let (node, weight) = self.0.of_key(key);
        Ok((node, weight.saturating_add(of_text(key))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::record;
    use model::{Caveat, CaveatCode};

    /// What is reckoned for a record of which this was changed.
    fn weighed(key: &str, value: &str) -> u64 {
        let mut document = serde_json::to_value(record(0, vec![1.0])).unwrap();
        document[key] = serde_json::from_str(value).unwrap();
        weight_of(document.to_string().as_bytes())
    }

    /// A list of so many.
    fn list(one: &str, count: usize) -> String {
        format!("[{}]", vec![one; count].join(","))
    }

    #[test]
    fn what_a_record_lists_is_reckoned_wherever_it_stands() {
        let own = weighed("caveats", "[]");
        let caveat = serde_json::to_string(&Caveat::new(CaveatCode::TornRecord, "x")).unwrap();
        let level = r#"{"a":{"before":"1","during":["2","3"],"after":"1"}}"#;
        for (key, value, expected) in [
            ("caveats", list(&caveat, 5), 5 * HEAVY),
            ("facts", r#"["emulated","resumed"]"#.to_owned(), 2 * LIGHT),
            ("fingerprint_difference", r#"{"a":"","b":""}"#.to_owned(), 2 * HEAVY),
            ("unknown", list("[]", 3), 4 * HEAVY),
            ("unknown", r#"{"a":{"b":null}}"#.to_owned(), 3 * HEAVY),
        ] {
            assert_eq!(weighed(key, &value), own + expected, "{key}: {value}");
        }
        let bare = weighed("levels", "{}");
        assert_eq!(weighed("levels", level), bare + HEAVY + 2 * LIGHT);
        let invocations =
            |count| weighed("invocations", &list(r#"{"samples":[],"run":null}"#, count));
        assert_eq!(invocations(5), invocations(1) + 4 * LIGHT);
        let samples = |count| {
            let samples = list(r#"{"source":"a","values":[1,2,3]}"#, count);
            weighed("invocations", &format!(r#"[{{"samples":{samples},"run":null}}]"#))
        };
        assert_eq!(samples(5), samples(1) + 4 * LIGHT);
        let text = serde_json::to_string(&"x".repeat(1_000)).unwrap();
        let of_text = weighed("boot_id", &text) - weighed("boot_id", "\"x\"");
        assert_eq!(of_text, 1_000 * TIMES_HELD);
    }

    #[test]
    fn a_record_as_it_is_written_has_no_unknown_key() {
        let mut plain = record(0, vec![1.0]);
        plain.caveats.clear();
        plain.levels.clear();
        plain.fingerprint_difference.clear();
        plain.invocations.clear();
        plain.chain = None;
        assert_eq!(weight_of(serde_json::to_string(&plain).unwrap().as_bytes()), 0);
        let run = serde_json::to_string(&model::RunReport::default()).unwrap();
        let disturbance = model::Disturbance {
            foreign_share: Some(0.5),
            stolen_share: Some(0.5),
            throttles: Some(1),
            stood_still_ns: Some(1),
            starved_ns: Some(1),
            suspended_ns: Some(1),
            unseen_ns: Some(1),
        };
        let disturbance = serde_json::to_string(&disturbance).unwrap();
        let one = format!(r#"[{{"samples":[],"run":{run},"disturbance":{disturbance}}}]"#);
        let bare = r#"[{"samples":[],"run":null}]"#;
        assert_eq!(weighed("invocations", &one), weighed("invocations", bare));
    }

    #[test]
    fn short_lines_are_within_every_limit_and_what_cannot_be_read_is_weighed_up_to_there() {
        // Two bytes are a number in a list.
        assert!(LONG_LINE as u64 / 2 * HEAVY <= CAMPAIGN_PARTS.most);
        let many = CAMPAIGN_PARTS.most / HEAVY + 1;
        let text = format!(r#"{{"unknown":[{}!"#, "[],".repeat(many as usize));
        let limit = |over: OverLimit| over.limit.name;
        assert_eq!(check_line(text.as_bytes()).map_err(limit), Err("CAMPAIGN_PARTS"));
        // What a parser has no field for, it passes over.
        let caveats = "{},".repeat(many as usize);
        let hidden = format!(r#"{{"unknown":1e999,"caveats":[{caveats}{{}}]}}"#);
        assert_eq!(check_line(hidden.as_bytes()).map_err(limit), Err("CAMPAIGN_PARTS"));
        let mut parts = ReckonedParts::default();
        assert_eq!(parts.add_line(text.as_bytes()).map_err(limit), Err("CAMPAIGN_PARTS"));
        assert_eq!(parts.check_expansion().map_err(limit), Err("CAMPAIGN_EXPANSION"));
        let numbers = CountedNumbers { buckets: 10_000_000, values: 0 };
        assert_eq!(parts.check_with(numbers).map_err(limit), Err("CAMPAIGN_HELD"));
        assert_eq!(parts.check_with(CountedNumbers::default()), Ok(()));
    }
}
