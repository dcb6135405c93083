//! What `schedlab top` shows: the same snapshot as the dashboard, in characters.

use crate::progress::human_duration;
use live::{
    Current, LatencyPoint, LatencySeries, LiveCampaign, LiveVerdict, MachineSample, RunState,
};
use model::{Interval, Role, Unit, Verdict};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Row, Table};
use report::Language;

/// Trials whose percentiles are drawn as one line.
const LONGEST_SPARK: usize = 24;
/// Lines of the log.
const LOG_LINES: u16 = 5;
/// Latencies shown; the dashboard shows all.
const MOST_LATENCIES: usize = 6;

/// What the terminal can show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub is_unicode: bool,
    pub is_colour: bool,
}

impl Look {
    fn colour(self, colour: Color) -> Style {
        if self.is_colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// What a report says, in the letters of this terminal.
    fn of_report(self, text: String) -> String {
        if self.is_unicode { text } else { text.replace('×', "x").replace('÷', "/") }
    }

    fn bars(self) -> &'static [char] {
        if self.is_unicode {
            &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
        } else {
            &['_', '.', '-', '=', '+', '*', '%', '#']
        }
    }

    /// A text in so many columns: its middle is left out, for names differ at their ends.
    fn shortened(self, text: &str, width: usize) -> String {
        let letters: Vec<char> = text.chars().collect();
        if Span::raw(text).width() <= width {
            return text.to_owned();
        }
        let left_out = if self.is_unicode { "…" } else { "~" };
        let kept = width.saturating_sub(left_out.len().min(1));
        let fitting = |letters: &mut dyn Iterator<Item = &char>, most: usize| {
            let mut columns = 0;
            let fits = |letter: &&char| {
                columns += Span::raw(letter.to_string()).width();
                columns <= most
            };
            letters.take_while(fits).copied().collect::<Vec<char>>()
        };
        let head = fitting(&mut letters.iter(), kept.div_ceil(2));
        let tail = fitting(&mut letters.iter().rev(), kept / 2);
        let ends = |letters: &mut dyn Iterator<Item = char>| letters.collect::<String>();
        ends(&mut head.into_iter()) + left_out + &ends(&mut tail.into_iter().rev())
    }

    fn block(self, title: String) -> Block<'static> {
        const ASCII: border::Set<'static> = border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        let set = if self.is_unicode { border::PLAIN } else { ASCII };
        Block::new().borders(Borders::TOP).border_set(set).title(title)
    }
}

/// A screen and what is on it.
#[derive(Debug)]
pub(crate) struct Screen {
    look: Look,
    snapshot: Option<LiveCampaign>,
    sample: Option<MachineSample>,
    problems: Vec<String>,
    first: usize,
}

impl Screen {
    pub(crate) fn new(look: Look) -> Self {
        Self { look, snapshot: None, sample: None, problems: Vec::new(), first: 0 }
    }

    /// Takes in what was seen last.
    pub(crate) fn note(&mut self, snapshot: Option<LiveCampaign>, sample: Option<MachineSample>) {
        self.snapshot = snapshot;
        self.sample = sample.or(self.sample.take());
    }

    /// Takes in why campaigns that were to be shown are not.
    pub(crate) fn note_problems(&mut self, problems: &[String]) {
        self.problems = problems.to_vec();
    }

    /// Moves through the comparisons.
    pub(crate) fn scroll(&mut self, lines: isize) {
        let most = self.snapshot.as_ref().map_or(0, |one| one.verdicts.len().saturating_sub(1));
        self.first = self.first.saturating_add_signed(lines).min(most);
    }

