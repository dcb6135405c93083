//! The binary report of `-b`: worksheet records of Excel 2 (BIFF2), as iozone writes them.
//! Readers of later workbooks refuse it, because it has no compound file around it.

use super::{
    IozoneRate, IozoneReport, KILOBYTE, Mode, Operation, RateUnit, rate, shown, size_bytes,
};
use crate::trouble::Trouble;
use std::collections::BTreeMap;

/// Types of records.
const BEGIN: u16 = 0x0009;
const END: u16 = 0x000a;
const INTEGER: u16 = 0x0002;
const NUMBER: u16 = 0x0003;
const LABEL: u16 = 0x0004;
/// What follows [`BEGIN`]: a worksheet.
const WORKSHEET: u16 = 0x0010;
/// Bytes of a cell's row, column and looks.
const HEADER: usize = 7;
/// A report has a row for each operation and four more.
const MOST_RECORDS: usize = 10_000;
const REMEDY: &str =
    "give the file that iozone -b wrote in throughput mode, or the text it printed";

/// One cell.
enum Value {
    Text(String),
    Number(f64),
}

pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&BEGIN.to_le_bytes())
}

pub(super) fn parse(bytes: &[u8]) -> Result<IozoneReport, Trouble> {
    let sheet = sheet(bytes)?;
    let mut report = IozoneReport {
        version: None,
        began: None,
        mode: Mode::Throughput { processes: None },
        unit: RateUnit::BytesPerSecond,
        cells: Vec::new(),
        settings: BTreeMap::new(),
    };
    let (mut record_bytes, mut unit) = (None, None);
    for (row, cells) in &sheet {
        let at = |what: String| Trouble::new(format!("row {}: {what}", row + 1), REMEDY);
        let mut numbers = cells.iter().filter_map(|(column, value)| match value {
            Value::Number(number) => Some((*column, *number)),
            Value::Text(_) => None,
        });
        let (number, another) = (numbers.next(), numbers.next());
        let Some(Value::Text(label)) = cells.get(&0) else {
            return Err(at("it begins with no text".to_owned()));
        };
        let label = label.trim();
        let Some((column, number)) = number else {
            if let Some(size) = after(label, "record size =") {
                let size = size.split_whitespace().next().unwrap_or("");
                record_bytes = Some(size_bytes(size).map_err(at)?);
            } else if let Some(written) = after(label, "output is in ") {
                unit = Some(unit_of(written).ok_or_else(|| at(foreign(written)))?);
            } else if Operation::of_label(label).is_some() {
                return Err(at(format!("`{label}` has no number")));
            }
            continue;
        };
        let operation = Operation::of_label(label)
            .ok_or_else(|| at(format!("`{}` is no operation", shown(label))))?;
        if another.is_some() {
            let what = "several numbers of processes, which are several tests";
            return Err(at(what.to_owned()));
        }
        let record_bytes = record_bytes.ok_or_else(|| at("no record size before it".to_owned()))?;
        let unit = unit.ok_or_else(|| at("no unit before it".to_owned()))?;
        let number = rate(number).map_err(|cause| at(format!("column {}: {cause}", column + 1)))?;
        report.unit = unit;
        let scale = if unit == RateUnit::BytesPerSecond { KILOBYTE as f64 } else { 1.0 };
        let cell = IozoneRate {
            operation,
            record_bytes,
            file_bytes: None,
            rate: number * scale,
            least_share: None,
        };
        report.push(cell).map_err(at)?;
    }
    if report.cells.is_empty() {
        return Err(Trouble::new("it holds no throughput", REMEDY));
    }
    Ok(report)
}

/// What follows a beginning, capitals aside.
fn after<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(beginning.len())?;
    start.eq_ignore_ascii_case(beginning).then(|| rest.trim())
}

fn unit_of(written: &str) -> Option<RateUnit> {
    match written.to_ascii_lowercase().as_str() {
        "kbytes/sec" => Some(RateUnit::BytesPerSecond),
        "ops/sec" => Some(RateUnit::OperationsPerSecond),
        _ => None,
    }
}

fn foreign(written: &str) -> String {
    format!("its output is in `{}`, and neither kBytes/sec nor ops/sec", shown(written))
}

