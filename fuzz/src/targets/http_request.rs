//! Requests to the dashboard: a client without the token learns nothing, nothing is
//! changed, and every answer forbids what pages of ours never need. A line for method and
//! target, one for each header; `TOKEN` stands for the token.

use super::event_log::campaign;
use super::{OwnTarget, Reaction};
use contract::Result;
use live::CampaignLoader;
use model::Findings;
use server::{Dashboard, Documents, HttpAnswer, Shown, Token};
use std::io;
use std::path::Path;
use std::sync::Arc;
use store::LoadedCampaign;
use sys::Machine;
use tempfile::TempDir;

pub const TARGET: OwnTarget = OwnTarget {
    name: "http-request",
    words: &[
        "GET / HTTP/1.1\r\n",
        "HEAD ",
        "POST ",
        "Host: localhost:7777\r\n",
        "Host: ",
        "Authorization: Bearer TOKEN\r\n",
        "Cookie: schedlab-7777=TOKEN\r\n",
        "Origin: http://",
        "Sec-Fetch-Site: ",
        "If-None-Match: ",
        "/login?t=TOKEN",
        "/api/v1/campaigns",
        "/api/v1/campaigns/effect",
        "/api/v1/history",
        "/api/v1/events",
        "/metrics",
        "%2e%2e%2f",
        "%00",
        "../",
        "[::1]",
        "127.0.0.1",
        ";",
        "&t=",
    ],
    run,
};

const PLACEHOLDER: &str = "TOKEN";
const PORT: u16 = 7777;

thread_local! {
    // Directories cost more than an answer.
    static RESULTS: io::Result<TempDir> = results();
}

fn results() -> io::Result<TempDir> {
    let results = tempfile::tempdir()?;
    campaign(&results.path().join("effect"))?;
    Ok(results)
}

fn run(bytes: &[u8]) -> Reaction {
    RESULTS.with(|results| match results {
        Ok(results) => asked(results.path(), bytes),
        Err(error) => panic!("there is no campaign to ask for: {error}"),
    })
}

fn asked(results: &Path, bytes: &[u8]) -> Reaction {
    let Ok(token) = Token::draw() else { return Reaction::Refused };
    let secret = token.text().to_owned();
    let dashboard = Dashboard::new(
        Shown {
            results: results.to_owned(),
            machine: Machine::host(results),
            loader: CampaignLoader::new(store::load),
            hosts: Vec::new(),
            token,
            documents: Arc::new(Nothing),
            on_watchers: Box::new(|_| ()),
        },
        PORT,
    );
    let text = String::from_utf8_lossy(bytes);
    let knows_token = text.contains(PLACEHOLDER);
    let text = text.replace(PLACEHOLDER, &secret);
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut words = lines.next().unwrap_or_default().splitn(3, ' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Reaction::Refused;
    };
    let headers: Vec<(&str, &[u8])> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim().as_bytes()))
        .collect();
    let Ok(Some(answer)) = dashboard.answer(method, target, &headers) else {
        return Reaction::Refused;
    };
    check(&answer, method, knows_token, &secret);
    for single in ["host", "origin", "sec-fetch-site"] {
        let given = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(single));
        assert!(
            given.count() < 2 || !is_told(answer.status),
            "told although {single} stands twice"
        );
    }
    if matches!(answer.status, 200 | 303 | 304) { Reaction::Accepted } else { Reaction::Refused }
}

/// What holds of every answer.
fn check(answer: &HttpAnswer, method: &str, knows_token: bool, secret: &str) {
    let HttpAnswer { status, headers, body } = answer;
    assert!(*status != 500, "{}", String::from_utf8_lossy(body));
    let is_told = is_told(*status);
    assert!(knows_token || !is_told, "{status} for one who does not know the token");
    assert!(matches!(method, "GET" | "HEAD") || !is_told, "{status} for {method}");
    for guarded in ["x-content-type-options", "x-frame-options", "referrer-policy"] {
        assert!(headers.iter().any(|(name, _)| name == guarded), "{status} without {guarded}");
    }
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(secret);
    assert!(!holds(body), "the token is in the body");
    for (name, value) in headers.iter().filter(|(_, value)| holds(value)) {
        let is_cookie = name == "set-cookie" && value.starts_with(b"schedlab-7777=");
        assert!(is_cookie && *status == 303, "the token is in the header {name}");
    }
}

/// Whether a status is that of a request that was let in.
fn is_told(status: u16) -> bool {
    !matches!(status, 400 | 401 | 403 | 405 | 421)
}

/// What would be written elsewhere is no matter here.
struct Nothing;

impl Documents for Nothing {
    fn page(&self, _loaded: &LoadedCampaign, _findings: &Findings) -> Result<String> {
        Ok("{}".to_owned())
    }

    fn history(&self, _results: &Path) -> Result<String> {
        Ok("{}".to_owned())
    }
}
