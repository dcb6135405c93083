//! A scenario: the kinds of requests, how often each comes, and what a right answer is; what is
//! asked once before the load, and once after it.

use super::template::Template;
use super::value::{Declared, Drawn, Values, check_file};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Kinds whose metrics can still be looked at.
const MOST_KINDS: usize = 32;
/// What a name may be at most: it begins the ids of metrics.
const LONGEST_NAME: usize = 32;
/// The longest scenario that is read.
const LONGEST_FILE: u64 = 1 << 20;
/// Requests per second of one kind.
const FASTEST: f64 = 1e6;
/// The generator's own headers.
const OWN_HEADERS: [&str; 4] = ["host", "content-length", "connection", "transfer-encoding"];
/// Methods with a body have a length even when it is none (RFC 9110, section 8.6).
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    values: BTreeMap<String, Declared>,
    #[serde(default)]
    setup: Vec<Request>,
    #[serde(default)]
    requests: Vec<Request>,
    #[serde(default)]
    check: Vec<Request>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    name: String,
    rate: Option<f64>,
    #[serde(default = "get")]
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    #[serde(default = "ok")]
    expect: Vec<u16>,
    contains: Option<String>,
}

/// What is wrong with a text, and in which line of it. A picture of that line, as the parser draws
/// one, takes several, and the problem that quotes it has one.
fn misread(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| {
        let before = text.get(..span.start).unwrap_or(text);
        format!("line {}: ", before.matches('\n').count() + 1)
    });
    format!("{}{}", line.unwrap_or_default(), error.message())
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> Vec<u16> {
    vec![200]
}

/// One kind of request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestKind {
    pub(super) name: String,
    /// Per second at the height of the load; beside the others' its weight in a closed loop.
    pub(super) rate: f64,
    method: String,
    path: Template,
    headers: Vec<(String, Template)>,
    body: Template,
    has_length: bool,
    /// Statuses of a right answer.
    expect: Vec<u16>,
    /// What the body of a right answer holds.
    contains: Option<String>,
    /// The values to draw for it, in this order.
    used: Vec<usize>,
}

/// All kinds and their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scenario {
    /// Asked once each, in this order, before the load.
    pub(super) setup: Vec<RequestKind>,
    pub(super) kinds: Vec<RequestKind>,
    /// The same after the load.
    pub(super) check: Vec<RequestKind>,
    pub(super) values: Values,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// That it cannot be read, or each thing in it that cannot be meant.
    pub(super) fn read(path: &Path) -> Result<Self, Vec<String>> {
        let at = path.display();
        let unreadable = |error| vec![format!("cannot read the scenario {at}: {error}")];
        let text = text_of(path).map_err(unreadable)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, directory)
            .map_err(|wrong| wrong.into_iter().map(|why| format!("{at}: {why}")).collect())
    }

    /// Reads a text; files that it names are relative to `directory`.
    ///
    /// # Errors
    /// Each thing in it that cannot be meant.
    pub(crate) fn parse(text: &str, directory: &Path) -> Result<Self, Vec<String>> {
        let file: File = toml::from_str(text).map_err(|error| vec![misread(text, &error)])?;
        let values = Values::of(&file.values, directory)?;
        let mut wrong = Vec::new();
        let setup = once(file.setup, &values, &mut wrong);
        let check = once(file.check, &values, &mut wrong);
        let (mut kinds, mut names) = (Vec::new(), BTreeSet::new());
        for request in file.requests {
            let name = request.name.clone();
            if !names.insert(name.clone()) {
                wrong.push(format!("two requests are called {name:?}"));
            }
            match request.repeated(&values) {
                Ok(kind) => kinds.push(kind),
                Err(why) => wrong.push(format!("request {name:?}: {why}")),
            }
        }
        if names.len() > MOST_KINDS {
            wrong.push(format!("{} kinds of requests: {MOST_KINDS} at most", names.len()));
        }
        if wrong.is_empty() { Ok(Self { setup, kinds, check, values }) } else { Err(wrong) }
    }

    /// What its kinds are called.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.kinds.iter().map(|kind| kind.name.as_str()).collect()
    }

    /// The file itself and those that it reads values from.
    pub(super) fn files(path: &Path) -> Vec<PathBuf> {
        let mut files = vec![path.to_owned()];
        let text = text_of(path).unwrap_or_default();
        // What cannot be read or parsed is told elsewhere.
        if let Ok(file) = toml::from_str::<File>(&text) {
            let directory = path.parent().unwrap_or(Path::new(""));
            files.extend(
                file.values
                    .into_values()
                    .filter_map(|value| value.csv)
                    .map(|csv| directory.join(csv)),
            );
        }
        files
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    check_file(path, LONGEST_FILE)?;
    std::fs::read_to_string(path)
}

/// Requests that are asked once each.
fn once(requests: Vec<Request>, values: &Values, wrong: &mut Vec<String>) -> Vec<RequestKind> {
    let kind = |request: Request| {
        let name = request.name.clone();
        let kind = match request.rate {
            Some(_) => Err("it is asked once and has no rate".to_owned()),
            None => request.kind(0.0, values),
        };
        kind.map_err(|why| wrong.push(format!("request {name:?}: {why}"))).ok()
    };
    requests.into_iter().filter_map(kind).collect()
}