    /// Draws all of it. Titles and names come from files: a terminal obeys nothing of them.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        self.draw_parts(frame);
        for cell in &mut frame.buffer_mut().content {
            if cell.symbol().contains(model::is_obeyed) {
                let shown = model::inert(cell.symbol()).into_owned();
                cell.set_symbol(&shown);
            }
        }
    }

    fn draw_parts(&self, frame: &mut Frame<'_>) {
        let Some(snapshot) = &self.snapshot else {
            let text = "no campaign here yet; `schedlab run EXPERIMENT` makes one";
            let lines = self.problems.iter().map(String::as_str).chain([text]);
            let lines: Vec<Line<'_>> = lines.map(Line::raw).collect();
            frame.render_widget(Paragraph::new(lines), frame.area());
            return;
        };
        let percentiles = self.percentile_lines(snapshot);
        let rows = percentiles.len() + usize::from(!percentiles.is_empty());
        let parts = Layout::vertical([
            Constraint::Length(4),
            Constraint::Length(2),
            Constraint::Min(4),
            Constraint::Max(u16::try_from(rows).unwrap_or(u16::MAX)),
            Constraint::Length(LOG_LINES + 1),
        ]);
        let [head, machine, verdicts, latencies, log] = parts.areas(frame.area());
        self.draw_head(frame, head, snapshot);
        self.draw_machine(frame, machine);
        self.draw_verdicts(frame, verdicts, snapshot);
        let all: usize = snapshot.latencies.iter().map(|one| last_of_each(one).len()).sum();
        let shown = percentiles.len().min(usize::from(latencies.height).saturating_sub(1));
        let title =
            format!("Last trial: p50, p99, p99.9; p99 over trials{} ", left_out(shown, all));
        frame.render_widget(Paragraph::new(percentiles).block(self.look.block(title)), latencies);
        self.draw_log(frame, log, snapshot);
    }

    fn draw_head(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &LiveCampaign) {
        let lines = [Constraint::Length(1); 4];
        let [title, facts, progress, current] = Layout::vertical(lines).areas(area);
        let bold = Style::new().add_modifier(Modifier::BOLD);
        frame.render_widget(Line::styled(snapshot.title.as_str(), bold), title);
        let quick = if snapshot.is_quick { ", quick" } else { "" };
        let state = state_name(snapshot.state);
        // First, where nothing that is long cuts it off.
        let origin = snapshot.origin.told_unless_measured();
        let origin = origin.map_or(String::new(), |word| format!("{word}: "));
        let text = format!("{origin}{}  {state}, on {}{quick}", snapshot.name, snapshot.venue);
        frame.render_widget(Line::raw(text), facts);
        let trials = snapshot.trials;
        let share = trials.done as f64 / trials.total.max(1) as f64;
        let left = snapshot
            .left_ms
            .map(|left_ms| format!(", about {} left", human_duration(left_ms * 1_000_000)))
            .unwrap_or_default();
        let mut label = format!("trial {} of {}{left}", trials.done, trials.total);
        for (count, what) in [(trials.failed, "failed"), (trials.invalid, "invalid")] {
            if count > 0 {
                label.push_str(&format!(", {count} {what}"));
            }
        }
        let line = self.bar(share, usize::from(progress.width), &label);
        frame.render_widget(Line::from(line), progress);
        let text = snapshot.current.as_ref().map(current_line).unwrap_or_default();
        frame.render_widget(Line::raw(text), current);
    }

    /// A share as a bar with words behind it.
    fn bar(&self, share: f64, width: usize, label: &str) -> Vec<Span<'static>> {
        let length = width.saturating_sub(label.chars().count() + 1);
        let full = ((share.clamp(0.0, 1.0) * length as f64).round() as usize).min(length);
        let (done, open) = if self.look.is_unicode { ("█", "░") } else { ("#", ".") };
        vec![
            Span::styled(done.repeat(full), self.look.colour(Color::Blue)),
            Span::raw(format!("{} {label}", open.repeat(length - full))),
        ]
    }

    fn draw_machine(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some(sample) = &self.sample else { return };
        let bars = self.look.bars();
        let mut spans = vec![Span::raw("CPUs busy ")];
        for cpu in &sample.cpus {
            let step = (cpu.busy * (bars.len() - 1) as f64).round() as usize;
            let bar = bars.get(step).copied().unwrap_or('?');
            spans.push(Span::styled(bar.to_string(), self.look.colour(Color::Blue)));
        }
        let waiting: Vec<f64> = sample.cpus.iter().filter_map(|cpu| cpu.waiting).collect();
        if !waiting.is_empty() {
            spans.push(Span::raw(format!("  waiting tasks {:.1}", waiting.iter().sum::<f64>())));
        }
        let mut facts = vec![format!("stolen {}", percent(sample.steal))];
        facts.extend(sample.foreign.map(|share| format!("used by others {}", percent(share))));
        facts.extend(sample.pressure.map(|share| format!("pressure {}", percent(share))));
        facts.extend(sample.throttled.filter(|count| *count > 0).map(|n| format!("throttled {n}")));
        let text = vec![Line::from(spans), Line::raw(facts.join("  "))];
        frame.render_widget(Paragraph::new(text), area);
    }

    fn draw_verdicts(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &LiveCampaign) {
        let is_over = matches!(snapshot.state, RunState::Finished | RunState::StoppedEarly);
        let is_sequence = snapshot.verdicts.iter().any(|one| one.is_sequence);
        let title = match (is_over, is_sequence) {
            (true, false) => "Verdicts (+ and × better)",
            (true, true) => "Verdicts (+, × better; intervals hold however often you look)",
            (false, _) => "So far (+, × better; intervals hold however often you look)",
        };
        let title = self.look.of_report(title.to_owned());
        let first = self.first.min(snapshot.verdicts.len().saturating_sub(1));
        let all = snapshot.verdicts.len();
        // Above the rows stand the title and the head.
        let shown = (all - first).min(usize::from(area.height).saturating_sub(2));
        let title = format!("{title}{} ", left_out(shown, all));
        // Nothing is decided before the end.
        let fixed = [9, 18, 3, if is_over { 12 } else { 0 }];
        let gaps = u16::try_from(fixed.len() + 1).unwrap_or(0);
        let open = area.width.saturating_sub(fixed.iter().sum::<u16>() + gaps);
        let names = [open - open * 2 / 5, open * 2 / 5];
        let rows = snapshot.verdicts.iter().skip(first).map(|one| self.row(one, names, is_over));
        let widths = names.into_iter().chain(fixed).map(Constraint::Length);
        let head = ["workload metric", "subject", "effect", "interval", "n", ""];
        let table = Table::new(rows, widths)
            .header(Row::new(head).style(Style::new().add_modifier(Modifier::DIM)))
            .block(self.look.block(title));
        frame.render_widget(table, area);
    }

    fn row(&self, one: &LiveVerdict, names: [u16; 2], is_over: bool) -> Row<'static> {
        let [question, subject] = names.map(usize::from);
        let control = if one.role == Role::Control { " (A/A)" } else { "" };
        let name = self.look.shortened(&one.subject, subject.saturating_sub(control.len()));
        let asked = format!("{} {}", one.workload, one.metric.replace('_', " "));
        let (effect, interval) = effect_of(one);
        let (effect, interval) = (self.look.of_report(effect), self.look.of_report(interval));
        let (word, colour) = match one.verdict {
            _ if !is_over => ("", Color::Reset),
            Verdict::Better => ("better", Color::Blue),
            Verdict::Worse => ("worse", Color::Yellow),
            Verdict::Equivalent => ("equivalent", Color::Reset),
            Verdict::Inconclusive => ("inconclusive", Color::Reset),
            Verdict::Invalid => ("invalid", Color::Reset),
        };
        Row::new([
            Span::raw(self.look.shortened(&asked, question)),
            Span::raw(format!("{name}{control}")),
            Span::raw(effect),
            Span::raw(interval),
            Span::raw(one.pairs.to_string()),
            Span::styled(word, self.look.colour(colour)),
        ])
    }

    fn percentile_lines(&self, snapshot: &LiveCampaign) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for latency in snapshot.latencies.iter().take(MOST_LATENCIES) {
            for (subject, points) in last_of_each(latency) {
                lines.push(Line::raw(format!(
                    "{} {}  {subject}  {}  {}",
                    latency.workload,
                    latency.source.replace('_', " "),
                    percentiles(latency.unit, points.last().copied()),
                    self.spark(&points)
                )));
            }
        }
        lines
    }

    /// 99th percentiles over trials, between the lowest and the highest, by their logarithms.
    fn spark(&self, points: &[&LatencyPoint]) -> String {
        let all: Vec<f64> = points.iter().filter_map(|one| one.p99).map(|p99| p99 as f64).collect();
        let shown = &all[all.len().saturating_sub(LONGEST_SPARK)..];
        let low = shown.iter().copied().fold(f64::INFINITY, f64::min).max(1.0);
        let high = shown.iter().copied().fold(1.0, f64::max);
        let bars = self.look.bars();
        let height = |value: f64| {
            let range = stats::ln(high / low);
            let share = if range > 0.0 { stats::ln(value.max(1.0) / low) / range } else { 0.5 };
            bars[((share * (bars.len() - 1) as f64).round() as usize).min(bars.len() - 1)]
        };
        shown.iter().map(|value| height(*value)).collect()
    }

    fn draw_log(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &LiveCampaign) {
        let told = snapshot.log.iter().map(|line| &line.text).chain(&self.problems);
        let lines: Vec<Line<'_>> = told.map(|text| Line::raw(text.as_str())).collect();
        let first = lines.len().saturating_sub(usize::from(LOG_LINES));
        let lines = lines[first..].to_vec();
        frame.render_widget(Paragraph::new(lines).block(self.look.block("Log ".to_owned())), area);
    }
}

