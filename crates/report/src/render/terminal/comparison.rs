//! Two campaigns side by side. It gives no verdict of its own: each row is one campaign's.

use super::super::bar::Scale;
use super::{BOLD, DIM, Page, finished, lines, padded, padded_left, paragraph, style_of, styled};
use crate::answer::in_percent;
use crate::compare::{Comparison, Fact, Facts};
use crate::emulated::why_hidden;
use crate::premises::premises;
use crate::quantities::{direction, p_value};
use crate::verdict_table::{
    effect, is_in_percent, look, percentages, reading, reference_value, symbol, words,
};
use anstyle::Style;
use model::{Finding, Role, Verdict};
use phrases::{Language, say};
use std::collections::BTreeSet;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// What the campaigns are called beside their rows.
const SIDES: [&str; 2] = ["A", "B"];
/// More questions of both, of one alone, and facts of a kind are told by their number.
const MOST_SHARED: usize = 24;
const MOST_SINGLE: usize = 8;
const MOST_FACTS: usize = 24;
/// Lines of a fact's value; a longer one is cut.
const MOST_LINES: usize = 4;
/// Facts stand in columns on pages as wide as this.
const NARROWEST_TABLE: usize = 60;
/// Cells of bars: fewer show nothing, and beyond the most nothing more is seen.
const SHORTEST_BAR: usize = 11;
const LONGEST_BAR: usize = 41;

impl Comparison<'_> {
    /// Draws it for a terminal.
    ///
    /// # Errors
    /// When writing fails.
    pub fn draw(&self, page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let mut drawn = Vec::new();
        let kept = kept(&self.shared, page);
        let layout = Layout::of(&kept, page.width, self.campaigns[0].language);
        let findings = kept.iter().flatten().copied();
        let mut sheet = Sheet {
            page,
            compared: self,
            language: self.campaigns[0].language,
            layout,
            scale: Scale::of(findings, layout.bar.max(1)),
            output: &mut drawn,
        };
        sheet.heading()?;
        sheet.facts(sheet.language.word("Design"), &self.design)?;
        sheet.facts(sheet.language.word("Environment"), &self.environment)?;
        sheet.shared(&kept)?;
        sheet.screened()?;
        sheet.single(0)?;
        sheet.single(1)?;
        if kept.is_empty() {
            // Otherwise it stands below the questions of both.
            sheet.legend(&kept)?;
        }
        sheet.closing()?;
        output.write_all(finished(&drawn, page).as_bytes())
    }
}

/// The pairs that are shown: where there are too many, those that got other verdicts first.
fn kept<'a>(shared: &[[&'a Finding; 2]], page: &Page) -> Vec<[&'a Finding; 2]> {
    if page.is_verbose || shared.len() <= MOST_SHARED {
        return shared.to_vec();
    }
    let (other, same): (Vec<usize>, Vec<usize>) =
        (0..shared.len()).partition(|place| !is_same(&shared[*place]));
    let chosen: BTreeSet<usize> = other.into_iter().chain(same).take(MOST_SHARED).collect();
    chosen.into_iter().map(|place| shared[place]).collect()
}

fn is_judged(finding: &Finding) -> bool {
    finding.question.role != Role::Screen
}

/// What one campaign asked alone and that has a row: of very much the first.
fn alone<'f>(compared: &Comparison<'f>, side: usize, page: &Page) -> Vec<&'f Finding> {
    let judged = compared.single[side].iter().copied().filter(|finding| is_judged(finding));
    judged.take(if page.is_verbose { usize::MAX } else { MOST_SINGLE }).collect()
}

/// What of one campaign has a row, above or below the legend.
fn printed<'f>(
    compared: &Comparison<'f>,
    kept: &[[&'f Finding; 2]],
    side: usize,
    page: &Page,
) -> Vec<&'f Finding> {
    let of_both = kept.iter().map(|pair| pair[side]);
    let mut rows: Vec<&'f Finding> = of_both.chain(alone(compared, side, page)).collect();
    if page.is_verbose {
        let secondary = compared.single[side].iter().copied().filter(|one| !is_judged(one));
        rows.extend(compared.screened.iter().map(|pair| pair[side]).chain(secondary));
    }
    rows
}