impl Request {
    fn repeated(self, values: &Values) -> Result<RequestKind, String> {
        match self.rate {
            Some(rate) if rate > 0.0 && rate <= FASTEST => self.kind(rate, values),
            Some(rate) => Err(format!("rate = {rate}: expected more than 0, {FASTEST} at most")),
            None => Err("it needs a rate, per second".to_owned()),
        }
    }

    fn kind(self, rate: f64, values: &Values) -> Result<RequestKind, String> {
        check_name(&self.name)?;
        if !METHODS.contains(&self.method.as_str()) {
            return Err(format!(
                "method = {:?}: expected one of {}",
                self.method,
                METHODS.join(", ")
            ));
        }
        if self.expect.is_empty() || self.expect.iter().any(|code| !(200..600).contains(code)) {
            return Err("expect: one or more statuses from 200 to 599".to_owned());
        }
        let path = Template::of(&self.path, values).map_err(|why| format!("path: {why}"))?;
        if !self.path.starts_with('/') || path.has(|byte| !byte.is_ascii_graphic() || byte == b'#')
        {
            return Err(format!("path = {:?}: expected /… as a URL has it", self.path));
        }
        let mut headers = Vec::new();
        for (name, text) in &self.headers {
            let value = Template::of(text, values).map_err(|why| format!("{name}: {why}"))?;
            check_header(name, &value)?;
            headers.push((name.clone(), value));
        }
        let body = Template::of(&self.body, values).map_err(|why| format!("body: {why}"))?;
        let in_head: Vec<usize> =
            path.used().chain(headers.iter().flat_map(|(_, value)| value.used())).collect();
        if let Some(position) = in_head.iter().find(|position| !values.is_fit_for_head(**position))
        {
            return Err(format!(
                "a row of values.{} is empty or has blanks, so it fits no path and no header",
                values.name(*position)
            ));
        }
        let used: Vec<usize> = in_head.into_iter().chain(body.used()).collect();
        let has_length = !self.body.is_empty() || WITH_BODY.contains(&self.method.as_str());
        Ok(RequestKind {
            name: self.name,
            rate,
            method: self.method,
            path,
            headers,
            body,
            has_length,
            expect: self.expect,
            contains: self.contains,
            used: values.with_what_they_need(&used),
        })
    }
}

/// A name begins the ids of metrics.
fn check_name(name: &str) -> Result<(), String> {
    let is_fit = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.len() <= LONGEST_NAME;
    if is_fit {
        return Ok(());
    }
    Err(format!("a name has a to z, 0 to 9 and _, begins with a letter, at most {LONGEST_NAME}"))
}

fn check_header(name: &str, value: &Template) -> Result<(), String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Err(format!("{name:?} is no name of a header"));
    }
    if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("the header {name} is the generator's own"));
    }
    if value.has(|byte| byte != b'\t' && (byte < b' ' || byte == 0x7f)) {
        return Err(format!("the header {name} has a control character"));
    }
    Ok(())
}

impl RequestKind {
    /// A request for a path, answered right with 200.
    ///
    /// # Errors
    /// That it is no path.
    pub(super) fn get(name: &str, path: &str) -> Result<Self, String> {
        let request = Request {
            name: name.to_owned(),
            rate: None,
            method: get(),
            path: path.to_owned(),
            headers: BTreeMap::new(),
            body: String::new(),
            expect: ok(),
            contains: None,
        };
        request.kind(0.0, &Values::default())
    }

    /// The values to draw for a request.
    pub(super) fn used(&self) -> &[usize] {
        &self.used
    }

    /// Appends a whole request. `body` is room for its body.
    pub(super) fn render(
        &self,
        to: SocketAddr,
        drawn: &Drawn,
        body: &mut Vec<u8>,
        into: &mut Vec<u8>,
    ) {
        use std::io::Write;
        into.extend_from_slice(self.method.as_bytes());
        into.push(b' ');
        self.path.render(drawn, into);
        // Writing to memory does not fail.
        let _ = write!(into, " HTTP/1.1\r\nHost: {to}\r\n");
        for (name, value) in &self.headers {
            let _ = write!(into, "{name}: ");
            value.render(drawn, into);
            into.extend_from_slice(b"\r\n");
        }
        body.clear();
        self.body.render(drawn, body);
        if self.has_length {
            let _ = write!(into, "Content-Length: {}\r\n", body.len());
        }
        into.extend_from_slice(b"\r\n");
        into.extend_from_slice(body);
    }

    /// Whether this is a right answer.
    ///
    /// # Errors
    /// What is wrong with it; few different texts, so that failures can be counted by them.
    pub(super) fn check(&self, status: u16, body: &[u8]) -> Result<(), String> {
        if !self.expect.contains(&status) {
            return Err(format!("status {status}"));
        }
        match &self.contains {
            Some(text) if !holds(body, text.as_bytes()) => {
                Err(format!("status {status} without {text:?} in its body"))
            }
            _ => Ok(()),
        }
    }
}

