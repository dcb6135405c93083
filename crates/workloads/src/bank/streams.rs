//! What the bank is asked.

use crate::http::Scenario;
use model::Parameters;
use std::fmt::Write;
use std::path::Path;

const LOAD: &str = include_str!("load.toml");
const RISK: &str = include_str!("risk.toml");
const AGAIN: &str = include_str!("again.toml");
/// Keys of transfers that are sent again and again.
const REPEATED: &str = "repeated = { from = 1, to = 20 }\n";

/// The streams with these parameters.
///
/// # Errors
/// What cannot be meant; the texts are ours, so that is a rate.
pub(super) fn streams(parameters: &Parameters, seed: u64) -> Result<Scenario, Vec<String>> {
    let accounts = parameters.count("accounts").to_string();
    // The service has signed numbers.
    let seed = (seed >> 1).to_string();
    let mut text = LOAD.replace("@accounts@", &accounts).replace("@seed@", &seed);
    for (name, more) in [("risk", RISK), ("again", AGAIN)] {
        let rate = parameters.number(name);
        if rate > 0.0 {
            text += &more.replace(&format!("@{name}@"), &number(rate));
        }
    }
    let text = text.replace("[values]\n", &format!("[values]\n{REPEATED}"));
    Scenario::parse(&text, Path::new(""))
}

/// A float as TOML has it.
fn number(value: f64) -> String {
    let mut text = String::new();
    // Writing to memory does not fail.
    let _ = write!(text, "{value:?}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ParameterValue;

    fn parameters(risk: f64, again: f64) -> Parameters {
        let values = [
            ("accounts", ParameterValue::Count(50)),
            ("risk", ParameterValue::Number(risk)),
            ("again", ParameterValue::Number(again)),
        ];
        Parameters(values.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn the_four_streams_are_those_of_the_harness_and_two_more_can_be_asked_for() {
        let four = streams(&parameters(0.0, 0.0), u64::MAX).unwrap();
        assert_eq!(four.names(), ["create", "transfer", "balance", "history"]);
        let all = streams(&parameters(2.0, 0.5), 1).unwrap();
        assert_eq!(all.names()[4..], ["risk", "again"]);
    }
}
