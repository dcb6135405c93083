//! Values of fio's options in one spelling, so that `128m` and `131072k` are the same: those of
//! sizes and of times. What is not understood stays as it is written.

/// Options of sizes, in bytes where there is no unit (fio(1), "int" with a postfix).
const SIZES: [&str; 22] = [
    "size",
    "io_size",
    "io_limit",
    "filesize",
    "file_append",
    "offset",
    "offset_align",
    "offset_increment",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "ba",
    "blockalign",
    "rate",
    "rate_min",
    "zonesize",
    "zonerange",
    "zoneskip",
    "verify_interval",
    "hugepage-size",
];
/// Options of times, in seconds where there is no unit (fio(1), "time").
const TIMES: [&str; 4] = ["runtime", "timeout", "ramp_time", "startdelay"];
/// Prefixes of sizes, each a power of the base more than the one before.
const PREFIXES: [&str; 5] = ["k", "m", "g", "t", "p"];
/// Microseconds of each unit of time.
const TIME_UNITS: [(&str, u64); 9] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("", 1_000_000),
    ("ms", 1_000),
    ("msec", 1_000),
    ("us", 1),
    ("usec", 1),
];

/// What a prefix of sizes is a power of, unless `kb_base` says otherwise.
pub(super) const KB_BASE: u64 = 1024;

/// The value of an option in the spelling that all equal ones have. Sizes may be several: one for
/// each direction (`4k,64k`), a range (`1k-4k`), or with their parts (`4k/10:64k/90`).
pub(super) fn canonical(option: &str, text: &str, kb_base: u64) -> String {
    let spelling = |token: &str| {
        if SIZES.contains(&option) {
            size(token, kb_base)
        } else if TIMES.contains(&option) {
            time(token)
        } else {
            None
        }
    };
    let respelled = |part: &str| {
        let token = part.trim_end_matches(is_separator);
        let spelled = spelling(token.trim()).unwrap_or_else(|| token.to_owned());
        spelled + &part[token.len()..]
    };
    text.split_inclusive(is_separator).map(respelled).collect()
}

fn is_separator(sign: char) -> bool {
    matches!(sign, ',' | '-' | ':' | '/')
}

/// A whole number of bytes with the largest prefix that divides it, a power of 1024. To fio `k` and
/// `kb` are of the base, and `kib` of the other one (`__get_mult_bytes` of its parse.c).
fn size(text: &str, kb_base: u64) -> Option<String> {
    let (number, unit) = split(text)?;
    let (prefix, base) = match unit.strip_suffix("ib") {
        Some(prefix) => (prefix, if kb_base == KB_BASE { 1000 } else { KB_BASE }),
        None => (unit.strip_suffix('b').unwrap_or(&unit), kb_base),
    };
    let power = match PREFIXES.iter().position(|known| *known == prefix) {
        Some(at) => u32::try_from(at).ok()? + 1,
        None if matches!(unit.as_str(), "" | "b") => 0,
        None => return None,
    };
    let mut rest = number.checked_mul(base.checked_pow(power)?)?;
    let mut largest = "";
    for prefix in PREFIXES {
        if rest == 0 || !rest.is_multiple_of(KB_BASE) {
            break;
        }
        (rest, largest) = (rest / KB_BASE, prefix);
    }
    Some(format!("{rest}{largest}"))
}

/// A time with the largest unit up to seconds that divides it.
fn time(text: &str) -> Option<String> {
    let (number, unit) = split(text)?;
    let (_, scale) = TIME_UNITS.iter().find(|(known, _)| *known == unit)?;
    let time_us = number.checked_mul(*scale)?;
    let (unit, scale) = [("s", 1_000_000), ("ms", 1_000)]
        .into_iter()
        .find(|(_, scale)| time_us.is_multiple_of(*scale))
        .unwrap_or(("us", 1));
    Some(format!("{}{unit}", time_us / scale))
}

/// A whole number, and what follows it in lower case.
fn split(text: &str) -> Option<(u64, String)> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sizes_and_times_have_one_spelling() {
        let alike: [(&str, &[&str]); 6] = [
            ("size", &["128m", "131072k", "128M", "128mb", "134217728", "134217728b"]),
            ("size", &["1000", "1kib", "1KiB"]),
            ("bs", &["4k,64k", "4096,65536"]),
            ("bsrange", &["1k-4k", "1024-4096"]),
            ("bssplit", &["4k/10:64k/90", "4096/10:65536/90"]),
            ("runtime", &["60", "60s", "1m", "60000ms"]),
        ];
        for (option, texts) in alike {
            for text in texts {
                let same = canonical(option, texts[0], KB_BASE);
                assert_eq!(canonical(option, text, KB_BASE), same, "{option} {text}");
            }
        }
        assert_eq!(canonical("size", "131072k", KB_BASE), "128m");
        assert_eq!(canonical("size", "1kib", 1000), canonical("size", "1024", 1000));
        assert_eq!(canonical("size", "1k", 1000), "1000");
    }

    #[test]
    fn what_differs_or_is_no_size_stays_another() {
        for (option, one, other) in [
            ("size", "128m", "128k"),
            ("size", "1k", "1kib"),
            ("bs", "4k,64k", "64k,4k"),
            ("runtime", "1m", "1s"),
            // A number of jobs is no size, and no unit of a size is one of time.
            ("numjobs", "1k", "1024"),
        ] {
            let spelled = |text| canonical(option, text, KB_BASE);
            assert_ne!(spelled(one), spelled(other), "{option}");
        }
        for text in ["50%", "1.5g", "4ki", "0x1000", "99999999999999p", "", "-", "gtod"] {
            assert_eq!(canonical("size", text, KB_BASE), text);
        }
    }
}