fn is_same([one, other]: &[&Finding; 2]) -> bool {
    (one.verdict, one.question.role) == (other.verdict, other.question.role)
}

/// Whether there is no verdict although the interval excludes no difference, or none at all.
fn is_odd(finding: &Finding) -> bool {
    let interval = finding.effect.as_ref().map(|effect| effect.interval);
    match finding.verdict {
        Verdict::Invalid => true,
        Verdict::Inconclusive => interval.is_none_or(|ends| ends.low > 1.0 || ends.high < 1.0),
        Verdict::Better | Verdict::Worse | Verdict::Equivalent => false,
    }
}

/// Widths of a row's columns, from what stands in them.
#[derive(Debug, Clone, Copy)]
struct Layout {
    size: usize,
    interval: usize,
    verdict: usize,
    /// Cells of the bars; none where there is no room.
    bar: usize,
    /// Whether a row fits on a line at all.
    is_line: bool,
}

impl Layout {
    fn of(pairs: &[[&Finding; 2]], width: usize, language: Language) -> Self {
        let [mut size, mut interval, mut verdict] = [0; 3];
        for finding in pairs.iter().flatten().filter(|one| one.question.role != Role::Screen) {
            let (effect, ends) = effect(finding, language);
            size = size.max(effect.width());
            interval = interval.max(ends.width());
            verdict = verdict.max(words(finding, language).width());
        }
        // `  ? A  `, two blanks between columns, `n=` and up to four digits.
        let fixed = 7 + size + 2 + interval + 2 + verdict + 2 + 6;
        let room = width.saturating_sub(fixed + 2);
        let bar = if room < SHORTEST_BAR { 0 } else { room.min(LONGEST_BAR) };
        Self { size, interval, verdict, bar, is_line: fixed <= width }
    }

    /// The column in which bars begin.
    fn bar_column(&self) -> usize {
        7 + self.size + 2 + self.interval + 2
    }
}

struct Sheet<'a> {
    page: &'a Page,
    compared: &'a Comparison<'a>,
    language: Language,
    layout: Layout,
    scale: Scale,
    output: &'a mut dyn Write,
}

