//! Where the lines of a text begin, looked for once: what asks for the place of each of very many
//! problems does not count lines from the beginning for each.

/// A text and the beginnings of its lines.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The number of the line that has this byte offset, from 1; the last one for any offset beyond
    /// the text.
    pub(crate) fn number(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line of this number, without its end.
    pub(crate) fn line(&self, number: usize) -> &'t str {
        self.text[self.start(number)..].lines().next().unwrap_or_default()
    }

    /// Where the line of this number begins.
    fn start(&self, number: usize) -> usize {
        let index = number.saturating_sub(1);
        self.starts.get(index).copied().unwrap_or(self.text.len())
    }
}

/// Goes forward through a text and tells lines and columns; no character is counted twice.
pub(crate) struct Cursor<'i, 't> {
    lines: &'i LineIndex<'t>,
    line: usize,
    column: usize,
    offset: usize,
}

impl<'i, 't> Cursor<'i, 't> {
    pub(crate) fn at_the_begin(lines: &'i LineIndex<'t>) -> Self {
        Self { lines, line: 1, column: 1, offset: 0 }
    }

    /// Line and column, both from 1, of a byte offset that is not before the last one; the end of
    /// the text for any offset beyond it.
    pub(crate) fn go_to(&mut self, offset: usize) -> (usize, usize) {
        let text = self.lines.text;
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.lines.number(offset);
        if line != self.line {
            (self.line, self.column, self.offset) = (line, 1, self.lines.start(line));
        }
        let passed = text.get(self.offset..offset).unwrap_or_default();
        self.column += passed.chars().count();
        self.offset = offset;
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_counting_from_the_beginning() {
        for text in ["", "a", "\n", "é = 1\r\nb\n\nµµ x", "no end\nof line"] {
            let lines = LineIndex::of(text);
            let mut cursor = Cursor::at_the_begin(&lines);
            for offset in 0..text.len() + 3 {
                let mut end = offset.min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let before = &text[..end];
                let number = before.matches('\n').count() + 1;
                let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
                let column = before[begin..].chars().count() + 1;
                assert_eq!(cursor.go_to(offset), (number, column), "{text:?} {offset}");
                assert_eq!(lines.number(offset), number, "{text:?} {offset}");
                let line = text.lines().nth(number - 1).unwrap_or_default();
                assert_eq!(lines.line(number), line, "{text:?} {offset}");
            }
        }
    }
}
