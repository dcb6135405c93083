//! Documents as compact text, and as values. These are read from that text: for it there are
//! serialisers already, and others that make values would take as long again to compile.

use serde::Serialize;
use serde_json::Value;

/// The compact text of something that can always be encoded; nothing of what cannot.
pub(crate) fn compact_text(of: &impl Serialize) -> String {
    serde_json::to_string(of).unwrap_or_default()
}

/// The value of a document.
///
/// # Errors
/// When it cannot be encoded.
pub(crate) fn value_of(document: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::from_slice(&serde_json::to_vec(document)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_the_same_by_way_of_its_text() {
        let mut plan = crate::fixtures::plan("value", "d");
        plan.seed = u64::MAX;
        plan.title = "\"\\\u{202e}\u{1}\"".to_owned();
        for alpha in [0.05, 5.0, -0.0, 1e300, 5e-324, 0.1 + 0.2, f64::INFINITY] {
            plan.alpha = alpha;
            let value = serde_json::to_value(&plan).unwrap();
            assert_eq!(value_of(&plan).unwrap(), value, "{alpha}");
            assert_eq!(compact_text(&plan), value.to_string(), "{alpha}");
        }
        let mixed = (7, None::<u8>, &plan.subjects[0].levels, ["a"]);
        assert_eq!(compact_text(&mixed), json!(mixed).to_string());
    }
}