impl Sheet<'_> {
    fn paragraph(&mut self, text: &str, indent: &str, style: Style) -> io::Result<()> {
        paragraph(self.output, self.page, text, indent, style)
    }

    /// A title, and what is to be known of it: on its line where both fit there.
    fn titled(&mut self, title: &str, about: &str) -> io::Result<()> {
        if title.width() + 2 + about.width() <= self.page.width {
            let title = styled(self.page, title, BOLD);
            return writeln!(self.output, "{title}  {}", styled(self.page, about, DIM));
        }
        self.paragraph(title, "", BOLD)?;
        self.paragraph(about, "  ", DIM)
    }

    fn more(&mut self, left_out: usize) -> io::Result<()> {
        if left_out == 0 {
            return Ok(());
        }
        let text = say!(self.language, "and {count} more (-v shows all)", count = left_out);
        self.paragraph(&text, "  ", DIM)
    }

    /// Names and titles; what has to be known of each before its answer, whether they differ in it or
    /// not; and the answers.
    fn heading(&mut self) -> io::Result<()> {
        let compared = self.compared;
        for (side, report) in SIDES.iter().zip(compared.campaigns) {
            self.paragraph(&format!("{side}: {}", report.title), "", BOLD)?;
            self.paragraph(&report.campaign, "   ", DIM)?;
            for premise in premises(report) {
                self.paragraph(&premise.text, "   ", Style::new())?;
            }
            self.paragraph(&report.answer, "   ", Style::new())?;
        }
        Ok(())
    }

    fn facts(&mut self, title: &str, facts: &Facts) -> io::Result<()> {
        let about = match (facts.differing.len(), facts.alike) {
            (0, alike) => say!(self.language, "nothing differs, {alike} alike", alike = alike),
            (differ, alike) => say!(
                self.language,
                "{differ} differ, {alike} alike",
                differ = differ,
                alike = alike
            ),
        };
        writeln!(self.output)?;
        self.titled(title, &about)?;
        let shown = if self.page.is_verbose { usize::MAX } else { MOST_FACTS };
        let shown: Vec<&Fact> = facts.differing.iter().take(shown).collect();
        let name = shown.iter().map(|fact| fact.name.width()).max().unwrap_or(0);
        let name = name.min(self.page.width / 3);
        for fact in &shown {
            self.fact(fact, name)?;
        }
        self.more(facts.differing.len() - shown.len())
    }

    fn fact(&mut self, fact: &Fact, name: usize) -> io::Result<()> {
        let untold = self.language.word("not told");
        let [one, other] =
            fact.values.each_ref().map(|value| value.as_deref().unwrap_or(untold).to_owned());
        if self.page.width < NARROWEST_TABLE {
            self.paragraph(&fact.name, "  ", Style::new())?;
            for (side, value) in SIDES.iter().zip([one, other]) {
                self.paragraph(&format!("{side}: {value}"), "    ", DIM)?;
            }
            return Ok(());
        }
        // Two blanks before the name and each value, and the letter of its campaign.
        let room = (self.page.width - 2 - name - 2 * (2 + 3)) / 2;
        let cut = |text: &str, room: usize| {
            let mut lines = lines(text, room);
            if lines.len() > MOST_LINES && !self.page.is_verbose {
                lines.truncate(MOST_LINES - 1);
                lines.push("..".to_owned());
            }
            lines
        };
        let columns = [cut(&fact.name, name), cut(&one, room), cut(&other, room)];
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..height {
            let at = |column: usize| columns[column].get(row).map_or("", String::as_str);
            let [one, other] = [0, 1].map(|side| {
                let letter = if row == 0 { format!("{}: ", SIDES[side]) } else { "   ".to_owned() };
                format!("{letter}{}", padded(at(side + 1), room))
            });
            let line = format!("  {}  {one}  {other}", padded(at(0), name));
            writeln!(self.output, "{}", styled(self.page, line.trim_end(), Style::new()))?;
        }
        Ok(())
    }

    /// What both asked, each with its answers one below the other.
    fn shared(&mut self, kept: &[[&Finding; 2]]) -> io::Result<()> {
        let compared = self.compared;
        let all = compared.shared.len();
        writeln!(self.output)?;
        if all == 0 {
            let text = self.language.word("No question was asked by both.");
            return self.paragraph(text, "", BOLD);
        }
        let same = compared.shared.iter().filter(|pair| is_same(pair)).count();
        let about = say!(
            self.language,
            "{all} in all, {same} with the same verdict",
            all = all,
            same = same
        );
        self.titled(self.language.word("Questions of both"), &about)?;
        for pair in kept {
            writeln!(self.output)?;
            self.question(pair)?;
        }
        if self.layout.bar > 0 {
            let from = self.layout.bar_column();
            let ruler = super::rows::axis(&self.scale, from, self.page.width, self.page.is_unicode);
            for line in ruler {
                writeln!(self.output, "{}", styled(self.page, &line, DIM))?;
            }
        }
        if kept.len() < all {
            let text = say!(
                self.language,
                "and {count} more (-v shows all); those with other verdicts come before them",
                count = all - kept.len()
            );
            self.paragraph(&text, "  ", DIM)?;
        }
        self.legend(kept)
    }

    fn question(&mut self, pair: &[&Finding; 2]) -> io::Result<()> {
        let language = self.language;
        let of_both = |of: &dyn Fn(&Finding) -> String| both(&pair.map(of));
        let direction =
            of_both(&|finding| direction(finding.question.direction, language).to_owned());
        let margin = of_both(&|finding| {
            say!(language, "margin {margin} %", margin = in_percent(finding.margin))
        });
        let references = [0, 1].map(|side| {
            let hides = self.compared.campaigns[side].hides_absolute;
            reference_value(&[pair[side]], hides, language)
        });
        let reference = &pair[0].question.reference;
        let about = format!("{direction}, {margin}; {reference} = {}", both(&references));
        self.titled(&name(pair[0], language), &about)?;
        for (side, finding) in SIDES.iter().zip(pair) {
            self.row(side, finding)?;
            self.reason(finding, "       ")?;
        }
        Ok(())
    }

    /// Why it says so, where its interval alone would say something else.
    fn reason(&mut self, finding: &Finding, indent: &str) -> io::Result<()> {
        if finding.question.role == Role::Screen || !(self.page.is_verbose || is_odd(finding)) {
            return Ok(());
        }
        for text in [finding.reason.clone(), look(finding, self.language)].into_iter().flatten() {
            self.paragraph(&text, indent, DIM)?;
        }
        Ok(())
    }

    fn row(&mut self, side: &str, finding: &Finding) -> io::Result<()> {
        if finding.question.role == Role::Screen {
            let (secondary, found) =
                (self.language.word("secondary there"), screened(finding, self.language));
            return self.paragraph(&format!("{side}  {secondary}: {found}"), "    ", DIM);
        }
        let Layout { size, interval, verdict, bar, is_line } = self.layout;
        let style = style_of(finding.verdict);
        let sign = styled(self.page, symbol(finding.verdict, self.page.is_unicode), style);
        let pairs = format!("n={}", finding.pairs);
        let (effect, ends) = effect(finding, self.language);
        let words = words(finding, self.language);
        if !is_line {
            let word = styled(self.page, &words, style);
            writeln!(self.output, "  {sign} {side}  {word}")?;
            let ends = if ends.is_empty() { ends } else { format!(" ({ends})") };
            return self.paragraph(&format!("{effect}{ends}, {pairs}"), "       ", Style::new());
        }
        let word = styled(self.page, &padded(&words, verdict), style);
        let mut numbers = format!("{}  {}", padded_left(&effect, size), padded(&ends, interval));
        if bar > 0 {
            numbers += &format!("  {}", self.scale.draw(finding, self.page.is_unicode));
        }
        writeln!(self.output, "  {sign} {side}  {numbers}  {word}  {pairs}")
    }

    /// What the numbers of all rows are; nothing where there is none.
    fn legend(&mut self, kept: &[[&Finding; 2]]) -> io::Result<()> {
        let compared = self.compared;
        let rows = [0, 1].map(|side| printed(compared, kept, side, self.page));
        if rows.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let told = [0, 1].map(|side| {
            let report = compared.campaigns[side];
            let families = report.design.family_words(report.language);
            reading(&report.findings, rows[side].iter().copied(), &families, report.language)
        });
        let mut text = self
            .language
            .word("+ and × are better; each ratio is to the reference of its own campaign.")
            .to_owned();
        if let Some(told) = of_sides(&told) {
            text += &format!(" {told}");
        }
        let is_told = rows.iter().flatten().any(|one| is_in_percent(one));
        let of_percentages = percentages(is_told, self.language);
        writeln!(self.output)?;
        self.paragraph(&format!("{text}{of_percentages}"), "", DIM)
    }

    /// Secondary metrics of both.
    fn screened(&mut self) -> io::Result<()> {
        let compared = self.compared;
        let pairs = &compared.screened;
        if pairs.is_empty() {
            return Ok(());
        }
        writeln!(self.output)?;
        let title = self.language.word("Secondary metrics of both");
        if !self.page.is_verbose {
            let about = say!(self.language, "{count} (-v shows them)", count = pairs.len());
            return self.titled(title, &about);
        }
        self.titled(title, self.language.word("q-values; never a verdict"))?;
        for pair in pairs {
            self.paragraph(&name(pair[0], self.language), "  ", Style::new())?;
            for (side, finding) in SIDES.iter().zip(pair) {
                self.paragraph(
                    &format!("{side}  {}", screened(finding, self.language)),
                    "    ",
                    DIM,
                )?;
            }
        }
        Ok(())
    }

    /// What only one of them asked.
    fn single(&mut self, side: usize) -> io::Result<()> {
        let compared = self.compared;
        let (judged, secondary): (Vec<&Finding>, Vec<&Finding>) =
            compared.single[side].iter().copied().partition(|finding| is_judged(finding));
        if secondary.is_empty() && judged.is_empty() {
            return Ok(());
        }
        let about = say!(
            self.language,
            "{count} with a verdict, {secondary} secondary",
            count = judged.len(),
            secondary = secondary.len()
        );
        writeln!(self.output)?;
        self.titled(&say!(self.language, "Asked by {side} alone", side = SIDES[side]), &about)?;
        let is_all = self.page.is_verbose;
        let shown = alone(compared, side, self.page);
        for &finding in &shown {
            let sign = symbol(finding.verdict, self.page.is_unicode);
            let (effect, ends) = effect(finding, self.language);
            let ends = if ends.is_empty() { ends } else { format!(" ({ends})") };
            let text = format!(
                "{}: {sign} {}, {effect}{ends}, n={}",
                name(finding, self.language),
                words(finding, self.language),
                finding.pairs
            );
            self.paragraph(&text, "  ", Style::new())?;
            self.reason(finding, "    ")?;
        }
        for finding in secondary.iter().filter(|_| is_all) {
            let text =
                format!("{}: {}", name(finding, self.language), screened(finding, self.language));
            self.paragraph(&text, "  ", DIM)?;
        }
        let hidden = if is_all { 0 } else { secondary.len() };
        self.more(judged.len() - shown.len() + hidden)
    }

    fn closing(&mut self) -> io::Result<()> {
        writeln!(self.output)?;
        if self.compared.campaigns.iter().any(|report| report.hides_absolute) {
            self.paragraph(why_hidden(self.language), "", DIM)?;
        }
        let text = self.language.word(
            "No verdict across campaigns: what differs between them is confounded with time.",
        );
        self.paragraph(text, "", BOLD)
    }
}

