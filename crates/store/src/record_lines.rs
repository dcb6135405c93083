//! Records as lines of `records.jsonl`. Many at once are bound while one thread encodes them and
//! another computes the digest of each line, which the next one names: its place is left blank.

use crate::chain::{Links, line_digest};
use crate::record_template::RecordTemplates;
use crate::record_weight::check_line;
use contract::{Error, Result};
use model::{Chain, LineDigest, Record, SampleData};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Text of records that is held before it is written out.
const PIECE_BYTES: usize = 1 << 20;
/// Pieces that wait to be written.
const PIECES_AHEAD: usize = 1;
/// What stands where a digest will.
const BLANK: LineDigest = LineDigest::Sha256([0; 32]);
/// Its text.
const BLANK_DIGITS: [u8; 64] = [b'0'; 64];
/// What follows the digest in the line of a record whose link names nothing after it.
const BEHIND_DIGEST: &[u8] = b"\"}}\n";

/// What was written of records.
#[derive(Debug)]
pub(crate) struct WrittenRecords {
    /// Their length in bytes.
    pub length: u64,
    /// The digest of the last one's line; absent where there is none.
    pub last: Option<LineDigest>,
}

impl WrittenRecords {
    /// Counts a line, to which the next record is bound.
    fn count(&mut self, line: &[u8], links: &mut Links) {
        let digest = line_digest(line);
        links.follow(&digest);
        self.length += line.len() as u64;
        self.last = Some(digest);
    }
}

/// Lines of records, with blank links.
struct Piece<'r> {
    records: &'r [Record],
    lines: Vec<u8>,
    /// Where each line ends.
    ends: Vec<usize>,
}

/// Binds records in their lines, the first by this link, and hands the lines on, piece by piece. The
/// records themselves are given no link: half a million of them take 32 MB.
///
/// # Errors
/// When a record cannot be stored, or what `write` answers; lines may have been handed on before.
pub(crate) fn write_bound(
    records: &[Record],
    first: &Chain,
    links: &mut Links,
    mut write: impl FnMut(&[u8]) -> Result<()>,
) -> Result<WrittenRecords> {
    let mut written = WrittenRecords { length: 0, last: None };
    let Some((beginning, rest)) = records.split_first() else { return Ok(written) };
    let line = encode(&Record { chain: Some(Box::new(first.clone())), ..beginning.clone() })?;
    written.count(&line, links);
    write(&line)?;
    let Some(next) = rest.first() else { return Ok(written) };
    let blank = link_text(&Chain { previous: BLANK, ..links.next() })
        .map_err(|error| refused(next, error.to_string()))?;
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(PIECES_AHEAD);
        scope.spawn(move || encode_pieces(rest, &blank, &sender));
        for piece in receiver {
            let Piece { records, mut lines, ends } = piece?;
            let mut begin = 0;
            for (record, end) in records.iter().zip(ends) {
                let line = &mut lines[begin..end];
                bind(record, line, links)?;
                written.count(line, links);
                begin = end;
            }
            write(&lines)?;
        }
        Ok(written)
    })
}

/// A link as it ends the text of a record.
fn link_text(link: &Chain) -> serde_json::Result<Vec<u8>> {
    let mut text = b",\"chain\":".to_vec();
    serde_json::to_writer(&mut text, link)?;
    text.push(b'}');
    Ok(text)
}

/// Encodes records with a blank link, which is the last of a record. Ends when nobody takes their
/// lines any more.
fn encode_pieces<'r>(mut rest: &'r [Record], blank: &[u8], sender: &SyncSender<Result<Piece<'r>>>) {
    let mut templates = RecordTemplates::default();
    while !rest.is_empty() {
        let (mut lines, mut ends) = (Vec::with_capacity(PIECE_BYTES), Vec::new());
        for record in rest {
            let appended = append_line(record, &mut lines, &mut |lines| {
                templates.write(record, lines)?;
                lines.pop();
                lines.extend_from_slice(blank);
                Ok(())
            });
            if let Err(error) = appended {
                // A receiver that is gone had an error before.
                let _ = sender.send(Err(error));
                return;
            }
            ends.push(lines.len());
            if lines.len() >= PIECE_BYTES {
                break;
            }
        }
        let (records, behind) = rest.split_at(ends.len());
        rest = behind;
        if sender.send(Ok(Piece { records, lines, ends })).is_err() {
            return;
        }
    }
}

