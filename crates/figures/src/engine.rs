//! The script of the figures in an engine of our own: no files, no network, no clock that a
//! figure reads, and an end to its memory and its work.

use crate::error::Error;
use crate::figure::{Figure, Theme};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that the engine may hold. Measured: 31 MiB for a campaign of 578 figures.
const MEMORY_BYTES: usize = 512 << 20;
/// Bytes of its stack; its own threads have 1 MiB (quickjs.h, `JS_DEFAULT_STACK_SIZE`).
const STACK_BYTES: usize = 1 << 20;
/// How often it may ask whether to go on, for one call. It asks after 10,000 steps (quickjs.c,
/// `JS_INTERRUPT_COUNTER_INIT`). Steps, not seconds: a slow machine draws what a fast one does.
const MOST_QUESTIONS: u64 = 200_000;

/// All figures of one campaign.
pub struct Figures {
    described: Vec<Figure>,
    context: Context,
    questions: Arc<AtomicU64>,
}

impl Figures {
    /// The figures of these data, `schedlab.page/1`; nothing is drawn yet.
    ///
    /// # Errors
    /// When this binary has none, or the data are not what the script expects.
    pub fn of(json: &str) -> Result<Self, Error> {
        let script = web::FIGURES.ok_or(Error::NotBuilt)?;
        Self::with(script, json, MOST_QUESTIONS)
    }

    /// The same of any script, which may ask so often whether to go on.
    fn with(script: &str, json: &str, most_questions: u64) -> Result<Self, Error> {
        let questions = Arc::new(AtomicU64::new(0));
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(MEMORY_BYTES);
        runtime.set_max_stack_size(STACK_BYTES);
        let asked = Arc::clone(&questions);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            asked.fetch_add(1, Ordering::Relaxed) >= most_questions
        })));
        let context = Context::full(&runtime).map_err(failed)?;
        let text: String = context.with(|engine| {
            engine.eval::<(), _>(script).catch(&engine).map_err(failed)?;
            function(&engine, "open")?.call((json,)).catch(&engine).map_err(failed)
        })?;
        let described = serde_json::from_slice(text.as_bytes()).map_err(failed)?;
        Ok(Self { described, context, questions })
    }

    /// What they are, in the page's order.
    pub fn described(&self) -> &[Figure] {
        &self.described
    }

    /// A figure by its place, as a file of its own; `width` in pixels.
    ///
    /// # Errors
    /// When there is none, or the script fails.
    pub fn svg(&self, place: usize, theme: Theme, width: u32) -> Result<String, Error> {
        if place >= self.described.len() {
            return Err(Error::Unknown(place));
        }
        self.questions.store(0, Ordering::Relaxed);
        self.context.with(|engine| {
            let arguments = (place, theme.id(), width);
            function(&engine, "draw")?.call(arguments).catch(&engine).map_err(failed)
        })
    }
}

fn function<'js>(engine: &Ctx<'js>, name: &str) -> Result<Function<'js>, Error> {
    let exported: Object<'js> = engine.globals().get("figures").map_err(failed)?;
    exported.get(name).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Engine(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script of ours may ask a hundred times as often, which takes ten seconds.
    const FEW_QUESTIONS: u64 = MOST_QUESTIONS / 100;

    fn fails(body: &str) -> String {
        let script = format!("var figures = {{ open: (json) => {{ {body} }} }};");
        match Figures::with(&script, "{}", FEW_QUESTIONS) {
            Ok(_) => panic!("{body} gave figures"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_script_without_end_is_ended() {
        let why = fails("for (;;) {}");
        assert!(why.contains("interrupted"), "{why}");
    }

    #[test]
    fn a_script_that_takes_all_memory_is_ended() {
        let why = fails("const all = []; for (;;) all.push(new Array(1e5).fill('x'));");
        assert!(why.contains("memory") || why.contains("failed"), "{why}");
    }

    #[test]
    fn a_script_without_bottom_is_ended() {
        let why = fails("const down = () => down() + 1; return down();");
        assert!(why.contains("call stack"), "{why}");
    }

    #[test]
    fn there_is_nothing_to_reach() {
        for name in ["fetch", "XMLHttpRequest", "require", "process", "std", "os", "WebSocket"] {
            let why = fails(&format!("if (typeof {name} === 'undefined') throw Error('absent')"));
            assert!(why.contains("absent"), "{name}: {why}");
        }
    }

    #[test]
    fn data_of_another_kind_are_refused() {
        if web::FIGURES.is_none() {
            return testing::skip("the figures are not built: cargo xtask ui");
        }
        for data in ["", "[]", "{}", "{\"findings\": 3}"] {
            assert!(Figures::of(data).is_err(), "{data}");
        }
    }
}
