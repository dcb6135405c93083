//! The page of reports: one file of HTML with its script and style in it, built from `web/`.
//!
//! This crate must not know what a report is: it holds the page and the place where data go.

/// The page, or where it was not built, one that says so.
pub const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Whether [`PAGE`] is the real one.
pub const IS_BUILT: bool = cfg!(has_bundle);

/// What stands in the page where the data go.
const PLACE: &str = "<!--SCHEDLAB_DATA-->";

/// The page with these data in it. `json` may hold what it likes: it cannot end its element.
pub fn page_with(json: &str) -> String {
    let inert = json.replace('<', "\\u003c");
    let node = format!("<script type=\"application/json\" id=\"schedlab-data\">{inert}</script>");
    PAGE.replacen(PLACE, &node, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stay_data_whatever_they_hold() {
        let page = page_with("{\"title\": \"</script><script>alert(1)</script>\"}");
        assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)\\u003c/script>"), "{page}");
        assert_eq!(page.matches("id=\"schedlab-data\"").count(), 1);
        assert!(!page.contains(PLACE));
    }

    #[test]
    fn the_page_reaches_nothing() {
        assert!(PAGE.contains("default-src 'none'"), "no policy");
        assert!(!PAGE.contains("http://") || IS_BUILT, "the fallback names an address");
    }
}
