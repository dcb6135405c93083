//! `schedlab vs`: arguments, one on each line, become an experiment's text.

use super::{OwnTarget, Reaction, catalogue, on_text};
use plan::{OneLine, PlanRequest, one_line, plan};

pub const TARGET: OwnTarget = OwnTarget {
    name: "one-line",
    words: &[
        "baseline",
        "policy=batch",
        "nice=5",
        ",",
        "=",
        "\n",
        "rate=regex:([0-9]+):higher",
        "\"",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let arguments: Vec<String> = text.lines().map(str::to_owned).collect();
        let subjects = arguments.get(..2).unwrap_or(&arguments);
        let line = OneLine {
            subjects,
            command: arguments.get(2..3).unwrap_or_default(),
            metrics: arguments.get(3..).unwrap_or_default(),
            ..OneLine::default()
        };
        let catalogue = catalogue();
        let experiment = one_line(&catalogue, &line);
        if let Ok(experiment) = &experiment {
            let request = PlanRequest { text: experiment, name: "fuzz", ..PlanRequest::default() };
            for problem in plan(&catalogue, &[], &request).err().unwrap_or_default() {
                let shown = problem.render("fuzz.toml", experiment);
                assert!(!shown.contains("this is not TOML"), "unreadable: {shown}\n{experiment}");
            }
        }
        Reaction::of(experiment.ok().as_ref())
    })
}
