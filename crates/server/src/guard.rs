//! Access: a request needs the token, a page of ours, and a name of this machine. The
//! last keeps out pages whose name was made to mean this machine (DNS rebinding).

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use contract::{Error, Result};
use serde::Deserialize;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Bytes of a token.
const TOKEN_BYTES: usize = 24;
/// Names of the loopback.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// What access is decided by once: a request that names two of one may mean the other one to
/// whatever stands before this server. RFC 9112, section 3.2, asks for this answer to a second `Host`.
const SINGLE: [&str; 3] = ["host", "origin", "sec-fetch-site"];
/// Sent to a client without a token.
const WHO_ARE_YOU: &str = "This dashboard wants its token: open the address that schedlab printed when it \
                           started (http://.../login?t=...), or send `Authorization: Bearer TOKEN`.\n";

/// The secret of one server.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// 192 random bits.
    ///
    /// # Errors
    /// When the kernel gives none.
    pub fn draw() -> Result<Self> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| Error::environment("cannot draw a token", error))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// What the user is given.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

/// What requests are checked against.
pub(crate) struct Guard {
    token: Token,
    hosts: Vec<String>,
    /// Cookies do not know ports: two dashboards of one machine would share one.
    cookie: String,
}

impl Guard {
    pub(crate) fn new(token: Token, hosts: Vec<String>, port: u16) -> Arc<Self> {
        Arc::new(Self { token, hosts, cookie: format!("schedlab-{port}") })
    }

    /// Whether the name, whatever the port, is one of this machine: a forwarded port has another
    /// number.
    fn is_host(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let is_name = |known: &str| known.eq_ignore_ascii_case(name);
        LOOPBACK.into_iter().any(is_name) || self.hosts.iter().any(|host| is_name(host))
    }

    /// Why a request is refused.
    fn refusal(&self, method: &Method, headers: &HeaderMap, is_login: bool) -> Option<Refusal> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
        let Some(host) = text(header::HOST).filter(|host| self.is_host(host)) else {
            return Some((StatusCode::MISDIRECTED_REQUEST, "Not a name of this machine.\n"));
        };
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "Nothing can be changed from here.\n"));
        }
        let is_foreign = text(header::ORIGIN).is_some_and(|origin| !is_own(origin, host))
            || text(HeaderName::from_static("sec-fetch-site"))
                .is_some_and(|site| !matches!(site, "same-origin" | "none"));
        if is_foreign {
            return Some((StatusCode::FORBIDDEN, "Another site's page may not ask.\n"));
        }
        let is_known = is_login || self.is_authorised(headers);
        (!is_known).then_some((StatusCode::UNAUTHORIZED, WHO_ARE_YOU))
    }

    fn is_authorised(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let bearer = texts(header::AUTHORIZATION).filter_map(|text| text.strip_prefix("Bearer "));
        let cookies = texts(header::COOKIE).flat_map(|text| text.split(';'));
        let cookies = cookies
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie)
            .map(|(_, value)| value);
        bearer.chain(cookies).any(|text| self.token.is(text))
    }
}

