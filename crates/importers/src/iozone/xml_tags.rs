//! How many attributes a tag of a workbook's parts has, counted before any reader of XML asks: that
//! compares each name with all before it in its tag, so that the work grows with the square.
//!
//! Tags end where the reader (quick-xml) ends them: not at a `>` between quotes. Comments, CDATA
//! sections and document types are passed over by its own rules. Where it gives up, it reads nothing
//! behind, and what is counted there does no harm.

use std::io::{Result, Write};

/// Counts the attributes of the tags of one part that is written into it, in whatever pieces. It
/// holds no byte of it.
#[derive(Default)]
pub(super) struct TagCounter {
    position: XmlPosition,
    /// Signs `=` of the tag that is open.
    open: u64,
    /// The most that any tag had.
    most: u64,
}

/// Where in a document the next byte stands.
#[derive(Clone, Copy, Default)]
enum XmlPosition {
    #[default]
    Text,
    /// Right behind `<`.
    Markup,
    /// Within a tag, and within this quote of it.
    Tag(Option<u8>),
    /// Right behind `<!`.
    Declaration,
    /// `<!--`: bytes behind `<`, as far as they matter, and dashes right before.
    Comment { length: u8, dashes: u8 },
    /// `<![CDATA[`: brackets right before.
    Cdata { brackets: u8 },
    /// `<!DOCTYPE`: `<` within it that are open.
    DocumentType { depth: u64 },
    /// `<?`: whether a `?` stands right before.
    Instruction { is_ending: bool },
}

/// `!----`: a comment does not end before.
const EMPTY_COMMENT: u8 = 5;

impl TagCounter {
    /// At most so many attributes has any tag that was written so far. Each has a sign `=`, and no
    /// other one counts for it; those in values count, too, because what is a value depends on the
    /// attributes before it.
    pub(super) fn most_attributes(&self) -> u64 {
        self.most
    }

    fn take(&mut self, byte: u8) {
        self.position = match self.position {
            XmlPosition::Text if byte == b'<' => XmlPosition::Markup,
            XmlPosition::Text => XmlPosition::Text,
            XmlPosition::Markup => self.begin(byte),
            XmlPosition::Tag(quote) => self.in_tag(quote, byte),
            XmlPosition::Declaration => declared(byte),
            XmlPosition::Comment { length: EMPTY_COMMENT.., dashes: 2.. } if byte == b'>' => {
                XmlPosition::Text
            }
            XmlPosition::Comment { length, dashes } => XmlPosition::Comment {
                length: length.saturating_add(1),
                dashes: counted(dashes, byte == b'-'),
            },
            XmlPosition::Cdata { brackets: 2.. } if byte == b'>' => XmlPosition::Text,
            XmlPosition::Cdata { brackets } => {
                XmlPosition::Cdata { brackets: counted(brackets, byte == b']') }
            }
            XmlPosition::DocumentType { depth } => match byte {
                b'<' => XmlPosition::DocumentType { depth: depth.saturating_add(1) },
                b'>' if depth == 0 => XmlPosition::Text,
                b'>' => XmlPosition::DocumentType { depth: depth - 1 },
                _ => self.position,
            },
            XmlPosition::Instruction { is_ending } => {
                self.count(byte);
                match byte {
                    b'>' if is_ending => XmlPosition::Text,
                    _ => XmlPosition::Instruction { is_ending: byte == b'?' },
                }
            }
        };
    }

    /// What begins with this byte behind `<`.
    fn begin(&mut self, byte: u8) -> XmlPosition {
        self.open = 0;
        match byte {
            b'!' => XmlPosition::Declaration,
            b'?' => XmlPosition::Instruction { is_ending: true },
            _ => self.in_tag(None, byte),
        }
    }

    fn in_tag(&mut self, quote: Option<u8>, byte: u8) -> XmlPosition {
        self.count(byte);
        match (quote, byte) {
            (None, b'>') => XmlPosition::Text,
            (None, b'"' | b'\'') => XmlPosition::Tag(Some(byte)),
            (Some(quote), _) if quote == byte => XmlPosition::Tag(None),
            (quote, _) => XmlPosition::Tag(quote),
        }
    }

