//! What crates tell of their decisions, as lines on standard error.

use contract::{Error, LOG_PREFIX, LOG_VARIABLE, Result, nearest};
use std::io::{self, Write};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// The crates that tell something.
const CRATES: [&str; 5] = ["agent", "executor", "lab", "schedulers", "venues"];
/// How much they tell, from nothing on.
const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// Writes what this program's crates tell to its standard error from now on, as the text of
/// [`LOG_VARIABLE`] asks for; an empty one asks for nothing.
///
/// # Errors
/// When the text cannot be meant.
pub fn start_log(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let attempted = format!("cannot log what {LOG_VARIABLE} asks for");
    let filter = filter(text).map_err(|why| {
        let levels = LEVELS.map(|(name, _)| name).join(", ");
        let remedy = format!(
            "give crates ({}) with a level ({levels}), such as \
             {LOG_VARIABLE}=executor=debug,venues=trace, or one level for all",
            CRATES.join(", ")
        );
        Error::usage(attempted.as_str(), why, remedy)
    })?;
    tracing::subscriber::set_global_default(subscriber(filter, io::stderr))
        .map_err(|error| Error::environment(attempted.as_str(), error))
}

/// `CRATE=LEVEL`, `CRATE::MODULE=LEVEL` or one `LEVEL` for all, parted by commas.
fn filter(text: &str) -> Result<Targets, String> {
    let mut filter = Targets::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once('=') {
            Some((target, name)) => {
                let own_crate = target.split("::").next().unwrap_or_default();
                let known = CRATES.contains(&own_crate);
                known.then_some(()).ok_or_else(|| unknown("crate", own_crate, &CRATES))?;
                filter = filter.with_target(target, level(name)?);
            }
            None => {
                let level = level(part)?;
                filter = CRATES.iter().fold(filter, |all, one| all.with_target(*one, level));
            }
        }
    }
    Ok(filter)
}

fn level(name: &str) -> Result<LevelFilter, String> {
    let found = LEVELS.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, level)| *level)
        .ok_or_else(|| unknown("level", name, &LEVELS.map(|(name, _)| name)))
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> String {
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("there is no {what} `{name}`{near}")
}

fn subscriber<W>(filter: Targets, writer: fn() -> W) -> impl Subscriber + Send + Sync
where
    W: Write + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(InertLines(writer));
    tracing_subscriber::registry().with(lines).with(filter)
}

/// Makes writers of lines that a terminal does not obey, and that have an end.
struct InertLines<W>(fn() -> W);

impl<'a, W: Write + 'a> MakeWriter<'a> for InertLines<W> {
    type Writer = InertLine<W>;

    fn make_writer(&'a self) -> Self::Writer {
        InertLine((self.0)())
    }
}

/// Takes a whole line at a time.
struct InertLine<W>(W);

impl<W: Write> Write for InertLine<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let inert = model::inert_text(line);
        // In one piece, so that lines of several processes do not mix.
        let line = LOG_PREFIX.chars().chain(inert.chars()).chain(['\n']);
        self.0.write_all(line.collect::<String>().as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Mutex, PoisonError};

    static FORMATTED: AtomicU32 = AtomicU32::new(0);
    static WRITTEN: Mutex<Vec<u8>> = Mutex::new(Vec::new());

    struct Counted;

    impl fmt::Display for Counted {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            FORMATTED.fetch_add(1, Ordering::Relaxed);
            formatter.write_str("a\u{1b}[31m\nline")
        }
    }

    struct Shared;

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn tell() {
        tracing::debug!(target: "lab::campaign", what = %Counted, "told");
        tracing::trace!(target: "lab::campaign", what = %Counted, "too much");
        tracing::debug!(target: "executor", what = %Counted, "of another crate");
    }

    #[test]
    fn nothing_is_formatted_that_nobody_asked_for_and_a_terminal_obeys_no_line() {
        tell();
        assert_eq!(FORMATTED.load(Ordering::Relaxed), 0, "without a subscriber");
        let asked_for = subscriber(filter("lab=debug").unwrap(), || Shared);
        tracing::subscriber::with_default(asked_for, tell);
        assert_eq!(FORMATTED.load(Ordering::Relaxed), 1);
        let written = WRITTEN.lock().unwrap();
        let text = String::from_utf8_lossy(&written);
        let (line, rest) = text.split_once('\n').unwrap();
        assert!(
            contract::is_log_line(line)
                && line.contains("DEBUG")
                && line.contains("lab::campaign: told what=a"),
            "{text}"
        );
        assert!(rest.is_empty() && !line.chars().any(char::is_control), "{text:?}");
    }

    #[test]
    fn no_line_is_endless_whatever_it_quotes() {
        let mut written = Vec::new();
        let line = "é".repeat(model::LONGEST_TEXT + 7) + "\n";
        let taken = InertLine(&mut written).write(line.as_bytes()).unwrap();
        assert_eq!(taken, line.len());
        let told = String::from_utf8(written).unwrap();
        assert!(told.starts_with(LOG_PREFIX), "{LOG_PREFIX}");
        assert!(told.ends_with("é.. (7 more characters)\n"), "{} bytes", told.len());
        assert_eq!(told.matches('é').count(), model::LONGEST_TEXT);
    }

    #[test]
    fn a_filter_names_crates_and_levels_and_nothing_else() {
        for text in ["lab=debug", "debug", "venues::vm=trace, executor=info", "lab=off"] {
            assert!(filter(text).is_ok(), "{text}");
        }
        for (text, why) in [
            ("lba=debug", "there is no crate `lba`; did you mean `lab`?"),
            ("lab=debgu", "there is no level `debgu`; did you mean `debug`?"),
            ("lab", "there is no level `lab`"),
            ("lab=debug,", "there is no level ``"),
        ] {
            assert_eq!(filter(text).unwrap_err(), why);
        }
        assert!(start_log("  ").is_ok());
        let error = start_log("lab=loud").unwrap_err().to_string();
        assert!(error.contains("SCHEDLAB_LOG=executor=debug,venues=trace"), "{error}");
    }
}