/// A question in words, and whether it is the control.
fn name(finding: &Finding, language: Language) -> String {
    let question = &finding.question;
    let control = if question.role == Role::Control { " (A/A)" } else { "" };
    say!(
        language,
        "{workload} {metric}, {subject}{control} against {reference}",
        workload = question.workload,
        metric = question.metric,
        subject = question.subject,
        control = control,
        reference = question.reference
    )
}

/// What the screen of secondary metrics says.
fn screened(finding: &Finding, language: Language) -> String {
    let q = finding.effect.as_ref().and_then(|effect| effect.adjusted_difference);
    let (effect, ends) = effect(finding, language);
    let ends = if ends.is_empty() { ends } else { format!(" ({ends})") };
    let q = q.map_or(String::new(), |q| format!(", q {}", p_value(q)));
    format!("{effect}{ends}{q}")
}

/// The sentences of both, once where they are the same, and nothing of a side that has none.
fn of_sides([one, other]: &[Option<String>; 2]) -> Option<String> {
    if one == other {
        return one.clone();
    }
    let told = SIDES.into_iter().zip([one, other]);
    let told = told.filter_map(|(side, text)| text.as_ref().map(|text| format!("{side}: {text}")));
    told.reduce(|one, other| format!("{one} {other}"))
}

/// What both say, once where it is the same.
fn both([one, other]: &[String; 2]) -> String {
    if one == other {
        return one.clone();
    }
    let [a, b] = SIDES;
    format!("{a} {one}, {b} {other}")
}
