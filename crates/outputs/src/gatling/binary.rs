//! The binary log: records with a type each, numbers with the highest byte first, and texts that
//! are written once and then referred to by a number.

use super::{
    BINARY, Log, LoggedError, LoggedRequest, Names, REMEDY, TEXT_BYTES, message, one_line,
    shared_bytes, understood,
};
use crate::trouble::Trouble;
use std::fmt;
use std::sync::Arc;

/// Types of records.
pub(super) const RUN: u8 = 0;
const REQUEST: u8 = 1;
const USER: u8 = 2;
const GROUP: u8 = 3;
const ERROR: u8 = 4;
/// How a text is written: one byte or two for each character, as a JVM holds them.
const LATIN_1: u8 = 0;
const UTF_16: u8 = 1;
/// Gatling writes through a buffer of 8 KiB and cuts what does not fit (`data.file.bufferSize`).
const LONGEST_TEXT: usize = 65_536;
/// Nobody nests more, and a name that is written once may be referred to for ever.
const MOST_GROUPS: u32 = 100;

pub(super) fn parse(bytes: &[u8], beside_bytes: Option<u64>) -> Result<Log, Trouble> {
    let mut reader = Reader { bytes, place: 0, texts: Vec::new(), text_bytes: 0 };
    let (mut log, scenarios) = run(&mut reader)?;
    let mut names = Names::default();
    while reader.place < bytes.len() {
        let from = reader.place;
        match reader.byte("a record's type")? {
            REQUEST => {
                let request = request(&mut reader, &mut names)?;
                log.requests.push(request.map_err(|cause| at(from, format!("a request {cause}")))?);
            }
            USER => user(&mut reader, &mut log, scenarios)?,
            GROUP => group(&mut reader)?,
            ERROR => {
                let message = reader.shared_text("an error's message")?.message;
                let at_ms = reader.moment("an error's moment")?;
                log.errors.push(LoggedError { at_ms, message });
            }
            other => {
                return Err(at(from, format!("a record of type {other} is not understood")));
            }
        }
        log.check_held(&names, reader.text_bytes, beside_bytes)?;
    }
    if log.users_ended > log.users_began {
        let cause = format!("{} users ended, and {} began", log.users_ended, log.users_began);
        return Err(Trouble::new(cause, REMEDY));
    }
    Ok(log)
}

/// The first record, and how many scenarios it names.
fn run(reader: &mut Reader<'_>) -> Result<(Log, u32), Trouble> {
    let from = reader.place;
    if reader.byte("a record's type")? != RUN {
        return Err(at(from, "no record of a run comes first"));
    }
    // Before the layout is known: up to its first letter all layouts have been the same.
    let length = reader.length("the version")?;
    let version = latin_1(reader.take(length, "the version")?);
    understood(&version, &BINARY).map_err(|cause| Trouble::new(cause, REMEDY))?;
    reader.coder("the version", &[LATIN_1])?;
    let simulation = one_line(&reader.text("the simulation")?);
    let started = reader.place;
    let started_unix_ms = i64::from_be_bytes(reader.array("the run's beginning")?);
    let started_unix_ms = u64::try_from(started_unix_ms)
        .map_err(|_| at(started, format!("{started_unix_ms} is no moment of a beginning")))?;
    let description = one_line(reader.text("the description")?.trim());
    let scenarios = reader.count("the number of scenarios")?;
    for _ in 0..scenarios {
        reader.text("a scenario")?;
    }
    for _ in 0..reader.count("the number of assertions")? {
        let length = reader.length("an assertion")?;
        reader.take(length, "an assertion")?;
    }
    let log = Log {
        version,
        simulation,
        description,
        started_unix_ms,
        requests: Vec::new(),
        errors: Vec::new(),
        users_began: 0,
        users_ended: 0,
    };
    Ok((log, scenarios))
}

