//! The text of a plan, part by part. It may be as large as all records: it names what runs in each of
//! hundreds of thousands of blocks, or in one block of a million sittings. Each sitting and each block
//! is handed over as soon as it was read, and its text is not held with that of the others.

use model::{Block, Plan, SharedSittings, Sitting};
use std::io::{BufRead, BufReader, Read};

/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// What takes the parts of a plan's text. What answers nothing ends the reading.
pub(crate) trait PlanParts {
    /// A sitting of the block that is handed over next.
    fn take_sitting(&mut self, text: &[u8]) -> Option<()>;

    /// A block. Its list of sittings is empty where they were handed over before.
    fn take_block(&mut self, text: &[u8]) -> Option<()>;

    /// The plan, at the end. Its list of blocks is empty where they were handed over before.
    fn take_plan(&mut self, text: &[u8]) -> Option<()>;
}

/// Hands over the parts of a plan's text; nothing where it cannot be parted or read. That all of it is
/// JSON is for the parsers of the parts to see: each part has all of its text but for white space.
pub(crate) fn read_parts(file: &mut dyn Read, parts: &mut dyn PlanParts) -> Option<()> {
    let mut text = PlanText(BufReader::with_capacity(PIECE, file));
    let (mut plan, mut block, mut sitting) = (Vec::new(), Vec::new(), Vec::new());
    text.skip_space();
    text.object(&mut plan, "blocks", &mut |text| {
        block.clear();
        text.object(&mut block, "sittings", &mut |text| {
            sitting.clear();
            // No list of a sitting is parted.
            text.object(&mut sitting, "", &mut |_| None)?;
            parts.take_sitting(&sitting)
        })?;
        parts.take_block(&block)
    })?;
    text.skip_space();
    if text.is_at_end() { parts.take_plan(&plan) } else { None }
}

/// The plan of a text that is read part by part; nothing where it is not that of a plan.
pub(crate) fn plan_of_parts(file: &mut dyn Read) -> Option<Plan> {
    let mut parts = ReadParts::default();
    read_parts(file, &mut parts)?;
    parts.plan
}

/// What was read of a plan.
#[derive(Default)]
struct ReadParts {
    shared: SharedSittings,
    /// Sittings of the block that comes next.
    sittings: Vec<Sitting>,
    blocks: Vec<Block>,
    plan: Option<Plan>,
}

impl PlanParts for ReadParts {
    fn take_sitting(&mut self, text: &[u8]) -> Option<()> {
        let mut sitting: Sitting = serde_json::from_slice(text).ok()?;
        self.shared.share_sitting(&mut sitting);
        self.sittings.push(sitting);
        Some(())
    }

    fn take_block(&mut self, text: &[u8]) -> Option<()> {
        let mut block: Block = serde_json::from_slice(text).ok()?;
        if block.sittings.is_empty() {
            block.sittings = self.sittings.drain(..).collect();
        } else {
            // The name of their list has an escape in it, by which it was not seen.
            self.shared.share(&mut block);
        }
        self.blocks.push(block);
        Some(())
    }

    fn take_plan(&mut self, text: &[u8]) -> Option<()> {
        let mut plan: Plan = serde_json::from_slice(text).ok()?;
        if plan.blocks.is_empty() {
            plan.blocks = std::mem::take(&mut self.blocks);
            plan.blocks.shrink_to_fit();
        }
        self.plan = Some(plan);
        Some(())
    }
}

/// Reads an element of a list, which begins where the text was read to.
type ElementReader<'r> = &'r mut dyn FnMut(&mut PlanText<'_>) -> Option<()>;

/// Text that is read byte by byte. What cannot be read of it ends it.
struct PlanText<'f>(BufReader<&'f mut dyn Read>);

