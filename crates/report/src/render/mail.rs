//! The verdict table as a mailing list takes it.

use super::inert::write_inert;
use super::{Page, Renderer, terminal};
use crate::view::Report;
use contract::Description;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "mail",
    summary: "plain text of at most 78 columns, for a mailing list",
    doc: "The verdict table without colours and in ASCII signs, then the machine and how to \
          reproduce it. A command that is longer goes on behind a backslash.",
};

/// RFC 5322 wants no more, so that a quoted line still fits.
const COLUMNS: usize = 78;
/// What of a machine readers of such a list ask first.
const FACTS: &[&str] = &["kernel.release", "kernel.version", "cpu.model", "cpu.online"];

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "mail.txt"
    }

    fn render(&self, report: &Report, page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let page = Page {
            width: COLUMNS,
            is_colour: false,
            is_unicode: false,
            is_verbose: false,
            has_plots: false,
            ..*page
        };
        let mut drawn = Vec::new();
        terminal::Entry.render(report, &page, &mut drawn)?;
        beside(report, &mut drawn)?;
        write_inert(&drawn, output)
    }
}

/// The machine, and how to reproduce the table.
fn beside(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let facts: Vec<(&str, &String)> =
        FACTS.iter().filter_map(|key| Some((*key, report.environment.0.get(*key)?))).collect();
    if !facts.is_empty() {
        writeln!(output, "\n{}", report.language.word("Machine"))?;
        for (key, value) in facts {
            let value = model::bounded_text(value);
            for line in crate::wrapped(&format!("{key}: {value}"), COLUMNS - 2) {
                writeln!(output, "  {line}")?;
            }
        }
    }
    writeln!(output, "\n{}", report.language.word("How to reproduce"))?;
    for command in &report.reproduce {
        writeln!(output, "{}", continued(&model::inert_text(command)))?;
    }
    let digest = model::inert_text(&report.plan_digest);
    writeln!(output, "\n{}: {digest}", report.language.word("plan digest"))
}

/// A command in lines that a shell joins again. One word is never cut.
fn continued(command: &str) -> String {
    let mut text = String::from(" ");
    let mut column = 1;
    for word in command.split(' ') {
        if column > 3 && column + 1 + word.width() + 2 > COLUMNS {
            text.push_str(" \\\n   ");
            column = 3;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.width();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_joins_a_command_again_and_no_word_is_cut() {
        assert_eq!(continued("schedlab judge results/x"), "  schedlab judge results/x");
        let words = format!("schedlab run results/{} --fresh --venue host", "x".repeat(70));
        let text = continued(&words);
        assert_eq!(
            text.replace(" \\\n", " ").split_whitespace().collect::<Vec<_>>().join(" "),
            words
        );
        let several = continued(&"--set a=b ".repeat(20));
        assert!(several.lines().count() > 2 && several.lines().all(|line| line.len() <= COLUMNS));
    }
}