/// Puts the digest of the line before it in the blank place of a record's line.
fn bind(record: &Record, line: &mut [u8], links: &Links) -> Result<()> {
    let end = line.len().saturating_sub(BEHIND_DIGEST.len());
    let begin = end.saturating_sub(BLANK_DIGITS.len());
    let is_blank = line[begin..end] == BLANK_DIGITS && line[end..] == *BEHIND_DIGEST;
    match links.previous() {
        LineDigest::Sha256(bytes) if is_blank => {
            line[begin..end].copy_from_slice(&LineDigest::digits(bytes));
            Ok(())
        }
        _ => Err(refused(record, "its link has no place for a digest".to_owned())),
    }
}

/// One line.
///
/// # Errors
/// Like [`append_line`].
pub(crate) fn encode(record: &Record) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    append_line(record, &mut line, &mut |line| serde_json::to_writer(line, record))?;
    Ok(line)
}

/// Appends a line, whose text this writes. A record that could not be read again is refused here,
/// where only it is lost, rather than at the next load, where all would be.
///
/// # Errors
/// When it holds a value that is no number, or is too large.
fn append_line(
    record: &Record,
    lines: &mut Vec<u8>,
    write: &mut dyn FnMut(&mut Vec<u8>) -> serde_json::Result<()>,
) -> Result<()> {
    let (mut buckets, mut held) = (0, 0);
    for sample in record.invocations.iter().flat_map(|invocation| &invocation.samples) {
        let is_finite = match &sample.data {
            SampleData::Values(values) => {
                held += values.len() as u64;
                values.iter().all(|value| value.is_finite())
            }
            SampleData::Quotient { numerator, denominator } => {
                numerator.is_finite() && denominator.is_finite()
            }
            SampleData::Histogram(histogram) => {
                buckets += histogram.buckets().count() as u64;
                true
            }
            SampleData::Proportion { .. } => true,
        };
        if !is_finite {
            return Err(refused(record, format!("a value of {} is not a number", sample.source)));
        }
    }
    model::RECORD_BUCKETS
        .check(buckets)
        .and_then(|()| model::RECORD_VALUES.check(held))
        .map_err(|over| refused(record, over.to_string()))?;
    let begin = lines.len();
    write(lines).map_err(|error| refused(record, error.to_string()))?;
    lines.push(b'\n');
    model::RECORD_BYTES
        .check((lines.len() - begin) as u64)
        .and_then(|()| check_line(&lines[begin..]))
        .map_err(|over| refused(record, over.to_string()))
}

fn refused(record: &Record, why: String) -> Error {
    let (workload, subject, block) = (&record.workload, &record.subject, record.block);
    let attempted = format!("cannot store the record of {workload} for {subject} in block {block}");
    Error::environment(attempted, why)
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, encode};
    use crate::fixtures::{plan, record};
    use crate::{Campaign, load};
    use model::Record;
    use std::fs;

    #[test]
    fn lines_of_several_pieces_are_those_of_their_records_and_follow_each_other() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = Campaign::create(results.path(), &plan("many", "d"), "", 5, 1).unwrap();
        // A piece in the middle of records, one that ends with a long one, and the rest.
        let long = |number: u64| -> Vec<f64> {
            (0..number % 7 * 1_500).map(|at| at as f64 / 7.0).collect()
        };
        let records: Vec<Record> = (0..60).map(|number| record(number, long(number))).collect();
        let stored = campaign.append_all(&records).unwrap();
        let text = fs::read(campaign.directory().join("records.jsonl")).unwrap();
        assert!(text.len() > 3 * PIECE_BYTES, "{} bytes", text.len());
        let loaded = load(campaign.directory()).unwrap();
        let each: Vec<Vec<u8>> = loaded.records.iter().map(|one| encode(one).unwrap()).collect();
        assert!(each.concat() == text, "a line is not that of its record");
        assert_eq!(loaded.digests.last(), stored.last.as_ref());
        assert_eq!(loaded.flaws, [], "each is bound to the one before it");
        let unbound = |record: &Record| Record { chain: None, ..record.clone() };
        assert!(loaded.records.iter().map(unbound).eq(records));
        assert_eq!(loaded.records[0].chain.as_deref(), stored.first.as_ref());
    }
}