fn holds(body: &[u8], text: &[u8]) -> bool {
    text.is_empty() || body.windows(text.len()).any(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const BANK: &str = r#"
        [values]
        from = { from = 1, to = 1 }
        to = { from = 2, to = 2 }
        cents = { from = 150, to = 150, decimals = 2 }
        key = { unique = true }

        [[requests]]
        name = "transfer"
        rate = 50
        method = "POST"
        path = "/api/transactions/transfer"
        headers = { Content-Type = "application/json", Idempotency-Key = "${key}" }
        body = '{"from":${from},"to":${to},"amount":"${cents}"}'
        expect = [201]

        [[requests]]
        name = "balance"
        rate = 100
        path = "/api/accounts/${from}/balance"
        contains = "balance"
    "#;

    fn rendered(kind: usize) -> String {
        let scenario = Scenario::parse(BANK, Path::new("")).unwrap();
        let kind = &scenario.kinds[kind];
        let mut drawn = scenario.values.drawn();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        scenario.values.draw(kind.used(), &mut random, (10, 3), &mut drawn);
        let mut bytes = Vec::new();
        kind.render("127.0.0.1:80".parse().unwrap(), &drawn, &mut Vec::new(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn requests_are_what_the_scenario_says() {
        assert_eq!(
            rendered(0),
            "POST /api/transactions/transfer HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\
             Content-Type: application/json\r\nIdempotency-Key: 000000000000000a-3\r\n\
             Content-Length: 33\r\n\r\n{\"from\":1,\"to\":2,\"amount\":\"1.50\"}"
        );
        assert_eq!(
            rendered(1),
            "GET /api/accounts/1/balance HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"
        );
    }

    #[test]
    fn an_answer_is_right_by_status_and_body() {
        let scenario = Scenario::parse(BANK, Path::new("")).unwrap();
        assert_eq!(scenario.kinds[0].check(201, b""), Ok(()));
        assert_eq!(scenario.kinds[0].check(409, b""), Err("status 409".to_owned()));
        assert_eq!(scenario.kinds[1].check(200, b"{\"balance\":1}"), Ok(()));
        let missing = scenario.kinds[1].check(200, b"{}").unwrap_err();
        assert!(missing.contains("without \"balance\""), "{missing}");
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        let request = |keys: &str| format!("[[requests]]\nname = 'a'\nrate = 1\n{keys}");
        for (text, word) in [
            ("x = 1".to_owned(), "unknown field"),
            ("[[requests]]\nname = @".to_owned(), "line 2: "),
            (request("path = 'a'"), "expected /"),
            (request("path = '/a b'"), "expected /"),
            (request("path = '/${b}'"), "has no \"b\""),
            (request("path = '/'\nmethod = 'FETCH'"), "expected one of GET"),
            (request("path = '/'\nexpect = []"), "200 to 599"),
            (request("path = '/'\nexpect = [100]"), "200 to 599"),
            (request("path = '/'\nheaders = { Host = 'x' }"), "generator's own"),
            (request("path = '/'\nheaders = { 'a b' = 'x' }"), "no name of a header"),
            (request("path = '/'\nheaders = { a = \"x\\r\\ny: z\" }"), "control character"),
            ("[[requests]]\nname = 'A'\nrate = 1\npath = '/'".to_owned(), "a to z"),
            ("[[requests]]\nname = 'a'\nrate = 0\npath = '/'".to_owned(), "more than 0"),
            ("[[requests]]\nname = 'a'\npath = '/'".to_owned(), "needs a rate"),
            (
                format!("{}\n[[check]]\nname = 'b'\nrate = 1\npath = '/'", request("path = '/'")),
                "has no rate",
            ),
            (format!("{}\n{}", request("path = '/'"), request("path = '/'")), "two requests"),
        ] {
            let wrong = Scenario::parse(&text, Path::new("")).unwrap_err();
            assert!(wrong.len() == 1 && wrong[0].contains(word), "{text}: {wrong:?}");
            assert_eq!(wrong[0].lines().count(), 1, "{text}: {wrong:?}");
        }
        let wrong = Scenario::read(Path::new("/nonexistent.toml")).unwrap_err();
        assert!(wrong[0].contains("cannot read the scenario /nonexistent.toml"), "{wrong:?}");
    }

    #[test]
    fn rows_with_blanks_fit_a_body_and_no_path() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x.csv"), "name\ntwo words\n").unwrap();
        let values = "[values]\nname = { csv = 'x.csv', column = 'name' }\n[[requests]]\nname = 'a'\nrate = 1\n";
        let file = directory.path().join("load.toml");
        std::fs::write(&file, format!("{values}path = '/'\nmethod = 'POST'\nbody = '${{name}}'"))
            .unwrap();
        assert_eq!(Scenario::read(&file).unwrap().kinds.len(), 1);
        assert_eq!(Scenario::files(&file), [file.clone(), directory.path().join("x.csv")]);
        std::fs::write(&file, format!("{values}path = '/${{name}}'")).unwrap();
        assert!(Scenario::read(&file).unwrap_err()[0].contains("fits no path"));
    }
}
