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

contract::keys! {
    pub(super) PARAMETERS;
    ACCOUNTS: u64 = count("accounts", 2, 1_000_000, "1000", "Accounts before the load"),
    RISK_RATE: f64 = number(
        "risk",
        0.0,
        1e5,
        "0",
        "Requests per second that compute the risk of an account",
    ),
    AGAIN_RATE: f64 = number(
        "again",
        0.0,
        1e5,
        "0",
        "Transfers per second that are sent again with keys that were used",
    ),
}

/// The streams, as they were declared.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    /// How many there are before the load.
    pub(super) accounts: u64,
    /// Requests per second.
    risk: f64,
    again: f64,
}

impl Streams {
    pub(super) fn of(parameters: &Parameters) -> Self {
        Self {
            accounts: ACCOUNTS.of(parameters),
            risk: RISK_RATE.of(parameters),
            again: AGAIN_RATE.of(parameters),
        }
    }

    /// What is asked, with the transfers of this seed.
    ///
    /// # Errors
    /// What cannot be meant; the texts are ours, so that is a rate.
    pub(super) fn scenario(&self, seed: u64) -> Result<Scenario, Vec<String>> {
        let accounts = self.accounts.to_string();
        // The service has signed numbers.
        let seed = (seed >> 1).to_string();
        let mut text = LOAD.replace("@accounts@", &accounts).replace("@seed@", &seed);
        for (name, rate, more) in [("risk", self.risk, RISK), ("again", self.again, AGAIN)] {
            if rate > 0.0 {
                text += &more.replace(&format!("@{name}@"), &number(rate));
            }
        }
        let text = text.replace("[values]\n", &format!("[values]\n{REPEATED}"));
        Scenario::parse(&text, Path::new(""))
    }
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
    fn streams(risk: f64, again: f64) -> Streams {
        Streams { accounts: 50, risk, again }
    }

    #[test]
    fn the_four_streams_are_those_of_the_harness_and_two_more_can_be_asked_for() {
        let four = streams(0.0, 0.0).scenario(u64::MAX).unwrap();
        assert_eq!(four.names(), ["create", "transfer", "balance", "history"]);
        let all = streams(2.0, 0.5).scenario(1).unwrap();
        assert_eq!(all.names()[4..], ["risk", "again"]);
    }
}
