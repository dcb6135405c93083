//! `/proc/pressure/*`: the figures stand in the text.

use super::{OwnTarget, Reaction, on_text};
use sys::Pressure;

pub const TARGET: OwnTarget = OwnTarget {
    name: "pressure",
    words: &["some ", "full ", "total=", "avg10=0.00 ", "18446744073709551616", "\n"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let pressure = Pressure::parse(text);
        if let Some(pressure) = &pressure {
            let totals = text.matches("total=").count();
            let found = 1 + usize::from(pressure.full_us.is_some());
            assert!(found <= totals, "{found} figures from {totals} totals");
        }
        Reaction::of(pressure.as_ref())
    })
}
