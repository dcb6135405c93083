//! What cargo says while it builds: a log for failures, a line for people.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Bytes of one line: nobody reads more of what a build script says in one.
const LONGEST_LINE: usize = 64 << 10;
/// Bytes of a log, which is read whole where a build fails.
const LONGEST_LOG: u64 = 16 << 20;
/// Stands in place of what is beyond that.
const LEFT_OUT: &[u8] = b"what follows is too much for this log, and was left out\n";

/// How far cargo is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// Crates that are built, where cargo tells.
    pub done: u32,
    /// Of so many; 0 where cargo does not tell.
    pub total: u32,
    /// What it does: the crates at work, or its own words.
    pub what: String,
}

/// Copies cargo's words into a log, without those that only draw progress, and tells each step.
pub(super) fn follow(
    from: impl Read,
    log: &mut impl Write,
    tell: &mut dyn FnMut(Step),
) -> io::Result<()> {
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    let mut room = Some(LONGEST_LOG);
    loop {
        line.clear();
        if take_line(&mut reader, &mut line)? == 0 {
            return log.flush();
        }
        let text = String::from_utf8_lossy(&line);
        // Progress is drawn over itself; a line that stays may stand behind one that does not.
        let text = text.rsplit('\x1b').next().unwrap_or_default().trim_start_matches("[K");
        let words = text.trim();
        match progress(words) {
            Some(step) => tell(step),
            None if words.is_empty() || is_drawn(words) => {}
            None => {
                room = keep(text.trim_end(), log, room)?;
                if let Some(what) = verb(words) {
                    tell(Step { done: 0, total: 0, what });
                }
            }
        }
    }
}

/// Writes a line down where there is room for it; what room is left. The first for which there is
/// none ends the log.
fn keep(line: &str, log: &mut impl Write, room: Option<u64>) -> io::Result<Option<u64>> {
    let Some(room) = room else { return Ok(None) };
    let left = room.checked_sub(line.len() as u64 + 1);
    if left.is_some() {
        log.write_all(line.as_bytes())?;
        log.write_all(b"\n")?;
    } else {
        log.write_all(LEFT_OUT)?;
    }
    Ok(left)
}

/// Reads up to a line's end or a return to its beginning; of a line that is too long the first
/// bytes are held.
fn take_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut taken = 0;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let length = end.map_or(buffer.len(), |end| end + 1);
        let room = LONGEST_LINE.saturating_sub(line.len());
        line.extend_from_slice(&buffer[..length.min(room)]);
        reader.consume(length);
        taken += length;
        if end.is_some() || length == 0 {
            return Ok(taken);
        }
    }
}

/// `Building [====>   ] 112/240: libbpf-sys(build), serde`
fn progress(words: &str) -> Option<Step> {
    let (_, rest) = words.strip_prefix("Building [")?.split_once("] ")?;
    let (counts, what) = rest.split_once(':').unwrap_or((rest, ""));
    let (done, total) = counts.trim().split_once('/')?;
    Some(Step {
        done: done.parse().ok()?,
        total: total.trim().parse().ok()?,
        what: what.trim().to_owned(),
    })
}

/// Other drawings: `Fetch [====>   ] 136 complete; 3 pending`.
fn is_drawn(words: &str) -> bool {
    let verb = words.split_once(" [").map_or("", |(verb, _)| verb);
    !verb.is_empty()
        && verb.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (words.contains("=") || words.contains("complete"))
}

/// `Compiling serde v1.0.1` as a person is told it.
fn verb(words: &str) -> Option<String> {
    let (verb, rest) = words.split_once(' ')?;
    let shown = ["Updating", "Downloading", "Downloaded", "Compiling", "Installing"];
    // Where a program is put is no news: it is moved on.
    let is_shown = shown.contains(&verb) && !rest.starts_with('/');
    is_shown.then(|| format!("{} {}", verb.to_lowercase(), rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_condensed_and_its_log_holds_what_stays() {
        let told = "    Updating crates.io index\n\
            \r       Fetch [=====>         ] 136 complete; 3 pending      \r\
            \x1b[K  Downloaded seccomp v0.1.2\n   Compiling serde v1.0.1\n\
                Building [===>          ] 112/240: serde, libbpf-sys(build)   \r\
            \x1b[Kerror: linking with `cc` failed: exit status: 1\n  = note: /usr/bin/ld: cannot find -lelf\n";
        let mut log = Vec::new();
        let mut steps = Vec::new();
        follow(told.as_bytes(), &mut log, &mut |step| steps.push(step)).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert_eq!(
            log,
            "    Updating crates.io index\n  Downloaded seccomp v0.1.2\n   Compiling serde v1.0.1\n\
             error: linking with `cc` failed: exit status: 1\n  = note: /usr/bin/ld: cannot find -lelf\n"
        );
        let told: Vec<(u32, u32, &str)> =
            steps.iter().map(|step| (step.done, step.total, step.what.as_str())).collect();
        assert_eq!(
            told,
            [
                (0, 0, "updating crates.io index"),
                (0, 0, "downloaded seccomp v0.1.2"),
                (0, 0, "compiling serde v1.0.1"),
                (112, 240, "serde, libbpf-sys(build)"),
            ]
        );
    }

    #[test]
    fn bytes_that_are_no_text_and_a_last_line_without_end_are_kept() {
        let mut log = Vec::new();
        follow(&b"error: \xff\nlast"[..], &mut log, &mut |_| {}).unwrap();
        assert_eq!(String::from_utf8(log).unwrap(), "error: \u{fffd}\nlast\n");
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let mut log = Vec::new();
        let told = io::repeat(b'x').take(1 << 20).chain(&b"\nnext\n"[..]);
        follow(told, &mut log, &mut |_| {}).unwrap();
        assert_eq!(log.len(), LONGEST_LINE + "\nnext\n".len());
        assert!(log.ends_with(b"x\nnext\n"));
    }

    #[test]
    fn a_log_ends_before_the_first_line_that_is_too_much_and_says_so_once() {
        let mut log = Vec::new();
        let mut room = Some("five\nsix\n".len() as u64);
        for line in ["five", "six", "seven", "x"] {
            room = keep(line, &mut log, room).unwrap();
        }
        assert_eq!(log, [&b"five\nsix\n"[..], LEFT_OUT].concat());
    }
}
