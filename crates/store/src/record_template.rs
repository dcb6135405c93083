//! The text that lines of many records have alike: all but their places and what was measured. An
//! import has hundreds of thousands of records, and few different circumstances of their trials.

use model::{Circumstances, Few, Record};
use std::sync::Arc;

/// More circumstances than these have no text of their own; their records are written whole.
const MOST_TEMPLATES: usize = 64;
/// The place of the record that a text is taken from.
const PLACE: &str = "\"sequence\":0,\"block\":0,\"position\":0,";
/// Its measurements.
const MEASUREMENTS: &str = "\"invocations\":[],";

/// Texts that were taken of records, by their circumstances.
#[derive(Debug, Default)]
pub(crate) struct RecordTemplates {
    known: Vec<RecordTemplate>,
    /// The place of the one that was used last.
    last: usize,
}

/// The text that all records of the same circumstances have alike.
#[derive(Debug)]
struct RecordTemplate {
    circumstances: Arc<Circumstances>,
    /// What stands before the place, between it and the measurements, and behind these.
    texts: [Vec<u8>; 3],
}

impl RecordTemplates {
    /// Appends the text of a record, byte for byte as its serialisation without a link has it.
    ///
    /// # Errors
    /// When it cannot be serialised.
    pub(crate) fn write(&mut self, record: &Record, text: &mut Vec<u8>) -> serde_json::Result<()> {
        match self.find(record) {
            Some(template) => template.write(record, text),
            None if record.chain.is_none() => serde_json::to_writer(text, record),
            None => serde_json::to_writer(text, &unbound(record)),
        }
    }

    /// The text of this record's circumstances, which others share; taken of it where it is not known.
    fn find(&mut self, record: &Record) -> Option<&RecordTemplate> {
        if Arc::strong_count(&record.circumstances) == 1 {
            return None;
        }
        if !self.known.get(self.last).is_some_and(|template| template.is_of(record)) {
            let found = self.known.iter().position(|template| template.is_of(record));
            self.last = match found {
                Some(place) => place,
                None if self.known.len() < MOST_TEMPLATES => {
                    self.known.push(RecordTemplate::of(record)?);
                    self.known.len() - 1
                }
                None => return None,
            };
        }
        self.known.get(self.last)
    }
}

impl RecordTemplate {
    /// The text of a record, where it has the parts that are looked for, and put together again is its
    /// serialisation.
    fn of(record: &Record) -> Option<Self> {
        let record = &unbound(record);
        let probe = Record {
            sequence: 0,
            block: 0,
            position: 0,
            invocations: Few::default(),
            ..record.clone()
        };
        let whole = serde_json::to_string(&probe).ok()?;
        let (before, behind) = whole.split_once(PLACE)?;
        let (between, behind) = behind.split_once(MEASUREMENTS)?;
        let texts = [before, between, behind].map(|text| text.as_bytes().to_vec());
        let template = Self { circumstances: record.circumstances.clone(), texts };
        let mut written = Vec::new();
        template.write(record, &mut written).ok()?;
        (written == serde_json::to_vec(record).ok()?).then_some(template)
    }

    fn is_of(&self, record: &Record) -> bool {
        Arc::ptr_eq(&self.circumstances, &record.circumstances)
    }

    fn write(&self, record: &Record, text: &mut Vec<u8>) -> serde_json::Result<()> {
        let [before, between, behind] = &self.texts;
        text.extend_from_slice(before);
        text.extend_from_slice(b"\"sequence\":");
        serde_json::to_writer(&mut *text, &record.sequence)?;
        text.extend_from_slice(b",\"block\":");
        serde_json::to_writer(&mut *text, &record.block)?;
        text.extend_from_slice(b",\"position\":");
        serde_json::to_writer(&mut *text, &record.position)?;
        text.push(b',');
        text.extend_from_slice(between);
        text.extend_from_slice(b"\"invocations\":");
        serde_json::to_writer(&mut *text, &record.invocations)?;
        text.push(b',');
        text.extend_from_slice(behind);
        Ok(())
    }
}

/// A record without what binds it.
fn unbound(record: &Record) -> Record {
    Record { chain: None, ..record.clone() }
}

#[cfg(test)]
mod tests {
    use super::{MOST_TEMPLATES, RecordTemplates, unbound};
    use crate::fixtures::record;
    use model::{Chain, ChainAnchor, LineDigest, Record};
    use std::sync::Arc;

    /// The texts of records, and how many circumstances have a text in common.
    fn written(records: &[Record]) -> (Vec<String>, usize) {
        let mut templates = RecordTemplates::default();
        let mut texts = Vec::new();
        for record in records {
            let mut text = b"before ".to_vec();
            templates.write(record, &mut text).unwrap();
            texts.push(String::from_utf8(text).unwrap());
        }
        (texts, templates.known.len())
    }

    fn serialised(records: &[Record]) -> Vec<String> {
        let whole = |record| format!("before {}", serde_json::to_string(&unbound(record)).unwrap());
        records.iter().map(whole).collect()
    }

    /// Records may be stored once more.
    fn bound(record: Record) -> Record {
        let anchor = ChainAnchor { plan: "d".repeat(64), beginning: None, resumption: None };
        let chain = Chain { previous: LineDigest::Sha256([0; 32]), anchor: Arc::new(anchor) };
        Record { chain: Some(Box::new(chain)), ..record }
    }

    #[test]
    fn records_of_shared_circumstances_have_the_text_of_their_serialisation() {
        let mut shared = record(0, vec![1.5]);
        shared.subject =
            "\"sequence\":0,\"block\":0,\"position\":0,\"invocations\":[],\u{7}".to_owned();
        let other = record(7, Vec::new());
        let of = |number: u64, like: &Record| {
            let own = record(number, vec![number as f64 / 3.0; (number % 4) as usize]);
            let circumstances = like.circumstances.clone();
            let block = number as u32 * 1_000;
            let record = Record { circumstances, block, position: number as u32 % 3, ..own };
            if number.is_multiple_of(5) { bound(record) } else { record }
        };
        let records: Vec<Record> = (0..40)
            .map(|number| of(number, if number % 3 == 0 { &other } else { &shared }))
            .collect();
        let (texts, templates) = written(&records);
        assert_eq!(texts, serialised(&records));
        assert_eq!(templates, 2);
    }

    #[test]
    fn records_that_share_nothing_are_serialised_whole() {
        let alone: Vec<Record> = (0..5).map(|number| record(number, vec![2.0])).collect();
        assert_eq!(written(&alone), (serialised(&alone), 0));
        let alone: Vec<Record> = alone.into_iter().map(bound).collect();
        assert_eq!(written(&alone), (serialised(&alone), 0));
    }

    #[test]
    fn more_circumstances_than_are_held_are_serialised_whole() {
        let kinds = (0..MOST_TEMPLATES as u64 + 3).map(|number| record(number, vec![1.0]));
        let records: Vec<Record> = kinds.flat_map(|record| [record.clone(), record]).collect();
        assert_eq!(written(&records), (serialised(&records), MOST_TEMPLATES));
    }
}
