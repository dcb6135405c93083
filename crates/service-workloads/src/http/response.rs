//! Responses of HTTP/1.1 as they come in (RFC 9112): where one ends, and what it says.

use httparse::{EMPTY_HEADER, Status, parse_chunk_size};
use std::ops::Range;

/// Most header lines of a response.
const MOST_HEADERS: usize = 96;
/// The longest head, and the longest body, of which a generator of many can keep track.
const LONGEST_HEAD: usize = 64 << 10;
const LONGEST_BODY: usize = 64 << 20;
/// The longest line with the length of a chunk; extensions, which nobody sends, are in it.
const LONGEST_LINE: usize = 4 << 10;

/// One whole response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// Whether the server keeps the connection open for another request.
    pub(super) keeps_open: bool,
}

/// How long a body is (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Known(usize),
    /// In chunks, each with its length before it.
    Chunked,
    /// Until the connection is closed.
    UntilClosed,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    response: Response,
    length: Length,
    /// Where the body, or its next chunk, begins.
    at: usize,
}

/// What comes on one connection.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    head: Option<Head>,
    body: Vec<u8>,
    /// Of a response whose length is known its body lies among the bytes.
    place: Range<usize>,
}

impl Incoming {
    /// Takes what was read.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether more lies here than any response has.
    pub(super) fn is_excessive(&self) -> bool {
        self.bytes.len() > LONGEST_HEAD + LONGEST_BODY
    }

    /// Whether nothing of a response has come.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.head.is_none()
    }

    /// The response once all of it is here. `is_closed` says that nothing more will come.
    ///
    /// # Errors
    /// Why it is no response, in words.
    pub(super) fn response(&mut self, is_closed: bool) -> Result<Option<Response>, String> {
        loop {
            let head = match self.head {
                Some(head) => head,
                None => match read_head(&self.bytes)? {
                    None if self.bytes.len() > LONGEST_HEAD => {
                        return Err(format!("a head of more than {LONGEST_HEAD} bytes"));
                    }
                    None => return Ok(None),
                    // A word in between (RFC 9110, section 15.2): the response follows.
                    Some(head) if (100..200).contains(&head.response.status) => {
                        if head.response.status == 101 {
                            return Err("it changes to another protocol".to_owned());
                        }
                        self.bytes.drain(..head.at);
                        continue;
                    }
                    Some(head) => {
                        self.head = Some(head);
                        head
                    }
                },
            };
            let is_whole = match head.length {
                Length::Known(length) => self.known(head.at, length)?,
                Length::UntilClosed => {
                    self.known(head.at, self.bytes.len() - head.at)? && is_closed
                }
                Length::Chunked => self.chunks()?,
            };
            return Ok(is_whole.then_some(head.response));
        }
    }

    /// The body of the response that is here.
    pub(super) fn body(&self) -> &[u8] {
        match self.head {
            Some(Head { length: Length::Chunked, .. }) => &self.body,
            _ => &self.bytes[self.place.clone()],
        }
    }

    /// The response has been looked at: the next one may come.
    ///
    /// # Errors
    /// When more has come than the response.
    pub(super) fn clear(&mut self) -> Result<(), String> {
        let end = match self.head {
            Some(Head { length: Length::Chunked, at, .. }) => at,
            _ => self.place.end,
        };
        let more = self.bytes.len() - end;
        self.bytes.clear();
        self.body.clear();
        self.head = None;
        self.place = 0..0;
        if more > 0 { Err(format!("{more} bytes came after the response")) } else { Ok(()) }
    }

    fn known(&mut self, at: usize, length: usize) -> Result<bool, String> {
        if length > LONGEST_BODY {
            return Err(too_long(length));
        }
        self.place = at..at + length;
        Ok(self.bytes.len() >= at + length)
    }

    /// Takes the chunks that are here whole and forgets how they came; whether the last one is
    /// among them.
    fn chunks(&mut self) -> Result<bool, String> {
        let is_whole = self.take_chunks()?;
        if let Some(head) = &mut self.head {
            self.bytes.drain(..head.at);
            head.at = 0;
        }
        Ok(is_whole)
    }

    fn take_chunks(&mut self) -> Result<bool, String> {
        let Some(head) = &mut self.head else { return Ok(false) };
        loop {
            let rest = &self.bytes[head.at..];
            let (start, size) = match parse_chunk_size(rest) {
                Ok(Status::Complete(found)) => found,
                Ok(Status::Partial) if rest.len() > LONGEST_LINE => {
                    return Err("a chunk's length without end".to_owned());
                }
                Ok(Status::Partial) => return Ok(false),
                Err(_) => return Err("a chunk without a length".to_owned()),
            };
            if start > LONGEST_LINE {
                return Err("a chunk's length without end".to_owned());
            }
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if size > LONGEST_BODY || self.body.len() + size > LONGEST_BODY {
                return Err(too_long(size));
            }
            if size == 0 {
                // Trailers end with an empty line; without any, that line is all there is.
                return match trailers_end(&rest[start..])? {
                    Some(end) => {
                        head.at += start + end;
                        Ok(true)
                    }
                    None => Ok(false),
                };
            }
            let Some(after) = rest.get(start + size..start + size + 2) else { return Ok(false) };
            if after != b"\r\n" {
                return Err("a chunk longer than it said".to_owned());
            }
            self.body.extend_from_slice(&rest[start..start + size]);
            head.at += start + size + 2;
        }
    }
}