/// Cells by row and column.
fn sheet(bytes: &[u8]) -> Result<BTreeMap<u16, BTreeMap<u16, Value>>, Trouble> {
    let mut sheet: BTreeMap<u16, BTreeMap<u16, Value>> = BTreeMap::new();
    let mut rest = bytes;
    for index in 0..MOST_RECORDS {
        let (kind, body, following) = record(rest).ok_or_else(|| cut_off(bytes, rest))?;
        rest = following;
        let is_begin = kind == BEGIN && body.len() >= 4 && word(body, 2) == Some(WORKSHEET);
        if (index == 0) != is_begin {
            return Err(Trouble::new("it does not begin as one worksheet", REMEDY));
        }
        let value = match kind {
            BEGIN => continue,
            END if rest.is_empty() => return Ok(sheet),
            END => return Err(Trouble::new("something follows its end", REMEDY)),
            LABEL => text(body).map(Value::Text),
            NUMBER => number(body).map(Value::Number),
            INTEGER => word(body, HEADER).map(|value| Value::Number(f64::from(value))),
            _ => {
                let cause = format!("a record of type {kind:#06x}, which iozone does not write");
                return Err(Trouble::new(cause, REMEDY));
            }
        };
        let (Some(row), Some(column), Some(value)) = (word(body, 0), word(body, 2), value) else {
            return Err(cut_off(bytes, rest));
        };
        if sheet.entry(row).or_default().insert(column, value).is_some() {
            let cause = format!("row {}: column {} is given twice", row + 1, column + 1);
            return Err(Trouble::new(cause, REMEDY));
        }
    }
    Err(Trouble::new(format!("more than {MOST_RECORDS} records (limit IOZONE_RECORDS)"), REMEDY))
}

/// A record's type and body, and what follows it.
fn record(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (kind, length) = (word(bytes, 0)?, word(bytes, 2)?);
    let (body, rest) = bytes.get(4..)?.split_at_checked(usize::from(length))?;
    Some((kind, body, rest))
}

fn word(bytes: &[u8], place: usize) -> Option<u16> {
    let pair = bytes.get(place..place.checked_add(2)?)?;
    Some(u16::from_le_bytes([pair[0], pair[1]]))
}

/// A text behind its length; iozone pads the record.
fn text(body: &[u8]) -> Option<String> {
    let length = usize::from(*body.get(HEADER)?);
    let text = body.get(HEADER + 1..HEADER + 1 + length)?;
    Some(String::from_utf8_lossy(text).trim_end_matches('\0').to_owned())
}

fn number(body: &[u8]) -> Option<f64> {
    let bytes: [u8; 8] = body.get(HEADER..HEADER + 8)?.try_into().ok()?;
    Some(f64::from_le_bytes(bytes))
}

fn cut_off(bytes: &[u8], rest: &[u8]) -> Trouble {
    let place = bytes.len() - rest.len();
    Trouble::new(format!("it is cut off at byte {place}"), REMEDY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &[u8] = include_bytes!("../../tests/golden/iozone/t1_r8k.xls");

    #[test]
    fn the_binary_report_says_what_the_text_of_the_same_run_says() {
        let text = include_bytes!("../../tests/golden/iozone/t1_r8k_study_options.txt");
        let (binary, text) =
            (IozoneReport::parse(GOLDEN).unwrap(), IozoneReport::parse(text).unwrap());
        assert_eq!(binary.unit, text.unit);
        assert_eq!(binary.cells.len(), 7);
        for (binary, text) in binary.cells.iter().zip(&text.cells) {
            assert_eq!(binary.operation, text.operation);
            assert_eq!(binary.record_bytes, text.record_bytes);
            // The one keeps seven digits, the other two after the point.
            assert!((binary.rate - text.rate).abs() <= 0.02 * 1024.0, "{binary:?} {text:?}");
        }
    }

    #[test]
    fn every_part_of_a_report_is_refused() {
        for length in 2..GOLDEN.len() {
            let trouble = parse(&GOLDEN[..length]).unwrap_err();
            assert!(trouble.cause.contains("cut off"), "{length}: {trouble}");
        }
        assert!(parse(&[GOLDEN, b"x"].concat()).is_err());
    }

    /// The report with one cell's number changed.
    fn with_number(number: f64) -> Result<IozoneReport, Trouble> {
        let old = 76_372.726_562_5_f64.to_le_bytes();
        let place = GOLDEN.windows(8).position(|window| window == old).unwrap();
        let mut bytes = GOLDEN.to_vec();
        bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
        parse(&bytes)
    }

    #[test]
    fn a_number_that_is_none_is_named_by_its_cell() {
        assert!(with_number(5.0).is_ok());
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let trouble = with_number(number).unwrap_err();
            assert!(trouble.cause.starts_with("row 5: column 3: "), "{trouble}");
        }
    }
}