    fn count(&mut self, byte: u8) {
        self.open += u64::from(byte == b'=');
        self.most = self.most.max(self.open);
    }
}

/// What begins with this byte behind `<!`. The reader refuses any other.
fn declared(byte: u8) -> XmlPosition {
    match byte {
        b'-' => XmlPosition::Comment { length: 2, dashes: 1 },
        b'[' => XmlPosition::Cdata { brackets: 0 },
        b'D' | b'd' => XmlPosition::DocumentType { depth: 0 },
        _ => XmlPosition::Text,
    }
}

/// How many of a sign stand in a row, after one byte more.
fn counted(before: u8, is_one: bool) -> u8 {
    if is_one { before.saturating_add(1) } else { 0 }
}

impl Write for TagCounter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        for byte in bytes {
            self.take(*byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same in pieces of every length.
    fn most(text: &str) -> u64 {
        let counted = |length: usize| {
            let mut counter = TagCounter::default();
            for piece in text.as_bytes().chunks(length) {
                counter.write_all(piece).unwrap();
            }
            counter.most_attributes()
        };
        let whole = counted(text.len().max(1));
        for length in 1..8 {
            assert_eq!(counted(length), whole, "{text}");
        }
        whole
    }

    #[test]
    fn attributes_are_counted_of_the_tag_that_has_the_most() {
        for (text, expected) in [
            ("", 0),
            ("a = b = c", 0),
            ("<a>", 0),
            (r#"<a b="1"/>"#, 1),
            (r#"<a b="1"><c d="1" e='2'/></a>"#, 2),
            (r#"<?xml version="1.0" encoding="UTF-8"?><a/>"#, 2),
            ("<a\nb\t=\r'1'\nc = \"2\">text = = =</a>", 2),
            ("<a b='1' c='2'", 2),
            ("</a b='1' c='2' d='3'>", 3),
        ] {
            assert_eq!(most(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_tag_hides_none_behind_it() {
        let tag = "<row a='1' b='2' c='3'>";
        for before in [
            "<a x='>'>",
            "<a x=\">\">",
            "<a x='\"'>",
            "<a x=\"'\">",
            "</a'>'>",
            "<>",
            "<!---->",
            "<!-- ' \" -->",
            "<!-- > -- > - -> -->",
            "<!--<a>'-->",
            "<!--]]>-->",
            "<![CDATA[]]>",
            "<![CDATA[<a ' \" ]>]]]>",
            "<![CDATA[-->]]>",
            "<?a?>",
            "<?>",
            "<?a '\" > ? > ?>",
            "<?a <!-- ?>",
            "<!DOCTYPE a>",
            "<!doctype a [<!ENTITY b '>]>",
            "<!DOCTYPE a '>",
            "<!x>",
            "&lt;!--",
        ] {
            assert_eq!(most(&format!("{before}{tag}")), 3, "{before}");
        }
        // The reader's tag begins with the quote, or with another `<`.
        assert_eq!(most("<'><row a='1' b='2' c='3'>"), 3);
        assert_eq!(most("<<!-- a='1' b='2' c='3'>"), 3);
    }

    #[test]
    fn what_looks_like_a_tag_within_something_else_is_counted_for_no_tag() {
        let tag = "<row a='1' b='2' c='3'>";
        for text in [
            format!("<!--{tag}-->"),
            format!("<!-->{tag}-->"),
            format!("<!--->{tag}-->"),
            format!("<![CDATA[{tag}]]>"),
            format!("<![CDATA[]>{tag}]]>"),
            format!("<!DOCTYPE a [{tag}]>"),
        ] {
            assert_eq!(most(&text), 0, "{text}");
        }
    }

    #[test]
    fn signs_in_quotes_count_because_attributes_may_begin_elsewhere() {
        // quick-xml passes over an attribute without quotes, and goes on within those of the tag.
        assert_eq!(most(r#"<xf a'= b="" c="" d="" '>"#), 4);
        assert_eq!(most(r#"<a b="c=d=e">"#), 3);
    }
}