fn too_long(length: usize) -> String {
    format!("a body of {length} bytes: {LONGEST_BODY} at most are read")
}

/// Where trailers end.
fn trailers_end(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    match httparse::parse_headers(bytes, &mut headers) {
        Ok(Status::Complete((length, _))) => Ok(Some(length)),
        Ok(Status::Partial) if bytes.len() > LONGEST_HEAD => Err("trailers without end".to_owned()),
        Ok(Status::Partial) => Ok(None),
        Err(error) => Err(format!("trailers: {error}")),
    }
}

/// The head, once it is here whole.
fn read_head(bytes: &[u8]) -> Result<Option<Head>, String> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut found = httparse::Response::new(&mut headers);
    let at = match found.parse(bytes) {
        Ok(Status::Complete(at)) => at,
        Ok(Status::Partial) => return Ok(None),
        Err(error) => return Err(format!("no response of HTTP: {error}")),
    };
    let status = found.code.unwrap_or_default();
    let is_newer = found.version == Some(1);
    let (mut length, mut is_chunked, mut keeps_open) = (None, false, is_newer);
    for header in found.headers.iter() {
        let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            let said: usize =
                value.parse().map_err(|_| format!("Content-Length: {value:?} is no number"))?;
            if length.is_some_and(|length| length != said) {
                return Err("two lengths of content".to_owned());
            }
            length = Some(said);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case("chunked") {
                return Err(format!("Transfer-Encoding: {value}: only chunked is read"));
            }
            is_chunked = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            for word in value.split(',').map(str::trim) {
                if word.eq_ignore_ascii_case("close") {
                    keeps_open = false;
                } else if word.eq_ignore_ascii_case("keep-alive") {
                    keeps_open = true;
                }
            }
        }
    }
    let length = match (status, is_chunked, length) {
        (204 | 304 | 100..200, ..) => Length::Known(0),
        (_, true, Some(_)) => return Err("a length of content beside chunks".to_owned()),
        (_, true, None) => Length::Chunked,
        (_, false, Some(length)) => Length::Known(length),
        (_, false, None) => {
            keeps_open = false;
            Length::UntilClosed
        }
    };
    Ok(Some(Head { response: Response { status, keeps_open }, length, at }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What comes of these bytes, as many at a time; the status, whether the connection stays
    /// open, and the body.
    fn read(text: &str, at_once: usize) -> Result<Option<(u16, bool, String)>, String> {
        let mut incoming = Incoming::default();
        for piece in text.as_bytes().chunks(at_once) {
            if incoming.response(false)?.is_some() {
                return Err("whole before its end".to_owned());
            }
            incoming.feed(piece);
        }
        let Some(response) = incoming.response(true)? else { return Ok(None) };
        let body = String::from_utf8(incoming.body().to_vec()).unwrap();
        incoming.clear()?;
        assert!(incoming.is_empty());
        Ok(Some((response.status, response.keeps_open, body)))
    }

    #[test]
    fn responses_end_where_they_say_however_they_come() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                       4\r\nWiki\r\nA;x=y\r\npedia in c\r\n0\r\n\r\n";
        let trailed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n\
                       1\r\na\r\n0\r\nDigest: x\r\n\r\n";
        for (text, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", (200, true, "hello")),
            ("HTTP/1.1 404 \r\ncontent-length:0\r\n\r\n", (404, true, "")),
            ("HTTP/1.1 204 No Content\r\n\r\n", (204, true, "")),
            (
                "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx",
                (200, false, "x"),
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", (200, false, "x")),
            (
                "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
                (200, true, "x"),
            ),
            ("HTTP/1.1 200 OK\r\n\r\nto the end", (200, false, "to the end")),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
                (201, true, "ok"),
            ),
            (chunked, (200, true, "Wikipedia in c")),
            (trailed, (200, true, "a")),
        ] {
            let (status, keeps_open, body) = expected;
            for at_once in [1, 2, 7, text.len()] {
                let expected = Ok(Some((status, keeps_open, body.to_owned())));
                assert_eq!(read(text, at_once), expected, "{text:?} by {at_once}");
            }
        }
    }

    #[test]
    fn half_a_response_is_none() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWi",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
        ] {
            assert_eq!(read(text, 1000), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn what_has_no_end_is_given_up() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let endless = format!("{chunked}1;{}", "x".repeat(LONGEST_LINE));
        assert!(read(&endless, 1000).unwrap_err().contains("without end"));
        let many = format!("{chunked}{}", "1;x=y\r\na\r\n".repeat(10_000));
        let mut incoming = Incoming::default();
        incoming.feed(many.as_bytes());
        assert_eq!(incoming.response(false), Ok(None));
        // What was taken is kept once, without what was around it.
        assert_eq!((incoming.bytes.len(), incoming.body.len()), (0, 10_000));
        assert!(!incoming.is_empty(), "half an answer is not none");
        incoming.feed(&vec![b'x'; LONGEST_BODY + LONGEST_HEAD + 1]);
        assert!(incoming.is_excessive());
        let mut incoming = Incoming::default();
        incoming.feed(b"HTTP/1.1 200 OK\r\n\r\n");
        incoming.feed(&vec![b'x'; LONGEST_BODY + 1]);
        assert!(incoming.response(false).unwrap_err().contains("at most"));
    }

    #[test]
    fn what_is_no_response_is_named() {
        for (text, word) in [
            ("SSH-2.0-x\r\n", "no response of HTTP"),
            ("HTTP/1.1 101 Switching\r\n\r\n", "another protocol"),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no number"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "at most"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "only chunked"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
                "beside chunks",
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "without a length"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
                "longer than it said",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                "at most",
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "1 bytes came after"),
        ] {
            let error = read(text, 1000).unwrap_err();
            assert!(error.contains(word), "{text:?}: {error}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD));
        assert!(read(&endless, endless.len()).unwrap_err().contains("a head of more than"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>, is_headed: bool, is_closed: bool) {
            let mut incoming = Incoming::default();
            if is_headed {
                incoming.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            }
            for piece in bytes.chunks(3) {
                incoming.feed(piece);
                if !matches!(incoming.response(is_closed), Ok(None)) {
                    let _ = incoming.body();
                    let _ = incoming.clear();
                }
            }
        }
    }
}
