//! What identifies a machine or a person by its form alone.

use super::kind::SecretKind;

/// Hexadecimal digits in a row from which on they identify something: a machine id has 32, a
/// World Wide Name 16.
const IDENTIFYING_DIGITS: usize = 16;
/// Lengths of the groups of a UUID (RFC 9562).
const UUID: [usize; 5] = [8, 4, 4, 4, 12];
/// Directories of homes, behind a slash.
const HOMES: [&str; 2] = ["home/", "Users/"];
/// Where names say nothing about whose machine it is: what the kernel shows.
const OF_THE_KERNEL: [&str; 2] = ["/proc", "/sys"];

/// What begins at `at`, and how many bytes it takes.
pub(super) fn found(text: &str, at: usize) -> Option<(SecretKind, usize)> {
    let before = text[..at].chars().next_back();
    let rest = &text[at..];
    if let Some(length) = path(before, rest) {
        return Some((SecretKind::Path, length));
    }
    if before.is_some_and(is_word) {
        return None;
    }
    if let Some(length) = url(rest).or_else(|| mail(rest)).or_else(|| network_address(rest)) {
        return Some((SecretKind::Address, length));
    }
    if let Some(length) = uuid(rest).or_else(|| digits(rest)) {
        return Some((SecretKind::Identifier, length));
    }
    program(rest).map(|length| (SecretKind::Program, length))
}

/// The names that homes and mail addresses give away.
pub(super) fn names(text: &str) -> Vec<(SecretKind, String)> {
    let mut names = Vec::new();
    for homes in HOMES {
        for (at, _) in text.match_indices(homes).filter(|(at, _)| text[..*at].ends_with('/')) {
            let name = leading(&text[at + homes.len()..], &|c| is_word(c) || "-_.".contains(c));
            names.push((SecretKind::User, name.to_owned()));
        }
    }
    for (at, _) in text.match_indices('@') {
        let local: String = text[..at].chars().rev().take_while(|c| is_of_mail(*c)).collect();
        let domain = leading(&text[at + 1..], &|c| is_word(c) || "-.".contains(c));
        if !local.is_empty() && !domain.is_empty() {
            names.push((SecretKind::User, local.chars().rev().collect()));
            names.push((SecretKind::Host, domain.trim_end_matches('.').to_owned()));
        }
    }
    names
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric()
}

fn leading<'t>(text: &'t str, is_part: &dyn Fn(char) -> bool) -> &'t str {
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    &text[..end]
}

/// An absolute path, or one that begins at a home or a current directory. Not the slash of a
/// rate or of `and/or`.
fn path(before: Option<char>, rest: &str) -> Option<usize> {
    if before.is_some_and(|c| is_word(c) || "_./~)".contains(c)) {
        return None;
    }
    let root = ["../", "./", "/"].into_iter().find(|root| rest.starts_with(root));
    let root = match (root, rest.strip_prefix('~')) {
        (Some(root), _) => root.len(),
        (None, Some(home)) => {
            let user = leading(home, &is_word);
            home[user.len()..].starts_with('/').then_some(1 + user.len() + 1)?
        }
        (None, None) => return None,
    };
    let is_part = |c: char| !c.is_whitespace() && !"\"'`,;:()[]{}<>|&=*?".contains(c);
    let whole = leading(rest, &is_part).trim_end_matches(['.', '!']);
    if whole.len() <= root
        || !whole[root.min(whole.len())..].starts_with(|c| is_word(c) || c == '.' || c == '_')
    {
        return None;
    }
    let is_below =
        |directory: &str| whole.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
    let is_device = whole.strip_prefix("/dev/").is_some_and(|name| !name.contains('/'));
    let is_cgroup = whole.starts_with("/sys/fs/cgroup/");
    (is_cgroup || !(is_device || OF_THE_KERNEL.iter().any(|directory| is_below(directory))))
        .then_some(whole.len())
}

