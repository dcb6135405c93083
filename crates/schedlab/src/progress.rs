//! Progress on standard error: one line that rewrites itself on a terminal;
//! when piped a line now and then, and what a person must read.

use crate::output::{clear_drawn, draw, is_drawn_on, tell};
use contract::Event;
use lab::CampaignProgress;
use model::{Outcome, Phase, Record};
use std::time::{Duration, Instant};

/// How often a line in a log says how far the campaign is.
const WRITTEN_EVERY: Duration = Duration::from_secs(60);

/// Draws a campaign's events.
pub(crate) struct ProgressLine {
    progress: CampaignProgress,
    is_terminal: bool,
    is_verbose: bool,
    is_drawn: bool,
    written_at: Instant,
    /// What kind of time the durations are of.
    clock: &'static str,
}

impl ProgressLine {
    pub(crate) fn new(is_verbose: bool) -> Self {
        Self {
            progress: CampaignProgress::default(),
            is_terminal: is_drawn_on(),
            is_verbose,
            is_drawn: false,
            written_at: Instant::now(),
            clock: "",
        }
    }

    /// Takes in an event and draws.
    pub(crate) fn note(&mut self, event: &Event) {
        self.progress.note(event);
        if let Some(text) = lab::event_line(event) {
            self.line(&text);
        }
        match event {
            Event::CampaignStarted { plan, .. } => {
                self.clock = if plan.is_simulated() { " of simulated time" } else { "" };
                self.line(&format!("{}: {}", plan.title, self.so_far()));
            }
            Event::TrialFinished { record } if self.is_verbose && is_completed(record) => {
                self.line(&format!(
                    "block {} {} {}: done in {}",
                    record.block + 1,
                    record.subject,
                    record.workload,
                    human_duration(record.duration_ns)
                ));
            }
            Event::TrialStarted { .. } => self.draw(),
            Event::TrialPhase(Phase::Booting) if self.is_verbose => self.line("booting a guest"),
            Event::CampaignFinished { .. } => self.clear(),
            Event::CampaignOpened { .. }
            | Event::TrialPhase(_)
            | Event::TrialFinished { .. }
            | Event::BlockRepeated { .. }
            | Event::Notice(_) => {}
        }
    }

    /// A line that stays.
    fn line(&mut self, text: &str) {
        self.clear();
        tell(text);
    }

    fn so_far(&self) -> String {
        let (done, total) = self.progress.trials();
        let left = human_duration(self.progress.left_ns());
        let total = model::counted(total, "trial");
        format!("{done} of {total} done, about {left}{} to go", self.clock)
    }

    fn draw(&mut self) {
        if !self.is_terminal {
            if self.written_at.elapsed() >= WRITTEN_EVERY {
                self.written_at = Instant::now();
                tell(&self.so_far());
            }
            return;
        }
        let (done, total) = self.progress.trials();
        let Some((block, subject, workload)) = self.progress.current() else { return };
        let left = human_duration(self.progress.left_ns());
        draw(&format!(
            "trial {}/{total}  block {}  {subject}  {workload}  about {left}{} left",
            done + 1,
            block + 1,
            self.clock
        ));
        self.is_drawn = true;
    }

    fn clear(&mut self) {
        if self.is_drawn {
            clear_drawn();
            self.is_drawn = false;
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn is_completed(record: &Record) -> bool {
    record.outcome == Outcome::Completed
}

/// A duration as a person says it: `3 min 20 s`.
pub(crate) fn human_duration(duration_ns: u64) -> String {
    let seconds = duration_ns.div_ceil(1_000_000_000);
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