/// How many lines are not on the screen.
fn left_out(shown: usize, all: usize) -> String {
    let count = all.saturating_sub(shown);
    if count == 0 { String::new() } else { format!("; {count} of {all} not shown") }
}

fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Interrupted => "interrupted: the same command goes on",
        RunState::Finished => "finished",
        RunState::StoppedEarly => "stopped early",
    }
}

fn current_line(current: &Current) -> String {
    let Current { block, blocks, subject, workload, phase, expected_ms, .. } = current;
    let expected = expected_ms
        .map(|expected_ms| format!(" (about {})", human_duration(expected_ms * 1_000_000)))
        .unwrap_or_default();
    format!("block {block} of {blocks}  {subject}  {workload}  {phase}{expected}")
}

fn percent(share: f64) -> String {
    format!("{} %", model::percent(share, 1))
}

/// An effect and its interval on one scale, of which the upper end may be unbounded: factors where
/// reports tell them.
fn effect_of(one: &LiveVerdict) -> (String, String) {
    let Some((ratio, low)) = one.ratio.zip(one.low) else {
        return ("-".to_owned(), String::new());
    };
    let ends = Interval { low, high: one.high.unwrap_or(f64::INFINITY) };
    let (effect, interval) = report::estimate(ratio, &ends, Language::default());
    if !effect.ends_with(" %") {
        return (effect, interval);
    }
    let bare = |ratio: f64| report::percent(ratio, Language::default()).replace(" %", "");
    let high = one.high.map_or("...".to_owned(), bare);
    (effect, format!("[{}, {high}] %", bare(low)))
}

