//! `schedlab top`: the campaign that runs, in a terminal.

use super::campaign_loading::loader;
use super::signals::hear_signals;
use super::{evidence, machine};
use crate::cli::{Common, Top};
use crate::exit::ExitCode;
use crate::output::{is_read_by_a_person, page, print};
use crate::priority;
use crate::screen::{Look, Screen};
use contract::{Error, Result};
use live::{CampaignPoller, Follower};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use std::time::Duration;

/// How often it looks.
const LOOKED_EVERY: Duration = Duration::from_millis(500);
/// Lines where no terminal says how many there are.
const LINES: u16 = 40;
/// What a look at the machine needs to compare with.
const FIRST_LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(common: &Common, arguments: &Top) -> Result<ExitCode> {
    if !common.results.is_dir() {
        return Err(Error::usage(
            "cannot show a campaign",
            format!("{} is no directory", common.results.display()),
            "give the directory of campaigns: --results DIR",
        ));
    }
    let loader = loader(common, evidence::attempts(common));
    let mut poller = CampaignPoller::new(common.results.clone(), machine(common)?, loader);
    let style = page(common.verbose);
    let look = Look { is_unicode: style.is_unicode, is_colour: style.is_colour };
    if arguments.once || !is_read_by_a_person() {
        let width = u16::try_from(style.width).unwrap_or(u16::MAX);
        print(&once(&mut poller, look, width)?)?;
        return Ok(ExitCode::Done);
    }
    priority::take_lowest_priority();
    let interrupt = hear_signals()?;
    let mut screen = Screen::new(look);
    let mut terminal = ratatui::try_init()
        .map_err(|error| Error::environment("cannot draw on this terminal", error))?;
    let mut shown = || -> std::io::Result<()> {
        while interrupt.signal().is_none() {
            let seen = poller.look(sys::unix_ns() / 1_000_000);
            screen.note(poller.follower().map(Follower::snapshot), seen.sample);
            screen.note_problems(poller.problems());
            terminal.draw(|frame| screen.draw(frame))?;
            if event::poll(LOOKED_EVERY)? && !heard(&event::read()?, &mut screen) {
                break;
            }
        }
        Ok(())
    };
    let shown = shown();
    ratatui::restore();
    shown.map_err(|error| Error::environment("cannot draw on this terminal", error))?;
    Ok(interrupt.signal().map_or(ExitCode::Done, ExitCode::Signal))
}

/// Whether it goes on.
fn heard(event: &Event, screen: &mut Screen) -> bool {
    let Event::Key(KeyEvent { code, modifiers, .. }) = event else { return true };
    let is_interrupt = modifiers.contains(KeyModifiers::CONTROL) && *code == KeyCode::Char('c');
    match code {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Down | KeyCode::Char('j') => screen.scroll(1),
        KeyCode::Up | KeyCode::Char('k') => screen.scroll(-1),
        KeyCode::PageDown => screen.scroll(10),
        KeyCode::PageUp => screen.scroll(-10),
        _ => {}
    }
    !is_interrupt
}

/// One screen as text.
fn once(poller: &mut CampaignPoller, look: Look, width: u16) -> Result<String> {
    poller.look(sys::unix_ns() / 1_000_000);
    std::thread::sleep(FIRST_LOOK);
    let seen = poller.look(sys::unix_ns() / 1_000_000);
    let mut screen = Screen::new(look);
    screen.note(poller.follower().map(Follower::snapshot), seen.sample);
    screen.note_problems(poller.problems());
    let mut terminal = Terminal::new(TestBackend::new(width, LINES))
        .map_err(|error| Error::environment("cannot draw", error))?;
    let frame = terminal
        .draw(|frame| screen.draw(frame))
        .map_err(|error| Error::environment("cannot draw", error))?;
    let width = usize::from(width);
    let lines = frame.buffer.content.chunks(width.max(1)).map(|cells| {
        let line: String = cells.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned() + "\n"
    });
    let text: String = lines.collect();
    Ok(text.trim_end().to_owned() + "\n")
}