type Refusal = (StatusCode, &'static str);

/// Why a request is refused that says twice where it goes, or where it comes from.
fn ambiguity(target: &Uri, headers: &HeaderMap) -> Option<Refusal> {
    // A whole address is for proxies: its name counts for more than `Host` (RFC 9112, 3.2.2).
    if target.authority().is_some() {
        return Some((StatusCode::BAD_REQUEST, "Ask for a path: this is no proxy.\n"));
    }
    let is_repeated = SINGLE.iter().any(|name| headers.get_all(*name).iter().nth(1).is_some());
    let refusal = "A request has one Host, one Origin and one Sec-Fetch-Site at most.\n";
    is_repeated.then_some((StatusCode::BAD_REQUEST, refusal))
}

/// Whether a page comes from where it asks, port included: another program of this machine has
/// another port. What forwards this one may have another number for it, but one for both.
fn is_own(origin: &str, host: &str) -> bool {
    let authority = |scheme, port| {
        let of_origin: &str = origin.strip_prefix(scheme)?;
        // Browsers leave out the port that a scheme implies.
        let explicit = |text: &str| text.strip_suffix(port).unwrap_or(text).to_ascii_lowercase();
        Some(explicit(of_origin) == explicit(host))
    };
    authority("http://", ":80").or_else(|| authority("https://", ":443")).unwrap_or(false)
}

#[derive(Deserialize)]
pub(crate) struct Login {
    t: String,
}

/// Exchanges the token in an address for a cookie, and leaves that address.
pub(crate) async fn login(
    State(guard): State<Arc<Guard>>,
    login: std::result::Result<Query<Login>, QueryRejection>,
) -> Response {
    match login {
        Ok(Query(Login { t })) if guard.token.is(&t) => {
            let cookie = format!("{}={t}; HttpOnly; SameSite=Strict; Path=/", guard.cookie);
            let headers = [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        _ => (StatusCode::UNAUTHORIZED, WHO_ARE_YOU).into_response(),
    }
}

/// Every request goes through here, and so does every answer.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let is_login = request.uri().path() == "/login";
    let refusal = ambiguity(request.uri(), request.headers())
        .or_else(|| guard.refusal(request.method(), request.headers(), is_login));
    let mut response = match refusal {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// What a page of ours never needs is forbidden to it, and to pages that would frame or keep it.
const HEADERS: [(&str, &str); 8] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cache-control", "no-store"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Arc<Guard> {
        Guard::new(Token("secret".to_owned()), vec!["lab.example".to_owned()], 7777)
    }

    fn status(method: &Method, headers: &[(&'static str, &str)], is_login: bool) -> u16 {
        let pairs = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        let refusal = guard().refusal(method, &pairs.collect(), is_login);
        refusal.map_or(200, |(status, _)| status.as_u16())
    }

    #[test]
    fn only_who_has_the_token_is_answered() {
        let host = ("host", "127.0.0.1:7777");
        let get = |headers: &[_]| status(&Method::GET, headers, false);
        assert_eq!(get(&[host]), 401);
        assert_eq!(get(&[host, ("authorization", "Bearer wrong")]), 401);
        assert_eq!(get(&[host, ("authorization", "Bearer secre")]), 401);
        assert_eq!(get(&[host, ("authorization", "Bearer secret")]), 200);
        assert_eq!(get(&[host, ("cookie", "a=b; schedlab-7777=secret")]), 200);
        assert_eq!(get(&[host, ("cookie", "schedlab-7778=secret")]), 401, "another's");
        assert_eq!(status(&Method::GET, &[host], true), 200, "login has no cookie yet");
    }

    #[test]
    fn other_names_other_sites_and_other_methods_are_refused_whatever_they_know() {
        let token = ("authorization", "Bearer secret");
        let get = |headers: &[_]| status(&Method::GET, headers, false);
        for host in ["localhost", "LOCALHOST:1", "[::1]:80", "127.0.0.1:9", "lab.example:80"] {
            assert_eq!(get(&[("host", host), token]), 200, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.:x", "", "[::2]:80"] {
            assert_eq!(get(&[("host", host), token]), 421, "{host}");
        }
        assert_eq!(get(&[token]), 421);
        let host = ("host", "localhost:7777");
        assert_eq!(get(&[host, token, ("origin", "http://localhost:7777")]), 200);
        let forwarded = ("host", "lab.example:80");
        assert_eq!(get(&[forwarded, token, ("origin", "http://lab.example")]), 200, "implied");
        assert_eq!(get(&[forwarded, token, ("origin", "http://Lab.example:80")]), 200);
        assert_eq!(get(&[forwarded, token, ("origin", "https://lab.example")]), 403);
        for origin in ["http://localhost:1", "http://localhost", "http://127.0.0.1:7777", "http://"]
        {
            assert_eq!(get(&[host, token, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(get(&[host, token, ("origin", "https://evil.example")]), 403);
        assert_eq!(get(&[host, token, ("origin", "null")]), 403);
        assert_eq!(get(&[host, token, ("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(get(&[host, token, ("sec-fetch-site", "none")]), 200, "typed by a person");
        assert_eq!(get(&[host, token, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(get(&[host, token, ("sec-fetch-site", "same-site")]), 403);
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            assert_eq!(status(&method, &[host, token], false), 405, "{method}");
        }
        assert_eq!(status(&Method::HEAD, &[host, token], false), 200);
    }

    #[test]
    fn what_a_request_says_twice_of_where_it_goes_or_comes_from_is_refused() {
        let refused = |target: &str, headers: &[(&'static str, &'static str)]| {
            let pairs = headers.iter().map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            let refusal = ambiguity(&target.parse().unwrap(), &pairs.collect());
            refusal.map(|(status, _)| status.as_u16())
        };
        let host = ("host", "localhost:7777");
        assert_eq!(refused("/", &[host, ("origin", "http://localhost:7777")]), None);
        assert_eq!(refused("/", &[("cookie", "a=b"), host, ("cookie", "c=d")]), None);
        // Whichever of the two comes first.
        assert_eq!(refused("/", &[host, ("host", "evil.example")]), Some(400));
        assert_eq!(refused("/", &[("host", "evil.example"), host]), Some(400));
        assert_eq!(refused("/", &[host, host]), Some(400));
        for name in ["origin", "sec-fetch-site"] {
            assert_eq!(refused("/", &[host, (name, "none"), (name, "none")]), Some(400), "{name}");
        }
        assert_eq!(refused("http://evil.example/", &[host]), Some(400));
        assert_eq!(refused("evil.example:80", &[host]), Some(400));
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (Token::draw().unwrap(), Token::draw().unwrap());
        assert_eq!(one.text().len(), 2 * TOKEN_BYTES);
        assert_ne!(one.text(), other.text());
    }
}
