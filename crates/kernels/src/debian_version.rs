//! Debian's order of versions (Debian Policy 5.6.12): digits by number, letters
//! before other characters, and a tilde before everything, even the end.

use std::cmp::Ordering;

/// Which of two package versions is newer.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let (a_epoch, a_rest) = epoch(a);
    let (b_epoch, b_rest) = epoch(b);
    let (a_upstream, a_revision) = revision(a_rest);
    let (b_upstream, b_revision) = revision(b_rest);
    compare_numbers(a_epoch, b_epoch)
        .then_with(|| compare_part(a_upstream, b_upstream))
        .then_with(|| compare_part(a_revision, b_revision))
        // Equal versions may be written differently (1.0 and 1.00).
        .then_with(|| a.cmp(b))
}

/// What stands before the Debian revision, without an epoch: `6.12.117` of `6.12.117-1~deb12u1`.
pub(crate) fn upstream(version: &str) -> &str {
    revision(epoch(version).1).0
}

fn epoch(version: &str) -> (&str, &str) {
    version.split_once(':').unwrap_or(("0", version))
}

fn revision(version: &str) -> (&str, &str) {
    version.rsplit_once('-').unwrap_or((version, ""))
}

fn compare_part(mut a: &str, mut b: &str) -> Ordering {
    loop {
        let a_text = a.find(|c: char| c.is_ascii_digit()).unwrap_or(a.len());
        let b_text = b.find(|c: char| c.is_ascii_digit()).unwrap_or(b.len());
        let order = compare_text(&a[..a_text], &b[..b_text]);
        if order.is_ne() {
            return order;
        }
        (a, b) = (&a[a_text..], &b[b_text..]);
        let a_digits = a.find(|c: char| !c.is_ascii_digit()).unwrap_or(a.len());
        let b_digits = b.find(|c: char| !c.is_ascii_digit()).unwrap_or(b.len());
        let order = compare_numbers(&a[..a_digits], &b[..b_digits]);
        if order.is_ne() {
            return order;
        }
        (a, b) = (&a[a_digits..], &b[b_digits..]);
        if a.is_empty() && b.is_empty() {
            return Ordering::Equal;
        }
    }
}

fn compare_text(a: &str, b: &str) -> Ordering {
    let rank = |character: Option<char>| match character {
        Some('~') => (0, 0),
        None => (1, 0),
        Some(letter) if letter.is_ascii_alphabetic() => (2, u32::from(letter)),
        Some(other) => (3, u32::from(other)),
    };
    let (mut a, mut b) = (a.chars(), b.chars());
    loop {
        let (next_a, next_b) = (a.next(), b.next());
        let order = rank(next_a).cmp(&rank(next_b));
        if order.is_ne() || next_a.is_none() {
            return order;
        }
    }
}

/// Numbers of any length: without leading zeros the longer one is larger.
fn compare_numbers(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_dpkg_orders_them() {
        let ascending = [
            "5.10.262-1",
            "6.1.180-1~deb11u1",
            "6.1.192-1",
            "6.1.192-2",
            "6.12.95-1~bpo12+1",
            "6.12.117-1~bpo12+1",
            "6.12.117-1~deb12u1",
            "6.12.117-1",
            "6.12.117-1+b1",
            "7.0~rc3-1",
            "7.0-1",
            "1:1.0",
        ];
        for pair in ascending.windows(2) {
            assert_eq!(compare_versions(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(compare_versions(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(compare_versions("6.1-1", "6.1-1"), Ordering::Equal);
    }

    #[test]
    fn the_upstream_version_is_what_precedes_the_revision() {
        assert_eq!(upstream("6.12.117-1~deb12u1"), "6.12.117");
        assert_eq!(upstream("1:7.2"), "7.2");
    }
}
