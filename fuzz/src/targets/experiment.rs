//! Experiment files: the same text gives the same plan, and a refusal says why.

use super::{OwnTarget, Reaction, catalogue, on_text};
use plan::{PlanRequest, plan, render_problems};

pub const TARGET: OwnTarget = OwnTarget {
    name: "experiment",
    words: &[
        "[subjects.a]",
        "[[workloads]]",
        "[factors]",
        "use = \"wakeup\"",
        "venue = \"sim\"",
        "base_slice",
        "3ms",
        "blocks = ",
        "primary = [",
        "margin = {",
        "load = \"cpu:2\"",
        "\"",
        "=",
        "\n",
        "[",
        "]",
        "{",
        "}",
        "#",
        ",",
        "\u{feff}",
        "é",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let catalogue = catalogue();
        let request = PlanRequest { text, name: "fuzz", drawn_seed: 1, ..PlanRequest::default() };
        let planned = plan(&catalogue, &[], &request);
        match &planned {
            Ok(planned_first) => {
                let again = plan(&catalogue, &[], &request);
                assert_eq!(again.ok().as_ref(), Some(planned_first), "planning is not pure");
            }
            Err(problems) => {
                assert!(!problems.is_empty(), "refused without a reason");
                assert!(!render_problems(problems, "fuzz.toml", text).is_empty());
            }
        }
        Reaction::of(planned.ok().as_ref())
    })
}