fn url(rest: &str) -> Option<usize> {
    let scheme = leading(rest, &|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let behind = rest[scheme.len()..].strip_prefix("://")?;
    let is_part = |c: char| !c.is_whitespace() && !"\"'`<>".contains(c);
    (!scheme.is_empty()).then(|| scheme.len() + 3 + leading(behind, &is_part).len())
}

fn is_of_mail(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._%+-".contains(c)
}

fn mail(rest: &str) -> Option<usize> {
    let local = leading(rest, &is_of_mail);
    let domain = leading(rest[local.len()..].strip_prefix('@')?, &|c| {
        c.is_ascii_alphanumeric() || "-.".contains(c)
    });
    let domain = domain.trim_end_matches('.');
    (!local.is_empty() && !domain.is_empty()).then_some(local.len() + 1 + domain.len())
}

/// Four numbers with dots, six pairs of digits with colons, or an address of IPv6.
fn network_address(rest: &str) -> Option<usize> {
    let dotted = leading(rest, &|c| c.is_ascii_digit() || c == '.').trim_end_matches('.');
    let is_number = |part: &str| part.parse::<u8>().is_ok();
    if dotted.split('.').count() == 4 && dotted.split('.').all(is_number) {
        return Some(dotted.len());
    }
    let colons = leading(rest, &|c| c.is_ascii_hexdigit() || c == ':');
    let groups: Vec<&str> = colons.split(':').collect();
    let is_group = |group: &&str| group.len() <= 4;
    let is_ethernet = groups.len() == 6 && groups.iter().all(|group| group.len() == 2);
    let is_internet = groups.len() > 3
        && groups.iter().all(is_group)
        && (groups.len() == 8 || colons.contains("::"));
    let ends = !rest[colons.len()..].starts_with(is_word);
    (ends && (is_ethernet || is_internet)).then_some(colons.len())
}

fn uuid(rest: &str) -> Option<usize> {
    let whole = leading(rest, &|c| c.is_ascii_hexdigit() || c == '-');
    let mut end = 0;
    for (place, length) in UUID.into_iter().enumerate() {
        if place > 0 {
            if whole.as_bytes().get(end) != Some(&b'-') {
                return None;
            }
            end += 1;
        }
        let group = whole.get(end..end + length)?;
        if group.contains('-') {
            return None;
        }
        end += length;
    }
    (!rest[end..].starts_with(is_word)).then_some(end)
}

/// A long row of hexadecimal digits with a letter among them, or behind `0x`: decimal numbers
/// measure, they do not identify.
fn digits(rest: &str) -> Option<usize> {
    let prefix = if rest.starts_with("0x") { 2 } else { 0 };
    let row = leading(&rest[prefix..], &|c| c.is_ascii_hexdigit());
    let has_letter = prefix > 0 || row.contains(|c: char| c.is_ascii_alphabetic());
    let ends = !rest[prefix + row.len()..].starts_with(is_word);
    (ends && has_letter && row.len() >= IDENTIFYING_DIGITS).then_some(prefix + row.len())
}

/// `worker[1234]`, as the kernel names tasks.
fn program(rest: &str) -> Option<usize> {
    let name = leading(rest, &|c| is_word(c) || "-_./:+".contains(c));
    let number = leading(rest[name.len()..].strip_prefix('[')?, &|c| c.is_ascii_digit());
    let is_closed = rest[name.len() + 1 + number.len()..].starts_with(']');
    (!name.is_empty() && !number.is_empty() && is_closed).then_some(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_identifies_is_found_where_it_begins_and_ends() {
        for (text, kind, expected) in [
            ("/var/home/alice/x.txt: gone", SecretKind::Path, "/var/home/alice/x.txt"),
            ("=/opt/acme,", SecretKind::Path, "/opt/acme"),
            ("./bench --fast", SecretKind::Path, "./bench"),
            ("~alice/notes", SecretKind::Path, "~alice/notes"),
            ("/dev/disk/by-id/ata-S3Z9", SecretKind::Path, "/dev/disk/by-id/ata-S3Z9"),
            ("/sys/fs/cgroup/acme.slice", SecretKind::Path, "/sys/fs/cgroup/acme.slice"),
            ("10.1.2.3:80", SecretKind::Address, "10.1.2.3"),
            ("52:54:00:12:34:56", SecretKind::Address, "52:54:00:12:34:56"),
            ("fe80::1:2 x", SecretKind::Address, "fe80::1:2"),
            ("alice@build.corp.", SecretKind::Address, "alice@build.corp"),
            ("https://x.org/a?b=c d", SecretKind::Address, "https://x.org/a?b=c"),
            (
                "3b2e8e6c-3212-4450-8a1c-d3e9522baded",
                SecretKind::Identifier,
                "3b2e8e6c-3212-4450-8a1c-d3e9522baded",
            ),
            ("0x5002538e40a1b2c3.", SecretKind::Identifier, "0x5002538e40a1b2c3"),
            ("acme-worker[1234] stalled", SecretKind::Program, "acme-worker"),
        ] {
            let at = usize::from(text.starts_with('='));
            let length = expected.len();
            assert_eq!(found(text, at), Some((kind, length)), "{text}");
            assert_eq!(&text[at..at + length], expected);
        }
    }

    #[test]
    fn everyday_text_identifies_nobody() {
        for text in [
            "64 KiB/s and/or 12/op, 3 / 4",
            "6.18.44 at 12:34:56 on 0-1,8",
            "/proc/sys/kernel/x and /sys/block/vda/queue and /dev/vda",
            "1795376378559505041 ns",
            "latency_p50 (95 %) [12] mitigations=auto,no_guest_host",
            "sha2 deadbeef #1 SMP @0 a@ @b",
        ] {
            for (at, _) in text.char_indices() {
                assert_eq!(found(text, at), None, "{text} at {at}");
            }
        }
    }

    #[test]
    fn homes_and_addresses_give_names_away() {
        let names = names("in /var/home/alice/x from bob@build.corp.");
        let expected = [
            (SecretKind::User, "alice"),
            (SecretKind::User, "bob"),
            (SecretKind::Host, "build.corp"),
        ];
        assert_eq!(names, expected.map(|(kind, name)| (kind, name.to_owned())));
    }
}