impl PlanText<'_> {
    fn peek(&mut self) -> Option<u8> {
        self.0.fill_buf().ok()?.first().copied()
    }

    fn take_byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.0.consume(1);
        Some(byte)
    }

    /// Whether all of it was read, and could be.
    fn is_at_end(&mut self) -> bool {
        self.0.fill_buf().is_ok_and(|rest| rest.is_empty())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.0.consume(1);
        }
    }

    /// Adds a sign to `text`, where it comes next.
    fn take_sign(&mut self, sign: u8, text: &mut Vec<u8>) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.0.consume(1);
            text.push(sign);
        }
        is_next
    }

    /// Adds an object to `text`, but for the elements of its list of this name, each of which `read`
    /// reads.
    fn object(&mut self, text: &mut Vec<u8>, list: &str, read: ElementReader<'_>) -> Option<()> {
        if self.peek() != Some(b'{') {
            return None;
        }
        let mut depth = 0_usize;
        loop {
            let byte = self.take_byte()?;
            text.push(byte);
            match byte {
                b'"' => {
                    let begin = text.len();
                    self.string(text)?;
                    let is_name =
                        depth == 1 && text[begin..].strip_suffix(b"\"") == Some(list.as_bytes());
                    if is_name && self.take_sign(b':', text) && self.take_sign(b'[', text) {
                        self.elements(read)?;
                        text.push(b']');
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the rest of a string to `text`.
    fn string(&mut self, text: &mut Vec<u8>) -> Option<()> {
        loop {
            let byte = self.take_byte()?;
            text.push(byte);
            match byte {
                b'"' => return Some(()),
                b'\\' => text.push(self.take_byte()?),
                _ => {}
            }
        }
    }

    /// Reads the elements of a list and its end.
    fn elements(&mut self, read: ElementReader<'_>) -> Option<()> {
        self.skip_space();
        if self.peek() == Some(b']') {
            self.0.consume(1);
            return Some(());
        }
        loop {
            self.skip_space();
            read(self)?;
            self.skip_space();
            match self.take_byte()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// The text of a plan with three blocks.
    fn text() -> String {
        let mut plan = crate::fixtures::plan("parts", "d");
        plan.title = "[{ \"blocks\": [ \\".to_owned();
        let like = plan.blocks[0].clone();
        plan.blocks = (0..3).map(|index| Block { index, ..like.clone() }).collect();
        serde_json::to_string_pretty(&plan).unwrap()
    }

    /// The plan that is read at once.
    fn whole(text: &str) -> Option<Plan> {
        serde_json::from_str(text).ok()
    }

    #[test]
    fn a_plan_that_is_read_part_by_part_is_the_one_that_is_read_at_once() {
        let pretty = text();
        let compact = serde_json::to_string(&whole(&pretty).unwrap()).unwrap();
        for text in [
            format!(" {pretty}\n\t\r "),
            pretty.replacen("\"sittings\"", "\"sit\\u0074ings\"", 1),
            pretty.replacen("\"blocks\"", "\"block\\u0073\"", 1),
            pretty.replacen("\"name\"", "\"unknown\": {\"blocks\": [1, {}]}, \"name\"", 1),
            compact,
        ] {
            let plan = whole(&text).unwrap();
            assert_eq!(plan.blocks.len(), 3);
            assert!(plan.blocks.iter().all(|block| !block.sittings.is_empty()));
            assert_eq!(plan_of_parts(&mut text.as_bytes()), Some(plan), "{text}");
        }
        let none = Plan { blocks: Vec::new(), ..whole(&pretty).unwrap() };
        let text = serde_json::to_string(&none).unwrap();
        assert_eq!(plan_of_parts(&mut text.as_bytes()), Some(none));
    }

    #[test]
    fn a_text_that_is_no_plan_at_once_is_none_part_by_part() {
        let compact = serde_json::to_string(&whole(&text()).unwrap()).unwrap();
        let changed = |from: &str, to: &str| {
            assert!(compact.contains(from), "{from}");
            compact.replacen(from, to, 1)
        };
        let begin = "\"blocks\":[{";
        for text in [
            String::new(),
            "[]".to_owned(),
            format!("{compact},"),
            format!("{compact}{compact}"),
            compact[..compact.len() - 1].to_owned(),
            changed(begin, "\"blocks\":[,{"),
            changed(begin, "\"blocks\":[0,{"),
            changed(begin, "\"blocks\":[{},{"),
            changed(begin, "\"blocks\":[[{"),
            changed(begin, "\"blocks\"[{"),
            changed(begin, "\"blocks\":[],\"blocks\":[{"),
            changed(begin, "\"blocks\":[],\"block\\u0073\":[{"),
            changed("\"index\":2", "\"index\":2,\"index\":2"),
            changed("\"sittings\":[{", "\"sittings\":[],\"sittings\":[{"),
            changed("\"sittings\":[{", "\"sittings\":[{]"),
            changed("]},{\"index\":1", "]}{\"index\":1"),
            changed("]},{\"index\":1", "],},{\"index\":1"),
        ] {
            assert_eq!(whole(&text), None, "{text}");
            assert_eq!(plan_of_parts(&mut text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_text_of_a_sitting_is_not_held_with_that_of_its_block_or_of_the_plan() {
        /// The longest text of each kind.
        #[derive(Default)]
        struct Longest([usize; 3]);
        impl PlanParts for Longest {
            fn take_sitting(&mut self, text: &[u8]) -> Option<()> {
                self.0[0] = self.0[0].max(text.len());
                Some(())
            }

            fn take_block(&mut self, text: &[u8]) -> Option<()> {
                self.0[1] = self.0[1].max(text.len());
                Some(())
            }

            fn take_plan(&mut self, text: &[u8]) -> Option<()> {
                self.0[2] = text.len();
                Some(())
            }
        }
        let sitting = "{\"workloads\":[\"a\"]}";
        let block = format!("{{\"sittings\":[{}]}}", vec![sitting; 1_000].join(","));
        let text = format!("{{\"blocks\":[{block},{block}]}}");
        let mut longest = Longest::default();
        assert_eq!(read_parts(&mut text.as_bytes(), &mut longest), Some(()));
        let bare = ["{\"sittings\":[]}", "{\"blocks\":[]}"].map(str::len);
        assert_eq!(longest.0, [sitting.len(), bare[0], bare[1]]);
    }

    #[test]
    fn a_text_that_cannot_be_read_to_its_end_is_no_plan() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk"))
            }
        }
        let text = text();
        assert_eq!(plan_of_parts(&mut text.as_bytes().chain(Broken)), None);
        assert!(plan_of_parts(&mut text.as_bytes().chain(io::empty())).is_some());
    }
}