/// The points of each subject, in the order in which subjects first came.
fn last_of_each(latency: &LatencySeries) -> Vec<(&str, Vec<&LatencyPoint>)> {
    let mut all: Vec<(&str, Vec<&LatencyPoint>)> = Vec::new();
    // Where fewer than ten values lie beyond the median there is nothing to show.
    for point in latency.points.iter().filter(|point| point.p50.is_some()) {
        match all.iter_mut().find(|(subject, _)| *subject == point.subject) {
            Some((_, points)) => points.push(point),
            None => all.push((&point.subject, vec![point])),
        }
    }
    all
}

fn percentiles(unit: Unit, point: Option<&LatencyPoint>) -> String {
    let text = |value: Option<u64>| match (value, unit) {
        (None, _) => "-".to_owned(),
        (Some(value), unit) => report::value(value as f64, unit),
    };
    point.map_or(String::new(), |one| [one.p50, one.p99, one.p999].map(text).join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use live::{CpuSample, LogLine, Trials};
    use model::{Direction, NumberOrigin};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn verdict(subject: &str, ratio: Option<f64>) -> LiveVerdict {
        LiveVerdict {
            workload: "wakeup".to_owned(),
            metric: "latency_p99".to_owned(),
            unit: Unit::Nanoseconds,
            direction: Direction::Lower,
            subject: subject.to_owned(),
            reference: "other".to_owned(),
            role: Role::Primary,
            verdict: Verdict::Inconclusive,
            margin: 0.05,
            pairs: 4,
            alpha: 0.05,
            is_sequence: true,
            ratio,
            low: ratio.map(|ratio| ratio * 0.5),
            high: None,
        }
    }

    fn snapshot(title: &str) -> LiveCampaign {
        let point = |order, p99| LatencyPoint {
            order,
            at_ms: order,
            subject: "fifo".to_owned(),
            p50: Some(1_500),
            p99: Some(p99),
            p999: None,
        };
        LiveCampaign {
            name: "first-look-20261122-101530-ab12".to_owned(),
            title: title.to_owned(),
            venue: "host".to_owned(),
            origin: NumberOrigin::Measured,
            is_quick: true,
            hides_absolute: false,
            state: RunState::Running,
            begun_ms: 0,
            trials: Trials { done: 104, total: 48, failed: 1, invalid: 0 },
            left_ms: Some(81_000),
            current: Some(Current {
                block: 3,
                blocks: 6,
                subject: "fifo".to_owned(),
                workload: "wakeup".to_owned(),
                phase: "running".to_owned(),
                begun_ms: 0,
                expected_ms: Some(6_500),
            }),
            revision: 12,
            judged_trials: 12,
            verdicts: vec![verdict("fifo", Some(1.25)), verdict("batch", None)],
            latencies: vec![LatencySeries {
                workload: "wakeup".to_owned(),
                source: "wakeup_latency".to_owned(),
                unit: Unit::Nanoseconds,
                points: vec![point(0, 20_000), point(1, 80_000)],
            }],
            log: vec![LogLine { at_ms: 0, text: "block 2 runs again\u{1b}[31m".to_owned() }],
        }
    }

    fn drawn(screen: &Screen, width: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, 24)).unwrap();
        let frame = terminal.draw(|frame| screen.draw(frame)).unwrap();
        let lines = frame.buffer.content.chunks(usize::from(width));
        lines
            .map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>() + "\n")
            .collect()
    }

    fn screen(title: &str, is_unicode: bool) -> Screen {
        let mut screen = Screen::new(Look { is_unicode, is_colour: false });
        let cpu = |cpu, busy, waiting| CpuSample { cpu, busy, waiting: Some(waiting) };
        let sample = MachineSample {
            at_ms: 0,
            cpus: vec![cpu(0, 0.1, 0.25), cpu(1, 1.0, 1.5)],
            steal: 0.004,
            foreign: Some(0.12),
            throttled: None,
            pressure: None,
        };
        screen.note(Some(snapshot(title)), Some(sample));
        screen
    }

    #[test]
    fn a_running_campaign_is_told_on_one_screen_of_80_columns() {
        let text = drawn(&screen("Which policy?", true), 80);
        for part in [
            "Which policy?",
            "running, on host, quick",
            "trial 104 of 48, about 81 s left, 1 failed",
            "block 3 of 6  fifo  wakeup  running (about 7 s)",
            "waiting tasks 1.8",
            "stolen 0.4 %  used by others 12.0 %",
            "+25.0 %",
            "[-37.5, ...] %",
            "intervals hold however often you look",
            "p99 over trials",
            "▁█",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains("inconclusive"), "no verdict while it runs:\n{text}");
    }

    #[test]
    fn numbers_that_were_not_measured_are_told_as_what_they_are() {
        for (origin, told) in [
            (NumberOrigin::Simulated, "simulated"),
            (NumberOrigin::Emulated, "emulated"),
            (NumberOrigin::Imported, "imported"),
            (NumberOrigin::Unknown, "origin unknown"),
        ] {
            let mut screen = screen("Which policy?", true);
            let state = RunState::Interrupted;
            screen.note(Some(LiveCampaign { origin, state, ..snapshot("Which policy?") }), None);
            let text = drawn(&screen, 40);
            assert!(text.contains(&format!("\n{told}: first-look-")), "{text}");
        }
        let text = drawn(&screen("Which policy?", true), 80);
        assert!(text.contains("\nfirst-look-") && !text.contains("measured"), "{text}");
    }

    #[test]
    fn a_campaign_that_was_ended_early_keeps_intervals_that_hold_at_every_look() {
        let mut screen = screen("Which policy?", true);
        let over = LiveCampaign { state: RunState::StoppedEarly, ..snapshot("Which policy?") };
        screen.note(Some(over), None);
        let text = drawn(&screen, 80);
        assert!(text.contains("Verdicts (+, × better; intervals hold"), "{text}");
    }

    #[test]
    fn names_keep_both_ends_and_controls_their_mark() {
        let mut screen = screen("Which policy?", true);
        let long = LiveVerdict {
            workload: "fio-random-read".to_owned(),
            metric: "completion_latency_p99".to_owned(),
            role: Role::Control,
            ..verdict("baseline-of-everything-again", Some(1.0))
        };
        for state in [RunState::Running, RunState::Finished] {
            let over = LiveCampaign { state, verdicts: vec![long.clone()], ..snapshot("Which?") };
            screen.note(Some(over), None);
            let text = drawn(&screen, 80);
            for part in ["fio-", "p99 ", "bas", "n (A/A)", "…"] {
                assert!(text.contains(part), "{part} in\n{text}");
            }
        }
        let look = Look { is_unicode: false, is_colour: false };
        assert_eq!(look.shortened("abcdefgh", 8), "abcdefgh");
        assert_eq!(look.shortened("abcdefgh", 6), "abc~gh");
        assert_eq!(look.shortened("가나다라", 5), "가~라");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut screen = screen("Which policy?", true);
        let whole = snapshot("Which?");
        let latencies = vec![whole.latencies[0].clone(); MOST_LATENCIES + 3];
        let verdicts = vec![verdict("fifo", None); 30];
        screen.note(Some(LiveCampaign { latencies, verdicts, ..whole }), None);
        let text = drawn(&screen, 80);
        let shown = text.matches("wakeup wakeup latency").count();
        let all = MOST_LATENCIES + 3;
        assert!(text.contains(&format!("; {} of {all} not shown", all - shown)), "{text}");
        let shown = text.matches("wakeup latency p99").count();
        assert!(text.contains(&format!("; {} of 30 not shown", 30 - shown)), "{text}");
    }

    #[test]
    fn hostile_words_stay_words_and_ascii_is_ascii() {
        let text = drawn(&screen("\u{1b}]0;owned\u{7}\u{1b}[2J", false), 80);
        assert!(
            text.chars().all(|letter| letter == '\n' || (' '..='~').contains(&letter)),
            "{text}"
        );
    }

    #[test]
    fn every_size_of_a_terminal_is_drawn_on_and_scrolling_stays_inside() {
        let mut screen = screen("Which policy?", true);
        for width in [1, 2, 10, 40, 79, 200] {
            let _ = drawn(&screen, width);
        }
        screen.scroll(-5);
        assert!(drawn(&screen, 80).contains("fifo   "));
        screen.scroll(50);
        assert!(drawn(&screen, 80).contains("batch"), "the last comparison stays");
        screen.note_problems(&["newest is left out: it is broken".to_owned()]);
        assert!(drawn(&screen, 80).contains("newest is left out"));
        let empty = Screen::new(Look { is_unicode: true, is_colour: false });
        assert!(drawn(&empty, 80).contains("schedlab run"), "nothing runs");
    }
}