/// A request, or what is wrong with it as a whole.
fn request(
    reader: &mut Reader<'_>,
    names: &mut Names,
) -> Result<Result<LoggedRequest, String>, Trouble> {
    let groups = groups(reader)?;
    let name = reader.shared_text("a request's name")?.text;
    let start_ms = reader.moment("a request's beginning")?;
    let end_ms = reader.moment("a request's end")?;
    let is_ok = reader.flag("a request's status")?;
    let message = reader.shared_text("a request's message")?.message;
    Ok(names.of(&groups, &name).and_then(|name| {
        let failure = (!is_ok).then_some(message);
        LoggedRequest::new(name, (start_ms, end_ms), failure)
    }))
}

/// Only counted.
fn user(reader: &mut Reader<'_>, log: &mut Log, scenarios: u32) -> Result<(), Trouble> {
    let from = reader.place;
    let scenario = reader.count("a user's scenario")?;
    if scenario >= scenarios {
        let cause = format!("a user is of scenario {scenario}, and there are {scenarios}");
        return Err(at(from, cause));
    }
    let has_begun = reader.flag("a user's event")?;
    reader.moment("a user's moment")?;
    let users = if has_begun { &mut log.users_began } else { &mut log.users_ended };
    *users += 1;
    Ok(())
}

/// Passed over: its times are those of the requests in it, and of the pauses between them.
fn group(reader: &mut Reader<'_>) -> Result<(), Trouble> {
    groups(reader)?;
    reader.moment("a group's beginning")?;
    reader.moment("a group's end")?;
    reader.count("a group's time")?;
    reader.flag("a group's status").map(drop)
}

/// The groups that something is in, from the outermost one.
fn groups(reader: &mut Reader<'_>) -> Result<Vec<Arc<str>>, Trouble> {
    let from = reader.place;
    let count = reader.count("the number of groups")?;
    if count > MOST_GROUPS {
        let cause = format!("there are {count} groups in each other (limit GATLING_GROUPS)");
        return Err(at(from, cause));
    }
    (0..count).map(|_| reader.shared_text("a group's name").map(|shared| shared.text)).collect()
}

/// Trouble at a byte, from 0.
fn at(place: usize, cause: impl fmt::Display) -> Trouble {
    Trouble::new(format!("byte {place}: {cause}"), REMEDY)
}

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Bytes, how far they were read, and the texts that may be referred to.
struct Reader<'b> {
    bytes: &'b [u8],
    place: usize,
    /// Number 1 first.
    texts: Vec<SharedText>,
    /// Reckoned for them.
    text_bytes: u64,
}

/// A text that is written once and then referred to.
#[derive(Clone)]
struct SharedText {
    text: Arc<str>,
    /// As the message of a failure. Thousands of requests may refer to a text of 64 KiB, which is
    /// trimmed once for all of them.
    message: Arc<str>,
}

impl SharedText {
    fn new(text: &str) -> Self {
        let text: Arc<str> = one_line(text).into();
        let message = message(&text);
        let message = if *message == *text { text.clone() } else { message.into() };
        Self { text, message }
    }

