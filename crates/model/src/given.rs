//! What was chosen of an import while its numbers were there, as far as verdicts depend on it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The family-wise error rate where none is chosen (docs/method.md#m-given).
pub const DEFAULT_ALPHA: f64 = 0.05;

/// What the user of an import chose together with its numbers. Nobody can know that it was chosen
/// before these were seen, so that no verdict rests on it alone (docs/method.md#m-given).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GivenChoices {
    /// The margin, as a fraction, that each metric has by itself, where another was given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usual_margins: BTreeMap<String, f64>,
    /// Ids of metrics that are better the other way than their format has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned: Vec<String>,
    /// Whether the order of rows is one that neither times nor the file support. The key is that of
    /// plans which are stored.
    #[serde(rename = "is_selected", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_order_chosen: bool,
}

impl GivenChoices {
    /// Whether nothing was chosen but, perhaps, the level, which a plan has anyway.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_again_and_none_leaves_no_trace() {
        assert_eq!(serde_json::to_string(&GivenChoices::default()).unwrap(), "{}");
        let given = GivenChoices {
            usual_margins: [("ms".to_owned(), 0.02)].into(),
            turned: vec!["ms".to_owned()],
            is_order_chosen: true,
        };
        let text = serde_json::to_string(&given).unwrap();
        assert!(text.contains(r#""is_selected":true"#), "{text}");
        assert_eq!(serde_json::from_str::<GivenChoices>(&text).unwrap(), given);
        assert!(!given.is_empty() && GivenChoices::default().is_empty());
    }
}
