//! Names and units of imported metrics.

use model::Unit;
use outputs::Trouble;

/// snake_case from any name: `kBps` is `kbps`, `ns/op` is `ns_per_op`.
pub(crate) fn metric_id(name: &str) -> String {
    let mut id = String::new();
    for character in name.replace('/', " per ").replace('%', " percent ").chars() {
        if character.is_ascii_alphanumeric() {
            id.push(character.to_ascii_lowercase());
        } else if !id.is_empty() && !id.ends_with('_') {
            id.push('_');
        }
    }
    let id = id.trim_end_matches('_');
    if id.is_empty() { "value".to_owned() } else { id.to_owned() }
}

/// A unit as written, and by what values are multiplied to be stored in ours. One
/// that is not ours stays as it is.
pub(crate) fn unit(text: &str) -> (Unit, f64) {
    match text {
        "ns" | "nanoseconds" => (Unit::Nanoseconds, 1.0),
        "us" | "µs" | "usec" | "microseconds" => (Unit::Nanoseconds, 1e3),
        "ms" | "msec" | "milliseconds" => (Unit::Nanoseconds, 1e6),
        "s" | "sec" | "seconds" => (Unit::Nanoseconds, 1e9),
        "1/s" | "/s" | "ops/s" | "per_second" | "Hz" => (Unit::PerSecond, 1.0),
        "B" | "bytes" => (Unit::Bytes, 1.0),
        "KiB" => (Unit::Bytes, 1024.0),
        "MiB" => (Unit::Bytes, 1_048_576.0),
        "GiB" => (Unit::Bytes, 1_073_741_824.0),
        "B/s" | "bytes/s" => (Unit::BytesPerSecond, 1.0),
        "KiB/s" => (Unit::BytesPerSecond, 1024.0),
        "MiB/s" => (Unit::BytesPerSecond, 1_048_576.0),
        "GiB/s" => (Unit::BytesPerSecond, 1_073_741_824.0),
        "J" | "joules" => (Unit::Joules, 1.0),
        "count" => (Unit::Count, 1.0),
        _ => (Unit::Plain, 1.0),
    }
}

/// Whether something of this unit can be less than nothing; of a unit that is not ours
/// nobody knows.
pub(crate) fn can_be_negative(unit: Unit) -> bool {
    match unit {
        Unit::Plain => true,
        Unit::Nanoseconds
        | Unit::PerSecond
        | Unit::PerOperation
        | Unit::Count
        | Unit::Bytes
        | Unit::BytesPerSecond
        | Unit::Fraction
        | Unit::Joules => false,
    }
}

/// A measured number: finite, and nothing else.
pub(crate) fn number(text: &str, line: u64, what: &str) -> Result<f64, Trouble> {
    let trimmed = text.trim();
    let is_plain = trimmed.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let parsed: Option<f64> = trimmed.parse().ok().filter(|_| is_plain);
    match parsed.filter(|number| number.is_finite()) {
        Some(number) => Ok(number),
        None => {
            let shown: String = trimmed.chars().take(40).collect();
            let cause = if trimmed.is_empty() {
                format!("{what} is empty, which is not zero")
            } else {
                format!("{what} is `{shown}`, which is no finite number")
            };
            Err(Trouble::at(line, cause, "correct the line, or remove it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids_and_only_numbers_are_numbers() {
        for (name, id) in
            [("kBps", "kbps"), ("ns/op", "ns_per_op"), ("CPU %", "cpu_percent"), ("--", "value")]
        {
            assert_eq!(metric_id(name), id);
        }
        assert_eq!(number(" 1.5e3 ", 1, "x"), Ok(1500.0));
        for text in ["", "NaN", "inf", "1e999", "12 ms", "1,5", "0x1p3"] {
            assert_eq!(number(text, 7, "x").unwrap_err().line, Some(7), "{text}");
        }
    }
}