    /// The bytes reckoned for it.
    fn held_bytes(&self) -> u64 {
        let is_one = Arc::ptr_eq(&self.text, &self.message);
        let message = if is_one { 0 } else { shared_bytes(&self.message) };
        TEXT_BYTES + shared_bytes(&self.text) + message
    }
}

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize, what: &str) -> Result<&'b [u8], Trouble> {
        let rest = self.bytes.get(self.place..).unwrap_or_default();
        let taken = rest.get(..length).ok_or_else(|| {
            let cause = format!(
                "the log is cut short: {what} has {length} bytes, of which {} are left",
                rest.len()
            );
            at(self.place, cause)
        })?;
        self.place += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Trouble> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    fn byte(&mut self, what: &str) -> Result<u8, Trouble> {
        self.array(what).map(|[byte]| byte)
    }

    fn flag(&mut self, what: &str) -> Result<bool, Trouble> {
        let from = self.place;
        match self.byte(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(at(from, format!("{what} is {other}, neither 0 nor 1"))),
        }
    }

    fn integer(&mut self, what: &str) -> Result<i32, Trouble> {
        self.array(what).map(i32::from_be_bytes)
    }

    fn count(&mut self, what: &str) -> Result<u32, Trouble> {
        let from = self.place;
        let count = self.integer(what)?;
        u32::try_from(count).map_err(|_| at(from, format!("{what} is {count}")))
    }

    /// Of something that follows.
    fn length(&mut self, what: &str) -> Result<usize, Trouble> {
        let from = self.place;
        let length = self.integer(what)?;
        usize::try_from(length).map_err(|_| at(from, format!("{what} has {length} bytes")))
    }

    /// Milliseconds since the run began. Those of a run of more than 24 days do not fit, and are
    /// negative.
    fn moment(&mut self, what: &str) -> Result<u64, Trouble> {
        let from = self.place;
        let moment = self.integer(what)?;
        u64::try_from(moment)
            .map_err(|_| at(from, format!("{what} is {moment} ms after the run began")))
    }

    fn coder(&mut self, what: &str, known: &[u8]) -> Result<u8, Trouble> {
        let from = self.place;
        let coder = self.byte(what)?;
        if known.contains(&coder) {
            return Ok(coder);
        }
        Err(at(from, format!("{what} is written in a way, {coder}, that is not understood")))
    }

    fn text(&mut self, what: &str) -> Result<String, Trouble> {
        let length = self.length(what)?;
        if length == 0 {
            return Ok(String::new());
        }
        let from = self.place;
        if length > LONGEST_TEXT {
            let cause = format!("{what} has {length} bytes: nobody writes so long a text");
            return Err(at(from, cause));
        }
        let bytes = self.take(length, what)?;
        if self.coder(what, &[LATIN_1, UTF_16])? == LATIN_1 {
            return Ok(latin_1(bytes));
        }
        let (pairs, odd) = bytes.as_chunks();
        // In the order of the machine that wrote it: all that run Gatling but the largest have
        // the lowest byte first.
        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        let text = String::from_utf16(&units).ok().filter(|_| odd.is_empty());
        text.ok_or_else(|| at(from, format!("{what} is no UTF-16")))
    }

    /// A text that is written, or referred to by the negative of its number.
    fn shared_text(&mut self, what: &str) -> Result<SharedText, Trouble> {
        let from = self.place;
        let number = i64::from(self.integer(what)?);
        let next = self.texts.len() as i64 + 1;
        if number == next {
            let text = SharedText::new(&self.text(what)?);
            self.text_bytes += text.held_bytes();
            self.texts.push(text.clone());
            return Ok(text);
        }
        let known = usize::try_from(-number - 1).ok().and_then(|place| self.texts.get(place));
        known.cloned().ok_or_else(|| {
            let cause = format!("{what} is text {number}, and the next is {next}");
            at(from, cause)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of a log.
    fn number(number: i32) -> [u8; 4] {
        number.to_be_bytes()
    }

    /// A text of a log: its length, its letters, and how they are written.
    fn text(letters: &str) -> Vec<u8> {
        let length = number(i32::try_from(letters.len()).unwrap());
        [&length[..], letters.as_bytes(), &[LATIN_1][..]].concat()
    }

    #[test]
    fn a_message_of_64_kib_is_trimmed_once_for_all_requests_that_refer_to_it() {
        let requests = 50_000;
        let mut log = vec![RUN];
        log.extend(text("3.13.0"));
        log.extend(text("sim.X"));
        log.extend(1_700_000_000_000_i64.to_be_bytes());
        // No description, no scenario and no assertion.
        log.extend([0; 12]);
        for at in 0..requests {
            let texts = match at {
                0 => [
                    [&number(1)[..], &text("r")[..]].concat(),
                    [&number(2)[..], &text(&" ".repeat(65_535))[..]].concat(),
                ],
                _ => [number(-1).to_vec(), number(-2).to_vec()],
            };
            let [name, message] = texts;
            log.push(REQUEST);
            log.extend(number(0));
            log.extend(name);
            log.extend([number(at), number(at)].concat());
            log.push(0);
            log.extend(message);
        }
        let log = parse(&log, None).unwrap();
        assert_eq!(log.requests.len(), requests as usize);
        assert!(log.requests.iter().all(|one| one.failure.as_deref() == Some("no message")));
    }
}
