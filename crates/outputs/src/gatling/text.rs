//! The log as text: a record in each line, with a tab between its columns.

use super::{
    LONGEST_NAME, Log, LoggedError, LoggedRequest, Names, REMEDY, TEXT, Texts, message, one_line,
    understood,
};
use crate::trouble::Trouble;

/// Words of records, and how many columns each has with it.
const RECORDS: [(&str, usize); 6] =
    [("ASSERTION", 2), ("RUN", 6), ("REQUEST", 7), ("USER", 4), ("GROUP", 6), ("ERROR", 3)];
/// As many as the longest of them has.
const MOST_COLUMNS: usize = 7;

pub(super) fn parse(bytes: &[u8], beside_bytes: Option<u64>) -> Result<Log, Trouble> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = crate::json::line_of(bytes, error.valid_up_to());
        Trouble::at(line, "is no text", REMEDY)
    })?;
    let mut log = None;
    let mut known = (Names::default(), Texts::default());
    for (line, number) in text.lines().zip(1_u64..) {
        let wrong = |cause: String| Trouble::at(number, cause, REMEDY);
        let columns = columns(line).map_err(wrong)?;
        match (&mut log, columns[0]) {
            (_, "ASSERTION") => {}
            (None, "RUN") => log = Some(run(&columns).map_err(wrong)?),
            (Some(_), "RUN") => return Err(wrong("is the record of a second run".to_owned())),
            (None, word) => return Err(wrong(format!("is {word} before the record of a run"))),
            (Some(log), _) => {
                record(&columns, log, &mut known).map_err(wrong)?;
                log.check_held(&known.0, known.1.held_bytes, beside_bytes)?;
            }
        }
    }
    let log = log.ok_or_else(|| Trouble::new("it has no record of a run", REMEDY))?;
    if !text.ends_with('\n') {
        let last = text.lines().count() as u64;
        return Err(Trouble::at(last, "has no end: the log is cut short", REMEDY));
    }
    if log.users_ended > log.users_began {
        let cause = format!("{} users ended, and {} began", log.users_ended, log.users_began);
        return Err(Trouble::new(cause, REMEDY));
    }
    Ok(log)
}

/// The columns of a record, the first of which says what it is.
fn columns(line: &str) -> Result<Vec<&str>, String> {
    // A line may have millions of columns, of which none is held but those that a record has.
    let columns: Vec<&str> = line.split('\t').take(MOST_COLUMNS).collect();
    let Some((word, count)) = RECORDS.iter().find(|(word, _)| *word == columns[0]) else {
        let word = super::shown(columns[0]);
        return Err(format!("is a record `{word}`, which is not understood"));
    };
    let found = 1 + line.bytes().filter(|byte| *byte == b'\t').count();
    if found != *count {
        let cause = format!("is a record {word} of {found} columns instead of {count}");
        let is_split = *word == "REQUEST" && found > *count;
        let why = if is_split { "; a tab in a name, which Gatling does not escape?" } else { "" };
        return Err(format!("{cause}{why}"));
    }
    Ok(columns)
}

fn run(columns: &[&str]) -> Result<Log, String> {
    understood(columns[5], &TEXT)?;
    let started = columns[3];
    Ok(Log {
        version: columns[5].to_owned(),
        simulation: one_line(columns[1]),
        description: one_line(columns[4].trim()),
        started_unix_ms: number(started).ok_or_else(|| format!("`{started}` is no moment"))?,
        requests: Vec::new(),
        errors: Vec::new(),
        users_began: 0,
        users_ended: 0,
    })
}

/// Any record after that of the run.
fn record(
    columns: &[&str],
    log: &mut Log,
    (names, messages): &mut (Names, Texts),
) -> Result<(), String> {
    let moment = |column: &str| moment(column, log.started_unix_ms);
    match columns[0] {
        "REQUEST" => {
            let groups = columns[1].split(',').filter(|name| !name.is_empty());
            // One more than is read: those of a longer name are refused by its length.
            let groups: Vec<&str> = groups.take(LONGEST_NAME + 1).collect();
            let name = names
                .of(&groups, columns[2])
                .map_err(|cause| format!("is a request that {cause}"))?;
            let times = (moment(columns[3])?, moment(columns[4])?);
            let is_ok = status(columns[5])?;
            let failure = (!is_ok).then(|| messages.shared(message(columns[6])));
            let request = LoggedRequest::new(name, times, failure);
            log.requests.push(request.map_err(|cause| format!("is a request that {cause}"))?);
        }
        "USER" => {
            moment(columns[3])?;
            match columns[2] {
                "START" => log.users_began += 1,
                "END" => log.users_ended += 1,
                other => return Err(format!("`{}` is no event of a user", super::shown(other))),
            }
        }
        // Its times are those of the requests in it, and of the pauses between them.
        "GROUP" => {
            moment(columns[2])?;
            moment(columns[3])?;
            number(columns[4])
                .ok_or_else(|| format!("`{}` is no time", super::shown(columns[4])))?;
            status(columns[5])?;
        }
        _ => {
            let at_ms = moment(columns[2])?;
            log.errors.push(LoggedError { at_ms, message: messages.shared(message(columns[1])) });
        }
    }
    Ok(())
}

fn status(column: &str) -> Result<bool, String> {
    match column {
        "OK" => Ok(true),
        "KO" => Ok(false),
        other => Err(format!("`{}` is neither OK nor KO", super::shown(other))),
    }
}

/// Milliseconds since the run began, of those since 1970.
fn moment(column: &str, started_unix_ms: u64) -> Result<u64, String> {
    let moment =
        number(column).ok_or_else(|| format!("`{}` is no moment", super::shown(column)))?;
    moment
        .checked_sub(started_unix_ms)
        .ok_or_else(|| format!("{moment} is before the run began, at {started_unix_ms}"))
}

fn number(column: &str) -> Option<u64> {
    let is_plain = !column.is_empty() && column.bytes().all(|byte| byte.is_ascii_digit());
    column.parse().ok().filter(|_| is_plain)
}
