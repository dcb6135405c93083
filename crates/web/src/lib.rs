//! The page that a report is: it holds the script and the place where data go. And its figures
//! once more, for where there is no page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// The page, or where it was not built, one that says so.
pub const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Whether [`PAGE`] is the real one.
pub const IS_BUILT: bool = cfg!(has_bundle);

/// The same figures for an engine without a page: a script that sets `figures`, whose functions
/// take and give texts. Absent where it was not built.
pub const FIGURES: Option<&str> = if cfg!(has_figures) {
    Some(include_str!(concat!(env!("OUT_DIR"), "/figures.js")))
} else {
    None
};

/// The beginning of the digest of the page's sources; `none` where it was not built, or from
/// other sources.
pub const SOURCES: &str = env!("PAGE_SOURCES");

/// What stands in the page where the data go.
const PLACE: &str = "<!--SCHEDLAB_DATA-->";

/// Longer data are compressed: below this a reader finds them in the page's source.
const PLAIN_BYTES: usize = 256 << 10;

/// Data that take longer to compress than to draw: a few per cent larger, in a third of the time.
const LONG_BYTES: usize = 8 << 20;

/// The page with these data in it. `json` may hold what it likes: it cannot end its element.
///
/// # Errors
/// When compressing fails.
pub fn page_with(json: &str) -> io::Result<String> {
    let (kind, text) = if json.len() > PLAIN_BYTES {
        let is_long = json.len() > LONG_BYTES;
        let level = if is_long { Compression::new(3) } else { Compression::default() };
        let mut encoder = GzEncoder::new(Vec::new(), level);
        encoder.write_all(json.as_bytes())?;
        ("application/gzip", STANDARD.encode(encoder.finish()?))
    } else {
        ("application/json", json.replace('<', "\\u003c"))
    };
    let node = format!("<script type=\"{kind}\" id=\"schedlab-data\">{text}</script>");
    Ok(PAGE.replacen(PLACE, &node, 1))
}

/// The page without data, which asks the server that it came from, and nobody else. What it says
/// in place of its English is a JSON object with `language` and `words`.
pub fn live_page(words: Option<&str>) -> String {
    let node = words.map_or_else(String::new, |words| {
        let words = words.replace('<', "\\u003c");
        format!("<script type=\"application/json\" id=\"schedlab-words\">{words}</script>")
    });
    PAGE.replacen(PLACE, &node, 1).replacen("connect-src 'none'", "connect-src 'self'", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn data_stay_data_whatever_they_hold() {
        let page = page_with("{\"title\": \"</script><script>alert(1)</script>\"}").unwrap();
        assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)\\u003c/script>"), "{page}");
        assert_eq!(page.matches("id=\"schedlab-data\"").count(), 1);
        assert!(!page.contains(PLACE));
    }

    #[test]
    fn long_data_are_compressed_and_the_same_every_time() {
        let json = format!("[{}0]", "1.25,".repeat(PLAIN_BYTES / 4));
        let page = page_with(&json).unwrap();
        assert_eq!(page, page_with(&json).unwrap());
        let begin = "<script type=\"application/gzip\" id=\"schedlab-data\">";
        let (_, behind) = page.split_once(begin).unwrap();
        let (text, _) = behind.split_once("</script>").unwrap();
        let mut unpacked = String::new();
        let bytes = STANDARD.decode(text).unwrap();
        GzDecoder::new(&*bytes).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, json);
    }

    #[test]
    fn the_live_page_reaches_its_own_server_alone() {
        let page = live_page(None);
        assert!(!page.contains("connect-src 'none'") && !page.contains(PLACE));
        assert!(page.contains("connect-src 'self'") || !IS_BUILT, "it cannot connect");
    }

    #[test]
    fn words_of_the_live_page_stay_data() {
        let page = live_page(Some("{\"language\": \"</script><b>\"}"));
        if IS_BUILT {
            assert!(page.contains(
                "id=\"schedlab-words\">{\"language\": \"\\u003c/script>\\u003cb>\"}</script>"
            ));
        }
        assert!(!page.contains(PLACE));
    }

    #[test]
    fn the_page_forbids_itself_to_reach_anything() {
        assert!(PAGE.contains("default-src 'none'"), "no policy");
        assert!(PAGE.contains("connect-src 'none'") || !IS_BUILT, "it may connect");
    }
}
