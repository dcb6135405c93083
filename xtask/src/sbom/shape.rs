//! Whether a bill of materials is one: what CycloneDX 1.6 asks of the parts that ours has
//! (bom-1.6.schema.json). A reader of such files refuses all of one that breaks a rule.

use serde_json::Value;
use std::collections::BTreeSet;

/// The version of the specification.
pub const VERSION: &str = "1.6";
/// Types of component, as far as ours has them.
const KINDS: [&str; 2] = ["application", "library"];
/// Algorithms with the length of their digests, in hexadecimal digits.
const ALGORITHMS: [(&str, usize); 2] = [("SHA-256", 64), ("SHA-512", 128)];

/// Every rule that is broken.
pub fn check(text: &str) -> Vec<String> {
    let bill: Value = match serde_json::from_str(text) {
        Ok(bill) => bill,
        Err(error) => return vec![format!("is no JSON: {error}")],
    };
    let mut found = Vec::new();
    for (key, value) in [("bomFormat", "CycloneDX"), ("specVersion", VERSION)] {
        if bill[key] != value {
            found.push(format!("{key} is {}, not {value}", bill[key]));
        }
    }
    if bill["version"].as_u64().unwrap_or(0) == 0 {
        found.push("version is no number above 0".to_owned());
    }
    let listed = bill["components"].as_array().map(Vec::as_slice).unwrap_or_default();
    if listed.is_empty() {
        found.push("there are no components".to_owned());
    }
    let mut references = BTreeSet::new();
    for component in std::iter::once(&bill["metadata"]["component"]).chain(listed) {
        found.extend(problems_of(component));
        let reference = component["bom-ref"].as_str().unwrap_or_default();
        if reference.is_empty() || !references.insert(reference) {
            found.push(format!("bom-ref `{reference}` is empty or stands twice"));
        }
    }
    found.extend(lost_edges(&bill, &references));
    found
}

/// What is wrong with one component.
fn problems_of(component: &Value) -> Vec<String> {
    let text = |key: &str| component[key].as_str().unwrap_or_default();
    let name = text("name");
    let mut found = Vec::new();
    let mut say = |what: String| found.push(format!("component `{name}`: {what}"));
    if name.is_empty() {
        say("has no name".to_owned());
    }
    if !KINDS.contains(&text("type")) {
        say(format!("its type is {}", component["type"]));
    }
    if !text("purl").starts_with("pkg:") || text("purl").contains(char::is_whitespace) {
        say(format!("its purl is {}", component["purl"]));
    }
    for licence in component["licenses"].as_array().into_iter().flatten() {
        if licence["expression"].as_str().is_none_or(str::is_empty) {
            say(format!("its licence is {licence}"));
        }
    }
    for hash in component["hashes"].as_array().into_iter().flatten() {
        let content = hash["content"].as_str().unwrap_or_default();
        let is_known = |(algorithm, length): &(&str, usize)| {
            hash["alg"] == *algorithm && content.len() == *length
        };
        let is_hexadecimal = content.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !ALGORITHMS.iter().any(is_known) || !is_hexadecimal {
            say(format!("its digest is {hash}"));
        }
    }
    found
}

/// Edges from or to what is not listed, and what has its edges twice.
fn lost_edges(bill: &Value, references: &BTreeSet<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut begins = BTreeSet::new();
    for edge in bill["dependencies"].as_array().into_iter().flatten() {
        let from = edge["ref"].as_str().unwrap_or_default();
        if !references.contains(from) || !begins.insert(from) {
            found.push(format!("dependencies of `{from}`: it is not listed, or has them twice"));
        }
        for to in edge["dependsOn"].as_array().into_iter().flatten() {
            if !to.as_str().is_some_and(|to| references.contains(to)) {
                found.push(format!("`{from}` depends on {to}, which is not listed"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bill() -> Value {
        let digest = "0".repeat(64);
        json!({
            "bomFormat": "CycloneDX",
            "specVersion": VERSION,
            "version": 1,
            "metadata": { "component":
                { "type": "application", "bom-ref": "a", "name": "a", "purl": "pkg:cargo/a@1" } },
            "components": [{
                "type": "library", "bom-ref": "b", "name": "b", "purl": "pkg:cargo/b@1",
                "licenses": [{ "expression": "MIT" }],
                "hashes": [{ "alg": "SHA-256", "content": digest }],
            }],
            "dependencies": [{ "ref": "a", "dependsOn": ["b"] }],
        })
    }

    #[test]
    fn each_broken_rule_is_told_and_a_bill_that_keeps_them_is_not() {
        assert_eq!(check(&bill().to_string()), Vec::<String>::new());
        for (pointer, value) in [
            ("/bomFormat", json!("SPDX")),
            ("/specVersion", json!("0.1")),
            ("/version", json!(0)),
            ("/components", json!([])),
            ("/components/0/name", json!("")),
            ("/components/0/type", json!("thing")),
            ("/components/0/purl", json!("b 1")),
            ("/components/0/bom-ref", json!("a")),
            ("/components/0/licenses/0", json!({})),
            ("/components/0/hashes/0/content", json!("00")),
            ("/components/0/hashes/0/alg", json!("SHA-512")),
            ("/dependencies/0/ref", json!("c")),
            ("/dependencies/0/dependsOn/0", json!("c")),
        ] {
            let mut broken = bill();
            *broken.pointer_mut(pointer).unwrap() = value;
            assert!(!check(&broken.to_string()).is_empty(), "{pointer}");
        }
        assert_eq!(check("{").len(), 1);
    }
}
